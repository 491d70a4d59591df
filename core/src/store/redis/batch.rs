//! Callers queue, one of them leads: it takes what has queued, sends it as one batch, reads the replies, hands leadership
//! on, and wakes the served. There is no timer and no added latency, and a lone caller never changes thread.
//!
//! What a batch is made of is the [`Carrier`]'s business; here is only who works when. Every wait ends by the waiter's own
//! deadline: a leader whose time is up passes the batch under way on to a caller who has time left.

mod driver;
mod job;
#[cfg(all(test, shuttle))]
mod model;
mod sync;

use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::driver::{Driver, Timer};
use self::job::{Job, Phase};
use self::sync::{Condvar, Mutex};
use crate::store::{Fault, FaultKind};

pub(super) use self::job::Calling;

/// Hits that one batch takes at most; a task of several goes whole. The model checker fills batches with fewer.
const MAX_BATCH: usize = if cfg!(shuttle) { 3 } else { 512 };
/// Callers that wait at most. More than that is a stampede that no deadline would let through.
const MAX_WAITING: usize = 10_000;

/// Carries tasks to a server and brings their answers back.
pub(super) trait Carrier: Send + Sync + 'static {
    type Task: Send + 'static;
    type Answer: Send + 'static;
    /// A batch under way. It owns the connection.
    type Flight: Send + 'static;

    /// Hits that a task stands for.
    fn weight(_: &Self::Task) -> usize {
        1
    }

    /// Sends tasks, by `until` at the latest.
    fn depart(&self, tasks: Vec<Self::Task>, until: Instant) -> Self::Flight;

    /// Reads replies; true when all are there or none will come any more, false when `until` came first.
    fn advance(&self, flight: &mut Self::Flight, until: Instant) -> bool;

    /// What became of each task. Where replies are missing the connection is dropped. `idle` says that nobody is waiting
    /// to be sent, so that what is left to do has to leave now.
    fn land(&self, flight: Self::Flight, idle: bool) -> Vec<Landing<Self::Task, Self::Answer>>;
}

/// What became of a task.
pub(super) enum Landing<T, A> {
    Done(Result<A, Fault>),
    /// It needs another trip.
    Again(T),
}

/// The queue before one connection.
pub(super) struct Lane<C: Carrier> {
    shared: Arc<Shared<C>>,
}

struct Shared<C: Carrier> {
    carrier: C,
    queue: Mutex<Queue<C>>,
    driver: Mutex<Driver<C>>,
    /// Wakes the driver thread.
    steer: Condvar,
}

struct Queue<C: Carrier> {
    waiting: VecDeque<Entry<C>>,
    /// Whether somebody leads. A baton that is being passed counts.
    led: bool,
}

struct Entry<C: Carrier> {
    job: Arc<Job<C>>,
    task: C::Task,
}

/// The right and the duty to lead.
enum Baton<C: Carrier> {
    /// From the queue on.
    Lead,
    /// With a batch that is under way.
    Finish(Batch<C>),
}

struct Batch<C: Carrier> {
    jobs: Vec<Arc<Job<C>>>,
    flight: C::Flight,
}

impl<C: Carrier> Lane<C> {
    pub(super) fn new(carrier: C) -> Self {
        Self {
            shared: Arc::new(Shared {
                carrier,
                queue: Mutex::new(Queue { waiting: VecDeque::new(), led: false }),
                driver: Mutex::new(Driver {
                    started: false,
                    ended: false,
                    baton: None,
                    timers: BinaryHeap::new(),
                    to_wake: VecDeque::new(),
                }),
                steer: Condvar::new(),
            }),
        }
    }

    pub(super) fn carrier(&self) -> &C {
        &self.shared.carrier
    }

    /// Has `task` carried, on this thread where nobody leads.
    pub(super) fn call(&self, task: C::Task, deadline: Instant) -> Result<C::Answer, Fault> {
        let job = Job::new(deadline, false);
        if self.shared.enqueue([Entry { job: job.clone(), task }])? {
            return self.shared.lead(&job, Baton::Lead);
        }
        let mut state = job.state.lock();
        loop {
            if let Some(baton) = state.baton.take() {
                drop(state);
                return self.shared.lead(&job, baton);
            }
            if let Some(result) = state.result() {
                return result;
            }
            if job.wake.wait_until(&mut state, deadline) {
                // Out of time, unless one of the two came in that moment.
                if state.baton.is_none() {
                    return state.leave();
                }
            }
        }
    }

    /// The same for a future: a thread of the lane's own leads for it.
    pub(super) fn call_async(&self, task: C::Task, deadline: Instant) -> Calling<C> {
        self.call_all_async(vec![task], deadline).swap_remove(0)
    }

    /// The same for several, which queue in one step.
    pub(super) fn call_all_async(&self, tasks: Vec<C::Task>, deadline: Instant) -> Vec<Calling<C>> {
        let jobs: Vec<_> = tasks.iter().map(|_| Job::new(deadline, true)).collect();
        let started = self.shared.start_driver().and_then(|()| {
            self.shared.driver.lock().timers.extend(jobs.iter().cloned().map(Timer));
            let entries = jobs.iter().cloned().zip(tasks).map(|(job, task)| Entry { job, task });
            let lead = self.shared.enqueue(entries)?;
            self.shared.drive(lead.then_some(Baton::Lead));
            Ok(())
        });
        if let Err(fault) = started {
            jobs.iter().for_each(|job| job.state.lock().phase = Phase::Done(Err(fault.clone())));
        }
        jobs.into_iter().map(|job| Calling { job, is_needed: true }).collect()
    }

    /// Has `task` carried for nobody in particular.
    pub(super) fn post(&self, task: C::Task, deadline: Instant) {
        self.call_async(task, deadline).is_needed = false;
    }
}

impl<C: Carrier> Drop for Lane<C> {
    fn drop(&mut self) {
        self.shared.driver.lock().ended = true;
        self.shared.steer.notify_one();
    }
}

impl<C: Carrier> Shared<C> {
    /// Queues tasks one behind the other; true if their caller has to lead.
    fn enqueue(&self, entries: impl IntoIterator<Item = Entry<C>>) -> Result<bool, Fault> {
        let mut queue = self.queue.lock();
        if queue.waiting.len() >= MAX_WAITING {
            return Err(Fault::new(
                FaultKind::Unavailable,
                "busy",
                format!("{MAX_WAITING} callers are waiting for Redis already"),
            ));
        }
        queue.waiting.extend(entries);
        Ok(!std::mem::replace(&mut queue.led, true))
    }

    /// Leads until the caller's own task is answered or its time is up.
    fn lead(&self, own: &Arc<Job<C>>, baton: Baton<C>) -> Result<C::Answer, Fault> {
        self.lead_on(own, baton, &mut Leadership(Some(self)))
    }

    fn lead_on(
        &self,
        own: &Arc<Job<C>>,
        baton: Baton<C>,
        leadership: &mut Leadership<'_, C>,
    ) -> Result<C::Answer, Fault> {
        let mut under_way = match baton {
            Baton::Lead => None,
            Baton::Finish(batch) => Some(batch),
        };
        loop {
            if under_way.is_none() {
                // Others' tasks aren't sent by somebody who has no time left to read the answers.
                if own.deadline <= Instant::now() {
                    // It leaves first, so as not to hand leadership to itself.
                    let left = own.state.lock().leave();
                    leadership.hand_on();
                    return left;
                }
                under_way = self.board(own.deadline);
            }
            let Some(mut batch) = under_way.take() else {
                leadership.end();
                return own.state.lock().leave();
            };
            let over = self.carrier.advance(&mut batch.flight, own.deadline);
            if !over && let Some(successor) = batch.successor(own) {
                let left = own.state.lock().leave();
                self.pass(successor, batch, leadership);
                return left;
            }
            if !self.land(batch, Some(own), leadership) {
                return own.state.lock().leave();
            }
        }
    }

    /// Takes what has queued and sends it. None when nothing is left: then nobody leads any more.
    fn board(&self, until: Instant) -> Option<Batch<C>> {
        let mut queue = self.queue.lock();
        let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
        let mut room = MAX_BATCH;
        let now = Instant::now();
        while room > 0
            && let Some(Entry { job, task }) = queue.waiting.pop_front()
        {
            let mut state = job.state.lock();
            match state.phase {
                // It is about to give up by itself; sending it would only count it.
                Phase::Queued if job.deadline <= now => {}
                Phase::Queued | Phase::Sent => {
                    state.phase = Phase::Sent;
                    drop(state);
                    room = room.saturating_sub(C::weight(&task));
                    jobs.push(job);
                    tasks.push(task);
                }
                Phase::Gone | Phase::Done(_) => {}
            }
        }
        if jobs.is_empty() {
            queue.led = false;
            return None;
        }
        drop(queue);
        // A leader whose time is nearly up may still send: the replies are read by somebody else.
        let until = until.max(now + Duration::from_millis(1));
        Some(Batch { flight: self.carrier.depart(tasks, until), jobs })
    }

    /// Ends a batch: what needs another trip goes to the head of the queue, leadership goes on (unless `own` isn't served
    /// yet; then this is true), and then the served are woken.
    fn land(&self, batch: Batch<C>, own: Option<&Arc<Job<C>>>, leadership: &mut Leadership<'_, C>) -> bool {
        let idle = self.queue.lock().waiting.is_empty();
        let landings = self.carrier.land(batch.flight, idle);
        let mut served = Vec::with_capacity(batch.jobs.len());
        let mut again = Vec::new();
        let mut leads_on = own.is_some();
        for (job, landing) in batch.jobs.into_iter().zip(landings) {
            match landing {
                Landing::Done(result) => {
                    leads_on &= !own.is_some_and(|own| Arc::ptr_eq(own, &job));
                    served.push((job, result));
                }
                Landing::Again(task) => again.push(Entry { job, task }),
            }
        }
        if !again.is_empty() {
            let mut queue = self.queue.lock();
            again.into_iter().rev().for_each(|entry| queue.waiting.push_front(entry));
        }
        if !leads_on {
            leadership.hand_on();
        }
        let mut futures = Vec::new();
        for (job, result) in served {
            job.answer(result);
            if job.is_future {
                futures.push(job);
            }
        }
        if !futures.is_empty() {
            self.driver.lock().to_wake.extend(futures);
            self.steer.notify_one();
        }
        leads_on
    }

    /// Makes the first waiting thread the leader, or else the driver.
    fn hand_on(&self) {
        let mut queue = self.queue.lock();
        let mut futures = false;
        for Entry { job, .. } in &queue.waiting {
            if job.is_future {
                futures = true;
            } else if job.accept(Baton::Lead) {
                return;
            }
        }
        queue.led = futures;
        drop(queue);
        if futures {
            self.drive(Some(Baton::Lead));
        }
    }

    /// Passes a batch under way to a caller, or to whoever else waits for it; with nobody left it ends.
    fn pass(&self, successor: Arc<Job<C>>, batch: Batch<C>, leadership: &mut Leadership<'_, C>) {
        let mut next = Some(successor);
        while let Some(job) = next {
            if job.is_future {
                leadership.end();
                return self.drive(Some(Baton::Finish(batch)));
            }
            let mut state = job.state.lock();
            if state.is_waiting() {
                leadership.end();
                state.baton = Some(Baton::Finish(batch));
                drop(state);
                job.wake.notify_one();
                return;
            }
            drop(state);
            next = batch.successor(&job);
        }
        self.land(batch, None, leadership);
    }

    /// Gives the driver something to do, or has it look at its timers.
    fn drive(&self, baton: Option<Baton<C>>) {
        let mut driver = self.driver.lock();
        if baton.is_some() {
            driver.baton = baton;
        }
        drop(driver);
        self.steer.notify_one();
    }

    /// A time by which everyone who waits now has left.
    fn latest(&self) -> Instant {
        let queue = self.queue.lock();
        let latest = queue.waiting.iter().map(|entry| entry.job.deadline).max();
        latest.unwrap_or_else(Instant::now)
    }
}

/// Being the leader. Should a carrier or a waker panic, leadership is handed on, so that the queue doesn't wait for a leader
/// who is gone.
struct Leadership<'a, C: Carrier>(Option<&'a Shared<C>>);

impl<C: Carrier> Leadership<'_, C> {
    fn hand_on(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.hand_on();
        }
    }

    /// Somebody else leads by now, or nobody.
    fn end(&mut self) {
        self.0 = None;
    }
}

impl<C: Carrier> Drop for Leadership<'_, C> {
    fn drop(&mut self) {
        self.hand_on();
    }
}

impl<C: Carrier> Batch<C> {
    /// Somebody in the batch who still waits after `own` has to leave.
    fn successor(&self, own: &Arc<Job<C>>) -> Option<Arc<Job<C>>> {
        let later =
            |job: &&Arc<Job<C>>| job.deadline > own.deadline && !Arc::ptr_eq(job, own) && job.is_waiting();
        let mut waiting = self.jobs.iter().filter(later);
        let first = waiting.clone().find(|job| !job.is_future).or_else(|| waiting.next());
        first.cloned()
    }

    /// A time by which everybody has left. One who left early, a dropped future, is no reason to give the connection up.
    fn latest(&self) -> Instant {
        self.jobs.iter().map(|job| job.deadline).max().unwrap_or_else(Instant::now)
    }
}
