//! A caller's place in the queue, and the future that waits in it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use super::sync::{Condvar, Mutex};
use super::{Baton, Carrier};
use crate::store::{Fault, FaultKind};

/// One caller's place, shared between the caller and whoever leads.
pub(super) struct Job<C: Carrier> {
    pub(super) deadline: Instant,
    /// Whether the caller is a future rather than a parked thread, so that the driver has to lead for it.
    pub(super) is_future: bool,
    pub(super) state: Mutex<State<C>>,
    pub(super) wake: Condvar,
}

pub(super) struct State<C: Carrier> {
    pub(super) phase: Phase<C>,
    pub(super) baton: Option<Baton<C>>,
    pub(super) waker: Option<Waker>,
}

pub(super) enum Phase<C: Carrier> {
    Queued,
    /// Part of a batch: from here on it may have been executed.
    Sent,
    Done(Result<C::Answer, Fault>),
    /// The caller has left.
    Gone,
}

impl<C: Carrier> Job<C> {
    pub(super) fn new(deadline: Instant, is_future: bool) -> Arc<Self> {
        Arc::new(Self {
            deadline,
            is_future,
            state: Mutex::new(State { phase: Phase::Queued, baton: None, waker: None }),
            wake: Condvar::new(),
        })
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.state.lock().is_waiting()
    }

    /// Hands the baton to the waiting caller; false where that has left.
    pub(super) fn accept(&self, baton: Baton<C>) -> bool {
        let mut state = self.state.lock();
        if !state.is_waiting() {
            return false;
        }
        state.baton = Some(baton);
        drop(state);
        self.wake.notify_one();
        true
    }

    /// Gives a caller that still waits its answer; a thread wakes up, a future has to be woken by the driver.
    pub(super) fn answer(&self, result: Result<C::Answer, Fault>) {
        self.answer_as(|_| result);
    }

    /// Answers by what has become of the task by then, in one step: it may be about to be sent.
    fn answer_as(&self, result: impl FnOnce(&State<C>) -> Result<C::Answer, Fault>) {
        let mut state = self.state.lock();
        if !state.is_waiting() {
            return;
        }
        state.phase = Phase::Done(result(&state));
        drop(state);
        self.wake.notify_one();
    }

    /// Wakes a future. That is foreign code, which may take its time or panic.
    pub(super) fn wake_future(&self) {
        let waker = self.state.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Lets a future go whose time is up.
    pub(super) fn expire(&self) {
        self.answer_as(|state| Err(state.out_of_time()));
    }
}

impl<C: Carrier> State<C> {
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Queued | Phase::Sent)
    }

    /// The answer, where it is there.
    pub(super) fn result(&mut self) -> Option<Result<C::Answer, Fault>> {
        match std::mem::replace(&mut self.phase, Phase::Gone) {
            Phase::Done(result) => Some(result),
            phase => {
                self.phase = phase;
                None
            }
        }
    }

    /// The answer, or else why the caller leaves without one.
    pub(super) fn leave(&mut self) -> Result<C::Answer, Fault> {
        let fault = self.out_of_time();
        match std::mem::replace(&mut self.phase, Phase::Gone) {
            Phase::Done(result) => result,
            _ => Err(fault),
        }
    }

    pub(super) fn out_of_time(&self) -> Fault {
        match self.phase {
            Phase::Sent => {
                Fault::new(FaultKind::Timeout, "timeout", "Redis didn't answer within the deadline")
            }
            _ => Fault::new(
                FaultKind::Unavailable,
                "busy",
                "the connection to Redis was in use for the whole deadline",
            ),
        }
    }
}

/// A task's answer to come. Dropping it lets the task go: what wasn't sent isn't sent any more.
pub(in super::super) struct Calling<C: Carrier> {
    pub(super) job: Arc<Job<C>>,
    /// Whether the task goes with its caller.
    pub(super) is_needed: bool,
}

impl<C: Carrier> Future for Calling<C> {
    type Output = Result<C::Answer, Fault>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.job.state.lock();
        match state.result() {
            Some(result) => Poll::Ready(result),
            None => {
                if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                    state.waker = Some(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl<C: Carrier> Drop for Calling<C> {
    fn drop(&mut self) {
        let mut state = self.job.state.lock();
        if state.is_waiting() && self.is_needed {
            state.phase = Phase::Gone;
        }
        let waker = state.waker.take();
        drop(state);
        // A waker's drop may run foreign code: not under the lock.
        drop(waker);
    }
}
