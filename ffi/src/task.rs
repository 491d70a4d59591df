//! Runs a future to its end without a runtime: whoever wakes it polls it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

use crate::boundary::caught;
use crate::status::Failure;

/// The future's value, where it is there already. A future that has none yet can be started.
pub(crate) fn ready<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Runs `future` and then `done`, exactly once: with the value, or with what a panic inside the future left. On this
/// thread where the value is there already, else on the thread that brings it.
pub(crate) fn start<F, D>(future: F, done: D)
where
    F: Future + Unpin + Send + 'static,
    D: FnOnce(Result<F::Output, Failure>) + Send + 'static,
{
    Arc::new(Task { wakes: AtomicUsize::new(0), parts: Mutex::new(Some((future, done))) }).run();
}

struct Task<F, D> {
    /// Wakes since the future was last found pending. Whoever makes it 1 polls, others only leave word; once the
    /// future is over it never returns to 0.
    wakes: AtomicUsize,
    /// None once the future is over. Only the thread that polls asks for the lock.
    parts: Mutex<Option<(F, D)>>,
}

impl<F, D> Task<F, D>
where
    F: Future + Unpin + Send + 'static,
    D: FnOnce(Result<F::Output, Failure>) + Send + 'static,
{
    fn run(self: Arc<Self>) {
        if self.wakes.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let waker = Waker::from(self.clone());
        loop {
            let seen = self.wakes.load(Ordering::Acquire);
            let polled = caught(|| {
                let mut parts = self.parts.lock();
                let future = parts.as_mut().map(|(future, _)| Pin::new(future));
                Ok(future.map_or(Poll::Pending, |future| future.poll(&mut Context::from_waker(&waker))))
            });
            let result = match polled {
                Ok(Poll::Pending) => {
                    let still = self.wakes.compare_exchange(seen, 0, Ordering::AcqRel, Ordering::Acquire);
                    if still.is_ok() {
                        return;
                    }
                    continue;
                }
                Ok(Poll::Ready(value)) => Ok(value),
                Err(failure) => Err(failure),
            };
            return self.finish(result);
        }
    }

    fn finish(&self, result: Result<F::Output, Failure>) {
        let Some((future, done)) = self.parts.lock().take() else { return };
        // What a panic in here leaves is in the log; there is nobody else to tell.
        let _ = caught(|| {
            // First, so that a closed limiter's last hit has let go of it before anybody hears of the decision.
            drop(future);
            Ok(())
        });
        let _ = caught(|| {
            done(result);
            Ok(())
        });
    }
}

impl<F, D> Wake for Task<F, D>
where
    F: Future + Unpin + Send + 'static,
    D: FnOnce(Result<F::Output, Failure>) + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        self.run();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::status::tollgate_status::TOLLGATE_PANIC;

    /// A future that does what its function says when it is polled.
    struct Scripted<P>(P);

    impl<P: FnMut(&Waker) -> Poll<u32> + Unpin> Future for Scripted<P> {
        type Output = u32;

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
            (self.0)(context.waker())
        }
    }

    fn started(
        poll: impl FnMut(&Waker) -> Poll<u32> + Unpin + Send + 'static,
    ) -> Receiver<Result<u32, Failure>> {
        let (sender, results) = channel();
        start(Scripted(poll), move |result| sender.send(result).expect("a test that listens"));
        results
    }

    #[test]
    fn what_is_ready_is_done_at_once() {
        assert_eq!(ready(&mut std::future::ready(7)), Some(7));
        assert_eq!(ready(&mut std::future::pending::<u32>()), None);
        let results = started(|_| Poll::Ready(7));
        assert_eq!(results.try_recv().expect("done").ok(), Some(7));
    }

    #[test]
    fn a_wake_amid_the_poll_is_not_lost_and_does_not_poll_twice_at_a_time() {
        let mut polls = 0;
        let results = started(move |waker| {
            polls += 1;
            if polls < 3 {
                waker.wake_by_ref();
                waker.wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(polls)
        });
        assert_eq!(results.try_recv().expect("done").ok(), Some(3));
    }

    #[test]
    fn wakes_from_everywhere_end_in_one_value() {
        for _ in 0..500 {
            let (sender, wakers) = channel::<Waker>();
            let mut polls = 0;
            let results = started(move |waker| {
                polls += 1;
                if polls == 1 {
                    (0..3).for_each(|_| sender.send(waker.clone()).expect("a test that wakes"));
                }
                if polls < 2 { Poll::Pending } else { Poll::Ready(polls) }
            });
            std::thread::scope(|threads| {
                wakers.iter().take(3).for_each(|waker| {
                    threads.spawn(move || {
                        waker.wake_by_ref();
                        waker.wake();
                    });
                });
            });
            assert_eq!(results.recv().expect("done").ok(), Some(2));
            assert!(results.recv().is_err(), "done is gone, so it can't be called again");
        }
    }

    #[test]
    fn a_panic_is_a_failure_and_stays_inside() {
        let (sender, wakers) = channel::<Waker>();
        let mut polls = 0;
        let results = started(move |waker| {
            polls += 1;
            sender.send(waker.clone()).expect("a test that wakes");
            assert!(polls < 2, "asked to");
            Poll::Pending
        });
        let waker = wakers.recv().expect("polled once");
        assert!(results.try_recv().is_err());
        waker.wake_by_ref();
        let failure = results.recv().expect("done").expect_err("a panic");
        assert_eq!(failure.status, TOLLGATE_PANIC);
        assert!(failure.text.contains("asked to"), "{failure}");
        waker.wake();
        assert!(results.recv().is_err());
    }
}
