//! Whatever happens between the limiter and a real server, each hit is executed at most once, and told the truth in time.
//!
//! Every hit has a user, and so a counter, of its own: in the end the server itself says how often each one was executed.

mod common;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::chance::Chance;
use common::proxy::{Lane, Plan, Proxy, Trouble};
use common::{Server, block_on, command, eventually, patient};
use redis::Connection;
use tollgate::{Decision, Limiter, Outcome, Rule, RuleHandle};

const DEADLINE: Duration = Duration::from_millis(200);
/// Far above the deadline, for a machine that is busy with other things; far below what a caller who hangs would take.
const FAR_TOO_LATE: Duration = Duration::from_secs(5);
const CALLERS: usize = 8;
const WINDOW_MS: &str = "600000";

/// Every trouble there is, in either direction, and a server that isn't there. Each connection suffers one of them.
const TROUBLES: [Trouble; 9] = [
    Trouble::Cut,
    Trouble::Duplicate,
    Trouble::HalfClose,
    Trouble::Delay(Duration::from_millis(20)),
    Trouble::Cut,
    // Later than the deadline: what was held back is executed when nobody waits for it any more.
    Trouble::Delay(Duration::from_millis(300)),
    Trouble::Stall,
    Trouble::Drip(Duration::from_millis(1)),
    Trouble::Duplicate,
];

fn plan(number: usize, chance: &mut Chance) -> Plan {
    let kinds = 2 * TROUBLES.len() + 1;
    let Some(trouble) = TROUBLES.get(number % kinds / 2) else { return Plan::Mute };
    // The first bytes are the greeting: some 80 to the server and 1,000 to 6,000 to the client.
    match number.is_multiple_of(2) && *trouble != Trouble::Duplicate {
        true => Plan::Pass {
            to_server: Lane { after: chance.below(1_500) as usize, trouble: *trouble },
            to_client: Lane::SOUND,
        },
        false => Plan::Pass {
            to_server: Lane::SOUND,
            to_client: Lane { after: chance.below(6_000) as usize, trouble: *trouble },
        },
    }
}

/// Which of the two rules a user hits.
fn which(user: usize) -> usize {
    user / 3 % 2
}

/// What stands at a hit's key before it: nothing, a counter in a window, or one that lost its end.
fn before(user: usize) -> u64 {
    match user % 3 {
        0 => 0,
        // Different for each, so that another's count would be noticed.
        _ => user as u64 * 10,
    }
}

fn prepare(connection: &mut Connection, key: &str, user: usize) {
    if before(user) > 0 {
        let _: i64 = command(connection, &["HSET", key, "count", &before(user).to_string()]);
    }
    if user % 3 == 1 {
        let _: i64 = command(connection, &["PEXPIRE", key, WINDOW_MS]);
    }
}

struct Hits<'a> {
    limiter: &'a Limiter,
    /// One that lets everybody pass and one that turns everybody away.
    rules: [RuleHandle; 2],
    next: AtomicUsize,
    over: AtomicBool,
    decisions: Mutex<HashMap<usize, Decision>>,
}

/// Ends the callers, also when the test fails meanwhile.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Hits<'_> {
    fn rule(&self, user: usize) -> &RuleHandle {
        &self.rules[which(user)]
    }

    fn key(&self, user: usize) -> String {
        self.limiter.keys().counter("wms", self.rule(user).rule().name(), &user.to_string())
    }

    /// Hits with one new user after the other.
    fn go_on(&self, connection: &mut Connection, wait: impl Fn(&RuleHandle, &str) -> Decision) {
        while !self.over.load(Ordering::SeqCst) {
            let user = self.next.fetch_add(1, Ordering::SeqCst);
            prepare(connection, &self.key(user), user);
            let began = Instant::now();
            let decision = wait(self.rule(user), &user.to_string());
            assert!(began.elapsed() < FAR_TOO_LATE, "{user} waited for {:?}: {decision:?}", began.elapsed());
            // Where nothing is sent anyway, not as fast as can be.
            if decision.fault().is_some_and(tollgate::Fault::is_safe_to_repeat) {
                std::thread::sleep(Duration::from_millis(5));
            }
            self.decisions.lock().expect("no panic").insert(user, decision);
        }
    }

    /// What the server says of each hit.
    fn check(&self, connection: &mut Connection) {
        let decisions = self.decisions.lock().expect("no panic");
        let mut answered = 0;
        for (user, decision) in decisions.iter() {
            let key = self.key(*user);
            let count: Option<u64> = command(connection, &["HGET", &key, "count"]);
            let executed = count.unwrap_or(0).checked_sub(before(*user)).expect("counters only grow");
            let what = format!("{user} ({key}), executed {executed} times: {decision:?}");
            match decision.fault() {
                None => {
                    answered += 1;
                    let outcome = [Outcome::Allowed, Outcome::Limited][which(*user)];
                    assert_eq!(executed, 1, "{what}");
                    assert_eq!(
                        (decision.outcome(), decision.count()),
                        (outcome, before(*user) + 1),
                        "{what}"
                    );
                }
                Some(fault) if fault.is_safe_to_repeat() => assert_eq!(executed, 0, "{what}"),
                Some(_) => assert!(executed <= 1, "{what}"),
            }
        }
        assert!(answered > 0, "nothing came through at all");
        println!("{} hits, {answered} answered", decisions.len());
    }
}

fn check(version: &'static str, connections: usize) {
    let Some(binary) = common::binary(version) else { return };
    let server = Server::start(&binary, &[]);
    let mut chance = Chance::new();
    let plans = Mutex::new(chance.fork());
    let mut proxy =
        Proxy::start(server.port, Box::new(move |number| plan(number, &mut plans.lock().expect("no panic"))));
    let url = format!("{}?connections={connections}", proxy.url());
    let limiter = Limiter::builder().redis(url).deadline(DEADLINE).open().expect("opens");
    let rule = |name: &str, limit| {
        let rule = Rule::new("wms", name).interval(Duration::from_secs(600)).limit(limit);
        limiter.rule(rule).expect("a usable rule")
    };
    let hits = Hits {
        limiter: &limiter,
        rules: [rule("open", 1_000_000_000), rule("closed", 0)],
        next: AtomicUsize::new(0),
        over: AtomicBool::new(false),
        decisions: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (hits, mut connection) = (&hits, server.connect());
            scope.spawn(move || match caller % 2 {
                0 => hits.go_on(&mut connection, |rule, user| hits.limiter.acquire(rule, user)),
                _ => {
                    hits.go_on(&mut connection, |rule, user| block_on(hits.limiter.acquire_async(rule, user)))
                }
            });
        }
        let _over = Over(&hits.over);
        let every_trouble = || {
            let struck = proxy.struck();
            TROUBLES.iter().all(|trouble| struck.contains(trouble))
        };
        eventually("every trouble strikes", || every_trouble() && proxy.connections() > 2 * TROUBLES.len());
        proxy.heal();
        eventually("limiting is back", || {
            let fresh = hits.next.fetch_add(1, Ordering::SeqCst).to_string();
            limiter.acquire(&hits.rules[0], &fresh).fault().is_none() && limiter.stats().store.is_up()
        });
    });
    let mut connection = server.connect();
    proxy.end();
    // Then the server has read what had reached it.
    eventually("only this connection is left", || {
        let clients: String = command(&mut connection, &["CLIENT", "LIST"]);
        clients.lines().count() == 1
    });
    hits.check(&mut connection);

    // Whatever was cut off between counting and setting the end is mended by the key's next hit.
    let direct = patient().redis(server.url()).open().expect("opens");
    let rules = ["open", "closed"].map(|name| {
        direct.rule(Rule::new("wms", name).interval(Duration::from_secs(600))).expect("a usable rule")
    });
    for user in hits.decisions.lock().expect("no panic").keys() {
        direct.acquire(&rules[which(*user)], &user.to_string());
    }
    direct.setting("settled").expect("what the hits left to do is done");
    for user in hits.decisions.lock().expect("no panic").keys() {
        let left: i64 = command(&mut connection, &["PTTL", &hits.key(*user)]);
        assert!((1..=600_000).contains(&left), "{user}: {left}");
    }
}

#[test]
fn one_connection() {
    check("7", 1);
}

#[test]
fn three_connections() {
    check("7", 3);
}

#[test]
fn one_connection_to_an_older_server() {
    check("5.0.6", 1);
}

#[test]
fn three_connections_to_an_older_server() {
    check("5.0.6", 3);
}
