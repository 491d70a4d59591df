//! The thread that leads for futures.

use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use super::job::Job;
use super::{Batch, Baton, Carrier, Leadership, Shared, sync};
use crate::store::{Fault, FaultKind};

/// Leads for futures, on a thread that is started with the first of them.
pub(super) struct Driver<C: Carrier> {
    pub(super) started: bool,
    pub(super) ended: bool,
    pub(super) baton: Option<Baton<C>>,
    /// Futures by deadline. Those that are answered stay until then.
    pub(super) timers: BinaryHeap<Timer<C>>,
    /// Futures that have their answer. They are woken here, so that their code runs on no caller's thread.
    pub(super) to_wake: VecDeque<Arc<Job<C>>>,
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
    fn drive_on(self: &Arc<Self>) {
        let _restart = Restart(self);
        let mut leadership = Leadership(None);
        let mut under_way: Option<Batch<C>> = None;
        loop {
            let mut driver = self.driver.lock();
            let next = driver.expire(Instant::now());
            if let Some(job) = driver.to_wake.pop_front() {
                drop(driver);
                job.wake_future();
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
                leadership = Leadership(Some(self));
            }
            drop(driver);
            let Some(mut batch) = under_way.take().or_else(|| self.board(self.latest())) else {
                leadership.end();
                continue;
            };
            let latest = batch.latest();
            let until = next.map_or(latest, |next| next.min(latest));
            if !self.carrier.advance(&mut batch.flight, until) && batch.latest() > Instant::now() {
                under_way = Some(batch);
                continue;
            }
            self.land(batch, None, &mut leadership);
        }
    }
}

/// Starts another driver should a carrier or a waker panic on this one: futures that wait have to be let go in time.
struct Restart<'a, C: Carrier>(&'a Arc<Shared<C>>);

impl<C: Carrier> Drop for Restart<'_, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.driver.lock().started = false;
            // Without a thread the next future tries again.
            let _ = self.0.start_driver();
        }
    }
}

impl<C: Carrier> Driver<C> {
    /// Lets futures go whose time is up; when the next one's is.
    fn expire(&mut self, now: Instant) -> Option<Instant> {
        while let Some(timer) = self.timers.peek() {
            if timer.0.deadline > now {
                return Some(timer.0.deadline);
            }
            if let Some(Timer(job)) = self.timers.pop() {
                job.expire();
                self.to_wake.push_back(job);
            }
        }
        None
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
