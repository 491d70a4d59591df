//! Servers that move: a failover by sentinels or in a cluster, slots that move, and a master that turns replica under an
//! open connection.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::watched::Watched;
use common::{Server, Witness, eventually, newest, on_every_binary, patient};
use tollgate::{Limiter, Outcome, Rule, RuleHandle};

fn rule(limiter: &Limiter) -> RuleHandle {
    limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600))).expect("a usable rule")
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
    on_every_binary(|binary| {
        let server = Server::start(binary, &[]);
        let other = Server::start(binary, &[]);
        let witness = Witness::new();
        let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
        let rule = rule(&limiter);
        assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Allowed);
        let _: redis::Value = server.run(&format!("SLAVEOF 127.0.0.1 {}", other.port));
        eventually("it is a replica", || server.informs("replication", "master_link_status:up"));
        for _ in 0..20 {
            assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::FaultAllowed);
        }
        assert!(witness.take().contains(&"fault wms.Order.list READONLY".to_owned()));
        let _: redis::Value = server.run("SLAVEOF NO ONE");
        eventually("limiting is back", || limiter.acquire(&rule, "u1").outcome() == Outcome::Limited);
    });
}

/// Three masters with a third of the slots each, and a replica of each.
struct ClusterOfSix {
    nodes: Vec<Server>,
}

impl ClusterOfSix {
    const FIRST: [u16; 4] = [0, 5461, 10923, 16384];

    fn start() -> Self {
        let newest = newest();
        let nodes: Vec<Server> = (0..6).map(|_| Server::node(&newest)).collect();
        for (node, first) in Self::FIRST[..3].iter().enumerate() {
            let _: redis::Value =
                nodes[node].run(&format!("CLUSTER ADDSLOTSRANGE {first} {}", Self::FIRST[node + 1] - 1));
        }
        let bus = |node: &Server| -> String {
            let (_, bus) = node
                .run::<String>("CLUSTER NODES")
                .split_once('@')
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .expect("a bus port");
            bus.split([' ', ',']).next().expect("a port").to_owned()
        };
        for node in &nodes[1..] {
            let _: redis::Value =
                nodes[0].run(&format!("CLUSTER MEET 127.0.0.1 {} {}", node.port, bus(node)));
        }
        for replica in 3..6 {
            let master: String = nodes[replica - 3].run("CLUSTER MYID");
            eventually("a node becomes a replica", || {
                let mut connection = nodes[replica].connect();
                redis::cmd("CLUSTER").arg("REPLICATE").arg(&master).query::<String>(&mut connection).is_ok()
            });
        }
        let cluster = Self { nodes };
        eventually("the replicas have what their masters have", || {
            let linked = |node: &Server| node.informs("replication", "master_link_status:up");
            cluster.nodes[3..].iter().all(linked)
        });
        eventually("all nodes see the whole cluster", || {
            cluster.nodes.iter().all(|node| {
                node.run::<String>("CLUSTER INFO").contains("cluster_state:ok")
                    && node.run::<String>("CLUSTER NODES").matches("slave").count() == 3
            })
        });
        cluster
    }

    fn url(&self) -> String {
        let places: Vec<_> =
            self.nodes.iter().take(2).map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis-cluster://{}", places.join(","))
    }

    /// Runs a command on whichever master takes its key.
    fn run<T: redis::FromRedisValue>(&self, words: &str) -> T {
        let words: Vec<&str> = words.split(' ').collect();
        let mut found = None;
        eventually("a master takes the command", || {
            found = self.nodes.iter().filter(|node| node.is_running()).find_map(|node| {
                let mut command = redis::cmd(words[0]);
                for word in &words[1..] {
                    command.arg(*word);
                }
                command.query::<T>(&mut node.connect()).ok()
            });
            found.is_some()
        });
        found.expect("found")
    }

    fn count(&self, user: &str) -> u64 {
        self.run(&format!("HGET ratelimit:wms:Order.list:{user} count"))
    }
}

#[test]
fn a_cluster_limits_and_obeys() {
    let cluster = ClusterOfSix::start();
    let limiter = patient().redis(cluster.url()).open().expect("opens");
    let rule = rule(&limiter);
    let users: Vec<String> = (0..100).map(|n| format!("user{n}")).collect();
    for outcome in [Outcome::Allowed, Outcome::Limited] {
        for user in &users {
            assert_eq!(limiter.acquire(&rule, user).outcome(), outcome, "{user}");
        }
    }
    let all: Vec<_> = users.iter().take(60).map(|user| (&rule, user)).collect();
    for decision in limiter.acquire_all(&all) {
        assert_eq!((decision.outcome(), decision.count()), (Outcome::Limited, 3));
    }
    // The counters stand on all three masters, the settings on one of them.
    for master in &cluster.nodes[..3] {
        assert!(master.run::<String>("INFO keyspace").contains("keys="));
    }
    assert_eq!(limiter.settings().expect("readable").len(), 4);
    let field = "ratelimit:config wms.Order.list";
    let _: i64 = cluster.run(&format!("HSET {field}.check false"));
    assert_eq!(limiter.acquire(&rule, "user1").outcome(), Outcome::Off);
    assert_eq!(limiter.acquire(&rule, "fresh").outcome(), Outcome::Off);
    let _: i64 = cluster.run(&format!("HSET {field}.check true"));
    assert_eq!(limiter.acquire(&rule, "user1").outcome(), Outcome::Limited);
    let _: i64 = cluster.run(&format!("HSET {field}.limit 1000"));
    assert_eq!(limiter.acquire(&rule, "user1").outcome(), Outcome::Allowed);
    let _: i64 = cluster.run(&format!("HSET {field}.interval 30"));
    assert_eq!(limiter.acquire(&rule, "user2").reset_after(), Duration::from_secs(30));
    assert_eq!(limiter.acquire(&rule, "newcomer").reset_after(), Duration::from_secs(30));
    limiter.set("wms.Order.list.interval", "20").expect("written");
    assert_eq!(limiter.acquire(&rule, "another").reset_after(), Duration::from_secs(20));
}

#[test]
fn a_cluster_survives_the_death_of_a_master() {
    let mut cluster = ClusterOfSix::start();
    let limiter = patient().redis(cluster.url()).open().expect("opens");
    let rule = limiter
        .rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600)).limit(1_000_000))
        .expect("a usable rule");
    let users: Vec<String> = (0..30).map(|n| format!("user{n}")).collect();
    let mut answered = vec![0u64; users.len()];
    let mut sent = vec![0u64; users.len()];
    let round = |answered: &mut Vec<u64>, sent: &mut Vec<u64>| {
        for (at, user) in users.iter().enumerate() {
            sent[at] += 1;
            answered[at] += u64::from(limiter.acquire(&rule, user).outcome() == Outcome::Allowed);
        }
    };
    round(&mut answered, &mut sent);
    assert!(answered.iter().all(|hits| *hits == 1));
    cluster.nodes[0].stop();
    eventually("every slot is served again", || {
        let before: u64 = answered.iter().sum();
        round(&mut answered, &mut sent);
        answered.iter().sum::<u64>() - before == users.len() as u64
    });
    for (at, user) in users.iter().enumerate() {
        let count = cluster.count(user);
        // A master that dies takes with it what its replica hasn't got yet; nothing is ever counted twice.
        assert!(count <= sent[at] && count + 1 >= answered[at], "{user}: {count} of {} sent", sent[at]);
    }
}

#[test]
fn slots_move_under_load_and_every_hit_counts_once() {
    let cluster = ClusterOfSix::start();
    let limiter = patient().redis(cluster.url()).open().expect("opens");
    let rule = limiter
        .rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600)).limit(1_000_000))
        .expect("a usable rule");
    let users: Vec<String> = (0..40).map(|n| format!("user{n}")).collect();
    let moved = AtomicBool::new(false);
    let hits: u64 = std::thread::scope(|scope| {
        let (limiter, rule, users, moved) = (&limiter, &rule, &users, &moved);
        let load: Vec<_> = (0..4)
            .map(|thread| {
                scope.spawn(move || {
                    let mut rounds = 0;
                    // Each thread its own users, so that every count is known.
                    while !moved.load(Ordering::SeqCst) || rounds < 3 {
                        rounds += 1;
                        let own: Vec<_> = users.iter().skip(thread).step_by(4).collect();
                        let decisions = match thread {
                            // All of its users in one call.
                            0 => {
                                limiter.acquire_all(&own.iter().map(|user| (rule, *user)).collect::<Vec<_>>())
                            }
                            _ => own.iter().map(|user| limiter.acquire(rule, *user)).collect(),
                        };
                        for (user, decision) in own.into_iter().zip(decisions) {
                            assert_eq!(
                                (decision.outcome(), decision.count()),
                                (Outcome::Allowed, rounds),
                                "{user}: {decision:?}"
                            );
                        }
                    }
                    rounds
                })
            })
            .collect();
        // The slots of ten users and of the settings move, from wherever they are to the next master.
        let keys = users.iter().take(10).map(|user| format!("ratelimit:wms:Order.list:{user}"));
        for key in keys.chain(["ratelimit:config".to_owned()]) {
            move_slot(&cluster, cluster.nodes[0].run(&format!("CLUSTER KEYSLOT {key}")));
        }
        moved.store(true, Ordering::SeqCst);
        load.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    let counted: u64 = users.iter().map(|user| cluster.count(user)).sum();
    assert_eq!(counted, hits * 10);
}

/// Moves a slot as `redis-cli --cluster reshard` does: importing, migrating, key by key, then for all to see.
fn move_slot(cluster: &ClusterOfSix, slot: u16) {
    let owns = |node: &Server| {
        let own = node.run::<String>("CLUSTER NODES");
        let line = own.lines().find(|line| line.contains("myself")).unwrap_or_default().to_owned();
        line.split(' ').skip(8).filter(|range| !range.starts_with('[')).any(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            (first.parse().unwrap_or(u16::MAX)..=last.parse().unwrap_or(0)).contains(&slot)
        })
    };
    let from = (0..3).find(|at| owns(&cluster.nodes[*at])).expect("a master has the slot");
    let (source, target) = (&cluster.nodes[from], &cluster.nodes[(from + 1) % 3]);
    let (source_id, target_id): (String, String) = (source.run("CLUSTER MYID"), target.run("CLUSTER MYID"));
    let _: redis::Value = target.run(&format!("CLUSTER SETSLOT {slot} IMPORTING {source_id}"));
    let _: redis::Value = source.run(&format!("CLUSTER SETSLOT {slot} MIGRATING {target_id}"));
    loop {
        let keys: Vec<String> = source.run(&format!("CLUSTER GETKEYSINSLOT {slot} 10"));
        if keys.is_empty() {
            break;
        }
        for key in keys {
            let _: redis::Value = source.run(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", target.port));
        }
    }
    // Hits go on meanwhile: what is new is asked of the target.
    std::thread::sleep(Duration::from_millis(50));
    for node in &cluster.nodes[..3] {
        let _: redis::Value = node.run(&format!("CLUSTER SETSLOT {slot} NODE {target_id}"));
    }
}

/// Users with the rights that the guide names, and no others.
#[test]
fn the_least_rights_at_sentinels_and_in_a_cluster() {
    const GATE: &str = "ACL SETUSER gate on >secret resetkeys ~ratelimit:* resetchannels -@all +ping +hmget +hget +hset +hsetnx +hgetall +hincrby +pexpire +pttl +del";
    let watched = Watched::start();
    for sentinel in &watched.sentinels {
        let _: redis::Value =
            sentinel.run("ACL SETUSER watcher on >secret -@all +sentinel|get-master-addr-by-name");
    }
    let _: redis::Value = watched.servers[0].run(GATE);
    let places: Vec<_> =
        watched.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect();
    let by_sentinels = format!(
        "redis-sentinel://gate:secret@{}?sentinelMasterId=main&sentinelUser=watcher&sentinelPassword=secret",
        places.join(",")
    );
    let cluster = ClusterOfSix::start();
    for node in &cluster.nodes {
        let _: redis::Value = node.run(&format!("{GATE} +cluster|slots +asking"));
    }
    let in_cluster = cluster.url().replace("//", "//gate:secret@");
    for url in [by_sentinels, in_cluster] {
        let witness = Witness::new();
        let limiter = patient().redis(&url).observer(witness.clone()).open().expect("opens");
        let rule = rule(&limiter);
        for user in 0..20 {
            let user = format!("user{user}");
            assert_eq!(limiter.acquire(&rule, &user).outcome(), Outcome::Allowed, "{url}");
            assert_eq!(limiter.acquire(&rule, &user).outcome(), Outcome::Limited, "{url}");
        }
        assert_eq!(limiter.settings().expect("readable").len(), 4);
        assert_eq!(witness.take(), [""; 0], "{url}");
    }
}
