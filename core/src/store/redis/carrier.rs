//! Makes one batch of what callers want: merges it, sends it, and gives everybody their own part of the replies.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;

use super::batch::{self, Landing};
use super::dialect::{self, Answer, Count, Sequence, Verdict};
use super::link::{Afterwards, Link, Wire};
use crate::settings::{Check, Settings};
use crate::store::{Counted, Fault, FaultKind, Reading, Tracked};
use crate::window::Window;

/// How long refused defaults are not written again.
const DEFAULTS_PAUSE: Duration = Duration::from_secs(10);

/// What a caller wants.
pub(super) enum Task {
    Hit(Hit),
    /// The settings of a rule alone, of a cluster's node that may only be about to get them.
    Settings {
        rule: Arc<Tracked>,
        asking: bool,
    },
    /// A command of the configuration hash, as it stands.
    Command(&'static str, Vec<u8>),
    /// A write whose reply nobody needs.
    Afterwards(Afterwards),
}

/// What a caller gets.
pub(super) enum Reply {
    Reading(Reading),
    /// The same, of a window whose end was set before.
    Standing(Reading),
    Value(Value),
}

pub(super) struct Hit {
    pub(super) rule: Arc<Tracked>,
    pub(super) key: String,
    pub(super) hits: u64,
    pub(super) stage: Stage,
    /// Whether a cluster's node is asked that is only about to get the key.
    pub(super) asking: bool,
}

/// How far a hit has come.
pub(super) enum Stage {
    /// Nothing is known yet.
    Ask,
    /// The rule, last seen closed, is open.
    Count,
    /// The settings are read elsewhere at the same time: those last seen hold meanwhile.
    Blind,
    /// It is over the limit, and the window's end is to be confirmed before it is turned away.
    Confirm(Reading),
    /// Something foreign stands at the key.
    Replace(Reading),
}

/// Carries batches over one link.
pub(super) struct Carrier {
    link: Link,
    config: String,
    /// Whether the server is a cluster's node, which may send on to another.
    in_cluster: bool,
}

impl Carrier {
    pub(super) fn new(link: Link, config: String) -> Self {
        Self { link, config, in_cluster: false }
    }

    pub(super) fn of_node(link: Link, config: String) -> Self {
        Self { link, config, in_cluster: true }
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }
}

/// A batch under way.
pub(super) struct Flight {
    wire: Option<Box<Wire>>,
    tasks: Vec<Task>,
    plan: Plan,
    replies: Vec<Value>,
    fault: Option<Fault>,
}

/// Which commands tasks share, and where their replies are.
#[derive(Default)]
struct Plan {
    /// Rules whose settings are read, by the first reply.
    rules: Vec<Arc<Tracked>>,
    groups: Vec<Group>,
    replies: usize,
}

struct Group {
    kind: Kind,
    /// Places of the tasks, in the order in which they came.
    members: Vec<usize>,
    hits: u64,
    /// Place and number of the replies.
    reply: usize,
    replies: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
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
    Command,
    Afterwards,
}

impl Kind {
    fn replies(self, sequence: Sequence) -> usize {
        let replies = match self {
            Self::Look { .. } | Self::Settings { .. } | Self::Afterwards => 0,
            Self::Count { .. } | Self::Blind { .. } => Count::replies(sequence),
            Self::Confirm { .. } | Self::Command | Self::AskSettings => 1,
            Self::Replace { .. } => Count::REPLACE_REPLIES,
        };
        if self.asking() { 2 * replies } else { replies }
    }

    /// Whether each reply comes after one to `ASKING`.
    fn asking(self) -> bool {
        match self {
            Self::AskSettings => true,
            Self::Blind { asking, .. } | Self::Confirm { asking, .. } | Self::Replace { asking, .. } => {
                asking
            }
            _ => false,
        }
    }

    fn can_be_shared(self) -> bool {
        !matches!(self, Self::Command | Self::AskSettings | Self::Afterwards)
    }
}

impl Plan {
    fn of(tasks: &[Task], sequence: Sequence) -> Self {
        let mut plan = Self::default();
        let mut groups: HashMap<(Kind, &str), usize> = HashMap::new();
        for (at, task) in tasks.iter().enumerate() {
            let (kind, key, hits) = match task {
                Task::Command(..) => (Kind::Command, "", 0),
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

    fn encode(&self, bytes: &mut Vec<u8>, config: &str, tasks: &[Task], sequence: Sequence) {
        if !self.rules.is_empty() {
            dialect::ask_settings(bytes, config, self.rules.iter().map(|rule| rule.fields()));
        }
        for Group { kind, members, hits, .. } in &self.groups {
            let hit = match &tasks[members[0]] {
                Task::Command(_, command) => {
                    bytes.extend_from_slice(command);
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

impl batch::Carrier for Carrier {
    type Task = Task;
    type Answer = Reply;
    type Flight = Flight;

    fn depart(&self, tasks: Vec<Task>, until: Instant) -> Flight {
        let mut wire = match self.link.check_out(until) {
            Ok(wire) => wire,
            Err(fault) => {
                return Flight {
                    wire: None,
                    tasks,
                    plan: Plan::default(),
                    replies: Vec::new(),
                    fault: Some(fault),
                };
            }
        };
        for task in &tasks {
            if let Task::Afterwards(afterwards) = task {
                wire.todo(afterwards.clone());
            }
        }
        let plan = Plan::of(&tasks, wire.sequence);
        let mut bytes = Vec::with_capacity(256 + 256 * tasks.len());
        plan.encode(&mut bytes, &self.config, &tasks, wire.sequence);
        wire.until(until);
        let fault = wire.send(&bytes).err();
        let replies = Vec::with_capacity(plan.replies);
        Flight { wire: Some(wire), tasks, plan, replies, fault }
    }

    fn advance(&self, flight: &mut Flight, until: Instant) -> bool {
        let Some(wire) = flight.wire.as_mut().filter(|_| flight.fault.is_none()) else { return true };
        wire.until(until);
        while flight.replies.len() < flight.plan.replies {
            match wire.receive() {
                Ok(reply) => flight.replies.push(reply),
                Err(fault) if fault.kind() == FaultKind::Timeout => return false,
                Err(fault) => {
                    flight.fault = Some(fault);
                    return true;
                }
            }
        }
        true
    }

    fn land(&self, flight: Flight, idle: bool) -> Vec<Landing<Self>> {
        let Flight { wire, tasks, plan, replies, fault } = flight;
        let Some(wire) = wire else {
            let fault = fault.unwrap_or_else(no_answer);
            return tasks.iter().map(|_| Landing::Done(Err(fault.clone()))).collect();
        };
        let fault = fault.or_else(|| (replies.len() < plan.replies).then(no_answer));
        let mut arrival = Arrival {
            wire,
            fault,
            tasks: tasks.into_iter().map(Some).collect(),
            landings: plan.groups.iter().flat_map(|group| &group.members).map(|_| None).collect(),
        };
        let readings = arrival.read_settings(&self.config, &plan.rules, replies.first());
        for group in &plan.groups {
            let own = replies.get(group.reply..group.reply + group.replies);
            arrival.settle(group, own, &readings, &self.config);
        }
        arrival.end(self, idle)
    }
}

/// A batch whose replies are being given to their tasks.
struct Arrival {
    wire: Box<Wire>,
    /// Why the connection can't be used any more.
    fault: Option<Fault>,
    tasks: Vec<Option<Task>>,
    landings: Vec<Option<Landing<Carrier>>>,
}

impl Arrival {
    /// What holds for each rule; defaults that are missing are noted to be written.
    fn read_settings(
        &mut self,
        config: &str,
        rules: &[Arc<Tracked>],
        reply: Option<&Value>,
    ) -> Vec<Result<Reading, Fault>> {
        if rules.is_empty() {
            return Vec::new();
        }
        let found =
            reply.ok_or_else(|| self.missing()).and_then(|reply| dialect::read_settings(reply, rules.len()));
        let values = match found {
            Err(fault) => {
                self.doubt(&fault);
                return rules.iter().map(|_| Err(fault.clone())).collect();
            }
            Ok(Err(unread)) => {
                let reading = |rule: &Arc<Tracked>| {
                    let settings = Settings::defaults(rule.rule());
                    Ok(Reading { settings, counted: None, unread: Some(unread.clone()) })
                };
                return rules.iter().map(reading).collect();
            }
            Ok(Ok(values)) => values,
        };
        let paused = self.wire.defaults_refused.is_some_and(|refused| refused.elapsed() < DEFAULTS_PAUSE);
        let mut readings = Vec::with_capacity(rules.len());
        for (rule, values) in rules.iter().zip(values) {
            if !paused && values.contains(&None) {
                let missing = rule.fields().iter().zip(rule.defaults()).zip(values);
                for ((field, value), _) in missing.filter(|(_, found)| found.is_none()) {
                    let (config, field) = (config.to_owned(), field.clone());
                    self.wire.todo(Afterwards::Default { config, field, value });
                }
            }
            readings.push(Ok(Reading { settings: rule.see(values, 0), counted: None, unread: None }));
        }
        readings
    }

    fn settle(
        &mut self,
        group: &Group,
        replies: Option<&[Value]>,
        readings: &[Result<Reading, Fault>],
        config: &str,
    ) {
        // Those to ASKING say nothing.
        let answers: Vec<Value>;
        let replies = match replies {
            Some(replies) if group.kind.asking() => {
                answers = replies.iter().skip(1).step_by(2).cloned().collect();
                Ok(answers.as_slice())
            }
            Some(replies) => Ok(replies),
            None => Err(self.missing()),
        };
        match group.kind {
            Kind::Look { rule } => match &readings[rule] {
                Ok(reading) if reading.settings.check == Check::Off => self.all_done(group, Ok(reading)),
                Ok(_) => self.again(group, |_| Stage::Count),
                Err(fault) => self.all_done(group, Err(fault)),
            },
            Kind::Settings { rule } => self.settle_settings(group, &readings[rule]),
            Kind::AskSettings => {
                let member = group.members[0];
                if let Some(Task::Settings { rule, .. }) = self.tasks[member].take() {
                    let reply = replies.map(|replies| replies.first());
                    let readings = reply.map(|reply| self.read_settings(config, &[rule], reply));
                    let reading = readings.and_then(|mut readings| readings.swap_remove(0));
                    self.settle_settings(group, &reading);
                }
            }
            Kind::Count { rule, sent_ms } => match &readings[rule] {
                Ok(reading) => self.settle_count(group, replies, sent_ms, reading),
                Err(fault) => self.all_done(group, Err(fault)),
            },
            Kind::Blind { settings, .. } => {
                let reading = Reading { settings, counted: None, unread: None };
                self.settle_count(group, replies, settings.interval_ms(), &reading);
            }
            Kind::Confirm { .. } => self.settle_confirm(group, replies),
            Kind::Replace { interval_ms, .. } => {
                let counted = replies.and_then(|replies| dialect::read_replaced(replies, interval_ms));
                if let Err(fault) = &counted {
                    self.doubt(fault);
                }
                self.settle_replaced(group, counted);
            }
            Kind::Command => self.settle_command(group, replies),
            Kind::Afterwards => {
                self.landings[group.members[0]] = Some(Landing::Done(Ok(Reply::Value(Value::Nil))))
            }
        }
    }

    /// A node that sends on to another has nothing to say about the settings.
    fn settle_settings(&mut self, group: &Group, reading: &Result<Reading, Fault>) {
        match reading {
            Ok(Reading { unread: Some(fault), .. }) if dialect::redirect(fault).is_some() => {
                self.all_done(group, Err(&fault.clone()));
            }
            Ok(reading) => self.all_done(group, Ok(reading)),
            Err(fault) => self.all_done(group, Err(fault)),
        }
    }

    fn settle_count(
        &mut self,
        group: &Group,
        replies: Result<&[Value], Fault>,
        sent_ms: u64,
        reading: &Reading,
    ) {
        let answer = replies.and_then(Answer::read);
        if answer.as_ref().is_ok_and(Answer::lacks_nx) {
            self.wire.sequence = Sequence::Older;
        }
        if let Err(fault) = &answer {
            self.doubt(fault);
        }
        let are_fresh = !matches!(group.kind, Kind::Blind { .. });
        let settings = &reading.settings;
        if settings.check == Check::Off {
            if answer.is_ok_and(|answer| answer.began(group.hits)) {
                self.wire.todo(Afterwards::Drop { key: self.key(group) });
            }
            return self.all_done(group, Ok(reading));
        }
        match answer.and_then(|answer| answer.judge(settings, group.hits, sent_ms, are_fresh)) {
            Err(fault) => self.all_done(group, Err(&fault)),
            Ok(Verdict::Replace) => self.again(group, |_| Stage::Replace(reading.clone())),
            Ok(Verdict::Sound(counted)) => {
                for (member, counted) in self.places(group, counted) {
                    self.done(member, Ok(Reading { counted: Some(counted), ..reading.clone() }));
                }
            }
            Ok(Verdict::Standing(counted)) => {
                for (member, counted) in self.places(group, counted) {
                    let reading = Reading { counted: Some(counted), ..reading.clone() };
                    self.landings[member] = Some(Landing::Done(Ok(Reply::Standing(reading))));
                }
            }
            Ok(Verdict::Expire(counted)) => {
                let mut confirm = false;
                for (member, counted) in self.places(group, counted) {
                    let reading = Reading { counted: Some(counted), ..reading.clone() };
                    // One who passes needn't wait, unless repairs have been failing.
                    if counted.count <= settings.limit && self.wire.repairs_fail.is_none() {
                        self.done(member, Ok(reading));
                    } else {
                        confirm = true;
                        self.once_more(member, Stage::Confirm(reading));
                    }
                }
                if !confirm {
                    let (key, interval_ms) = (self.key(group), settings.interval_ms());
                    self.wire.todo(Afterwards::Expire { key, interval_ms });
                }
            }
        }
    }

    fn settle_confirm(&mut self, group: &Group, replies: Result<&[Value], Fault>) {
        let confirmed = replies.and_then(|replies| match &replies[0] {
            Value::Int(_) => Ok(()),
            Value::ServerError(error) => Err(dialect::refused("PEXPIRE", error)),
            other => Err(dialect::nonsense("PEXPIRE", other)),
        });
        if let Err(fault) = &confirmed {
            self.doubt(fault);
        }
        self.wire.repairs_fail = confirmed.clone().err().filter(|fault| dialect::redirect(fault).is_none());
        for member in &group.members {
            if let Some(Task::Hit(Hit { stage: Stage::Confirm(reading), .. })) = self.tasks[*member].take() {
                self.done(*member, confirmed.clone().map(|()| reading));
            }
        }
    }

    fn settle_replaced(&mut self, group: &Group, counted: Result<Counted, Fault>) {
        let places = match counted {
            Ok(counted) => self.places(group, counted).into_iter().map(|(_, counted)| Ok(counted)).collect(),
            Err(fault) => vec![Err(fault); group.members.len()],
        };
        for (nth, (member, counted)) in group.members.iter().zip(places).enumerate() {
            if let Some(Task::Hit(Hit { stage: Stage::Replace(reading), .. })) = self.tasks[*member].take() {
                // Said once.
                let counted = counted.map(|counted| Counted { replaced: nth == 0, ..counted });
                self.done(*member, counted.map(|counted| Reading { counted: Some(counted), ..reading }));
            }
        }
    }

    fn settle_command(&mut self, group: &Group, replies: Result<&[Value], Fault>) {
        let member = group.members[0];
        if let Some(Task::Command(name, _)) = self.tasks[member].take() {
            let result = replies.and_then(|replies| match &replies[0] {
                Value::ServerError(error) => Err(dialect::refused(name, error)),
                value => Ok(Reply::Value(value.clone())),
            });
            self.landings[member] = Some(Landing::Done(result));
        }
    }

    /// Each member's own place in the count, in the order in which they came.
    fn places(&self, group: &Group, counted: Counted) -> Vec<(usize, Counted)> {
        let mut place = counted.count.saturating_sub(group.hits);
        let mut own = |member: &usize| {
            if let Some(Task::Hit(hit)) = &self.tasks[*member] {
                place += hit.hits;
            }
            // At the largest count nothing was added, and everybody is beyond any limit.
            let count = if counted.count == Window::MAX_COUNT { Window::MAX_COUNT } else { place };
            (*member, Counted { count, ..counted })
        };
        group.members.iter().map(&mut own).collect()
    }

    fn key(&self, group: &Group) -> String {
        match &self.tasks[group.members[0]] {
            Some(Task::Hit(hit)) => hit.key.clone(),
            _ => String::new(),
        }
    }

    fn done(&mut self, member: usize, result: Result<Reading, Fault>) {
        self.landings[member] = Some(Landing::Done(result.map(Reply::Reading)));
    }

    fn all_done(&mut self, group: &Group, result: Result<&Reading, &Fault>) {
        for member in &group.members {
            self.done(*member, result.cloned().map_err(Clone::clone));
        }
    }

    fn again(&mut self, group: &Group, stage: impl Fn(usize) -> Stage) {
        for member in &group.members {
            self.once_more(*member, stage(*member));
        }
    }

    fn once_more(&mut self, member: usize, stage: Stage) {
        if let Some(Task::Hit(hit)) = self.tasks[member].take() {
            self.landings[member] = Some(Landing::Again(Task::Hit(Hit { stage, ..hit })));
        }
    }

    /// The fault of replies that haven't come.
    fn missing(&self) -> Fault {
        self.fault.clone().unwrap_or_else(no_answer)
    }

    /// Notes a fault after which the connection isn't used any more.
    fn doubt(&mut self, fault: &Fault) {
        if fault.kind() != FaultKind::Refused {
            self.fault.get_or_insert_with(|| fault.clone());
        }
    }

    /// Gives the connection back, or drops it; what became of each task.
    fn end(mut self, carrier: &Carrier, idle: bool) -> Vec<Landing<Carrier>> {
        let landings: Vec<_> = self
            .landings
            .into_iter()
            .map(|landing| landing.unwrap_or_else(|| Landing::Done(Err(no_answer()))))
            .collect();
        let refusal = landings.iter().find_map(|landing| match landing {
            Landing::Done(Err(fault)) if carrier.in_cluster && dialect::redirect(fault).is_some() => None,
            Landing::Done(Err(fault)) if dialect::is_about_the_server(fault.code()) => Some(fault.clone()),
            _ => None,
        });
        if self.fault.is_none() && idle {
            self.fault = self.wire.send(&[]).err();
        }
        match self.fault.or(refusal) {
            Some(fault) => carrier.link.lose(self.wire, fault),
            None => carrier.link.give_back(self.wire),
        }
        landings
    }
}

pub(super) fn no_answer() -> Fault {
    Fault::new(FaultKind::Timeout, "timeout", "Redis didn't answer within the deadline")
}
