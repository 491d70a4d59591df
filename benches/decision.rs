//! What a whole decision costs on the memory store: from the user's name to the answer.

#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use tollgate::{Identity, Limiter, ManualClock, MemoryStore, Outcome, Rule, RuleHandle};

const NAME: &str = "WmsInventoryController.queryInventoryOpLogList";

/// A rule with `limit` hits in a window that outlasts the measurement.
fn rule(limiter: &Limiter, limit: u64) -> RuleHandle {
    let day = Duration::from_secs(86_400);
    limiter.rule(Rule::new("wms", NAME).interval(day).limit(limit)).expect("the rule is legal")
}

fn on_memory() -> Limiter {
    Limiter::builder().memory().open().expect("a memory store always opens")
}

fn one_thread(c: &mut Criterion) {
    let mut group = c.benchmark_group("decision");
    let mut measure =
        |name: &str, limiter: &Limiter, rule: &RuleHandle, who: Identity<'static>, outcome: Outcome| {
            assert_eq!(limiter.acquire(rule, who).outcome(), outcome);
            group.bench_function(name, |b| b.iter(|| limiter.acquire(rule, black_box(who))));
        };
    let user = Identity::from("u1001");

    let limiter = on_memory();
    let open = rule(&limiter, i64::MAX as u64);
    measure("hit", &limiter, &open, user, Outcome::Allowed);
    measure("no identity", &limiter, &open, Identity::none(), Outcome::NoIdentity);

    let limiter = on_memory();
    let full = rule(&limiter, 0);
    measure("limited", &limiter, &full, user, Outcome::Limited);
    limiter.set(&format!("{}.check", full.label()), "false").expect("memory takes a setting");
    measure("switched off", &limiter, &full, user, Outcome::Off);

    let clock = Arc::new(ManualClock::new());
    let store = MemoryStore::with_clock(1_000_000, clock.clone());
    let limiter = Limiter::builder().store(store).open().expect("a memory store always opens");
    let once = limiter.rule(Rule::new("wms", NAME)).expect("the rule is legal");
    group.bench_function("first hit of a window", |b| {
        b.iter(|| {
            clock.advance(Duration::from_secs(3));
            limiter.acquire(&once, black_box(user))
        });
    });
    group.finish();
}

/// Two threads at once; the time is that of one decision in each.
fn two_threads(c: &mut Criterion) {
    let mut group = c.benchmark_group("decision, 2 threads");
    for (name, users) in [("two users", ["u1001", "u1002"]), ("one user", ["u1001", "u1001"])] {
        let limiter = on_memory();
        let open = rule(&limiter, i64::MAX as u64);
        group.bench_function(name, |b| b.iter_custom(|hits| together(&limiter, &open, users, hits)));
    }
    group.finish();
}

fn together(limiter: &Limiter, rule: &RuleHandle, users: [&'static str; 2], hits: u64) -> Duration {
    let start = &Barrier::new(users.len());
    let slowest = thread::scope(|scope| {
        let threads = users.map(|user| {
            scope.spawn(move || {
                start.wait();
                let began = Instant::now();
                for _ in 0..hits {
                    black_box(limiter.acquire(rule, black_box(user)));
                }
                began.elapsed()
            })
        });
        threads.map(|thread| thread.join().expect("a decision doesn't panic")).into_iter().max()
    });
    slowest.unwrap_or_default()
}

criterion_group!(benches, one_thread, two_threads);
criterion_main!(benches);
