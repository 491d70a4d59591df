//! The thread that leads for futures.

use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Instant;

use super::job::Job;
use super::{Batch, Baton, Carrier, Shared, sync};
use crate::store::{Fault, FaultKind};

/// Leads for futures, on a thread that is started with the first of them.
pub(super) struct Driver<C: Carrier> {
    pub(super) started: bool,
    pub(super) ended: bool,
    pub(super) baton: Option<Baton<C>>,
    /// Futures by deadline. Those that are answered stay until then.
    pub(super) timers: BinaryHeap<Timer<C>>,
}

pub(super) struct Timer<C: Carrier>(pub(super) Arc<Job<C>>);

impl<C: Carrier> Shared<C> {
    pub(super) fn start_driver(self: &Arc<Self>) -> Result<(), Fault> {
        let mut driver = self.driver.lock();
        if driver.started {
            return Ok(());
        }
        let shared = self.clone();
        sync::spawn("tollgate-driver", move || shared.drive_on()).map_err(|error| {
            Fault::new(
                FaultKind::Unavailable,
                "thread",
                format!("the driver thread can't be started: {error}"),
            )
        })?;
        driver.started = true;
        Ok(())
    }

    /// The driver thread: leads when it is its turn, and lets futures go whose time is up.
    fn drive_on(&self) {
        let mut under_way: Option<Batch<C>> = None;
        loop {
            let mut driver = self.driver.lock();
            let (due, next) = driver.due(Instant::now());
            if !due.is_empty() {
                drop(driver);
                due.into_iter().for_each(Job::expire);
                continue;
            }
            if under_way.is_none() {
                match driver.baton.take() {
                    None if driver.ended => return,
                    None => {
                        match next {
                            Some(next) => drop(self.steer.wait_until(&mut driver, next)),
                            None => self.steer.wait(&mut driver),
                        }
                        continue;
                    }
                    Some(Baton::Finish(batch)) => under_way = Some(batch),
                    Some(Baton::Lead) => {}
                }
            }
            drop(driver);
            let Some(mut batch) = under_way.take().or_else(|| self.board(self.latest())) else { continue };
            let latest = batch.latest();
            let until = next.map_or(latest, |next| next.min(latest));
            if !self.carrier.advance(&mut batch.flight, until) && batch.latest() > Instant::now() {
                under_way = Some(batch);
                continue;
            }
            self.land(batch, None);
        }
    }
}

impl<C: Carrier> Driver<C> {
    /// Futures whose time is up, and when the next one's is.
    fn due(&mut self, now: Instant) -> (Vec<Arc<Job<C>>>, Option<Instant>) {
        let mut due = Vec::new();
        while let Some(timer) = self.timers.peek() {
            if timer.0.deadline > now {
                return (due, Some(timer.0.deadline));
            }
            due.extend(self.timers.pop().map(|timer| timer.0));
        }
        (due, None)
    }
}

// The earliest deadline is the greatest timer.
impl<C: Carrier> Ord for Timer<C> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.0.deadline.cmp(&self.0.deadline)
    }
}

impl<C: Carrier> PartialOrd for Timer<C> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<C: Carrier> PartialEq for Timer<C> {
    fn eq(&self, other: &Self) -> bool {
        self.0.deadline == other.0.deadline
    }
}

impl<C: Carrier> Eq for Timer<C> {}
