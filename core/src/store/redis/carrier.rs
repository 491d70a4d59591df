//! Makes one batch of what callers want: merges it, sends it, and gives everybody their own part of the replies.

mod arrival;
mod plan;
mod several;

use std::sync::Arc;
use std::time::Instant;

use redis::Value;

use self::arrival::Arrival;
use self::plan::Plan;
use self::several::Bill;
pub(super) use self::several::{Board, Several};
use super::batch::{self, Landing};
use super::dialect;
use super::link::{Afterwards, Link, Wire};
use crate::store::{Fault, FaultKind, Reading, Tracked};

/// What a caller queues: one task, or several hits none of which leaves without the others.
pub(super) enum Load {
    One(Task),
    Several(Several),
}

impl From<Task> for Load {
    fn from(task: Task) -> Self {
        Self::One(task)
    }
}

/// What a caller wants.
pub(super) enum Task {
    Hit(Hit),
    /// The settings of a rule alone, of a cluster's node that may only be about to get them.
    Settings {
        rule: Arc<Tracked>,
        asking: bool,
    },
    /// Commands as they stand, such as those of the configuration hash.
    Command(Command),
    /// A write whose reply nobody needs.
    Afterwards(Afterwards),
}

/// What a caller gets.
pub(super) enum Reply {
    Reading(Reading),
    /// The same, of a window whose end was set before.
    Standing(Reading),
    /// To commands: one for each.
    Values(Vec<Value>),
}

/// Commands on one key that are none of a hit's.
#[derive(Clone)]
pub(super) struct Command {
    /// What a fault calls the first.
    pub(super) name: &'static str,
    /// Each as bytes.
    pub(super) commands: Vec<Vec<u8>>,
    /// Whether a cluster's node is asked that is only about to get the key.
    pub(super) asking: bool,
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
    /// Which tasks came together.
    bills: Vec<Bill>,
    plan: Plan,
    replies: Vec<Value>,
    fault: Option<Fault>,
}

impl batch::Carrier for Carrier {
    type Task = Load;
    type Answer = Reply;
    type Flight = Flight;

    fn weight(load: &Load) -> usize {
        match load {
            Load::One(_) => 1,
            Load::Several(several) => several.hits.len(),
        }
    }

    fn depart(&self, loads: Vec<Load>, until: Instant) -> Flight {
        let (tasks, bills) = several::unpack(loads);
        let mut wire = match self.link.check_out(until) {
            Ok(wire) => wire,
            Err(fault) => {
                return Flight {
                    wire: None,
                    tasks,
                    bills,
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
        Flight { wire: Some(wire), tasks, bills, plan, replies, fault }
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

    fn land(&self, flight: Flight, idle: bool) -> Vec<Landing<Load, Reply>> {
        let Flight { wire, tasks, bills, plan, replies, fault } = flight;
        let Some(mut wire) = wire else {
            let fault = fault.unwrap_or_else(no_answer);
            let unsent = |task: &Task| match task {
                // This was its second trip.
                Task::Hit(Hit { stage: Stage::Confirm(_), .. }) => dialect::after_counting(fault.clone()),
                _ => fault.clone(),
            };
            return several::pack(bills, tasks.iter().map(|task| Landing::Done(Err(unsent(task)))));
        };
        let fault = fault.or_else(|| (replies.len() < plan.replies).then(no_answer));
        // With replies to spare nobody can tell whose these are.
        let (replies, fault) = match fault.is_none().then(|| wire.surplus()).flatten() {
            Some(surplus) => (Vec::new(), Some(surplus)),
            None => (replies, fault),
        };
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
        several::pack(bills, arrival.end(self, idle).into_iter())
    }
}

fn no_answer() -> Fault {
    Fault::new(FaultKind::Timeout, "timeout", "Redis didn't answer within the deadline")
}
