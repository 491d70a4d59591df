//! Several rules in one call: one round trip, each pair its own place, fault and policy, whatever becomes of the others.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Scripted, Server, Witness, block_on, command, newest, on_every_binary, patient, read_commands};
use tollgate::{Decision, FaultKind, Identity, Limiter, OnFault, Outcome, Rule, RuleHandle};

fn spec(name: &str, secs: u64, limit: u64) -> Rule {
    Rule::new("wms", name).interval(Duration::from_secs(secs)).limit(limit)
}

fn rule(limiter: &Limiter, rule: Rule) -> RuleHandle {
    limiter.rule(rule).expect("a usable rule")
}

fn outcomes(decisions: &[Decision]) -> Vec<Outcome> {
    decisions.iter().map(Decision::outcome).collect()
}

/// What a connection has been sent so far: commands, and how often the server found something to read.
fn traffic(connection: &mut redis::Connection) -> (u64, u64) {
    let info: String = command(connection, &["INFO", "stats"]);
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|value| value.trim().parse().ok()).expect("a number")
    };
    (field("total_commands_processed"), field("total_reads_processed"))
}

#[test]
fn one_write_whatever_waits() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let often = rule(&limiter, spec("often", 600, 1));
    let daily = rule(&limiter, spec("daily", 86_400, 200));
    let everybody = rule(&limiter, spec("everybody", 600, 1_000));
    let pairs = |user| [(&often, user), (&daily, user), (&everybody, "all")];
    // The defaults are written, the driver has started.
    limiter.acquire_all(&pairs("warm"));
    block_on(limiter.acquire_all_async(&pairs("warm")));
    limiter.setting("settled").expect("readable");

    let mut watch = server.connect();
    let calls: [&dyn Fn() -> Vec<Decision>; 2] =
        [&|| limiter.acquire_all(&pairs("u1")), &|| block_on(limiter.acquire_all_async(&pairs("u1")))];
    for (nth, call) in (1..).zip(calls) {
        let before = traffic(&mut watch);
        let decisions = call();
        let after = traffic(&mut watch);
        // HMGET, and three commands a counter; the watch itself reads once.
        assert_eq!((after.0 - before.0, after.1 - before.1), (1 + 10, 1 + 1));
        let often = if nth == 1 { Outcome::Allowed } else { Outcome::Limited };
        assert_eq!(outcomes(&decisions), [often, Outcome::Allowed, Outcome::Allowed]);
        // A rejection by one leaves the others counted.
        assert_eq!(decisions.iter().map(Decision::count).collect::<Vec<_>>(), [nth, nth, 2 + nth]);
    }
    assert_eq!(server.run::<i64>("HGET ratelimit:wms:daily:u1 count"), 2);
    assert_eq!(server.run::<i64>("HGET ratelimit:wms:everybody:all count"), 4);
}

#[test]
fn many_callers_share_batches_and_every_hit_counts_once() {
    on_every_binary(|binary| {
        let server = Server::start(binary, &[]);
        for connections in [1, 4] {
            let url = format!("{}?connections={connections}", server.url());
            let limiter = patient().redis(&url).open().expect("opens");
            let rules: Vec<_> = (0..40)
                .map(|n| rule(&limiter, spec(&format!("c{connections}r{n}"), 600, 1_000_000)))
                .collect();
            // More than a batch holds: 16 callers with 40 pairs each.
            std::thread::scope(|scope| {
                for thread in 0..16 {
                    let (limiter, rules) = (&limiter, &rules);
                    scope.spawn(move || {
                        for round in 1..=10 {
                            // One user of its own, and one that all have in common.
                            let own = format!("user{thread}");
                            let pairs: Vec<_> = rules
                                .iter()
                                .enumerate()
                                .map(|(at, rule)| (rule, if at % 2 == 0 { own.as_str() } else { "all" }))
                                .collect();
                            let decisions = match round % 2 {
                                0 => limiter.acquire_all(&pairs),
                                _ => block_on(limiter.acquire_all_async(&pairs)),
                            };
                            for (at, decision) in decisions.iter().enumerate() {
                                assert_eq!(decision.outcome(), Outcome::Allowed, "{decision:?}");
                                assert!(at % 2 == 1 || decision.count() == round, "{at}: {decision:?}");
                            }
                        }
                    });
                }
            });
            for at in [1, 39] {
                let key = format!("ratelimit:wms:c{connections}r{at}:all");
                assert_eq!(server.run::<i64>(&format!("HGET {key} count")), 160, "{}", binary.version);
            }
        }
    });
}

#[test]
fn each_pair_is_repaired_by_itself() {
    on_every_binary(|binary| {
        let server = Server::start(binary, &[]);
        let witness = Witness::new();
        let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
        let names = ["fresh", "orphan", "stretched", "foreign", "closed"];
        let rules = names.map(|name| rule(&limiter, spec(name, 600, 3)));
        let pairs = rules.each_ref().map(|rule| (rule, "u1"));
        let _: i64 = server.run("HSET ratelimit:wms:orphan:u1 count 57");
        let _: i64 = server.run("HSET ratelimit:wms:stretched:u1 count 1");
        let _: i64 = server.run("PEXPIRE ratelimit:wms:stretched:u1 3600000");
        let _: i64 = server.run("RPUSH ratelimit:wms:foreign:u1 x");
        let _: i64 = server.run("HSET ratelimit:config wms.closed.check false");
        let decisions = limiter.acquire_all(&pairs);
        use Outcome::{Allowed, Limited, Off};
        assert_eq!(outcomes(&decisions), [Allowed, Limited, Allowed, Allowed, Off], "{}", binary.version);
        assert_eq!(decisions.iter().map(Decision::count).collect::<Vec<_>>(), [1, 58, 2, 1, 0]);
        assert_eq!(witness.take(), ["replaced wms.foreign ratelimit:wms:foreign:u1"]);
        limiter.setting("settled").expect("readable");
        for name in &names[..4] {
            let left: i64 = server.run(&format!("PTTL ratelimit:wms:{name}:u1"));
            assert!((1..=600_000).contains(&left), "{name}: {left} on {}", binary.version);
        }
        assert_eq!(server.run::<i64>("EXISTS ratelimit:wms:closed:u1"), 0);
    });
}

#[test]
fn a_counter_twice_counts_twice_and_nobody_is_nobody() {
    let server = Server::start(&newest(), &[]);
    for limiter in [patient().redis(server.url()).open(), Limiter::builder().open()] {
        let limiter = limiter.expect("opens");
        let twice = rule(&limiter, spec("twice", 600, 1));
        let nobody = Identity::none();
        let pairs = [(&twice, "u1".into()), (&twice, nobody), (&twice, "u1".into()), (&twice, "u2".into())];
        for decisions in [limiter.acquire_all(&pairs), block_on(limiter.acquire_all_async(&pairs))] {
            assert_eq!(decisions[1].outcome(), Outcome::NoIdentity);
            assert_eq!(decisions[0].count() + 1, decisions[2].count());
        }
        let after = limiter.acquire_all(&[(&twice, "u1"), (&twice, "u2")]);
        assert_eq!((after[0].count(), after[1].count()), (5, 3));
        assert!(limiter.acquire_all::<&str>(&[]).is_empty());
        let nobodies = limiter.acquire_all(&[(&twice, None::<&str>); 2]);
        assert_eq!(outcomes(&nobodies), [Outcome::NoIdentity; 2]);
        assert_eq!(limiter.stats().hits(Outcome::NoIdentity), 4);
    }
}

#[test]
fn too_many_pairs_are_a_fault_that_says_so() {
    let server = Server::start(&newest(), &[]);
    let witness = Witness::new();
    let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
    let (open, shut) =
        (rule(&limiter, spec("open", 600, 1)), rule(&limiter, spec("shut", 600, 1).on_fault(OnFault::Deny)));
    let mut pairs = vec![(&open, "u1"); Limiter::MAX_PAIRS];
    let most = limiter.acquire_all(&pairs);
    assert_eq!(most.last().map(Decision::count), Some(Limiter::MAX_PAIRS as u64));
    pairs.push((&shut, "u1"));
    for decisions in [limiter.acquire_all(&pairs), block_on(limiter.acquire_all_async(&pairs))] {
        assert_eq!((decisions.len(), decisions[0].outcome()), (65, Outcome::FaultAllowed));
        let last = decisions.last().expect("65");
        assert_eq!(
            (last.outcome(), last.fault().map(|fault| fault.code())),
            (Outcome::FaultDenied, Some("pairs"))
        );
        assert!(last.fault().expect("a fault").to_string().contains("65 pairs"), "{last:?}");
        assert!(last.fault().expect("a fault").is_safe_to_repeat());
    }
    assert!(witness.take().contains(&"fault wms.shut pairs".to_owned()));
    assert_eq!(server.run::<i64>("HGET ratelimit:wms:open:u1 count"), 64, "what is too much isn't sent");
    assert_eq!(limiter.acquire(&open, "u1").count(), 65, "the next call is answered as ever");
}

#[test]
fn each_rule_keeps_its_own_policy() {
    let limiter = Limiter::builder()
        .redis("redis://127.0.0.1:1")
        .connect_timeout(Duration::ZERO)
        .open()
        .expect("opens");
    let allow = rule(&limiter, spec("allow", 600, 1));
    let deny = rule(&limiter, spec("deny", 600, 1).on_fault(OnFault::Deny));
    let local = rule(&limiter, spec("local", 600, 1).on_fault(OnFault::Local));
    let pairs = [(&deny, "u1"), (&allow, "u1"), (&local, "u1")];
    use Outcome::{FaultAllowed, FaultDenied, FaultLocalAllowed, FaultLocalLimited};
    let first = limiter.acquire_all(&pairs);
    assert_eq!(outcomes(&first), [FaultDenied, FaultAllowed, FaultLocalAllowed]);
    assert_eq!(Decision::tightest(&first), Some(0));
    let second = block_on(limiter.acquire_all_async(&pairs));
    assert_eq!(outcomes(&second), [FaultDenied, FaultAllowed, FaultLocalLimited]);
    assert_eq!(Decision::tightest(&second), Some(2), "what the caller did is told first");
}

#[test]
fn the_shortest_deadline_holds_for_the_call() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let patient_rule = rule(&limiter, spec("patient", 600, 1));
    let hasty = rule(&limiter, spec("hasty", 600, 1).deadline(Duration::from_millis(200)));
    assert!(limiter.acquire(&patient_rule, "warm").is_allowed());
    server.signal("STOP");
    let started = Instant::now();
    let future = limiter.acquire_all_async(&[(&patient_rule, "u2"), (&hasty, "u2")]);
    let decisions = limiter.acquire_all(&[(&patient_rule, "u1"), (&hasty, "u1")]);
    assert_eq!(outcomes(&decisions), [Outcome::FaultAllowed; 2]);
    assert_eq!(outcomes(&block_on(future)), [Outcome::FaultAllowed; 2]);
    // The patient rule alone would have waited for 20 s.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    server.signal("CONT");
}

/// The first trip's answers stand though the caller's time runs out before the second comes back, which somebody else reads.
#[test]
fn what_is_known_of_one_stays_known_though_the_time_runs_out_over_another() {
    let (seen, commands) = channel::<Vec<Vec<String>>>();
    let (go, told) = channel::<()>();
    let (seen, told) = (Mutex::new(seen), Mutex::new(told));
    let server = Scripted::start(Arc::new(move |stream: &mut TcpStream, _| {
        let tell = |commands: Option<Vec<Vec<String>>>| {
            let _ = seen.lock().expect("no panic").send(commands.unwrap_or_default());
        };
        tell(read_commands(stream, 7));
        let _ = told.lock().expect("no panic").recv();
        let rule = "$4\r\ntrue\r\n$3\r\n600\r\n$1\r\n5\r\n";
        let counters = ":1\r\n:1\r\n:600000\r\n-WRONGTYPE of another kind\r\n:0\r\n:-1\r\n";
        let _ = stream.write_all(format!("*7\r\n{rule}{rule}$4\r\ntrue\r\n{counters}").as_bytes());
        tell(read_commands(stream, 8));
        // Held open without an answer.
        let _ = read_commands(stream, 1);
    }));
    let limiter =
        Limiter::builder().redis(server.url()).deadline(Duration::from_secs(4)).open().expect("opens");
    let hasty = |name| rule(&limiter, spec(name, 600, 5).deadline(Duration::from_secs(2)));
    let (sound, foreign, other) = (hasty("sound"), hasty("foreign"), rule(&limiter, spec("other", 600, 5)));
    std::thread::scope(|scope| {
        let several = scope.spawn(|| limiter.acquire_all(&[(&sound, "u1"), (&foreign, "u1")]));
        assert_eq!(commands.recv().expect("a batch").len(), 7);
        let longer = scope.spawn(|| limiter.acquire(&other, "u1"));
        // It queues meanwhile, and is in the next batch with what needs a second trip.
        std::thread::sleep(Duration::from_millis(300));
        go.send(()).expect("a server that listens");
        let decisions = several.join().expect("no panic");
        assert_eq!(outcomes(&decisions), [Outcome::Allowed, Outcome::FaultAllowed], "{decisions:?}");
        assert_eq!((decisions[0].count(), decisions[0].fault()), (1, None));
        assert_eq!(decisions[1].fault().map(tollgate::Fault::kind), Some(FaultKind::Timeout));
        // The second trip is that of the foreign key alone, and what the other wants.
        let second: Vec<_> =
            commands.recv().expect("a batch").iter().map(|command| command.join(" ")).collect();
        let on = |key: &str| second.iter().filter(|command| command.contains(key)).count();
        assert_eq!((on(":foreign:u1"), on(":other:u1"), on(":sound:u1")), (4, 3, 0), "{second:?}");
        assert_eq!(longer.join().expect("no panic").outcome(), Outcome::FaultAllowed);
    });
}
