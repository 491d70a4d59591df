//! Servers that move: a failover by sentinels, and a master that turns replica under an open connection.

mod common;

use std::time::Duration;

use common::{Server, Witness, binaries, eventually, newest, patient};
use tollgate::{Limiter, Outcome, Rule, RuleHandle};

fn rule(limiter: &Limiter) -> RuleHandle {
    limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600))).expect("a usable rule")
}

/// A master, a replica of it, and three sentinels that watch them.
struct Watched {
    servers: [Server; 2],
    sentinels: Vec<Server>,
}

impl Watched {
    fn start() -> Self {
        let newest = newest();
        let master = Server::start(&newest, &[]);
        let port = master.port.to_string();
        let replica = Server::start(&newest, &["--replicaof", "127.0.0.1", &port]);
        let sentinels = (0..3)
            .map(|_| {
                let sentinel = Server::sentinel(&newest);
                let _: redis::Value = sentinel.run(&format!("SENTINEL MONITOR main 127.0.0.1 {port} 2"));
                for option in ["down-after-milliseconds 500", "failover-timeout 3000"] {
                    let _: redis::Value = sentinel.run(&format!("SENTINEL SET main {option}"));
                }
                sentinel
            })
            .collect();
        let watched = Self { servers: [master, replica], sentinels };
        eventually("the sentinels know each other and the replica", || {
            watched.sentinels.iter().all(|sentinel| {
                let state: String = sentinel.run("INFO sentinel");
                state.contains("slaves=1,sentinels=3")
            })
        });
        watched
    }

    fn url(&self) -> String {
        let places: Vec<_> =
            self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect();
        format!("redis-sentinel://{}/1?sentinelMasterId=main", places.join(","))
    }
}

#[test]
fn limiting_is_back_after_a_failover() {
    let mut watched = Watched::start();
    let witness = Witness::new();
    let limiter = patient().redis(watched.url()).observer(witness.clone()).open().expect("opens");
    let rule = rule(&limiter);
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Allowed);
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Limited);
    assert_eq!(watched.servers[0].run::<i64>("DBSIZE"), 0, "the database of the URL is used");

    watched.servers[0].stop();
    // One sentinel is away as well, the one that is asked first.
    watched.sentinels[0].stop();
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::FaultAllowed);
    eventually("the replica takes over and is found", || {
        limiter.acquire(&rule, "u2").outcome() == Outcome::Limited
    });
    assert!(watched.servers[1].run::<String>("INFO replication").contains("role:master"));
    assert!(witness.take().iter().any(|line| line.starts_with("fault")));

    // The old master comes back as a replica; nothing is asked of it.
    watched.servers[0].resume();
    assert_eq!(limiter.acquire(&rule, "u2").outcome(), Outcome::Limited);
}

#[test]
fn sentinels_that_cannot_help_are_a_fault_that_says_so() {
    let sentinel = Server::sentinel(&newest());
    let away = common::free_port();
    for (url, what) in [
        (
            format!("redis-sentinel://127.0.0.1:{}?sentinelMasterId=nobody", sentinel.port),
            "knows no master \"nobody\"",
        ),
        (format!("redis-sentinel://127.0.0.1:{away}?sentinelMasterId=main"), "can't be reached"),
    ] {
        let limiter = patient().redis(url).open().expect("sentinels that are away are no error");
        let decision = limiter.acquire(&rule(&limiter), "u1");
        assert_eq!(decision.outcome(), Outcome::FaultAllowed);
        assert!(decision.fault().is_some_and(|fault| fault.to_string().contains(what)), "{decision:?}");
    }
}

/// The connection to a master stays open while that becomes a replica: it answers, and takes no writes.
#[test]
fn a_master_that_turns_replica_is_left() {
    for binary in binaries() {
        let server = Server::start(&binary, &[]);
        let other = Server::start(&binary, &[]);
        let witness = Witness::new();
        let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
        let rule = rule(&limiter);
        assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Allowed);
        let _: redis::Value = server.run(&format!("SLAVEOF 127.0.0.1 {}", other.port));
        eventually("it is a replica", || {
            server.run::<String>("INFO replication").contains("master_link_status:up")
        });
        for _ in 0..20 {
            assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::FaultAllowed);
        }
        assert!(witness.take().contains(&"fault wms.Order.list READONLY".to_owned()));
        let _: redis::Value = server.run("SLAVEOF NO ONE");
        eventually("limiting is back", || limiter.acquire(&rule, "u1").outcome() == Outcome::Limited);
    }
}
