//! One contract for every store: random traces of hits, time, operators' writes, lost expiries and foreign values, compared
//! with the window machine as the model. A new store adds a `Bed` and a test of one line.

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Binary, Server, command, patient};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::Connection;
use tollgate::{
    Check, Counter, Decision, Fault, Limiter, ManualClock, MemoryStore, Outcome, Rule, RuleHandle, Settings,
    Store, Window,
};

const USERS: [&str; 3] = ["u1", "张三", "a:b"];
const RULES: [&str; 2] = ["Order.list", "Stock.query"];

/// A store under test, with a hand on its time and, where others can write to it, on its data.
trait Bed {
    fn limiter(&self) -> &Limiter;
    /// Time on the store's own clock, in milliseconds.
    fn now(&self) -> u64;
    fn advance(&mut self, ms: u64);
    fn write_setting(&mut self, field: &str, value: &str);
    /// Deletes the configuration; false where only its owner could.
    fn delete_settings(&mut self) -> bool;
    /// Runs a command on a counter's key; false where nobody else can write.
    fn meddle(&mut self, key: &str, words: &[&str]) -> bool;
    /// A store that counts in the same round trip in which it learns that a rule was closed.
    fn counts_while_it_learns(&self) -> bool;
    /// A store that replaces something foreign while it learns that a rule was closed.
    fn replaces_while_it_learns(&self) -> bool {
        false
    }
    /// A server that takes `03` for a number.
    fn is_lax(&self) -> bool {
        false
    }
}

struct Memory {
    limiter: Limiter,
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    now: u64,
}

impl Memory {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new());
        let store = Arc::new(MemoryStore::with_clock(1_000, clock.clone()));
        let limiter = Limiter::builder().store(store.clone()).open().expect("opens");
        Self { limiter, store, clock, now: 0 }
    }
}

impl Bed for Memory {
    fn limiter(&self) -> &Limiter {
        &self.limiter
    }
    fn now(&self) -> u64 {
        self.now
    }
    fn advance(&mut self, ms: u64) {
        self.now += ms;
        self.clock.advance(Duration::from_millis(ms));
    }
    fn write_setting(&mut self, field: &str, value: &str) {
        self.store.set(field, value, Instant::now()).expect("room");
    }
    fn delete_settings(&mut self) -> bool {
        false
    }
    fn meddle(&mut self, _: &str, _: &[&str]) -> bool {
        false
    }
    fn counts_while_it_learns(&self) -> bool {
        false
    }
}

/// A real server. Its time is advanced by shortening what every key has left.
struct Redis {
    limiter: Limiter,
    connection: Connection,
    started: Instant,
    advanced: u64,
    is_lax: bool,
    is_cluster: bool,
    _server: Arc<Server>,
}

impl Redis {
    fn new(server: &Arc<Server>, url: &str) -> Self {
        let mut connection = server.connect();
        let _: () = command(&mut connection, &["FLUSHALL"]);
        let limiter = patient().redis(url).open().expect("opens");
        let _: i64 = command(&mut connection, &["HSET", "lax", "n", "03"]);
        let is_lax = redis::cmd("HINCRBY").arg("lax").arg("n").arg(1).query::<i64>(&mut connection).is_ok();
        let started = Instant::now();
        Self {
            limiter,
            connection,
            started,
            advanced: 0,
            is_lax,
            is_cluster: url.contains("cluster"),
            _server: server.clone(),
        }
    }
}

impl Bed for Redis {
    fn limiter(&self) -> &Limiter {
        &self.limiter
    }
    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64 + self.advanced
    }
    fn advance(&mut self, ms: u64) {
        for (rule, user) in RULES.iter().flat_map(|rule| USERS.iter().map(move |user| (rule, user))) {
            let key = self.limiter.keys().counter("wms", rule, user);
            let _: redis::Value =
                command(&mut self.connection, &["EVAL", SHORTEN, "1", &key, &ms.to_string()]);
        }
        self.advanced += ms;
    }
    fn write_setting(&mut self, field: &str, value: &str) {
        let _: i64 = command(&mut self.connection, &["HSET", "ratelimit:config", field, value]);
    }
    fn delete_settings(&mut self) -> bool {
        let _: i64 = command(&mut self.connection, &["DEL", "ratelimit:config"]);
        true
    }
    fn meddle(&mut self, key: &str, words: &[&str]) -> bool {
        let words: Vec<&str> = words.iter().map(|word| if *word == "KEY" { key } else { word }).collect();
        let _: redis::Value = command(&mut self.connection, &words);
        true
    }
    fn counts_while_it_learns(&self) -> bool {
        true
    }
    fn replaces_while_it_learns(&self) -> bool {
        self.is_cluster
    }
    fn is_lax(&self) -> bool {
        self.is_lax
    }
}

/// Takes time from what a key has left. (Only this test's hand on the clock is a script.)
const SHORTEN: &str = "local left = redis.call('PTTL', KEYS[1])
if left > 0 then redis.call('PEXPIRE', KEYS[1], left - ARGV[1]) end";

#[derive(Debug, Clone)]
enum Step {
    Hit {
        rule: usize,
        user: usize,
    },
    /// Several in one call; a user beyond the known ones is nobody.
    HitAll {
        pairs: Vec<(usize, usize)>,
        waits: bool,
    },
    Look {
        rule: usize,
        user: usize,
    },
    Clear {
        rule: usize,
        user: usize,
    },
    Wait(u64),
    Switch {
        rule: usize,
        value: &'static str,
    },
    Interval {
        rule: usize,
        value: &'static str,
    },
    Limit {
        rule: usize,
        value: &'static str,
    },
    DeleteSettings,
    LoseEnd {
        rule: usize,
        user: usize,
    },
    StretchEnd {
        rule: usize,
        user: usize,
    },
    Orphan {
        rule: usize,
        user: usize,
        count: &'static str,
    },
    Spoil {
        rule: usize,
        user: usize,
        how: &'static [&'static str],
    },
}

/// What may stand where a counter should: other types, and fields that are no number or one that no counter has.
/// (Redis 2.8 takes `03` for 3: such a user waits one window.)
const FOREIGN: [&[&str]; 6] = [
    &["SET", "KEY", "5"],
    &["RPUSH", "KEY", "x"],
    &["HSET", "KEY", "count", "03"],
    &["HSET", "KEY", "count", ""],
    &["HSET", "KEY", "count", "many"],
    &["HSET", "KEY", "count", "-1000"],
];

fn step() -> impl Strategy<Value = Step> {
    let rule = 0..RULES.len();
    let user = 0..USERS.len();
    let on = (rule.clone(), user);
    prop_oneof![
        24 => on.clone().prop_map(|(rule, user)| Step::Hit { rule, user }),
        10 => (prop::collection::vec((rule.clone(), 0..=USERS.len()), 1..6), any::<bool>())
            .prop_map(|(pairs, waits)| Step::HitAll { pairs, waits }),
        // Never near a window's end, so that a slow machine sees the same windows as the model.
        6 => prop::sample::select(vec![20_000, 50_000, 110_000, 400_000]).prop_map(Step::Wait),
        2 => (rule.clone(), prop::sample::select(vec!["false", "0", "true", "shadow", "fasle", ""]))
            .prop_map(|(rule, value)| Step::Switch { rule, value }),
        2 => (rule.clone(), prop::sample::select(vec!["60", "300", "0", "x"]))
            .prop_map(|(rule, value)| Step::Interval { rule, value }),
        2 => (rule, prop::sample::select(vec!["0", "1", "3", "-1"]))
            .prop_map(|(rule, value)| Step::Limit { rule, value }),
        4 => on.clone().prop_map(|(rule, user)| Step::Look { rule, user }),
        2 => on.clone().prop_map(|(rule, user)| Step::Clear { rule, user }),
        1 => Just(Step::DeleteSettings),
        1 => on.clone().prop_map(|(rule, user)| Step::LoseEnd { rule, user }),
        1 => on.clone().prop_map(|(rule, user)| Step::StretchEnd { rule, user }),
        1 => (on.clone(), prop::sample::select(vec!["57", "9223372036854775807"]))
            .prop_map(|((rule, user), count)| Step::Orphan { rule, user, count }),
        2 => (on, prop::sample::select(FOREIGN.to_vec())).prop_map(|((rule, user), how)| Step::Spoil { rule, user, how }),
    ]
}

/// What the model holds of one rule.
struct Model {
    handle: RuleHandle,
    check: Check,
    interval: u64,
    limit: u64,
    /// Whether the limiter has seen the rule closed.
    seen_closed: bool,
}

const DEFAULT_INTERVAL: u64 = 180;
const DEFAULT_LIMIT: u64 = 2;

impl Model {
    fn forget_settings(&mut self) {
        (self.check, self.interval, self.limit) = (Check::On, DEFAULT_INTERVAL, DEFAULT_LIMIT);
    }

    fn settings(&self) -> Settings {
        Settings {
            check: self.check,
            interval: Duration::from_secs(self.interval),
            limit: self.limit,
            record: true,
        }
    }

    /// Compares a decision with what the model says; what stands at the key afterwards.
    fn expect(
        &self,
        belief: Belief,
        decision: &Decision,
        before: u64,
        after: u64,
        settled: u64,
    ) -> Result<Belief, TestCaseError> {
        if self.check == Check::Off {
            prop_assert_eq!(decision.outcome(), Outcome::Off);
            return Ok(belief);
        }
        let (_, shortest) = belief.ends_first.hit(&self.settings(), 1, after);
        let (_, longest) = belief.ends_last.hit(&self.settings(), 1, before);
        let count = longest.count;
        prop_assert_eq!(shortest.count, count, "the trace came too near to a window's end");
        let outcome = match self.check {
            _ if count <= self.limit => Outcome::Allowed,
            Check::Shadow => Outcome::Shadowed,
            Check::On | Check::Off => Outcome::Limited,
        };
        prop_assert_eq!(
            (decision.outcome(), decision.count(), decision.limit()),
            (outcome, count, self.limit)
        );
        let ends_in = decision.reset_after().as_millis() as u64;
        // Every advance of a real server's time rounds by a millisecond.
        let range = shortest.ends_in.saturating_sub(30)..=longest.ends_in + 30;
        prop_assert!(range.contains(&ends_in), "{} not in {:?}", ends_in, range);
        prop_assert!(ends_in > 0 && ends_in <= self.interval * 1_000);
        Ok(Belief {
            ends_first: Window::Open { count, ends: Some(before + ends_in) },
            // A server before 7.0 may be told the end only behind the answer.
            ends_last: Window::Open { count, ends: Some(settled + ends_in) },
        })
    }
}

/// What the model holds of one counter. The moment of a hit on a real server lies between two that are known here.
#[derive(Clone, Copy)]
struct Belief {
    ends_first: Window,
    ends_last: Window,
}

impl Belief {
    fn both(window: Window) -> Self {
        Self { ends_first: window, ends_last: window }
    }

    /// Compares a look at the counter with what is believed.
    fn expect(
        &self,
        found: Result<Option<Counter>, Fault>,
        before: u64,
        after: u64,
        is_lax: bool,
    ) -> Result<(), TestCaseError> {
        match (self.ends_first, self.ends_last) {
            // A server that takes `03` for a number still holds it as that.
            (Window::Open { count: 3, .. }, _)
                if is_lax && found.as_ref().is_err_and(|fault| fault.code() == "foreign") => {}
            (Window::Open { count, ends: Some(first) }, Window::Open { ends: Some(last), .. })
                if last > before =>
            {
                let found = found.ok().flatten().expect("a counter");
                let ends_in = found.ends_in.expect("an end").as_millis() as u64;
                let range = first.saturating_sub(after + 30)..=last - before + 30;
                prop_assert_eq!(found.count, count);
                prop_assert!(range.contains(&ends_in), "{} not in {:?}", ends_in, range);
            }
            (Window::Open { count, ends: None }, _) => {
                prop_assert_eq!(found, Ok(Some(Counter { count, ends_in: None })));
            }
            // Nor one that takes an empty field for 0, and has dropped what it counted there while it learnt.
            (Window::Foreign, _) if is_lax && found == Ok(None) => {}
            (Window::Foreign, _) => {
                let fault = found.expect_err("foreign");
                prop_assert_eq!(fault.code(), "foreign");
            }
            _ => prop_assert_eq!(found, Ok(None)),
        }
        Ok(())
    }

    fn map(self, change: impl Fn(Window) -> Window) -> Self {
        Self { ends_first: change(self.ends_first), ends_last: change(self.ends_last) }
    }
}

/// Makes the hits of a step, in one call each.
fn hit(limiter: &Limiter, models: &[Model], step: &Step) -> (Vec<(usize, usize)>, Vec<Decision>) {
    match step {
        Step::HitAll { pairs, waits } => {
            let called: Vec<_> =
                pairs.iter().map(|(rule, user)| (&models[*rule].handle, USERS.get(*user).copied())).collect();
            let decisions = match waits {
                true => limiter.acquire_all(&called),
                false => common::block_on(limiter.acquire_all_async(&called)),
            };
            (pairs.clone(), decisions)
        }
        Step::Hit { rule, user } => {
            (vec![(*rule, *user)], vec![limiter.acquire(&models[*rule].handle, USERS[*user])])
        }
        other => panic!("{other:?} is no hit"),
    }
}

fn run(bed: &mut dyn Bed, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut models: Vec<Model> = RULES
        .iter()
        .map(|name| {
            let rule =
                Rule::new("wms", *name).interval(Duration::from_secs(DEFAULT_INTERVAL)).limit(DEFAULT_LIMIT);
            let handle = bed.limiter().rule(rule).expect("a usable rule");
            Model {
                handle,
                check: Check::On,
                interval: DEFAULT_INTERVAL,
                limit: DEFAULT_LIMIT,
                seen_closed: false,
            }
        })
        .collect();
    let mut beliefs: HashMap<(usize, usize), Belief> = HashMap::new();
    for step in steps {
        let key = |bed: &dyn Bed, rule: usize, user: usize| {
            bed.limiter().keys().counter("wms", RULES[rule], USERS[user])
        };
        let field = |rule: usize, suffix: &str| format!("wms.{}.{suffix}", RULES[rule]);
        match step {
            Step::Hit { .. } | Step::HitAll { .. } => {
                let before = bed.now();
                let (pairs, decisions) = hit(bed.limiter(), &models, step);
                let after = bed.now();
                // An answer to this means that what the hits left behind has been done too.
                bed.limiter().setting("settled").expect("readable");
                let settled = bed.now();
                let learning: Vec<bool> = models
                    .iter_mut()
                    .enumerate()
                    .map(|(rule, model)| {
                        let asked = pairs.iter().any(|(hit, user)| *hit == rule && *user < USERS.len());
                        let closed = model.check == Check::Off;
                        let learns = asked && closed && !model.seen_closed;
                        model.seen_closed = if asked { closed } else { model.seen_closed };
                        learns && bed.counts_while_it_learns()
                    })
                    .collect();
                prop_assert_eq!(decisions.len(), pairs.len());
                for ((rule, user), decision) in pairs.into_iter().zip(&decisions) {
                    if user == USERS.len() {
                        prop_assert_eq!((decision.outcome(), decision.count()), (Outcome::NoIdentity, 0));
                        continue;
                    }
                    let belief = beliefs.get(&(rule, user)).copied().unwrap_or(Belief::both(Window::Absent));
                    let mut belief = models[rule].expect(belief, decision, before, after, settled)?;
                    if learning[rule] {
                        belief = belief.map(|window| match window {
                            // And drops the counter that it put there.
                            Window::Foreign if bed.replaces_while_it_learns() => Window::Absent,
                            window => learnt(window, before),
                        });
                        if let Window::Open { ends: None, .. } | Window::Foreign = belief.ends_last {
                            // One sequence has given the orphan its end by now, the other hasn't; as with something foreign.
                            let key = key(bed, rule, user);
                            bed.meddle(&key, &["PERSIST", "KEY"]);
                        }
                    }
                    beliefs.insert((rule, user), belief);
                }
            }
            Step::Look { rule, user } => {
                let before = bed.now();
                let found = bed.limiter().counter(&models[*rule].handle, USERS[*user]);
                let after = bed.now();
                let belief = beliefs.get(&(*rule, *user)).copied().unwrap_or(Belief::both(Window::Absent));
                belief.expect(found, before, after, bed.is_lax())?;
            }
            Step::Clear { rule, user } => {
                let belief = beliefs.remove(&(*rule, *user)).unwrap_or(Belief::both(Window::Absent));
                let stood = match belief.ends_last {
                    Window::Open { ends, .. } => ends.is_none_or(|ends| ends > bed.now()),
                    Window::Foreign => true,
                    Window::Absent => false,
                };
                let cleared = bed.limiter().clear(&models[*rule].handle, USERS[*user]);
                let unsure = bed.is_lax() && matches!(belief.ends_last, Window::Foreign);
                prop_assert!(cleared == Ok(stood) || (unsure && cleared.is_ok()), "{:?}", cleared);
            }
            Step::Wait(ms) => bed.advance(*ms),
            Step::Switch { rule, value } => {
                bed.write_setting(&field(*rule, "check"), value);
                models[*rule].check = match *value {
                    "false" | "0" => Check::Off,
                    "shadow" => Check::Shadow,
                    _ => Check::On,
                };
            }
            Step::Interval { rule, value } => {
                bed.write_setting(&field(*rule, "interval"), value);
                models[*rule].interval = value.parse().ok().filter(|n| *n > 0).unwrap_or(DEFAULT_INTERVAL);
            }
            Step::Limit { rule, value } => {
                bed.write_setting(&field(*rule, "limit"), value);
                models[*rule].limit = value.parse().unwrap_or(DEFAULT_LIMIT);
            }
            Step::DeleteSettings => {
                if bed.delete_settings() {
                    models.iter_mut().for_each(Model::forget_settings);
                }
            }
            Step::LoseEnd { rule, user } => {
                let (key, now) = (key(bed, *rule, *user), bed.now());
                if bed.meddle(&key, &["PERSIST", "KEY"])
                    && let Some(belief) = beliefs.get_mut(&(*rule, *user))
                {
                    *belief = belief.map(|window| with_end(window, now, None));
                }
            }
            Step::StretchEnd { rule, user } => {
                let (key, now) = (key(bed, *rule, *user), bed.now());
                if bed.meddle(&key, &["PEXPIRE", "KEY", "3600000"])
                    && let Some(belief) = beliefs.get_mut(&(*rule, *user))
                {
                    *belief = belief.map(|window| with_end(window, now, Some(now + 3_600_000)));
                }
            }
            Step::Orphan { rule, user, count } => {
                let key = key(bed, *rule, *user);
                if bed.meddle(&key, &["DEL", "KEY"]) && bed.meddle(&key, &["HSET", "KEY", "count", count]) {
                    let count = count.parse().expect("a number");
                    beliefs.insert((*rule, *user), Belief::both(Window::Open { count, ends: None }));
                }
            }
            Step::Spoil { rule, user, how } => {
                let key = key(bed, *rule, *user);
                if bed.meddle(&key, &["DEL", "KEY"]) && bed.meddle(&key, how) {
                    let lax = bed.is_lax() && how.contains(&"03");
                    let window = if lax { Window::Open { count: 3, ends: None } } else { Window::Foreign };
                    beliefs.insert((*rule, *user), Belief::both(window));
                }
            }
        }
    }
    // What is left in the store: every limiter's defaults, and no counter that was hit last without an expiry.
    for (field, value) in [("check", "true"), ("interval", "180"), ("limit", "2")] {
        bed.limiter().acquire(&models[0].handle, "last");
        let found = bed.limiter().setting(&format!("wms.{}.{field}", RULES[0])).expect("readable");
        prop_assert!(found.is_some(), "{} is missing, expected something such as {}", field, value);
    }
    Ok(())
}

/// A counter that still stands, with another end.
fn with_end(window: Window, now: u64, end: Option<u64>) -> Window {
    match window {
        Window::Open { count, ends } if ends.is_none_or(|ends| ends > now) => {
            Window::Open { count, ends: end }
        }
        other => other,
    }
}

/// A store that learnt only with the answer that the rule is closed has counted once: a counter that it began is dropped,
/// another keeps the hit.
fn learnt(window: Window, now: u64) -> Window {
    match window {
        Window::Open { count, ends } if ends.is_none_or(|ends| ends > now) => {
            Window::Open { count: count.saturating_add(1).min(Window::MAX_COUNT), ends }
        }
        other => other,
    }
}

fn check(cases: u32, bed: impl Fn() -> Box<dyn Bed>) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let steps = prop::collection::vec(step(), 1..80);
    TestRunner::new(config)
        .run(&steps, |steps| run(&mut *bed(), &steps))
        .unwrap_or_else(|error| panic!("{error}"));
}

fn check_server(version: &'static str, arguments: &[&str]) {
    let Some(binary) = common::binary(version) else { return };
    check_binary(&binary, arguments);
}

fn check_binary(binary: &Binary, arguments: &[&str]) {
    let server = Arc::new(Server::start(binary, arguments));
    check(200, || Box::new(Redis::new(&server, &server.url())));
}

#[test]
fn memory() {
    check(1_000, || Box::new(Memory::new()));
}

#[test]
fn redis_8() {
    check_server("8.2.3", &[]);
}

#[test]
fn valkey_8() {
    check_server("valkey-8.1.8", &[]);
}

#[test]
fn valkey_9() {
    check_server("valkey-9.1.2", &[]);
}

#[test]
fn redis_7() {
    check_server("7", &[]);
}

#[test]
fn redis_6() {
    check_server("6.2.14", &[]);
}

#[test]
fn redis_5() {
    check_server("5.0.6", &[]);
}

#[test]
fn redis_2_8() {
    check_server("2.8.19", &[]);
}

/// A server that doesn't say what it is and refuses the modern sequence.
#[test]
fn an_old_server_without_info() {
    check_server("5.0.6", &["--rename-command", "INFO", ""]);
}

/// A cluster of one node: settings and counters are asked for apart.
#[test]
fn a_cluster() {
    let server = Arc::new(Server::node(&common::newest()));
    let _: redis::Value = server.run("CLUSTER ADDSLOTSRANGE 0 16383");
    common::eventually("the cluster is up", || {
        server.run::<String>("CLUSTER INFO").contains("cluster_state:ok")
    });
    let url = server.url().replace("redis://", "redis-cluster://");
    check(100, || Box::new(Redis::new(&server, &url)));
}
