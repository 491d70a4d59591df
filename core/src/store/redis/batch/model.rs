//! The queue under the model checker: every interleaving that shuttle finds of callers, futures, deadlines and drops.
//! Run by `make model`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;

use super::{Carrier, Landing, Lane};
use crate::store::{Fault, FaultKind};

const LATER: Duration = Duration::from_secs(3_600);

/// Answers each task with its double, now and then only on a second trip or not in the leader's time.
#[derive(Default)]
struct Doubler {
    flying: AtomicBool,
    executed: AtomicUsize,
}

struct Flight {
    tasks: Vec<(u32, bool)>,
}

impl Carrier for Doubler {
    type Task = (u32, bool);
    type Answer = u32;
    type Flight = Flight;

    fn depart(&self, tasks: Vec<(u32, bool)>, _: Instant) -> Flight {
        assert!(!self.flying.swap(true, Ordering::SeqCst), "two lead at once");
        assert!(!tasks.is_empty());
        Flight { tasks }
    }

    fn advance(&self, _: &mut Flight, until: Instant) -> bool {
        assert!(self.flying.load(Ordering::SeqCst));
        thread::yield_now();
        until > Instant::now()
    }

    fn land(&self, flight: Flight, _: bool) -> Vec<Landing<Self>> {
        assert!(self.flying.swap(false, Ordering::SeqCst), "landed twice");
        let land = |(number, again)| {
            if again {
                return Landing::Again((number, false));
            }
            self.executed.fetch_add(1, Ordering::SeqCst);
            Landing::Done(Ok(2 * number))
        };
        flight.tasks.into_iter().map(land).collect()
    }
}

/// A runtime for one future: parks until it is woken.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Signal(Mutex<bool>, Condvar);
    impl Wake for Signal {
        fn wake(self: Arc<Self>) {
            *self.0.lock().expect("no panic") = true;
            self.1.notify_one();
        }
    }
    let signal = Arc::new(Signal(Mutex::new(false), Condvar::new()));
    let waker = Waker::from(signal.clone());
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        let mut woken = signal.0.lock().expect("no panic");
        while !*woken {
            woken = signal.1.wait(woken).expect("no panic");
        }
        *woken = false;
    }
}

fn explore(scenario: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(scenario, 5_000);
}

fn lane() -> Arc<Lane<Doubler>> {
    Arc::new(Lane::new(Doubler::default()))
}

fn spawn<T: Send + 'static>(
    lane: &Arc<Lane<Doubler>>,
    work: impl FnOnce(&Lane<Doubler>) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let lane = lane.clone();
    thread::spawn(move || work(&lane))
}

fn join<T>(threads: Vec<thread::JoinHandle<T>>) -> Vec<T> {
    threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
}

/// Nobody who has time waits in vain (a lost wake-up would be a deadlock, which shuttle reports), everybody gets their own
/// answer, and two never lead at once.
#[test]
fn threads() {
    explore(|| {
        let lane = lane();
        let call = |number: u32| {
            spawn(&lane, move |lane| {
                let answer = lane.call((number, number % 3 == 0), Instant::now() + LATER);
                assert_eq!(answer.ok(), Some(2 * number));
            })
        };
        join((0..4).map(call).collect());
        assert_eq!(lane.carrier().executed.load(Ordering::SeqCst), 4);
    });
}

/// Callers without time leave with a fault; the others are served all the same.
#[test]
fn deadlines() {
    explore(|| {
        let lane = lane();
        let call = |number: u32| {
            spawn(&lane, move |lane| {
                let hurried = number % 2 == 0;
                let deadline = if hurried { Instant::now() } else { Instant::now() + LATER };
                match lane.call((number, number == 3), deadline) {
                    Ok(answer) => assert_eq!(answer, 2 * number),
                    Err(fault) => assert!(
                        hurried && matches!(fault.kind(), FaultKind::Timeout | FaultKind::Unavailable)
                    ),
                }
            })
        };
        join((0..4).map(call).collect());
        let after = lane.call((9, false), Instant::now() + LATER);
        assert_eq!(after.ok(), Some(18), "the lane works on");
    });
}

/// Futures are led for by the driver, beside threads that lead for themselves; one is dropped.
#[test]
fn futures() {
    explore(|| {
        let lane = lane();
        let future = |number: u32| {
            spawn(&lane, move |lane| {
                let answer = block_on(lane.call_async((number, number % 2 == 0), Instant::now() + LATER));
                assert_eq!(answer.ok(), Some(2 * number));
            })
        };
        let thread = spawn(&lane, |lane| {
            assert_eq!(lane.call((7, true), Instant::now() + LATER).ok(), Some(14));
        });
        let dropped = spawn(&lane, |lane| {
            let mut calling = Box::pin(lane.call_async((5, false), Instant::now() + LATER));
            let _ = Pin::new(&mut calling).poll(&mut Context::from_waker(Waker::noop()));
        });
        join(vec![future(1), future(2), thread, dropped]);
        let after = lane.call((9, false), Instant::now() + LATER);
        assert_eq!(after.ok(), Some(18), "the lane works on");
    });
}

/// A future whose time is up is let go.
#[test]
fn futures_without_time() {
    explore(|| {
        let lane = lane();
        let hurried = spawn(&lane, |lane| block_on(lane.call_async((1, true), Instant::now())));
        let thread = spawn(&lane, |lane| lane.call((2, true), Instant::now() + LATER));
        let hurried: Result<u32, Fault> = hurried.join().expect("no panic");
        assert!(hurried.map_or(true, |answer| answer == 2));
        assert_eq!(thread.join().expect("no panic").ok(), Some(4));
    });
}
