//! What happens when Redis is down, slow, full, refusing or talking nonsense.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Scripted, Server, Witness, eventually, newest, patient, read_commands};
use tollgate::{Builder, Limiter, OnFault, Outcome, Rule, RuleHandle};

const KEY: &str = "ratelimit:wms:Order.list:u1";

fn rule(limiter: &Limiter) -> RuleHandle {
    limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600))).expect("a usable rule")
}

fn hasty() -> Builder {
    Limiter::builder().deadline(Duration::from_millis(200)).connect_timeout(Duration::from_millis(200))
}

#[test]
fn a_server_that_dies_and_comes_back_needs_no_restart() {
    let mut server = Server::start(&newest(), &[]);
    let witness = Witness::new();
    let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
    let rule = rule(&limiter);
    assert!(limiter.acquire(&rule, "u1").is_allowed());
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Limited);
    server.stop();
    for n in 0..100 {
        let decision = limiter.acquire(&rule, "u1");
        assert_eq!(decision.outcome(), Outcome::FaultAllowed);
        // Only the first may find out by sending.
        let unsent = decision.fault().is_some_and(tollgate::Fault::is_safe_to_repeat);
        assert!(unsent || n == 0, "{decision:?}");
    }
    assert!(!limiter.stats().store.is_up());
    server.resume();
    eventually("limiting is back", || !limiter.acquire(&rule, "u1").is_allowed());
    let told = witness.take();
    assert!(told[0].starts_with("fault wms.Order.list"), "{told:?}");
    assert_eq!(told.iter().filter(|line| line.starts_with("recovered")).count(), 1, "{told:?}");
}

#[test]
fn a_restart_between_two_hits_goes_unnoticed() {
    let mut server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter);
    for _ in 0..3 {
        assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Allowed, "each server begins anew");
        assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Limited);
        server.stop();
        server.resume();
    }
}

#[test]
fn absent_at_the_start() {
    let mut server = Server::stopped(&newest(), &[]);
    let witness = Witness::new();
    let limiter =
        patient().redis(server.url()).observer(witness.clone()).open().expect("a server away is no error");
    let rule = rule(&limiter);
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::FaultAllowed);
    assert_eq!(witness.take(), ["fault wms.Order.list connect"]);
    server.resume();
    eventually("the link is up", || limiter.stats().store.is_up());
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Allowed);
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Limited);
}

#[test]
fn a_name_that_does_not_resolve() {
    let limiter = hasty().redis("redis://no-such-host.invalid:6379").open().expect("no error");
    let decision = limiter.acquire(&rule(&limiter), "u1");
    assert_eq!(decision.outcome(), Outcome::FaultAllowed);
}

#[test]
fn policies() {
    let closed = format!("redis://127.0.0.1:{}", common::free_port());
    let limiter = hasty().redis(&closed).on_fault(OnFault::Deny).open().expect("opens");
    let by_limiter = rule(&limiter);
    assert_eq!(limiter.acquire(&by_limiter, "u1").outcome(), Outcome::FaultDenied);
    let rule =
        |name: &str, policy| limiter.rule(Rule::new("wms", name).on_fault(policy)).expect("a usable rule");
    assert_eq!(limiter.acquire(&rule("a", OnFault::Allow), "u1").outcome(), Outcome::FaultAllowed);
    let local = rule("b", OnFault::Local);
    let outcomes = [0; 2].map(|_| limiter.acquire(&local, "u1").outcome());
    assert_eq!(outcomes, [Outcome::FaultLocalAllowed, Outcome::FaultLocalLimited]);
    assert_eq!(limiter.acquire(&local, "u2").outcome(), Outcome::FaultLocalAllowed);
    assert_eq!(limiter.acquire(&by_limiter, None::<&str>).outcome(), Outcome::NoIdentity);
}

#[test]
fn local_counts_end_with_the_fault() {
    let mut server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).on_fault(OnFault::Local).open().expect("opens");
    let rule = rule(&limiter);
    let _: i64 = server.run("HSET ratelimit:config wms.Order.list.limit 2");
    assert!(limiter.acquire(&rule, "u1").is_allowed());
    for _ in 0..2 {
        server.stop();
        // The limit last seen holds, and the window begins with the fault.
        let outcomes = [0; 3].map(|_| limiter.acquire(&rule, "u1").outcome());
        use Outcome::{FaultLocalAllowed, FaultLocalLimited};
        assert_eq!(outcomes, [FaultLocalAllowed, FaultLocalAllowed, FaultLocalLimited]);
        server.resume();
        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.limit 2");
        eventually("the store decides again", || limiter.acquire(&rule, "u9").outcome() == Outcome::Allowed);
    }
}

#[test]
fn a_full_server_still_honours_a_closed_rule() {
    let server = Server::start(&newest(), &["--maxmemory-policy", "noeviction"]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter);
    let _: i64 = server.run("HSET ratelimit:config wms.Order.list.check false");
    let _: redis::Value = server.run("CONFIG SET maxmemory 1");
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Off);
    let _: redis::Value = server.run("CONFIG SET maxmemory 0");
    let _: i64 = server.run("HSET ratelimit:config wms.Order.list.check true");
    let _: redis::Value = server.run("CONFIG SET maxmemory 1");
    let decision = limiter.acquire(&rule, "u1");
    assert_eq!(
        (decision.outcome(), decision.fault().map(tollgate::Fault::code)),
        (Outcome::FaultAllowed, Some("OOM"))
    );
    let _: redis::Value = server.run("CONFIG SET maxmemory 0");
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Allowed);
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Limited);
}

#[test]
fn a_server_that_is_stopped_costs_each_hit_a_deadline_at_most() {
    let server = Server::start(&newest(), &[]);
    let limiter =
        Limiter::builder().redis(server.url()).deadline(Duration::from_millis(500)).open().expect("opens");
    let rule = rule(&limiter);
    assert!(limiter.acquire(&rule, "u1").is_allowed());
    server.signal("STOP");
    let started = Instant::now();
    std::thread::scope(|scope| {
        for n in 0..50 {
            let (limiter, rule) = (&limiter, &rule);
            scope.spawn(move || {
                assert_eq!(limiter.acquire(rule, &format!("user{n}")).outcome(), Outcome::FaultAllowed);
            });
        }
    });
    // Queued one behind the other the deadlines would add up to 25 s.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    server.signal("CONT");
    eventually("limiting is back", || limiter.acquire(&rule, "u1").outcome() == Outcome::Limited);
}

#[test]
fn every_refusal_is_a_fault_with_the_servers_code() {
    for (text, code) in [
        ("LOADING Redis is loading the dataset in memory", "LOADING"),
        ("OOM command not allowed when used memory > 'maxmemory'.", "OOM"),
        ("NOAUTH Authentication required.", "NOAUTH"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "WRONGPASS"),
        ("NOPERM this user has no permissions to run the 'hincrby' command", "NOPERM"),
        ("CLUSTERDOWN Hash slot not served", "CLUSTERDOWN"),
        ("MOVED 3999 127.0.0.1:6381", "MOVED"),
        ("ASK 3999 127.0.0.1:6381", "ASK"),
        ("CROSSSLOT Keys in request don't hash to the same slot", "CROSSSLOT"),
        ("MISCONF Redis is configured to save RDB snapshots", "MISCONF"),
        ("READONLY You can't write against a read only replica.", "READONLY"),
        ("MASTERDOWN Link with MASTER is down", "MASTERDOWN"),
        ("ERR max number of clients reached", "MAXCLIENTS"),
        ("ERR unknown command 'HINCRBY'", "ERR"),
    ] {
        let healthy = Arc::new(AtomicBool::new(false));
        let well = healthy.clone();
        let server = Scripted::start(Arc::new(move |stream, _| {
            while read_commands(stream, 4).is_some() {
                let reply = match well.load(Ordering::SeqCst) {
                    true => "*4\r\n$4\r\ntrue\r\n$1\r\n3\r\n$1\r\n1\r\n$4\r\ntrue\r\n:2\r\n:0\r\n:1000\r\n"
                        .to_owned(),
                    false => format!("-{text}\r\n").repeat(4),
                };
                let _ = stream.write_all(reply.as_bytes());
            }
        }));
        let limiter = patient().redis(server.url()).open().expect("opens");
        let rule = rule(&limiter);
        for _ in 0..3 {
            let decision = limiter.acquire(&rule, "u1");
            let fault = decision.fault().expect(code);
            assert_eq!((decision.outcome(), fault.code()), (Outcome::FaultAllowed, code));
            assert!(fault.is_safe_to_repeat() && fault.to_string().contains(text), "{fault}");
        }
        healthy.store(true, Ordering::SeqCst);
        eventually("normal afterwards", || limiter.acquire(&rule, "u1").outcome() == Outcome::Limited);
    }
}

#[test]
fn a_refusal_of_the_counter_alone_leaves_a_closed_rule_closed() {
    let server = Scripted::answering(
        b"*4\r\n$5\r\nfalse\r\n$1\r\n3\r\n$1\r\n1\r\n$4\r\ntrue\r\n-OOM full\r\n-OOM full\r\n:-2\r\n",
    );
    let limiter = patient().redis(server.url()).open().expect("opens");
    assert_eq!(limiter.acquire(&rule(&limiter), "u1").outcome(), Outcome::Off);
}

#[test]
fn an_expiry_that_cannot_be_set_or_read_is_a_fault() {
    const SETTINGS: &str = "*4\r\n$4\r\ntrue\r\n$1\r\n3\r\n$1\r\n1\r\n$4\r\ntrue\r\n";
    for (counter, code) in [
        (":9\r\n-NOPERM pexpire\r\n:-1\r\n", "NOPERM"),
        (":9\r\n:0\r\n-NOPERM pttl\r\n", "NOPERM"),
        (":1\r\n:1\r\n-MISCONF disk\r\n", "MISCONF"),
        (":1\r\n:1\r\n-MOVED 3999 127.0.0.1:6381\r\n", "MOVED"),
    ] {
        let reply: &'static [u8] = format!("{SETTINGS}{counter}").leak().as_bytes();
        let server = Scripted::answering(reply);
        let limiter = patient().redis(server.url()).open().expect("opens");
        let decision = limiter.acquire(&rule(&limiter), "u1");
        assert_eq!(decision.outcome(), Outcome::FaultAllowed, "{counter:?}");
        let fault = decision.fault().expect(counter);
        assert_eq!(fault.code(), code);
        assert!(!fault.is_safe_to_repeat(), "it was counted: {fault}");
    }
}

/// What comes after the last reply would be taken for the next hit's.
#[test]
fn a_reply_too_many_reaches_nobody() {
    const REPLY: &str = "*4\r\n$4\r\ntrue\r\n$3\r\n600\r\n$1\r\n9\r\n$4\r\ntrue\r\n";
    let server = Scripted::start(Arc::new(|stream, number| {
        for count in 1.. {
            if read_commands(stream, 4).is_none() {
                return;
            }
            let reply = format!("{REPLY}:{count}\r\n:1\r\n:600000\r\n");
            let times = if number == 0 && count == 2 { 2 } else { 1 };
            let _ = stream.write_all(reply.repeat(times).as_bytes());
        }
    }));
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter);
    assert_eq!(limiter.acquire(&rule, "u1").count(), 1);
    let doubtful = limiter.acquire(&rule, "u2");
    assert_eq!(doubtful.fault().map(tollgate::Fault::kind), Some(tollgate::FaultKind::Protocol));
    eventually("another connection is made", || limiter.stats().store.is_up());
    assert_eq!(limiter.acquire(&rule, "u3").count(), 1);
    assert_eq!(limiter.acquire(&rule, "u4").count(), 2);
}

#[test]
fn nonsense_is_a_fault_and_ends_the_connection() {
    for reply in [
        &b"+OK\r\n+OK\r\n+OK\r\n+OK\r\n"[..],
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"*4\r\n$4\r\ntrue\r\n$1\r\n3\r\n$1\r\n1\r\n$4\r\ntrue\r\n$3\r\nabc\r\n:0\r\n:1000\r\n",
        b"*3\r\n$-1\r\n$-1\r\n$-1\r\n:1\r\n:0\r\n:1000\r\n",
        b":1\r\n:1\r\n:1\r\n:1\r\n",
        b"\0\0\0\0\0\0\0\0\r\n",
    ] {
        let server = Scripted::answering(reply);
        let limiter = patient().redis(server.url()).open().expect("opens");
        let decision = limiter.acquire(&rule(&limiter), "u1");
        assert_eq!(decision.outcome(), Outcome::FaultAllowed, "{reply:?}");
        assert!(
            !decision.fault().is_some_and(tollgate::Fault::is_safe_to_repeat),
            "it may have been executed"
        );
        eventually("another connection is made", || server.connections.load(Ordering::SeqCst) > 1);
    }
}

/// A reply that trickles in, byte after byte, each sooner than any single read gives up.
#[test]
fn a_dripping_reply_ends_with_the_deadline() {
    let server = Scripted::start(Arc::new(|stream, _| {
        read_commands(stream, 4);
        for _ in 0..2_000 {
            if stream.write_all(b"*").is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }));
    // A reply of one endless line: "+xxxx…".
    let limiter =
        Limiter::builder().redis(server.url()).deadline(Duration::from_millis(300)).open().expect("opens");
    let started = Instant::now();
    let decision = limiter.acquire(&rule(&limiter), "u1");
    assert_eq!(decision.outcome(), Outcome::FaultAllowed);
    // It would drip for 40 s.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// The first hit's replies come late, when the second hit is waiting for its own.
#[test]
fn a_late_reply_reaches_nobody() {
    const LATE: &[u8] = b"*4\r\n$4\r\ntrue\r\n$1\r\n3\r\n$1\r\n1\r\n$4\r\ntrue\r\n:99\r\n:0\r\n:1000\r\n";
    const TIMELY: &[u8] = b"*4\r\n$4\r\ntrue\r\n$1\r\n3\r\n$1\r\n1\r\n$4\r\ntrue\r\n:1\r\n:1\r\n:3000\r\n";
    let held: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let late = held.clone();
    let server = Scripted::start(Arc::new(move |stream, number| {
        while read_commands(stream, 4).is_some() {
            if number == 0 {
                late.lock().expect("no panic").push(stream.try_clone().expect("a handle"));
                continue;
            }
            for first in late.lock().expect("no panic").iter_mut() {
                let _ = first.write_all(LATE);
            }
            let _ = stream.write_all(TIMELY);
        }
    }));
    let limiter =
        Limiter::builder().redis(server.url()).deadline(Duration::from_millis(300)).open().expect("opens");
    let rule = rule(&limiter);
    let first = limiter.acquire(&rule, "u1");
    assert_eq!(first.fault().map(tollgate::Fault::kind), Some(tollgate::FaultKind::Timeout));
    eventually("another connection is made", || {
        server.connections.load(Ordering::SeqCst) > 1 && limiter.stats().store.is_up()
    });
    let second = limiter.acquire(&rule, "u2");
    assert_eq!((second.outcome(), second.count()), (Outcome::Allowed, 1));
    assert_eq!(held.lock().expect("no panic").len(), 1, "the hit that timed out was not sent again");
}

/// A server before 7.0 whose connection breaks before it has confirmed an expiry is told again over the next.
#[test]
fn an_unconfirmed_expiry_is_sent_again() {
    let repeated: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let seen = repeated.clone();
    let server = Scripted::start_as(
        "5.0.0",
        Arc::new(move |stream, number| {
            if number == 0 {
                read_commands(stream, 3);
                let _ = stream
                    .write_all(b"*4\r\n$4\r\ntrue\r\n$1\r\n3\r\n$1\r\n1\r\n$4\r\ntrue\r\n:1\r\n:-1\r\n");
                read_commands(stream, 1);
                return;
            }
            if let Some(commands) = read_commands(stream, 1) {
                seen.lock().expect("no panic").extend(commands);
                let _ = stream.write_all(b":1\r\n");
                read_commands(stream, 1);
            }
        }),
    );
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter);
    assert_eq!(
        limiter.acquire(&rule, "u1").outcome(),
        Outcome::Allowed,
        "who passes doesn't wait for the expiry"
    );
    eventually("the expiry is sent again", || {
        // Only a hit finds out that the connection is gone.
        let _ = limiter.acquire(&rule, "u2");
        !repeated.lock().expect("no panic").is_empty()
    });
    assert_eq!(repeated.lock().expect("no panic")[0], ["PEXPIRE", KEY, "3000"]);
}

/// Captures what is logged on this thread.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn logged(work: impl FnOnce()) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    tracing::subscriber::with_default(subscriber, work);
    let bytes = lines.0.lock().expect("no panic").clone();
    String::from_utf8(bytes).expect("text")
}

#[test]
fn faults_are_logged_on_change_and_not_with_every_hit() {
    let mut server = Server::start(&newest(), &[]);
    let log = logged(|| {
        let limiter = patient().redis(server.url()).open().expect("opens");
        let rule = rule(&limiter);
        let _: i64 = server.run(&format!("RPUSH {KEY} x"));
        let _: i64 =
            server.run("HSET ratelimit:config wms.Order.list.interval soon wms.Order.list.check fasle");
        limiter.acquire(&rule, "u1");
        limiter.acquire(&rule, "u1");
        server.stop();
        for _ in 0..500 {
            limiter.acquire(&rule, "u1");
        }
        server.resume();
        eventually("limiting is back", || limiter.acquire(&rule, "u1").fault().is_none());
    });
    let lines = |level: &str, text: &str| {
        log.lines()
            .filter(|line| line.contains(level) && line.contains(text) && line.contains("wms.Order.list"))
            .count()
    };
    assert_eq!(lines("ERROR", "was no counter and was replaced"), 1, "{log}");
    assert_eq!(
        lines("ERROR", "wms.Order.list.interval = \"soon\" is ignored, the default of 600 s holds"),
        1,
        "{log}"
    );
    assert_eq!(
        lines("WARN", "wms.Order.list.check = \"fasle\" is not understood, the rule stays on"),
        1,
        "{log}"
    );
    assert!((1..=4).contains(&lines("ERROR", "store fault")), "{log}");
    assert_eq!(lines("INFO", "limiting is back"), 1, "{log}");
}
