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

use super::{Carrier, Landing, Lane, MAX_BATCH};
use crate::store::{Fault, FaultKind};

const LATER: Duration = Duration::from_secs(3_600);

/// Answers each order with the sum of its doubled numbers, now and then not in the leader's time.
#[derive(Default)]
struct Doubler {
    flying: AtomicBool,
    executed: AtomicUsize,
    /// The numbers of each batch.
    departed: Mutex<Vec<Vec<u32>>>,
}

/// Numbers that travel together, each with whether it needs a second trip.
struct Order {
    numbers: Vec<(u32, bool)>,
    /// The sum of what is done.
    doubled: u32,
}

impl<const N: usize> From<[(u32, bool); N]> for Order {
    fn from(numbers: [(u32, bool); N]) -> Self {
        Self { numbers: numbers.to_vec(), doubled: 0 }
    }
}

impl From<(u32, bool)> for Order {
    fn from(number: (u32, bool)) -> Self {
        [number].into()
    }
}

struct Flight {
    tasks: Vec<Order>,
}

impl Carrier for Doubler {
    type Task = Order;
    type Answer = u32;
    type Flight = Flight;

    fn weight(order: &Order) -> usize {
        order.numbers.len()
    }

    fn depart(&self, tasks: Vec<Order>, _: Instant) -> Flight {
        assert!(!self.flying.swap(true, Ordering::SeqCst), "two lead at once");
        let [earlier @ .., _] = tasks.as_slice() else { panic!("an empty batch") };
        assert!(earlier.iter().map(Self::weight).sum::<usize>() < MAX_BATCH, "a full batch took more");
        let numbers = tasks.iter().flat_map(|order| &order.numbers).map(|(number, _)| *number).collect();
        self.departed.lock().expect("no panic").push(numbers);
        Flight { tasks }
    }

    fn advance(&self, _: &mut Flight, until: Instant) -> bool {
        assert!(self.flying.load(Ordering::SeqCst));
        thread::yield_now();
        until > Instant::now()
    }

    fn land(&self, flight: Flight, _: bool) -> Vec<Landing<Order, u32>> {
        assert!(self.flying.swap(false, Ordering::SeqCst), "landed twice");
        let land = |Order { numbers, mut doubled }: Order| {
            let (again, done): (Vec<_>, Vec<_>) = numbers.into_iter().partition(|(_, again)| *again);
            self.executed.fetch_add(done.len(), Ordering::SeqCst);
            doubled += done.into_iter().map(|(number, _)| 2 * number).sum::<u32>();
            if again.is_empty() {
                return Landing::Done(Ok(doubled));
            }
            let numbers = again.into_iter().map(|(number, _)| (number, false)).collect();
            Landing::Again(Order { numbers, doubled })
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
                let answer = lane.call((number, number % 3 == 0).into(), Instant::now() + LATER);
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
                match lane.call((number, number == 3).into(), deadline) {
                    Ok(answer) => assert_eq!(answer, 2 * number),
                    Err(fault) => assert!(
                        hurried && matches!(fault.kind(), FaultKind::Timeout | FaultKind::Unavailable)
                    ),
                }
            })
        };
        join((0..4).map(call).collect());
        let after = lane.call((9, false).into(), Instant::now() + LATER);
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
                let answer =
                    block_on(lane.call_async((number, number % 2 == 0).into(), Instant::now() + LATER));
                assert_eq!(answer.ok(), Some(2 * number));
            })
        };
        let thread = spawn(&lane, |lane| {
            assert_eq!(lane.call((7, true).into(), Instant::now() + LATER).ok(), Some(14));
        });
        let dropped = spawn(&lane, |lane| {
            let mut calling = Box::pin(lane.call_async((5, false).into(), Instant::now() + LATER));
            let _ = Pin::new(&mut calling).poll(&mut Context::from_waker(Waker::noop()));
        });
        join(vec![future(1), future(2), thread, dropped]);
        let after = lane.call((9, false).into(), Instant::now() + LATER);
        assert_eq!(after.ok(), Some(18), "the lane works on");
    });
}

/// A future whose time is up is let go.
#[test]
fn futures_without_time() {
    explore(|| {
        let lane = lane();
        let hurried = spawn(&lane, |lane| block_on(lane.call_async((1, true).into(), Instant::now())));
        let thread = spawn(&lane, |lane| lane.call((2, true).into(), Instant::now() + LATER));
        let hurried: Result<u32, Fault> = hurried.join().expect("no panic");
        assert!(hurried.map_or(true, |answer| answer == 2));
        assert_eq!(thread.join().expect("no panic").ok(), Some(4));
    });
}

/// Several of one caller are one task: they leave in one batch, are each executed once, and one that needs a second trip
/// takes none of the others along again. Batches fill up beside them.
#[test]
fn several_of_one_caller() {
    explore(|| {
        let lane = lane();
        let call = |number: u32| {
            spawn(&lane, move |lane| {
                let order = [(number, number == 1), (10 + number, false), (20 + number, number == 2)];
                let answer = lane.call(order.into(), Instant::now() + LATER);
                assert_eq!(answer.ok(), Some(2 * (30 + 3 * number)));
            })
        };
        let alone = spawn(&lane, |lane| {
            assert_eq!(lane.call((7, true).into(), Instant::now() + LATER).ok(), Some(14));
        });
        let hurried = spawn(&lane, |lane| lane.call([(8, true), (9, false)].into(), Instant::now()));
        let mut threads: Vec<_> = (0..3).map(call).collect();
        threads.push(alone);
        join(threads);
        let hurried: Result<u32, Fault> = hurried.join().expect("no panic");
        assert!(hurried.map_or(true, |answer| answer == 34));
        for number in 0..3 {
            let departed = lane.carrier().departed.lock().expect("no panic");
            let first = departed.iter().find(|batch| batch.contains(&(10 + number))).expect("sent");
            assert!([number, 20 + number].iter().all(|other| first.contains(other)), "{departed:?}");
        }
        let counted = lane.carrier().executed.load(Ordering::SeqCst);
        assert!((10..=12).contains(&counted), "each number once: {counted}");
    });
}

/// Futures that queue in one step leave in one batch, where there is room for them.
#[test]
fn futures_of_one_call() {
    explore(|| {
        let lane = lane();
        let thread = spawn(&lane, |lane| {
            assert_eq!(lane.call((7, false).into(), Instant::now() + LATER).ok(), Some(14));
        });
        let callings = lane.call_all_async(vec![(1, false).into(), (2, true).into()], Instant::now() + LATER);
        let answers: Vec<_> = callings.into_iter().map(|calling| block_on(calling).ok()).collect();
        assert_eq!(answers, [Some(2), Some(4)]);
        join(vec![thread]);
        let departed = lane.carrier().departed.lock().expect("no panic");
        let first = departed.iter().find(|batch| batch.contains(&1)).expect("sent");
        assert!(first.contains(&2), "{departed:?}");
    });
}
