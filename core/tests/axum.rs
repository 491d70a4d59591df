//! The axum example over real HTTP: passing, limiting, and what a client is told when Redis is away.

mod common;
#[path = "common/example.rs"]
mod example;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use common::{Server, newest};

/// The running example; ended when dropped.
struct App {
    child: Child,
    address: String,
}

impl App {
    fn start(redis_url: Option<&str>) -> Self {
        let mut command = example::command("axum");
        command.env("PORT", "0").stdout(Stdio::piped());
        command.envs(redis_url.map(|url| ("REDIS_URL", url)));
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("it says where it is");
        let address = line.trim().strip_prefix("listening on http://").expect("an address").to_owned();
        Self { child, address }
    }

    fn get(&self, path: &str, user: Option<&str>) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let user = user.map(|user| format!("X-User: {user}\r\n")).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n{user}Connection: close\r\n\r\n")
            .expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        Answer { head: head.to_owned(), body: body.to_owned() }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
struct Answer {
    head: String,
    body: String,
}

impl Answer {
    fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line")
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        fields.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The seconds that `RateLimit` names as left, where it says that `remaining` hits are.
    fn window_left(&self, policy: &str, remaining: u64) -> u64 {
        let limit = self.header("ratelimit").expect("a RateLimit field");
        let left = limit.strip_prefix(&format!("\"{policy}\";r={remaining};t="));
        left.and_then(|left| left.parse().ok()).unwrap_or_else(|| panic!("{limit}"))
    }
}

#[test]
fn passes_and_limits_each_user_apart() {
    let app = App::start(None);
    for remaining in [1, 0] {
        let passed = app.get("/orders", Some("u1"));
        assert_eq!((passed.status(), passed.body.as_str()), (200, "orders\n"));
        assert_eq!(passed.header("ratelimit-policy"), Some("\"wms.Order.list\";q=2;w=60"));
        assert!((1..=60).contains(&passed.window_left("wms.Order.list", remaining)));
        assert_eq!(passed.header("retry-after"), None);
    }
    let limited = app.get("/orders", Some("u1"));
    assert_eq!((limited.status(), limited.body.as_str()), (429, ""));
    assert_eq!(limited.header("ratelimit-policy"), Some("\"wms.Order.list\";q=2;w=60"));
    let left = limited.window_left("wms.Order.list", 0);
    assert_eq!(limited.header("retry-after"), Some(left.to_string().as_str()));

    assert_eq!(app.get("/orders", Some("u2")).status(), 200, "another user");
    assert_eq!(app.get("/export", Some("u1")).status(), 200, "another rule");
    let own = app.get("/export", Some("u1"));
    assert_eq!(own.status(), 429);
    assert!(own.body.starts_with("/export is not to be had, try again in "), "{own:?}");
}

#[test]
fn nobody_passes_uncounted() {
    let app = App::start(None);
    for user in [None, None, None, Some(" "), Some("undefined"), Some("null")] {
        let passed = app.get("/orders", user);
        assert_eq!((passed.status(), passed.header("ratelimit")), (200, None), "{user:?}");
    }
}

#[test]
fn two_applications_share_one_redis_and_obey_its_operator() {
    let server = Server::start(&newest(), &[]);
    let [one, other] = [(); 2].map(|()| App::start(Some(&server.url())));
    assert_eq!(one.get("/orders", Some("u1")).status(), 200);
    assert_eq!(other.get("/orders", Some("u1")).status(), 200);
    assert_eq!(one.get("/orders", Some("u1")).status(), 429);
    assert_eq!(other.get("/orders", Some("u1")).status(), 429);

    server.run::<()>("HSET ratelimit:config wms.Order.list.limit 9");
    let passed = one.get("/orders", Some("u1"));
    assert_eq!(
        (passed.status(), passed.header("ratelimit-policy")),
        (200, Some("\"wms.Order.list\";q=9;w=60"))
    );
    passed.window_left("wms.Order.list", 4);
    server.run::<()>("HSET ratelimit:config wms.Order.list.check shadow wms.Order.list.limit 1");
    let shadowed = one.get("/orders", Some("u1"));
    assert_eq!((shadowed.status(), shadowed.header("ratelimit")), (200, None), "shadow is not to be seen");
}

#[test]
fn without_redis_the_policy_answers() {
    let app = App::start(Some("redis://127.0.0.1:1"));
    for _ in 0..3 {
        let passed = app.get("/orders", Some("u1"));
        assert_eq!((passed.status(), passed.header("ratelimit")), (200, None));
    }
    let denied = app.get("/export", Some("u1"));
    assert_eq!((denied.status(), denied.header("retry-after")), (503, Some("1")));
    assert_eq!((denied.header("ratelimit"), denied.header("ratelimit-policy")), (None, None));
    assert_eq!(app.get("/export", None).status(), 200, "nobody passes");
}
