//! Servers that lack a command, or forbid it: an error that names it, and never a block. What isn't needed may be missing.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Binary, Server, binary, command, patient};
use tollgate::{Decision, Fault, Identity, Limiter, Observer, Outcome, Rule, RuleHandle, Tracked};

const KEY: &str = "ratelimit:wms:Order.list:u1";

/// Remembers what was said of faults, in full.
#[derive(Default)]
struct Faults(Mutex<Vec<String>>);

impl Observer for Faults {
    fn decided(&self, _: &Tracked, _: Identity<'_>, _: &Decision) {}

    fn faulted(&self, _: &Tracked, fault: &Fault) {
        self.0.lock().expect("no panic").push(fault.to_string());
    }

    fn unread(&self, _: &Tracked, fault: &Fault) {
        self.0.lock().expect("no panic").push(fault.to_string());
    }
}

struct Bed {
    server: Server,
    limiter: Limiter,
    rule: RuleHandle,
    faults: Arc<Faults>,
}

impl Bed {
    fn start(server: Server, url: &str) -> Self {
        let faults = Arc::new(Faults::default());
        let limiter = patient().redis(url).observer(faults.clone()).open().expect("opens");
        let rule = limiter
            .rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600)))
            .expect("a usable rule");
        Self { server, limiter, rule, faults }
    }

    fn outcomes(&self, user: &str) -> [Outcome; 3] {
        let outcomes = [0; 3].map(|_| self.limiter.acquire(&self.rule, user).outcome());
        // An answer to this means that what the hits left to do has been done, too.
        let _ = self.limiter.setting("settled");
        outcomes
    }

    /// What was said names the command and nothing else.
    fn names(&self, lacking: &str) {
        let faults = std::mem::take(&mut *self.faults.0.lock().expect("no panic"));
        assert!(!faults.is_empty(), "nobody was told that {lacking} is missing");
        for fault in faults {
            assert!(fault.contains(&format!("Redis refused {lacking}: ")), "{lacking}: {fault}");
        }
    }
}

const LIMITED: [Outcome; 3] = [Outcome::Allowed, Outcome::Limited, Outcome::Limited];
const UNLIMITED: [Outcome; 3] = [Outcome::FaultAllowed; 3];

/// What three hits of one user get where a command is missing.
fn lacks(bed: &Bed, lacking: &str, is_older: bool) {
    match lacking {
        // The rule's own values hold, and what is found at the configuration is said to be unread.
        "HMGET" => {
            assert_eq!(bed.outcomes("u1"), LIMITED);
            bed.names(lacking);
        }
        "HINCRBY" | "PTTL" => {
            assert_eq!(bed.outcomes("u1"), UNLIMITED);
            bed.names(lacking);
        }
        // An older server says no after the first hit has been let through.
        "PEXPIRE" => {
            let first = if is_older { Outcome::Allowed } else { Outcome::FaultAllowed };
            assert_eq!(bed.outcomes("u1"), [first, Outcome::FaultAllowed, Outcome::FaultAllowed]);
            bed.names(lacking);
        }
        // Defaults aren't written back: a warning, and no hit is the worse for it.
        "HSETNX" => {
            assert_eq!(bed.outcomes("u1"), LIMITED);
            assert_eq!(bed.server.run::<i64>("EXISTS ratelimit:config"), 0);
            assert_eq!(*bed.faults.0.lock().expect("no panic"), [""; 0]);
        }
        // Needed where something foreign stands at the key.
        "DEL" => {
            assert_eq!(bed.outcomes("u1"), LIMITED);
            assert_eq!(*bed.faults.0.lock().expect("no panic"), [""; 0]);
            let _: redis::Value = bed.server.run(&format!("SET {KEY} foreign"));
            assert_eq!(bed.outcomes("u1"), UNLIMITED);
            bed.names(lacking);
            // A rule that is closed leaves a counter behind, which ends by itself.
            let _: i64 = bed.server.run("HSET ratelimit:config wms.Order.list.check false");
            assert_eq!(bed.outcomes("u2"), [Outcome::Off; 3]);
        }
        _ => unreachable!("{lacking}"),
    }
}

const NEEDED: [&str; 6] = ["HMGET", "HINCRBY", "PEXPIRE", "PTTL", "HSETNX", "DEL"];

fn renamed(binary: &Binary, commands: &[&str]) -> Server {
    let arguments: Vec<&str> =
        commands.iter().flat_map(|command| ["--rename-command", command, ""]).collect();
    Server::start(binary, &arguments)
}

#[test]
fn a_needed_command_that_is_renamed_away() {
    for version in ["7", "valkey-9.1.2", "5.0.6"] {
        let Some(binary) = binary(version) else { continue };
        for lacking in NEEDED {
            println!("{version} without {lacking}");
            let server = renamed(&binary, &[lacking]);
            let url = server.url();
            lacks(&Bed::start(server, &url), lacking, version == "5.0.6");
        }
    }
}

#[test]
fn a_needed_command_that_is_forbidden() {
    let Some(binary) = binary("7") else { return };
    for lacking in NEEDED {
        println!("7, forbidden {lacking}");
        let server = Server::start(&binary, &[]);
        let rights = format!("ACL SETUSER gate on >secret ~* +@all -{}", lacking.to_lowercase());
        let _: redis::Value = server.run(&rights);
        let url = format!("redis://gate:secret@127.0.0.1:{}", server.port);
        lacks(&Bed::start(server, &url), lacking, false);
    }
}

/// Only the commands of hashes and of expiry are needed.
#[test]
fn what_hosts_forbid_is_not_needed() {
    const UNNEEDED: [&str; 12] = [
        "CONFIG", "INFO", "CLIENT", "SCRIPT", "EVAL", "EVALSHA", "COMMAND", "KEYS", "SCAN", "MULTI", "ROLE",
        "SELECT",
    ];
    for version in ["7", "8.2.3", "valkey-9.1.2", "6.2.14", "5.0.6", "2.8.19"] {
        let Some(binary) = binary(version) else { continue };
        let known: Vec<&str> =
            UNNEEDED.into_iter().filter(|name| version != "2.8.19" || *name != "COMMAND").collect();
        let server = renamed(&binary, &known);
        let url = server.url();
        let bed = Bed::start(server, &url);
        assert_eq!(bed.outcomes("u1"), LIMITED, "{version}");
        assert_eq!(*bed.faults.0.lock().expect("no panic"), [""; 0], "{version}");
        let mut connection = bed.server.connect();
        let left: i64 = command(&mut connection, &["PTTL", KEY]);
        assert!((1..=600_000).contains(&left), "{version}: {left}");
        assert_eq!(bed.limiter.settings().expect("readable").len(), 4, "{version}");
    }
}
