//! What users and operators of a real Redis see.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use common::{Server, Witness, command, eventually, newest, on_every_binary, patient};
use tollgate::{Limiter, Outcome, Rule, RuleHandle};

const KEY: &str = "ratelimit:wms:Order.list:u1";

fn rule(limiter: &Limiter, secs: u64) -> RuleHandle {
    limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(secs))).expect("a usable rule")
}

/// On every version at hand: a server, a limiter on it, and the rule `wms` / `Order.list` of one hit in `secs`.
fn on_every_version(secs: u64, check: impl Fn(&Server, &Limiter, &RuleHandle) + Sync) {
    on_every_binary(|binary| {
        let server = Server::start(binary, &[]);
        let limiter = patient().redis(server.url()).open().expect("opens");
        let rule = rule(&limiter, secs);
        check(&server, &limiter, &rule);
    });
}

fn outcomes(limiter: &Limiter, rule: &RuleHandle, hits: usize) -> Vec<Outcome> {
    (0..hits).map(|_| limiter.acquire(rule, "u1").outcome()).collect()
}

/// What stands in the store once everything that the limiter sent has been executed.
fn settled(limiter: &Limiter) {
    limiter.setting("settled").expect("readable");
}

#[test]
fn a_counter_without_expiry_heals() {
    on_every_version(1, |server, limiter, rule| {
        let _: i64 = server.run(&format!("HSET {KEY} count 57"));
        let decision = limiter.acquire(rule, "u1");
        assert_eq!((decision.outcome(), decision.count()), (Outcome::Limited, 58));
        let left: i64 = server.run(&format!("PTTL {KEY}"));
        assert!((0..=1_000).contains(&left) || left == -2, "{left}");
        eventually("the window ends", || server.run::<i64>(&format!("EXISTS {KEY}")) == 0);
        let decision = limiter.acquire(rule, "u1");
        assert_eq!((decision.outcome(), decision.count()), (Outcome::Allowed, 1));
    });
}

#[test]
fn rejected_hits_never_extend_a_window() {
    on_every_version(1, |server, limiter, rule| {
        let mut connection = server.connect();
        let (mut windows, mut last, mut left_before) = (0, 0, i64::MAX);
        while windows < 4 {
            let decision = limiter.acquire(rule, "u1");
            settled(limiter);
            let left: i64 = command(&mut connection, &["PTTL", KEY]);
            assert!((-2..=1_000).contains(&left) && left != -1, "{left}");
            if decision.count() == 1 {
                assert_eq!(decision.outcome(), Outcome::Allowed);
                windows += 1;
            } else {
                assert_eq!((decision.outcome(), decision.count()), (Outcome::Limited, last + 1));
                assert!(left <= left_before, "{left_before} rose to {left}");
            }
            (last, left_before) = (decision.count(), left);
            // Some hits a window; what is asserted doesn't depend on how many.
            std::thread::sleep(Duration::from_millis(50));
        }
    });
}

#[test]
fn an_operators_word_governs_the_very_next_hit() {
    on_every_version(3, |server, limiter, rule| {
        assert_eq!(outcomes(limiter, rule, 2), [Outcome::Allowed, Outcome::Limited]);
        let fields: Vec<String> = server.run("HKEYS ratelimit:config");
        for field in ["wms.Order.list.check", "wms.Order.list.interval", "wms.Order.list.limit", "log.check"]
        {
            assert!(fields.iter().any(|found| found == field), "{field} in {fields:?}");
        }

        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.interval 30");
        let _: i64 = server.run(&format!("DEL {KEY}"));
        assert_eq!(limiter.acquire(rule, "u1").reset_after(), Duration::from_secs(30));
        settled(limiter);
        let left: i64 = server.run(&format!("PTTL {KEY}"));
        assert!((20_000..=30_000).contains(&left), "{left}");

        let _: i64 = server.run(&format!("PEXPIRE {KEY} 3500000"));
        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.interval 3");
        let decision = limiter.acquire(rule, "u1");
        assert_eq!((decision.outcome(), decision.reset_after()), (Outcome::Limited, Duration::from_secs(3)));
        assert!(server.run::<i64>(&format!("PTTL {KEY}")) <= 3_000);

        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.limit 100");
        assert_eq!(limiter.acquire(rule, "u1").outcome(), Outcome::Allowed);
        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.limit 0");
        assert_eq!(limiter.acquire(rule, "u2").outcome(), Outcome::Limited);
        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.check shadow");
        assert_eq!(limiter.acquire(rule, "u2").outcome(), Outcome::Shadowed);
        assert!(limiter.acquire(rule, "u2").should_record());
        let _: i64 = server.run("HSET ratelimit:config log.check false");
        assert!(!limiter.acquire(rule, "u2").should_record());
    });
}

#[test]
fn defaults_are_written_back_and_never_over_an_operators_value() {
    on_every_version(3, |server, limiter, rule| {
        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.interval 77");
        limiter.acquire(rule, "u1");
        settled(limiter);
        let expected = [
            ("log.check", "true"),
            ("wms.Order.list.check", "true"),
            ("wms.Order.list.interval", "77"),
            ("wms.Order.list.limit", "1"),
        ];
        let expected: Vec<_> = expected.map(|(field, value)| (field.to_owned(), value.to_owned())).into();
        assert_eq!(limiter.settings().expect("readable"), expected);

        let _: i64 = server.run("DEL ratelimit:config");
        limiter.acquire(rule, "u1");
        settled(limiter);
        let interval: String = server.run("HGET ratelimit:config wms.Order.list.interval");
        assert_eq!(interval, "3");
    });
}

#[test]
fn only_an_explicit_false_closes_a_rule() {
    on_every_version(60, |server, limiter, rule| {
        for closed in ["false", "0", "FALSE", "False "] {
            let mut connection = server.connect();
            let _: i64 =
                command(&mut connection, &["HSET", "ratelimit:config", "wms.Order.list.check", closed]);
            assert_eq!(outcomes(limiter, rule, 2), [Outcome::Off, Outcome::Off], "{closed:?}");
            assert_eq!(server.run::<i64>(&format!("EXISTS {KEY}")), 0, "{closed:?} leaves no counter");
            // On again in between, so that each spelling is met by a limiter that counts.
            let _: i64 = server.run("HSET ratelimit:config wms.Order.list.check true");
            assert_eq!(outcomes(limiter, rule, 2), [Outcome::Allowed, Outcome::Limited]);
            let _: i64 = server.run(&format!("DEL {KEY}"));
        }
    });
    let server = Server::start(&newest(), &[]);
    for (n, unknown) in ["off", "no", "\"\"", "", "null", "00", "fasle"].into_iter().enumerate() {
        let witness = Witness::new();
        let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
        let rule = rule(&limiter, 60);
        let mut connection = server.connect();
        let _: i64 = command(&mut connection, &["HSET", "ratelimit:config", "wms.Order.list.check", unknown]);
        let user = format!("user{n}");
        assert_eq!(limiter.acquire(&rule, &user).outcome(), Outcome::Allowed);
        assert_eq!(limiter.acquire(&rule, &user).outcome(), Outcome::Limited);
        assert_eq!(
            witness.take(),
            [format!("complaint wms.Order.list.check {unknown}")],
            "once, not with every hit"
        );
    }
}

#[test]
fn foreign_data_is_replaced_loudly() {
    on_every_version(60, |server, _, _| {
        let lax = server.run::<String>("INFO server").contains("redis_version:2.");
        for words in
            [["SET", KEY, "5"].as_slice(), &["HSET", KEY, "count", "03"], &["HSET", KEY, "count", "x"]]
        {
            // Redis 2.8 takes 03 for 3.
            if lax && words.contains(&"03") {
                continue;
            }
            let witness = Witness::new();
            let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
            let rule = rule(&limiter, 60);
            let mut connection = server.connect();
            let _: i64 = command(&mut connection, &["DEL", KEY]);
            let _: redis::Value = command(&mut connection, words);
            assert_eq!(outcomes(&limiter, &rule, 3), [Outcome::Allowed, Outcome::Limited, Outcome::Limited]);
            assert_eq!(witness.take(), [format!("replaced wms.Order.list {KEY}")]);
            let left: i64 = command(&mut connection, &["PTTL", KEY]);
            assert!((1..=60_000).contains(&left));
        }
    });
}

#[test]
fn foreign_data_at_the_configuration_is_loud_and_the_defaults_hold() {
    on_every_version(60, |server, _, _| {
        let witness = Witness::new();
        let limiter = patient().redis(server.url()).observer(witness.clone()).open().expect("opens");
        let rule = rule(&limiter, 60);
        let _: redis::Value = server.run("SET ratelimit:config x");
        assert_eq!(outcomes(&limiter, &rule, 2), [Outcome::Allowed, Outcome::Limited]);
        assert_eq!(witness.take(), ["unread wms.Order.list WRONGTYPE", "unread wms.Order.list WRONGTYPE"]);
        assert_eq!(
            server.run::<String>("GET ratelimit:config"),
            "x",
            "an operator's data is not ours to replace"
        );
        let _: i64 = server.run("DEL ratelimit:config");
        assert_eq!(outcomes(&limiter, &rule, 1), [Outcome::Limited]);
        // A rule that was closed isn't opened by a configuration that can't be read.
        settled(&limiter);
        let _: i64 = server.run("HSET ratelimit:config wms.Order.list.check false");
        assert_eq!(outcomes(&limiter, &rule, 1), [Outcome::Off]);
        let _: i64 = server.run("DEL ratelimit:config");
        let _: redis::Value = server.run("SET ratelimit:config x");
        assert_eq!(outcomes(&limiter, &rule, 1), [Outcome::Off]);
    });
}

#[test]
fn nothing_depends_on_scripts() {
    let server =
        Server::start(&newest(), &["--rename-command", "EVAL", "", "--rename-command", "EVALSHA", ""]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter, 60);
    limiter.acquire(&rule, "u1");
    let _: redis::Value = server.run("SCRIPT FLUSH");
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Limited);
    assert_eq!(server.run::<i64>(&format!("HGET {KEY} count")), 2);
}

/// The commands that a server executes while `work` runs, as `MONITOR` shows them.
fn monitored(server: &Server, work: impl FnOnce()) -> Vec<String> {
    let mut socket = TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
    socket.write_all(b"MONITOR\r\n").expect("sent");
    let mut lines = BufReader::new(socket).lines().map(|line| line.expect("a line"));
    assert_eq!(lines.next().as_deref(), Some("+OK"));
    work();
    let _: redis::Value = server.run("ECHO finished");
    let ours = |line: &String| !line.contains("\"CLIENT\"") && !line.contains("\"SELECT\"");
    lines.take_while(|line| !line.contains("finished")).filter(ours).collect()
}

#[test]
fn a_hit_costs_a_constant_number_of_commands_however_large_the_keyspace() {
    on_every_version(600, |server, limiter, rule| {
        let mut pipe = redis::pipe();
        for n in 0..200_000 {
            pipe.cmd("SET").arg(format!("foreign:{n}")).arg(n).ignore();
        }
        let _: () = pipe.query(&mut server.connect()).expect("filled");
        limiter.acquire(rule, "first");
        settled(limiter);
        let users: Vec<String> = (0..50).map(|n| format!("user{n}")).collect();
        let seen = monitored(server, || {
            for user in users.iter().chain(&users) {
                limiter.acquire(rule, user);
            }
            settled(limiter);
        });
        let named = |name: &str| seen.iter().filter(|line| line.contains(&format!("\"{name}\""))).count();
        assert_eq!((named("HMGET"), named("HINCRBY"), named("PTTL")), (100, 100, 100));
        assert!(named("PEXPIRE") == 100 || named("PEXPIRE") == 50, "with every hit, or once a window");
        // The last is the test's own.
        assert_eq!(seen.len(), 300 + named("PEXPIRE") + 1, "{seen:?}");
    });
}

#[test]
fn an_evicted_counter_is_a_fresh_window() {
    on_every_version(600, |server, limiter, rule| {
        assert_eq!(outcomes(limiter, rule, 2), [Outcome::Allowed, Outcome::Limited]);
        let _: i64 = server.run(&format!("DEL {KEY}"));
        assert_eq!(outcomes(limiter, rule, 2), [Outcome::Allowed, Outcome::Limited]);
    });
}

#[test]
fn users_rules_and_processes_count_as_they_should() {
    let server = Server::start(&newest(), &[]);
    let first = patient().redis(server.url()).open().expect("opens");
    let second = patient().redis(server.url()).open().expect("opens");
    let (a, b) = (rule(&first, 60), rule(&second, 60));
    assert_eq!(first.acquire(&a, "u1").outcome(), Outcome::Allowed);
    assert_eq!(second.acquire(&b, "u1").outcome(), Outcome::Limited, "processes share a counter");
    assert_eq!(second.acquire(&b, "u2").outcome(), Outcome::Allowed, "users don't");
    let other = second.rule(Rule::new("wms", "Order.export")).expect("a usable rule");
    assert_eq!(second.acquire(&other, "u1").outcome(), Outcome::Allowed, "rules don't");
    let elsewhere = patient().redis(server.url()).prefix("other").open().expect("opens");
    let apart = rule(&elsewhere, 60);
    assert_eq!(elsewhere.acquire(&apart, "u1").outcome(), Outcome::Allowed, "prefixes don't");
    assert_eq!(server.run::<i64>("EXISTS other:wms:Order.list:u1"), 1);
}

#[test]
fn many_threads_share_a_connection_and_exactly_the_limit_passes() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = limiter
        .rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600)).limit(5))
        .expect("a usable rule");
    let allowed: usize = std::thread::scope(|scope| {
        let hit = || (0..50).filter(|_| limiter.acquire(&rule, "u1").is_allowed()).count();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(hit)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(allowed, 5);
    assert_eq!(server.run::<i64>(&format!("HGET {KEY} count")), 400);
    let clients: String = server.run("CLIENT LIST");
    assert_eq!(clients.matches("name=tollgate").count(), 1);
}

#[test]
fn more_connections_where_one_is_not_enough() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url() + "?connections=3").open().expect("opens");
    assert_eq!(limiter.stats().store.connects, 3);
    let rule = limiter.rule(Rule::new("wms", "Order.list").limit(10)).expect("a usable rule");
    let allowed: usize = std::thread::scope(|scope| {
        let hit = |user: usize| {
            let (limiter, rule) = (&limiter, &rule);
            scope.spawn(move || {
                (0..40).filter(|_| limiter.acquire(rule, &format!("user{}", user % 4)).is_allowed()).count()
            })
        };
        let threads: Vec<_> = (0..8).map(hit).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(allowed, 40, "ten of each user's eighty");
    let clients: String = server.run("CLIENT LIST");
    assert_eq!(clients.matches("name=tollgate").count(), 3);
}

#[test]
fn every_way_in() {
    let newest = newest();
    let server = Server::start(&newest, &["--requirepass", "p@ss:w/rd"]);
    let open = format!("redis://127.0.0.1:{}", server.port);
    for more in ["", "/3", "?protocol=resp3", "/3?protocol=resp3"] {
        let limiter = patient().redis(server.url() + more).open().expect("opens");
        let rule = rule(&limiter, 60);
        assert_eq!(outcomes(&limiter, &rule, 2), [Outcome::Allowed, Outcome::Limited], "{more}");
        assert_eq!(limiter.settings().expect("readable").len(), 4, "RESP3 answers with a map");
        let _: redis::Value = server.run("FLUSHALL");
    }

    for (url, code) in [(open.clone(), "NOAUTH"), (open.replace("//", "//:wrong@"), "WRONGPASS")] {
        let limiter =
            patient().redis(url).open().expect("a server that doesn't let us in is a fault, no error");
        let decision = limiter.acquire(&rule(&limiter, 60), "u1");
        assert_eq!(decision.outcome(), Outcome::FaultAllowed);
        assert_eq!(decision.fault().map(|fault| fault.code().to_owned()).as_deref(), Some(code));
    }

    let socket = tempfile::tempdir().expect("a folder");
    let path = socket.path().join("redis.sock");
    let _server = Server::start(&newest, &["--unixsocket", &path.display().to_string()]);
    let limiter = patient().redis(format!("unix://{}?db=2", path.display())).open().expect("opens");
    assert_eq!(outcomes(&limiter, &rule(&limiter, 60), 2), [Outcome::Allowed, Outcome::Limited]);
}

#[test]
fn a_user_with_the_least_rights() {
    let server = Server::start(&newest(), &[]);
    let setuser = "ACL SETUSER gate on >secret resetkeys ~ratelimit:* resetchannels -@all +ping +hmget +hget +hset +hsetnx +hgetall +hincrby +pexpire +pttl +del";
    let _: redis::Value = server.run(setuser);
    let witness = Witness::new();
    let url = format!("redis://gate:secret@127.0.0.1:{}", server.port);
    let limiter = patient().redis(&url).observer(witness.clone()).open().expect("opens");
    let gate = rule(&limiter, 60);
    assert_eq!(outcomes(&limiter, &gate, 2), [Outcome::Allowed, Outcome::Limited]);
    assert_eq!(limiter.settings().expect("readable").len(), 4);
    assert_eq!(witness.take(), [""; 0]);

    // Without the right to count, the fault names the command.
    let _: redis::Value = server.run("ACL SETUSER gate -hincrby");
    let decision = limiter.acquire(&gate, "u1");
    let fault = decision.fault().expect("a fault");
    assert_eq!((decision.outcome(), fault.code()), (Outcome::FaultAllowed, "NOPERM"));
    assert!(fault.to_string().contains("HINCRBY"), "{fault}");
    // Without the right to expire, nobody is turned away: the window might never end.
    let _: redis::Value = server.run("ACL SETUSER gate +hincrby -pexpire");
    for user in ["u7", "u7", "u7"] {
        assert_eq!(limiter.acquire(&gate, user).outcome(), Outcome::FaultAllowed);
    }
    // Without the right to write settings, defaults hold.
    let _: redis::Value = server.run("ACL SETUSER gate +pexpire -hsetnx");
    let _: i64 = server.run("DEL ratelimit:config");
    let _: i64 = server.run(&format!("DEL {KEY}"));
    assert_eq!(outcomes(&limiter, &gate, 2), [Outcome::Allowed, Outcome::Limited]);
}

/// Before 7.0 the expiry is set after the answer, so the first refusal is only found out with the next hit.
#[test]
fn an_older_server_that_refuses_to_expire_turns_nobody_away() {
    let Some(binary) = common::binary("5.0.6") else { return };
    let server = Server::start(&binary, &["--rename-command", "PEXPIRE", ""]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter, 60);
    assert_eq!(limiter.acquire(&rule, "u1").outcome(), Outcome::Allowed);
    for user in ["u1", "u1", "u2", "u3"] {
        let decision = limiter.acquire(&rule, user);
        assert_eq!(decision.outcome(), Outcome::FaultAllowed, "{user}");
        assert!(decision.fault().is_some_and(|fault| fault.to_string().contains("PEXPIRE")), "{decision:?}");
    }
}

#[test]
fn refused_defaults_are_not_written_again_with_every_hit() {
    let server = Server::start(&newest(), &["--rename-command", "HSETNX", ""]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = rule(&limiter, 600);
    for n in 0..20 {
        assert!(limiter.acquire(&rule, &format!("user{n}")).is_allowed());
    }
    settled(&limiter);
    let refused: String = server.run("INFO errorstats");
    // Four fields, once; a machine that takes over ten seconds for this may see them a second time.
    let count = refused.split("errorstat_ERR:count=").nth(1).and_then(|rest| rest.split('\r').next());
    let count: u32 = count.and_then(|count| count.parse().ok()).expect("a count");
    assert!((4..=12).contains(&count), "{refused}");
}

#[test]
fn tls_is_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout other.key -out other-ca.pem -days 2 -subj /CN=other-ca
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out server.csr -subj /CN=localhost
        printf 'subjectAltName=DNS:localhost,IP:127.0.0.1' > san
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 2 -extfile san";
    let made =
        Command::new("sh").args(["-ec", script]).current_dir(folder.path()).output().expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let file = |name: &str| folder.path().join(name).display().to_string();
    let port = common::free_port().to_string();
    let tls = [
        "--tls-port",
        &port,
        "--tls-cert-file",
        &file("cert.pem"),
        "--tls-key-file",
        &file("key.pem"),
        "--tls-ca-cert-file",
        &file("ca.pem"),
        "--tls-auth-clients",
        "no",
    ];
    let _server = Server::start(&newest(), &tls);
    let url = format!("rediss://localhost:{port}");
    let decide = |url: &str| {
        let limiter = patient().redis(url).open().expect("opens");
        limiter.acquire(&rule(&limiter, 60), "u1").outcome()
    };
    assert_eq!(decide(&format!("{url}?ca={}", file("ca.pem"))), Outcome::Allowed);
    assert_eq!(decide(&format!("{url}?ca={}", file("other-ca.pem"))), Outcome::FaultAllowed);
    assert_eq!(
        decide(&format!("rediss://127.0.0.2:{port}?ca={}", file("ca.pem"))),
        Outcome::FaultAllowed,
        "another name"
    );
    for (options, what) in [
        ("ca=/nowhere.pem", "/nowhere.pem can't be read"),
        (&format!("ca={}", file("key.pem")), "holds no certificate"),
        (&format!("ca={}&cert={}&key={}", file("ca.pem"), file("cert.pem"), file("ca.pem")), "the key"),
    ] {
        let error = patient().redis(format!("{url}?{options}")).open().expect_err(options);
        assert!(error.to_string().contains(what), "{error}");
    }
    // The system's certificates are named by the environment, so each case is a process of its own.
    for (trusted, outcome) in [("ca.pem", "ALLOWED"), ("other-ca.pem", "FAULT_ALLOWED")] {
        let output = child("tls_child")
            .env("SSL_CERT_FILE", file(trusted))
            .env("TEST_URL", &url)
            .output()
            .expect("runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!("outcome={outcome} ")), "{trusted}: {text}");
    }

    // A server that wants to know who we are.
    let port = common::free_port().to_string();
    let tls: Vec<&str> = tls.iter().copied().take(8).collect();
    let mutual = [&["--tls-port", &port], &tls[2..], &["--tls-auth-clients", "yes"]].concat();
    let _mutual = Server::start(&newest(), &mutual);
    let url = format!("rediss://localhost:{port}?ca={}", file("ca.pem"));
    assert_eq!(decide(&url), Outcome::FaultAllowed);
    assert_eq!(decide(&format!("{url}&cert={}&key={}", file("cert.pem"), file("key.pem"))), Outcome::Allowed);
}

#[test]
#[ignore = "run by tls_is_verified"]
fn tls_child() {
    let limiter = patient().redis(std::env::var("TEST_URL").expect("set")).open().expect("opens");
    let decision = limiter.acquire(&rule(&limiter, 60), "u2");
    println!("outcome={} {:?}", decision.outcome(), decision.fault());
}

/// This test binary again, running one of its ignored tests.
fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}

#[test]
fn wrong_wall_clocks_decide_nothing() {
    let faketime = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
        .map(|folder| std::path::Path::new(folder).join("faketime/libfaketime.so.1"))
        .into_iter()
        .find(|path| path.is_file());
    let Some(faketime) = faketime else {
        assert!(
            std::env::var_os("TOLLGATE_REQUIRE_SERVERS").is_none(),
            "faketime is missing: run `make test`"
        );
        return eprintln!("skipped: faketime is not installed");
    };
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    assert!(limiter.acquire(&rule(&limiter, 60), "u1").is_allowed());

    let offset = server.folder().join("offset");
    for (hours, name) in [("+1h", "ahead"), ("-1h", "behind")] {
        std::fs::write(&offset, hours).expect("written");
        let mut child = child("wrong_clock_child");
        child.env("LD_PRELOAD", &faketime).env("FAKETIME_TIMESTAMP_FILE", &offset);
        child
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
        let output = child.env("TEST_URL", server.url()).env("TEST_OFFSET", &offset).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.contains("wrong clock, right decisions"),
            "{name}: {text} {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
#[ignore = "run by wrong_wall_clocks_decide_nothing"]
fn wrong_clock_child() {
    let limiter = patient().redis(std::env::var("TEST_URL").expect("set")).open().expect("opens");
    let decision = limiter.acquire(&rule(&limiter, 60), "u1");
    assert_eq!(decision.outcome(), Outcome::Limited);
    assert!(decision.reset_after() <= Duration::from_secs(60));

    // The wall clock steps while a window in memory is open.
    let memory = Limiter::builder().memory().open().expect("opens");
    let rule = rule(&memory, 60);
    assert!(memory.acquire(&rule, "u1").is_allowed());
    for offset in ["+3h", "-3h", "+0"] {
        let before = std::time::SystemTime::now();
        std::fs::write(std::env::var("TEST_OFFSET").expect("set"), offset).expect("written");
        eventually("the wall clock steps", || {
            let now = std::time::SystemTime::now();
            let step = now.duration_since(before).unwrap_or_else(|error| error.duration());
            step > Duration::from_secs(1_800)
        });
        let decision = memory.acquire(&rule, "u1");
        assert_eq!(decision.outcome(), Outcome::Limited, "{offset}");
        assert!(decision.reset_after() <= Duration::from_secs(60));
    }
    println!("wrong clock, right decisions");
}
