//! Callers that share a connection: merged, in their own order, each by its own deadline, threads and futures alike.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Scripted, Server, block_on, eventually, newest, patient, read_commands};
use tollgate::{Decision, FaultKind, Limiter, Outcome, Rule, RuleHandle};

fn rule(limiter: &Limiter, name: &str, limit: u64) -> RuleHandle {
    let rule = Rule::new("wms", name).interval(Duration::from_secs(600)).limit(limit);
    limiter.rule(rule).expect("a usable rule")
}

/// A server that shows each command that comes and answers only when it is told to.
struct Held {
    server: Scripted,
    commands: Receiver<Vec<String>>,
    answers: Sender<String>,
}

impl Held {
    fn start() -> Self {
        let (seen, commands) = channel();
        let (answers, told) = channel::<String>();
        let (seen, told) = (Mutex::new(seen), Arc::new(Mutex::new(told)));
        let server = Scripted::start(Arc::new(move |stream: &mut TcpStream, _| {
            let mut writer = stream.try_clone().expect("a handle");
            let told = told.clone();
            std::thread::spawn(move || {
                while let Ok(answer) = told.lock().expect("no panic").recv() {
                    let _ = writer.write_all(answer.as_bytes());
                }
            });
            while let Some(command) = read_commands(stream, 1) {
                let _ = seen.lock().expect("no panic").send(command.into_iter().next().expect("one"));
            }
        }));
        Self { server, commands, answers }
    }

    fn next(&self) -> Vec<String> {
        self.commands.recv_timeout(Duration::from_secs(30)).expect("a command")
    }

    fn take(&self, commands: usize) -> Vec<Vec<String>> {
        (0..commands).map(|_| self.next()).collect()
    }

    fn answer(&self, answer: &str) {
        self.answers.send(answer.to_owned()).expect("a connection");
    }
}

/// What `HMGET` answers for so many rules that are on, with a limit.
fn settings(rules: usize, limit: u64) -> String {
    let rule = format!("$4\r\ntrue\r\n$3\r\n600\r\n${}\r\n{limit}\r\n", limit.to_string().len());
    format!("*{}\r\n{}$4\r\ntrue\r\n", 3 * rules + 1, rule.repeat(rules))
}

#[test]
fn callers_that_come_meanwhile_are_merged_and_each_gets_its_own_place() {
    let held = Held::start();
    let limiter = patient().redis(held.server.url()).open().expect("opens");
    let (hot, other) = (rule(&limiter, "hot", 5), rule(&limiter, "other", 5));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| limiter.acquire(&hot, "first"));
        assert_eq!(held.take(4)[0][0], "HMGET");
        // While that batch is under way eight hits on one key and one on another rule's queue.
        let merged: Vec<_> = (0..8).map(|_| scope.spawn(|| limiter.acquire(&hot, "u1"))).collect();
        let apart = scope.spawn(|| limiter.acquire(&other, "u1"));
        std::thread::sleep(Duration::from_millis(300));
        held.answer(&format!("{}:1\r\n:1\r\n:600000\r\n", settings(1, 5)));
        assert_eq!(first.join().expect("no panic").outcome(), Outcome::Allowed);

        // Both rules' settings in one command, and one increment a key.
        let mut commands = held.take(7);
        let asked = commands.remove(0);
        assert_eq!((asked[0].as_str(), asked.len()), ("HMGET", 2 + 7));
        let increments: Vec<_> = commands.iter().filter(|command| command[0] == "HINCRBY").collect();
        let by = |key: &str| {
            increments.iter().find(|command| command[1] == key).map(|command| command[3].as_str())
        };
        assert_eq!(by("ratelimit:wms:hot:u1"), Some("8"));
        assert_eq!(by("ratelimit:wms:other:u1"), Some("1"));
        let counts = if increments[0][1] == "ratelimit:wms:hot:u1" { [8, 1] } else { [1, 8] };
        let counters = counts.map(|count| format!(":{count}\r\n:1\r\n:600000\r\n")).concat();
        held.answer(&format!("{}{counters}", settings(2, 5)));

        let mut decisions: Vec<Decision> =
            merged.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        decisions.sort_by_key(Decision::count);
        for (place, decision) in (1..).zip(&decisions) {
            let outcome = if place <= 5 { Outcome::Allowed } else { Outcome::Limited };
            assert_eq!((decision.count(), decision.outcome()), (place, outcome));
        }
        assert_eq!(apart.join().expect("no panic").count(), 1);
    });
}

#[test]
fn a_leader_without_time_passes_the_batch_on() {
    let held = Held::start();
    let limiter = patient().redis(held.server.url()).open().expect("opens");
    let slow = rule(&limiter, "slow", 5);
    let hasty =
        Rule::new("wms", "hasty").interval(Duration::from_secs(600)).deadline(Duration::from_millis(900));
    let hasty = limiter.rule(hasty).expect("a usable rule");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| limiter.acquire(&slow, "first"));
        held.take(4);
        let leader = scope.spawn(|| limiter.acquire(&hasty, "u1"));
        std::thread::sleep(Duration::from_millis(100));
        let heir = scope.spawn(|| limiter.acquire(&slow, "u2"));
        let future = limiter.acquire_async(&slow, "u3");
        std::thread::sleep(Duration::from_millis(100));
        held.answer(&format!("{}:1\r\n:1\r\n:600000\r\n", settings(1, 5)));
        assert!(first.join().expect("no panic").is_allowed());
        // The hasty one leads the next batch, and its time is up before the replies come.
        held.take(10);
        let decision = leader.join().expect("no panic");
        assert_eq!(decision.fault().map(tollgate::Fault::kind), Some(FaultKind::Timeout));
        held.answer(&format!("{}{}", settings(2, 5), ":1\r\n:1\r\n:600000\r\n".repeat(3)));
        assert_eq!(heir.join().expect("no panic").outcome(), Outcome::Allowed);
        assert_eq!(block_on(future).outcome(), Outcome::Allowed);
    });
    assert_eq!(
        held.server.connections.load(std::sync::atomic::Ordering::SeqCst),
        1,
        "the connection is still good"
    );
}

#[test]
fn a_long_deadline_of_others_delays_nobody() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let patient_rule = rule(&limiter, "patient", 1);
    let hasty = Rule::new("wms", "hasty").deadline(Duration::from_millis(200));
    let hasty = limiter.rule(hasty).expect("a usable rule");
    assert!(limiter.acquire(&patient_rule, "warm").is_allowed());
    server.signal("STOP");
    let started = Instant::now();
    std::thread::scope(|scope| {
        let patient = scope.spawn(|| limiter.acquire(&patient_rule, "u1"));
        std::thread::sleep(Duration::from_millis(100));
        let future = limiter.acquire_async(&hasty, "u2");
        assert_eq!(limiter.acquire(&hasty, "u1").outcome(), Outcome::FaultAllowed);
        assert_eq!(block_on(future).outcome(), Outcome::FaultAllowed);
        // The patient one would hold the connection for 20 s.
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        server.signal("CONT");
        assert_eq!(patient.join().expect("no panic").outcome(), Outcome::Allowed);
    });
    assert_eq!(
        server.run::<i64>("EXISTS ratelimit:wms:hasty:u1 ratelimit:wms:hasty:u2"),
        0,
        "what wasn't sent wasn't counted"
    );
}

#[test]
fn a_spoilt_key_touches_only_its_own_callers() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter, "Order.list", 1);
    assert!(limiter.acquire(&rule, "warm").is_allowed());
    let _: i64 = server.run("RPUSH ratelimit:wms:Order.list:user7 x");
    let _: i64 = server.run("HSET ratelimit:wms:Order.list:user8 count many");
    server.signal("STOP");
    std::thread::scope(|scope| {
        let hit = |n: usize| {
            let (limiter, rule) = (&limiter, &rule);
            scope.spawn(move || limiter.acquire(rule, &format!("user{}", n % 50)))
        };
        let threads: Vec<_> = (0..100).map(hit).collect();
        std::thread::sleep(Duration::from_millis(300));
        server.signal("CONT");
        let decisions: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        for user in 0..50 {
            let mut counts = [decisions[user].count(), decisions[user + 50].count()];
            counts.sort_unstable();
            assert_eq!(counts, [1, 2], "user{user}");
        }
    });
}

#[test]
fn futures_and_threads_share_the_connection() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter, "Order.list", 100);
    let passed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..100).filter(|_| limiter.acquire(&rule, "u1").is_allowed()).count()))
            .collect();
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let futures: Vec<_> = (0..100).map(|_| limiter.acquire_async(&rule, "u1")).collect();
                    futures.into_iter().filter(|_| true).map(block_on).filter(Decision::is_allowed).count()
                })
            })
            .collect();
        threads.into_iter().chain(tasks).map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(passed, 100);
    assert_eq!(server.run::<i64>("HGET ratelimit:wms:Order.list:u1 count"), 600);
}

#[test]
fn dropped_futures_are_harmless() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter, "Order.list", 1_000_000);
    for n in 0..1_000 {
        let future = limiter.acquire_async(&rule, "u1");
        if n % 3 == 0 {
            let decision = block_on(future);
            assert_eq!(decision.outcome(), Outcome::Allowed, "{decision:?}");
        }
    }
    let decision = limiter.acquire(&rule, "u1");
    assert_eq!(decision.outcome(), Outcome::Allowed, "{decision:?}");
    assert!((335..=1_001).contains(&decision.count()), "{decision:?}");
}

/// A runtime's waker is foreign code on the driver's thread.
#[test]
fn a_waker_that_panics_harms_nobody_else() {
    struct Defective;
    impl std::task::Wake for Defective {
        fn wake(self: Arc<Self>) {
            panic!("a defect of the runtime");
        }
    }
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter, "Order.list", 1_000);
    assert!(limiter.acquire(&rule, "warm").is_allowed());
    for round in 1..=5 {
        server.signal("STOP");
        let mut spoilt = std::pin::pin!(limiter.acquire_async(&rule, "u1"));
        let waker = Arc::new(Defective).into();
        assert!(spoilt.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        let others: Vec<_> = (0..3).map(|_| limiter.acquire_async(&rule, "u2")).collect();
        server.signal("CONT");
        for other in others {
            assert!(block_on(other).is_allowed());
        }
        assert!(limiter.acquire(&rule, "u3").is_allowed(), "round {round}");
        assert!(block_on(limiter.acquire_async(&rule, "u3")).is_allowed());
    }
}

#[test]
fn futures_end_with_their_deadline_when_redis_hangs() {
    let server = Server::start(&newest(), &[]);
    let limiter =
        Limiter::builder().redis(server.url()).deadline(Duration::from_millis(300)).open().expect("opens");
    let rule = rule(&limiter, "Order.list", 1);
    eventually("warm", || limiter.acquire(&rule, "warm").fault().is_none());
    server.signal("STOP");
    let started = Instant::now();
    let futures: Vec<_> = (0..200).map(|n| limiter.acquire_async(&rule, &format!("user{n}"))).collect();
    for future in futures {
        assert_eq!(block_on(future).outcome(), Outcome::FaultAllowed);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    server.signal("CONT");
    eventually("limiting is back", || {
        block_on(limiter.acquire_async(&rule, "warm")).outcome() == Outcome::Limited
    });
}

#[test]
fn a_limiter_leaves_no_thread_behind() {
    fn threads() -> usize {
        let names = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let name =
            |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        names.map(name).filter(|name| name.starts_with("tollgate-")).count()
    }
    let server = Server::start(&newest(), &[]);
    // Alone in a process of its own, since other tests have limiters too.
    if std::env::var_os("TEST_ALONE").is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().expect("this binary"));
        alone.args(["--exact", "a_limiter_leaves_no_thread_behind"]).env("TEST_ALONE", "1");
        assert!(alone.status().expect("runs").success());
        return;
    }
    for _ in 0..50 {
        let limiter = patient().redis(server.url()).open().expect("opens");
        let rule = rule(&limiter, "Order.list", 1);
        block_on(limiter.acquire_async(&rule, "u1"));
        assert!(threads() >= 2, "the link's and the driver's");
        drop(limiter);
        eventually("the threads end", || threads() == 0);
    }
}
