//! What a soak comes to: compared with the servers, printed, and checked.

use std::sync::atomic::Ordering::Relaxed;

use redis::Connection;
use tollgate::Outcome;

use crate::beds::Bed;
use crate::common::eventually;
use crate::load::{Fate, Load, RULES, SINGLE, TALLY};

/// Threads of this process and the memory that it takes, in KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) threads: u64,
    pub(crate) kib: u64,
}

impl Process {
    pub(crate) fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let number = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect(name);
            line.split_whitespace().next().and_then(|word| word.parse().ok()).expect(name)
        };
        Self { threads: number("Threads:"), kib: number("VmRSS:") }
    }
}

/// Settles accounts with the servers; what is wrong.
pub(crate) fn close(bed: &dyn Bed, load: &Load, strikes: &[&str]) -> Vec<String> {
    eventually("limiting is back", || load.limiter.acquire(&load.rules[TALLY], "last").fault().is_none());
    let mut masters = Vec::new();
    eventually("the masters can be asked", || {
        masters = bed.masters();
        !masters.is_empty()
    });
    let mut wrong = Vec::new();
    let (mut answered, mut unsure, mut unsent, mut executed, mut double, mut lost) = (0, 0, 0, 0, 0, 0);
    let mut account = |masters: &mut [Connection], rule: usize, user: usize, fates: [u64; 3]| {
        let key = load.limiter.keys().counter("soak", RULES[rule], &user.to_string());
        let found = count(masters, &key);
        answered += fates[0];
        unsure += fates[1];
        unsent += fates[2];
        executed += found;
        double += found.saturating_sub(fates[0] + fates[1]);
        lost += fates[0].saturating_sub(found);
    };
    for (user, tally) in load.tallied.iter().enumerate() {
        let fates = [&tally.answered, &tally.unsure, &tally.unsent].map(|fate| fate.load(Relaxed));
        account(&mut masters, TALLY, user, fates);
    }
    for (user, fate) in load.once.iter().enumerate().filter(|(_, fate)| fate.load(Relaxed) > 0) {
        let is = |of: Fate| u64::from(fate.load(Relaxed) == of as u8);
        account(&mut masters, SINGLE, user, [is(Fate::Answered), is(Fate::Unsure), is(Fate::Unsent)]);
    }
    let orphans = without_end(&mut masters);
    // The next hit of each mends it.
    for key in &orphans {
        let mut parts = key.rsplitn(3, ':');
        if let (Some(user), Some(name)) = (parts.next(), parts.next())
            && let Some(rule) = RULES.iter().position(|rule| *rule == name)
        {
            load.limiter.acquire(&load.rules[rule], user);
        }
    }
    eventually("what hits left to do is done", || load.limiter.setting("settled").is_ok());
    let endless = without_end(&mut masters);

    let mut say = |what: &str, number: u64| {
        if number > 0 {
            wrong.push(format!("{}: {number} {what}", bed.name()));
        }
    };
    let (late, others) = (load.late.load(Relaxed), load.others.load(Relaxed));
    say("late answers", late);
    say("double counts", double);
    say("counts of others", others);
    say("keys without an end after quiet", endless.len() as u64);
    say("answered hits that are lost", if bed.is_durable() { lost } else { 0 });
    say("hits without any answer from the store", u64::from(answered == 0));

    println!("\n{}: {}", bed.name(), tally(strikes));
    println!("  hits sent      {}", load.sent.load(Relaxed));
    for (rule, outcomes) in RULES.iter().zip(&load.outcomes) {
        let seen = Outcome::ALL.iter().map(|outcome| (outcome, outcomes[*outcome as usize].load(Relaxed)));
        let seen: Vec<_> =
            seen.filter(|(_, hits)| *hits > 0).map(|(outcome, hits)| format!("{outcome} {hits}")).collect();
        println!("    {rule:12} {}", seen.join(", "));
    }
    println!(
        "  executed       {executed} of {answered} answered, {unsure} unanswered and {unsent} unsent hits on {} and {}",
        RULES[TALLY], RULES[SINGLE]
    );
    println!("  lost           {lost}{}", if bed.is_durable() { "" } else { " with a master (allowed)" });
    println!("  double counts  {double}, counts of others {others}");
    println!("  late answers   {late}, slowest {} ms", load.slowest_us.load(Relaxed) / 1_000);
    println!("  without an end {} after quiet, {} before their next hit", endless.len(), orphans.len());
    println!("  connections    {}", load.limiter.stats().store.connects);
    wrong
}

fn tally(strikes: &[&str]) -> String {
    let mut kinds: Vec<_> = strikes.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    let times = |kind: &&str| strikes.iter().filter(|strike| *strike == kind).count();
    kinds.iter().map(|kind| format!("{kind} × {}", times(kind))).collect::<Vec<_>>().join(", ")
}

/// A counter, on whichever server has it.
fn count(masters: &mut [Connection], key: &str) -> u64 {
    let ask =
        |master: &mut Connection| redis::cmd("HGET").arg(key).arg("count").query::<Option<u64>>(master).ok();
    masters.iter_mut().find_map(ask).expect("a master has the key's place").unwrap_or(0)
}

/// Counters that never end.
fn without_end(masters: &mut [Connection]) -> Vec<String> {
    let mut endless = Vec::new();
    for master in masters {
        let mut cursor = 0;
        loop {
            let (next, keys): (u64, Vec<String>) = redis::cmd("SCAN")
                .arg(cursor)
                .arg(&["MATCH", "ratelimit:soak:*", "COUNT", "1000"])
                .query(master)
                .expect("scanned");
            for key in keys {
                if redis::cmd("PTTL").arg(&key).query::<i64>(master).expect("asked") == -1 {
                    endless.push(key);
                }
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    endless.sort_unstable();
    endless.dedup();
    endless
}
