//! Load, and what may happen to servers and settings meanwhile, at random: in the end the accounts have to balance.
//!
//! `cargo test` runs it for 20 seconds, `make soak MINUTES=n` for longer.

#[path = "../common/mod.rs"]
mod common;

mod beds;
mod ledger;
mod load;

use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

use beds::{Bed, Failover, Single};
use common::chance::Chance;
use ledger::Process;
use load::{Load, RETUNED, RULES};

/// A limiter's threads and caches are there within the first quarter; from then on it may take this much more.
const MORE_KIB: u64 = 32 * 1_024;

fn time() -> Duration {
    match std::env::var("TOLLGATE_SOAK_MINUTES") {
        Err(_) => Duration::from_secs(20),
        Ok(minutes) => match minutes.parse::<f64>() {
            Ok(minutes) if (0.1..=100_000.0).contains(&minutes) => Duration::from_secs_f64(60.0 * minutes),
            _ => panic!("TOLLGATE_SOAK_MINUTES={minutes:?} is not usable: use minutes from 0.1 to 100000"),
        },
    }
}

/// Changes a setting as an operator would, where a server takes it.
fn retune(bed: &dyn Bed, chance: &mut Chance) {
    let rule = RULES[*chance.pick(&RETUNED)];
    let (field, values): (_, &[&str]) = match chance.below(3) {
        0 => ("check", &["true", "true", "true", "false", "shadow"]),
        1 => ("interval", &["1", "2", "3"]),
        _ => ("limit", &["0", "1", "5", "50"]),
    };
    let field = format!("soak.{rule}.{field}");
    for mut master in bed.masters() {
        let _ =
            redis::cmd("HSET").arg("ratelimit:config").arg(&field).arg(chance.pick(values)).exec(&mut master);
    }
}

/// Lets things happen to the servers until it is over; what has.
fn trouble(bed: &mut dyn Bed, load: &Load, mut chance: Chance) -> Vec<&'static str> {
    let mut strikes = Vec::new();
    while !load.over.load(Relaxed) {
        for _ in 0..chance.below(5) {
            retune(bed, &mut chance);
            sleep(Duration::from_millis(chance.below(200)));
        }
        strikes.push(bed.strike(&mut chance));
    }
    strikes
}

/// Ends the callers, also when something fails meanwhile.
struct Over<'a>(&'a [Load]);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|load| load.over.store(true, Relaxed));
    }
}

#[test]
fn soak() {
    let time = time();
    let mut chance = Chance::new();
    let mut beds: Vec<Box<dyn Bed>> = vec![Box::new(Single::start()), Box::new(Failover::start())];
    let loads: Vec<Load> = beds.iter().map(|bed| Load::new(bed.url())).collect();
    let (early, late, strikes) = std::thread::scope(|scope| {
        let over = Over(&loads);
        loads.iter().for_each(|load| load.start(scope, &mut chance));
        let troubles: Vec<_> = beds
            .iter_mut()
            .zip(&loads)
            .map(|(bed, load)| {
                let chance = chance.fork();
                scope.spawn(move || trouble(&mut **bed, load, chance))
            })
            .collect();
        let end = Instant::now() + time;
        sleep(time / 4);
        let early = Process::now();
        while Instant::now() < end && !troubles.iter().any(|trouble| trouble.is_finished()) {
            sleep(Duration::from_millis(100));
        }
        let late = Process::now();
        drop(over);
        let strikes: Vec<_> = troubles.into_iter().map(|trouble| trouble.join().expect("no panic")).collect();
        (early, late, strikes)
    });

    let accounts = beds.iter().zip(&loads).zip(&strikes);
    let mut wrong: Vec<String> =
        accounts.flat_map(|((bed, load), strikes)| ledger::close(&**bed, load, strikes)).collect();
    println!(
        "\nprocess: threads {} → {}, memory {} → {} KiB",
        early.threads, late.threads, early.kib, late.kib
    );
    if late.threads > early.threads {
        wrong.push(format!("{} threads more", late.threads - early.threads));
    }
    if late.kib > early.kib + MORE_KIB {
        wrong.push(format!("{} KiB of memory more", late.kib - early.kib));
    }
    assert!(wrong.is_empty(), "the accounts don't balance: {wrong:#?}");
}
