//! Which commands the tasks of a batch share.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::dialect::{self, Count, Sequence};
use super::{Command, Hit, Stage, Task};
use crate::settings::{Check, Settings};
use crate::store::Tracked;

/// Which commands tasks share, and where their replies are.
#[derive(Default)]
pub(super) struct Plan {
    /// Rules whose settings are read, by the first reply.
    pub(super) rules: Vec<Arc<Tracked>>,
    pub(super) groups: Vec<Group>,
    pub(super) replies: usize,
}

pub(super) struct Group {
    pub(super) kind: Kind,
    /// Places of the tasks, in the order in which they came.
    pub(super) members: Vec<usize>,
    pub(super) hits: u64,
    /// Place and number of the replies.
    pub(super) reply: usize,
    pub(super) replies: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Only the settings are read, since the rule is known to be closed.
    Look {
        rule: usize,
    },
    /// Only the settings are wanted.
    Settings {
        rule: usize,
    },
    /// The same, apart from the others.
    AskSettings,
    Count {
        rule: usize,
        sent_ms: u64,
    },
    Blind {
        settings: Settings,
        asking: bool,
    },
    Confirm {
        interval_ms: u64,
        asking: bool,
    },
    Replace {
        interval_ms: u64,
        asking: bool,
    },
    Command {
        replies: usize,
        asking: bool,
    },
    Afterwards,
}

impl Kind {
    fn replies(self, sequence: Sequence) -> usize {
        let replies = match self {
            Self::Look { .. } | Self::Settings { .. } | Self::Afterwards => 0,
            Self::Count { .. } | Self::Blind { .. } => Count::replies(sequence),
            Self::Confirm { .. } | Self::AskSettings => 1,
            Self::Command { replies, .. } => replies,
            Self::Replace { .. } => Count::REPLACE_REPLIES,
        };
        if self.asking() { 2 * replies } else { replies }
    }

    /// Whether each reply comes after one to `ASKING`.
    pub(super) fn asking(self) -> bool {
        match self {
            Self::AskSettings => true,
            Self::Blind { asking, .. }
            | Self::Confirm { asking, .. }
            | Self::Replace { asking, .. }
            | Self::Command { asking, .. } => asking,
            _ => false,
        }
    }

    fn can_be_shared(self) -> bool {
        !matches!(self, Self::Command { .. } | Self::AskSettings | Self::Afterwards)
    }
}

impl Plan {
    pub(super) fn of(tasks: &[Task], sequence: Sequence) -> Self {
        let mut plan = Self::default();
        let mut groups: HashMap<(Kind, &str), usize> = HashMap::new();
        for (at, task) in tasks.iter().enumerate() {
            let (kind, key, hits) = match task {
                Task::Command(Command { commands, asking, .. }) => {
                    (Kind::Command { replies: commands.len(), asking: *asking }, "", 0)
                }
                Task::Afterwards(_) => (Kind::Afterwards, "", 0),
                Task::Settings { asking: true, .. } => (Kind::AskSettings, "", 0),
                Task::Settings { rule, asking: false } => (Kind::Settings { rule: plan.rule(rule) }, "", 0),
                Task::Hit(hit) => (plan.kind(hit), hit.key.as_str(), hit.hits),
            };
            let known = kind.can_be_shared().then(|| groups.get(&(kind, key))).flatten();
            match known {
                Some(group) => {
                    plan.groups[*group].members.push(at);
                    plan.groups[*group].hits += hits;
                }
                None => {
                    groups.insert((kind, key), plan.groups.len());
                    let replies = kind.replies(sequence);
                    plan.groups.push(Group { kind, members: vec![at], hits, reply: 0, replies });
                }
            }
        }
        plan.replies = usize::from(!plan.rules.is_empty());
        for group in &mut plan.groups {
            group.reply = plan.replies;
            plan.replies += group.replies;
        }
        plan
    }

    fn kind(&mut self, hit: &Hit) -> Kind {
        let (last, asking) = (hit.rule.last(), hit.asking);
        match &hit.stage {
            Stage::Confirm(reading) => Kind::Confirm { interval_ms: reading.settings.interval_ms(), asking },
            Stage::Replace(reading) => Kind::Replace { interval_ms: reading.settings.interval_ms(), asking },
            Stage::Blind => Kind::Blind { settings: last, asking },
            Stage::Ask if last.check == Check::Off => Kind::Look { rule: self.rule(&hit.rule) },
            Stage::Ask | Stage::Count => {
                Kind::Count { rule: self.rule(&hit.rule), sent_ms: last.interval_ms() }
            }
        }
    }

    fn rule(&mut self, rule: &Arc<Tracked>) -> usize {
        let known = self.rules.iter().position(|known| Arc::ptr_eq(known, rule));
        known.unwrap_or_else(|| {
            self.rules.push(rule.clone());
            self.rules.len() - 1
        })
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>, config: &str, tasks: &[Task], sequence: Sequence) {
        if !self.rules.is_empty() {
            dialect::ask_settings(bytes, config, self.rules.iter().map(|rule| rule.fields()));
        }
        for Group { kind, members, hits, .. } in &self.groups {
            let hit = match &tasks[members[0]] {
                Task::Command(Command { commands, asking, .. }) => {
                    for command in commands {
                        if *asking {
                            dialect::command(bytes, &[b"ASKING"]);
                        }
                        bytes.extend_from_slice(command);
                    }
                    continue;
                }
                Task::Settings { rule, asking: true } => {
                    dialect::command(bytes, &[b"ASKING"]);
                    dialect::ask_settings(bytes, config, std::iter::once(rule.fields()));
                    continue;
                }
                Task::Settings { .. } | Task::Afterwards(_) => continue,
                Task::Hit(hit) => hit,
            };
            let count =
                |interval_ms| Count { key: &hit.key, hits: *hits, interval_ms, asking: kind.asking() };
            match kind {
                Kind::Count { sent_ms, .. } => count(*sent_ms).ask(bytes, sequence),
                Kind::Blind { settings, .. } => count(settings.interval_ms()).ask(bytes, sequence),
                Kind::Replace { interval_ms, .. } => count(*interval_ms).replace(bytes),
                Kind::Confirm { interval_ms, .. } => count(*interval_ms).expire(bytes),
                _ => {}
            }
        }
    }
}
