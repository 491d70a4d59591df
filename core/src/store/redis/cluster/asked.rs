//! One hit between two nodes: that of the settings and that of its counter.

use std::sync::Arc;
use std::time::Instant;

use super::super::carrier::{self, Reply, Stage, Task};
use super::super::link::Afterwards;
use super::super::{dialect, reading};
use super::{Begun, Shared};
use crate::settings::Check;
use crate::store::{Fault, Reading, Tracked};

/// One hit on its way through a cluster.
pub(super) struct Asked {
    pub(super) rule: Arc<Tracked>,
    pub(super) key: String,
    pub(super) hits: u64,
    pub(super) deadline: Instant,
    pub(super) shared: Arc<Shared>,
}

impl Asked {
    pub(super) fn settings(&self, asking: bool) -> Task {
        Task::Settings { rule: self.rule.clone(), asking }
    }

    pub(super) fn count(&self, stage: Stage, asking: bool) -> Task {
        Task::Hit(carrier::Hit {
            rule: self.rule.clone(),
            key: self.key.clone(),
            hits: self.hits,
            stage,
            asking,
        })
    }

    async fn finish(&self, key: &str, begun: Begun, task: impl Fn(bool) -> Task) -> Result<Reply, Fault> {
        self.shared.finish(key, begun, task, self.deadline).await
    }

    async fn carry(&self, key: &str, task: impl Fn(bool) -> Task) -> Result<Reply, Fault> {
        self.shared.carry(key, task, self.deadline).await
    }

    /// Leaves a write to the counter's node, which nobody waits for.
    fn leave(&self, afterwards: Afterwards) {
        if let Ok(node) = self.shared.node_of(&self.key) {
            node.lane.post(Task::Afterwards(afterwards).into(), self.deadline);
        }
    }

    /// Makes what was read under the settings last seen hold under the fresh ones.
    async fn set_right(&self, under: Reply, fresh: Reading) -> Result<Reading, Fault> {
        let end_was_set = matches!(under, Reply::Standing(_));
        let under = reading(under)?;
        let Some(mut counted) = under.counted else { return Ok(fresh) };
        let interval = fresh.settings.interval;
        let is_wrong = counted.ends_in > interval || (!end_was_set && under.settings.interval != interval);
        if is_wrong {
            counted.ends_in = interval;
        }
        let right = Reading { counted: Some(counted), ..fresh };
        if is_wrong {
            if counted.count > right.settings.limit {
                let confirm = |asking| self.count(Stage::Confirm(right.clone()), asking);
                return reading(self.carry(&self.key, confirm).await.map_err(dialect::after_counting)?);
            }
            let interval_ms = right.settings.interval_ms();
            self.leave(Afterwards::Expire { key: self.key.clone(), interval_ms });
        }
        Ok(right)
    }
}

/// A hit that both nodes have been asked for.
pub(super) struct BegunHit {
    pub(super) asked: Asked,
    pub(super) settings: Begun,
    /// None where the rule was last seen closed.
    pub(super) counted: Option<Begun>,
}

impl BegunHit {
    pub(super) async fn end(self) -> Result<Reading, Fault> {
        let Self { asked, settings, counted } = self;
        let settings = asked.finish(&asked.shared.config, settings, |asking| asked.settings(asking)).await;
        // Where the settings' node is away, its last word holds.
        let fresh = match settings.and_then(reading) {
            Ok(fresh) => fresh,
            Err(fault) => Reading { settings: asked.rule.last(), counted: None, unread: Some(fault) },
        };
        let counted = match counted {
            Some(begun) => asked.finish(&asked.key, begun, |asking| asked.count(Stage::Blind, asking)).await,
            None if fresh.settings.check == Check::Off => return Ok(fresh),
            None => asked.carry(&asked.key, |asking| asked.count(Stage::Blind, asking)).await,
        };
        if fresh.settings.check == Check::Off {
            if let Ok(Reply::Reading(Reading { counted: Some(counted), .. })) = &counted
                && counted.count == asked.hits
            {
                asked.leave(Afterwards::Drop { key: asked.key.clone() });
            }
            return Ok(fresh);
        }
        asked.set_right(counted?, fresh).await
    }
}
