//! Whatever hangs, and wherever: each caller has an answer in time, and opening a limiter ends.
//!
//! What is asserted about time is far above the deadline and far below what the thing that hangs would take.

mod common;

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Server, block_on, eventually, newest};
use tollgate::{Builder, Decision, Fault, FaultKind, Limiter, Outcome, Rule, RuleHandle};

const DEADLINE: Duration = Duration::from_millis(200);
const FAR_TOO_LATE: Duration = Duration::from_secs(5);
const CALLERS: usize = 200;

fn hasty(url: String) -> Builder {
    Limiter::builder().redis(url).deadline(DEADLINE).connect_timeout(DEADLINE)
}

fn rule(limiter: &Limiter) -> RuleHandle {
    limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(600))).expect("a usable rule")
}

/// Two hundred callers at once, every other one a future; their decisions, each of which came in time.
fn stampede(limiter: &Limiter, rule: &RuleHandle) -> Vec<Decision> {
    let call = |caller: usize| {
        let began = Instant::now();
        let user = format!("user{caller}");
        let decision = match caller % 2 {
            0 => limiter.acquire(rule, &user),
            _ => block_on(limiter.acquire_async(rule, &user)),
        };
        assert!(began.elapsed() < FAR_TOO_LATE, "caller {caller} waited for {:?}", began.elapsed());
        decision
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CALLERS).map(|caller| scope.spawn(move || call(caller))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Opening at a server that can't be got into ends, and so does closing; everybody gets the policy, and nothing is sent.
fn nobody_waits_for_a_dial(url: String) {
    let began = Instant::now();
    let limiter = hasty(url).open().expect("a server that is away is no error");
    assert!(began.elapsed() < FAR_TOO_LATE, "opening took {:?}", began.elapsed());
    for _ in 0..3 {
        for decision in stampede(&limiter, &rule(&limiter)) {
            let fault = decision.fault().map(Fault::kind);
            assert_eq!((decision.outcome(), fault), (Outcome::FaultAllowed, Some(FaultKind::Unavailable)));
        }
    }
    assert!(!limiter.stats().store.is_up());
    let began = Instant::now();
    drop(limiter);
    assert!(began.elapsed() < FAR_TOO_LATE, "closing took {:?}", began.elapsed());
}

/// Accepts and never says a word, also not in a TLS handshake. The kernel accepts for it.
fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    (listener, port)
}

#[test]
fn a_server_that_accepts_and_never_answers() {
    let (_listener, port) = silent();
    nobody_waits_for_a_dial(format!("redis://127.0.0.1:{port}?connections=3"));
}

#[test]
fn a_server_that_is_stopped_when_the_limiter_opens() {
    let server = Server::start(&newest(), &[]);
    server.signal("STOP");
    nobody_waits_for_a_dial(server.url());
}

#[test]
fn a_tls_handshake_that_stalls() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=ca";
    let made =
        Command::new("sh").args(["-ec", script]).current_dir(folder.path()).output().expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (_listener, port) = silent();
    nobody_waits_for_a_dial(format!(
        "rediss://localhost:{port}?ca={}",
        folder.path().join("ca.pem").display()
    ));
}

/// Nobody takes the first packet: the queue of a listener that accepts nobody is full.
#[test]
fn a_connect_that_hangs() {
    let listener =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    let any: std::net::SocketAddr = ([127, 0, 0, 1], 0).into();
    listener.bind(&any.into()).and_then(|()| listener.listen(0)).expect("listens");
    let address = listener.local_addr().expect("bound").as_socket().expect("of the internet");
    let mut queued = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, DEADLINE) {
        queued.push(stream);
        assert!(queued.len() < 100, "the queue is never full");
    }
    nobody_waits_for_a_dial(format!("redis://{address}"));
}

/// A name server that never answers. The look-up can't be given up, so the maintenance thread hangs in it, and only that.
#[test]
fn a_name_look_up_that_hangs() {
    // In a network and with a file system of its own, where the name server is the child itself.
    let script = "ip link set lo up && mount --bind \"$TEST_RESOLV\" /etc/resolv.conf && mount --bind \"$TEST_SWITCH\" /etc/nsswitch.conf && exec \"$0\" --exact hanging_look_up_child --ignored --nocapture";
    let folder = tempfile::tempdir().expect("a folder");
    let (resolv, switch) = (folder.path().join("resolv.conf"), folder.path().join("nsswitch.conf"));
    std::fs::write(&resolv, "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n").expect("written");
    std::fs::write(&switch, "hosts: dns\n").expect("written");
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "--mount", "sh", "-ec", script]);
        command.arg(std::env::current_exe().expect("this binary"));
        command.env("TEST_RESOLV", &resolv).env("TEST_SWITCH", &switch);
        command.output()
    };
    if !unshare("ip link set lo up && test -e /etc/nsswitch.conf").is_ok_and(|output| output.status.success())
    {
        return eprintln!("skipped: no namespaces of one's own here (unshare, ip)");
    }
    let output = unshare(script).expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("asked for a name, and nobody waited"), "{text} {errors}");
}

#[test]
#[ignore = "run by a_name_look_up_that_hangs"]
fn hanging_look_up_child() {
    let names = UdpSocket::bind("127.0.0.1:53").expect("the name server's port");
    nobody_waits_for_a_dial("redis://redis.example:6379".into());
    names.set_nonblocking(true).expect("a socket");
    assert!(names.recv(&mut [0; 512]).is_ok(), "the name server was asked");
    println!("asked for a name, and nobody waited");
    // The thread in the look-up would be waited for by nobody either.
    std::process::exit(0);
}

#[test]
fn two_hundred_callers_behind_a_server_that_is_stopped() {
    let server = Server::start(&newest(), &[]);
    let limiter = Limiter::builder().redis(server.url()).deadline(DEADLINE).open().expect("opens");
    let rule = rule(&limiter);
    eventually("warm", || limiter.acquire(&rule, "warm").fault().is_none());
    server.signal("STOP");
    for decision in stampede(&limiter, &rule) {
        assert_eq!(decision.outcome(), Outcome::FaultAllowed);
    }
    server.signal("CONT");
    eventually("limiting is back", || limiter.acquire(&rule, "warm").outcome() == Outcome::Limited);
    let counts: Vec<u64> = (0..CALLERS)
        .filter_map(|caller| server.run(&format!("HGET ratelimit:wms:Order.list:user{caller} count")))
        .collect();
    assert!(counts.iter().all(|count| *count == 1), "{counts:?}");
}
