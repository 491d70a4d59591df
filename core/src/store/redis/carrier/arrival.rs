//! Gives each task of a batch its own part of the replies.

use std::sync::Arc;
use std::time::Duration;

use redis::Value;

use super::super::batch::Landing;
use super::super::dialect::{self, Answer, Sequence, Verdict};
use super::super::link::{Afterwards, Wire};
use super::plan::{Group, Kind};
use super::{Carrier, Command, Hit, Reply, Stage, Task, no_answer};
use crate::settings::Check;
use crate::store::{Counted, Fault, FaultKind, Reading, Tracked};
use crate::window::Window;

/// How long refused defaults are not written again.
const DEFAULTS_PAUSE: Duration = Duration::from_secs(10);

/// A batch whose replies are being given to their tasks.
pub(super) struct Arrival {
    pub(super) wire: Box<Wire>,
    /// Why the connection can't be used any more.
    pub(super) fault: Option<Fault>,
    pub(super) tasks: Vec<Option<Task>>,
    pub(super) landings: Vec<Option<Landing<Task, Reply>>>,
}

impl Arrival {
    /// What holds for each rule; defaults that are missing are noted to be written.
    pub(super) fn read_settings(
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
                    let settings = rule.last();
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

    pub(super) fn settle(
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
                Ok(_) => self.again(group, || Stage::Count),
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
            Kind::Command { .. } => self.settle_command(group, replies),
            Kind::Afterwards => {
                self.landings[group.members[0]] = Some(Landing::Done(Ok(Reply::Values(Vec::new()))))
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
            Ok(Verdict::Replace) => self.again(group, || Stage::Replace(reading.clone())),
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
        let confirmed = confirmed.map_err(dialect::after_counting);
        for member in &group.members {
            if let Some(Task::Hit(Hit { stage: Stage::Confirm(reading), .. })) = self.tasks[*member].take() {
                self.done(*member, confirmed.clone().map(|()| reading));
            }
        }
    }

    fn settle_replaced(&mut self, group: &Group, counted: Result<Counted, Fault>) {
        let places = match counted {
            Ok(counted) => self.places(group, counted).into_iter().map(|(_, counted)| Ok(counted)).collect(),
            Err(fault) => vec![Err(dialect::after_counting(fault)); group.members.len()],
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
        if let Some(Task::Command(Command { name, .. })) = self.tasks[member].take() {
            let refused = |value: &Value| match value {
                Value::ServerError(error) => Some(dialect::refused(name, error)),
                _ => None,
            };
            let result = replies.and_then(|replies| match replies.iter().find_map(refused) {
                Some(fault) => Err(fault),
                None => Ok(Reply::Values(replies.to_vec())),
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

    fn again(&mut self, group: &Group, stage: impl Fn() -> Stage) {
        for member in &group.members {
            self.once_more(*member, stage());
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
    pub(super) fn end(mut self, carrier: &Carrier, idle: bool) -> Vec<Landing<Task, Reply>> {
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
