//! The servers under a soak, and what may happen to them. A further topology is one more `Bed`.

use std::thread::sleep;
use std::time::Duration;

use redis::Connection;

use crate::common::chance::Chance;
use crate::common::watched::Watched;
use crate::common::{Server, eventually, newest};

pub(crate) trait Bed: Send {
    fn name(&self) -> &'static str;

    fn url(&self) -> String;

    /// Whether what was answered is never lost, so that the server has executed all of it in the end.
    fn is_durable(&self) -> bool;

    /// Does something to the servers, and undoes it; says what.
    fn strike(&mut self, chance: &mut Chance) -> &'static str;

    /// To the servers that have the counters between them, as far as they can be reached now.
    fn masters(&self) -> Vec<Connection>;
}

fn a_while(chance: &mut Chance, most_ms: u64) {
    sleep(Duration::from_millis(chance.below(most_ms)));
}

/// One server, which writes each command down before it answers.
pub(crate) struct Single(Server);

impl Single {
    pub(crate) fn start() -> Self {
        Self(Server::start(&newest(), &["--appendonly", "yes", "--appendfsync", "no"]))
    }
}

impl Bed for Single {
    fn name(&self) -> &'static str {
        "redis-server"
    }

    fn url(&self) -> String {
        self.0.url()
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn strike(&mut self, chance: &mut Chance) -> &'static str {
        match chance.below(4) {
            0 => {
                self.0.stop();
                a_while(chance, 1_000);
                self.0.resume();
                "kill"
            }
            1 => {
                let _: i64 = self.0.run("CLIENT KILL TYPE normal SKIPME yes");
                "cut"
            }
            _ => {
                self.0.signal("STOP");
                a_while(chance, 1_000);
                self.0.signal("CONT");
                "pause"
            }
        }
    }

    fn masters(&self) -> Vec<Connection> {
        vec![self.0.connect()]
    }
}

/// A master and a replica that sentinels watch. What was answered may be lost with a master; it is never executed twice.
pub(crate) struct Failover(Watched);

impl Failover {
    pub(crate) fn start() -> Self {
        Self(Watched::start())
    }

    /// Which of the two the sentinels call the master.
    fn master(&self) -> usize {
        let ports = self.0.sentinels.iter().map(|sentinel| -> u16 {
            let [_, port]: [String; 2] = sentinel.run("SENTINEL GET-MASTER-ADDR-BY-NAME main");
            port.parse().expect("a port")
        });
        let ports: Vec<u16> = ports.collect();
        self.0.servers.iter().position(|server| server.port == ports[0]).expect("one of the two")
    }

    fn await_failover(&self, old: usize) {
        eventually("the replica takes over", || self.master() != old);
    }

    /// Waits until the pair is as at the start, though perhaps the other way round.
    fn settle(&self) {
        eventually("master and replica are together", || {
            let master = self.master();
            let says = |server: usize, what: &str| self.0.servers[server].informs("replication", what);
            let known = |sentinel: &Server| {
                let state: String = sentinel.run("INFO sentinel");
                state.contains("status=ok") && state.contains("slaves=1,sentinels=3")
            };
            says(master, "role:master")
                && says(1 - master, "master_link_status:up")
                && self.0.sentinels.iter().all(known)
        });
    }

    /// The server that was away follows the other, as its configuration would have it after a failover.
    fn follow(&self, old: usize) {
        let (server, other) = (&self.0.servers[old], &self.0.servers[1 - old]);
        let _: redis::Value = server.run(&format!("REPLICAOF 127.0.0.1 {}", other.port));
    }
}

impl Bed for Failover {
    fn name(&self) -> &'static str {
        "master and replica behind sentinels"
    }

    fn url(&self) -> String {
        self.0.url()
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn strike(&mut self, chance: &mut Chance) -> &'static str {
        let master = self.master();
        let what = match chance.below(4) {
            0 => {
                self.0.servers[master].stop();
                self.await_failover(master);
                self.0.servers[master].resume();
                self.follow(master);
                "kill and failover"
            }
            1 => {
                self.0.servers[master].signal("STOP");
                self.await_failover(master);
                self.0.servers[master].signal("CONT");
                self.follow(master);
                "long pause and failover"
            }
            2 => {
                let asked = redis::cmd("SENTINEL")
                    .arg(&["FAILOVER", "main"])
                    .exec(&mut self.0.sentinels[0].connect());
                // Soon after another one it is refused.
                if asked.is_ok() {
                    self.await_failover(master);
                }
                "failover"
            }
            _ => {
                self.0.servers[master].signal("STOP");
                a_while(chance, 300);
                self.0.servers[master].signal("CONT");
                "pause"
            }
        };
        self.settle();
        what
    }

    fn masters(&self) -> Vec<Connection> {
        let url = format!("{}/1", self.0.servers[self.master()].url());
        redis::Client::open(url).and_then(|client| client.get_connection()).into_iter().collect()
    }
}
