//! Callers, threads and futures, and what becomes of their hits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Wake};
use std::thread::{Scope, sleep};
use std::time::{Duration, Instant};

use tollgate::{Acquiring, Decision, FaultKind, Limiter, OnFault, Outcome, Rule, RuleHandle};

use crate::common::chance::Chance;

pub(crate) const DEADLINE: Duration = Duration::from_millis(150);
const LATE: Duration = Duration::from_millis(1_150);
const THREADS: usize = 16;
const FUTURES: usize = 64;
/// Users of the rule that is tallied.
pub(crate) const TALLIED: usize = 64;
/// Users that hit once, at most; their results are kept.
pub(crate) const ONCE: usize = 20_000;
const OTHERS: u64 = 50;

/// The rules, by their place in [`Load::rules`].
pub(crate) const TALLY: usize = 0;
pub(crate) const SINGLE: usize = 1;
/// Operators change these.
pub(crate) const RETUNED: [usize; 2] = [2, 3];
pub(crate) const RULES: [&str; 4] = ["Tally", "Once", "Order.list", "Stock.query"];

pub(crate) struct Load {
    pub(crate) limiter: Limiter,
    pub(crate) rules: [RuleHandle; 4],
    pub(crate) over: AtomicBool,
    pub(crate) sent: AtomicU64,
    pub(crate) late: AtomicU64,
    pub(crate) slowest_us: AtomicU64,
    /// Answers with a count that can't be the caller's own.
    pub(crate) others: AtomicU64,
    pub(crate) outcomes: [[AtomicU64; Outcome::ALL.len()]; 4],
    pub(crate) tallied: Vec<Tally>,
    /// What became of each user's only hit: a [`Fate`], or 0.
    pub(crate) once: Vec<AtomicU8>,
    next_once: AtomicUsize,
}

/// What became of one user's hits, as far as the caller knows.
#[derive(Default)]
pub(crate) struct Tally {
    /// Executed.
    pub(crate) answered: AtomicU64,
    /// Executed or not.
    pub(crate) unsure: AtomicU64,
    /// Not executed.
    pub(crate) unsent: AtomicU64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered = 1,
    Unsure,
    Unsent,
}

impl Fate {
    fn of(decision: &Decision) -> Self {
        match decision.fault().map(tollgate::Fault::kind) {
            None => Self::Answered,
            Some(FaultKind::Unavailable | FaultKind::Refused) => Self::Unsent,
            Some(_) => Self::Unsure,
        }
    }
}

/// One hit: of a rule, by a user of it.
struct Hit {
    rule: usize,
    user: usize,
    began: Instant,
}

impl Load {
    pub(crate) fn new(url: String) -> Self {
        let limiter = Limiter::builder()
            .redis(url)
            .deadline(DEADLINE)
            .max_counters(1_000)
            .on_fault(OnFault::Allow)
            .open()
            .expect("opens");
        let hour = Duration::from_secs(3_600);
        let rule = |at: usize, interval, limit| Rule::new("soak", RULES[at]).interval(interval).limit(limit);
        let rules = [
            rule(TALLY, hour, 1_000_000_000),
            rule(SINGLE, hour, 1),
            rule(RETUNED[0], Duration::from_secs(1), 5).on_fault(OnFault::Local),
            rule(RETUNED[1], Duration::from_secs(2), 2),
        ];
        Self {
            rules: rules.map(|rule| limiter.rule(rule).expect("a usable rule")),
            limiter,
            over: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            late: AtomicU64::new(0),
            slowest_us: AtomicU64::new(0),
            others: AtomicU64::new(0),
            outcomes: Default::default(),
            tallied: (0..TALLIED).map(|_| Tally::default()).collect(),
            once: (0..ONCE).map(|_| AtomicU8::new(0)).collect(),
            next_once: AtomicUsize::new(0),
        }
    }

    /// Starts the callers; they go on until it is over.
    pub(crate) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, chance: &mut Chance) {
        for _ in 0..THREADS {
            let mut chance = chance.fork();
            scope.spawn(move || {
                while !self.over.load(Relaxed) {
                    let hit = self.next(&mut chance);
                    let decision = self.limiter.acquire(&self.rules[hit.rule], &hit.user.to_string());
                    self.note(&hit, &decision);
                    sleep(Duration::from_millis(1 + chance.below(4)));
                }
            });
        }
        let mut chance = chance.fork();
        scope.spawn(move || self.go_on_with_futures(&mut chance));
    }

    fn next(&self, chance: &mut Chance) -> Hit {
        let began = Instant::now();
        if chance.below(50) == 0 {
            let user = self.next_once.fetch_add(1, Relaxed);
            if user < ONCE {
                return Hit { rule: SINGLE, user, began };
            }
        }
        match chance.below(4) {
            0 => Hit { rule: RETUNED[0], user: chance.below(OTHERS) as usize, began },
            1 => Hit { rule: RETUNED[1], user: chance.below(OTHERS) as usize, began },
            _ => Hit { rule: TALLY, user: chance.below(TALLIED as u64) as usize, began },
        }
    }

    fn note(&self, hit: &Hit, decision: &Decision) {
        let took = hit.began.elapsed();
        self.sent.fetch_add(1, Relaxed);
        self.late.fetch_add(u64::from(took > LATE), Relaxed);
        self.slowest_us.fetch_max(took.as_micros() as u64, Relaxed);
        self.outcomes[hit.rule][decision.outcome() as usize].fetch_add(1, Relaxed);
        let fate = Fate::of(decision);
        if hit.rule == SINGLE {
            self.once[hit.user].store(fate as u8, Relaxed);
            self.others.fetch_add(u64::from(fate == Fate::Answered && decision.count() != 1), Relaxed);
        }
        if hit.rule == TALLY {
            let tally = &self.tallied[hit.user];
            let fates = [&tally.answered, &tally.unsure, &tally.unsent];
            fates[fate as usize - 1].fetch_add(1, Relaxed);
        }
    }

    /// Keeps so many futures under way, on one thread.
    fn go_on_with_futures(&self, chance: &mut Chance) {
        let (ready, turns) = channel();
        let begin = |hit: Hit| -> (Hit, Acquiring) {
            let future = self.limiter.acquire_async(&self.rules[hit.rule], &hit.user.to_string());
            (hit, future)
        };
        let mut under_way: Vec<_> = (0..FUTURES).map(|_| begin(self.next(chance))).collect();
        (0..FUTURES).for_each(|slot| ready.send(slot).expect("received below"));
        let (mut served, mut left) = (0, FUTURES);
        while let Ok(slot) = turns.recv_timeout(DEADLINE * 100) {
            let waker = Arc::new(Turn { slot, ready: ready.clone() }).into();
            let (hit, future) = &mut under_way[slot];
            let Poll::Ready(decision) = std::pin::Pin::new(future).poll(&mut Context::from_waker(&waker))
            else {
                continue;
            };
            self.note(hit, &decision);
            // Those under way are seen to their end, or else they would be executed without being accounted for.
            if self.over.load(Relaxed) {
                left -= 1;
                if left == 0 {
                    return;
                }
                continue;
            }
            served += 1;
            if served % FUTURES == 0 {
                sleep(Duration::from_millis(5));
            }
            under_way[slot] = begin(self.next(chance));
            ready.send(slot).expect("received here");
        }
        panic!("futures that nobody wakes");
    }
}

/// Says whose turn it is.
struct Turn {
    slot: usize,
    ready: Sender<usize>,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        let _ = self.ready.send(self.slot);
    }
}
