//! Real Redis servers for tests, each on its own free port and stopped by its process.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

pub mod chance;
pub mod proxy;
pub mod watched;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redis::{Connection, FromRedisValue};
use tollgate::{Builder, Decision, Fault, Identity, Limiter, Observer, Tracked};

/// A server binary: Debian's, or one that `.ci/servers` fetched.
pub struct Binary {
    pub version: &'static str,
    pub path: PathBuf,
}

const VERSIONS: [&str; 7] = ["7", "valkey-9.1.2", "valkey-8.1.8", "8.2.3", "6.2.14", "5.0.6", "2.8.19"];

/// The servers at hand. Those that are missing are named; with `TOLLGATE_REQUIRE_SERVERS` set that is a failure.
pub fn binaries() -> Vec<Binary> {
    let found: Vec<_> = VERSIONS.iter().filter_map(|version| binary(version)).collect();
    assert!(
        !found.is_empty(),
        "no redis-server is installed: run `make test`, which fetches what is missing"
    );
    found
}

/// Runs a test on every server at hand, on all at once, since most of its time may be spent in waiting.
pub fn on_every_binary(check: impl Fn(&Binary) + Sync) {
    std::thread::scope(|scope| {
        let check = &check;
        for binary in binaries() {
            scope.spawn(move || {
                println!("server {}", binary.version);
                check(&binary);
            });
        }
    });
}

/// Debian's server: every machine has it, and it speaks TLS.
pub fn newest() -> Binary {
    binaries().swap_remove(0)
}

pub fn binary(version: &'static str) -> Option<Binary> {
    let path = if version == "7" {
        let found = std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join("redis-server"))
            .find(|path| path.is_file());
        found.unwrap_or_else(|| PathBuf::from("redis-server"))
    } else {
        let cache = std::env::var_os("TOLLGATE_REDIS_DIR")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/redis"), PathBuf::from);
        cache.join(version).join("redis-server")
    };
    if path.is_file() {
        return Some(Binary { version, path });
    }
    let required = std::env::var_os("TOLLGATE_REQUIRE_SERVERS").is_some();
    assert!(!required, "server {version} is missing at {}: run .ci/servers", path.display());
    eprintln!("skipped: server {version} is not at {}", path.display());
    None
}

/// A port that nobody listens on, each once: below those that the system gives to clients, which could take it meanwhile.
pub fn free_port() -> u16 {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let first = std::process::id() as usize * 97;
    loop {
        let port = 10_000 + ((first + NEXT.fetch_add(1, Ordering::SeqCst)) % 22_000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A running server; stopped and its folder removed when dropped.
pub struct Server {
    child: Option<Child>,
    path: PathBuf,
    arguments: Vec<String>,
    folder: tempfile::TempDir,
    pub port: u16,
    password: Option<String>,
    /// A sentinel's.
    config: Option<PathBuf>,
}

impl Server {
    pub fn start(binary: &Binary, arguments: &[&str]) -> Self {
        let mut server = Self::stopped(binary, arguments);
        server.resume();
        server
    }

    /// A server that has its port but doesn't run yet.
    pub fn stopped(binary: &Binary, arguments: &[&str]) -> Self {
        let password =
            arguments.windows(2).find(|pair| pair[0] == "--requirepass").map(|pair| pair[1].to_owned());
        Self {
            child: None,
            path: binary.path.clone(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            folder: tempfile::tempdir().expect("a folder"),
            port: free_port(),
            password,
            config: None,
        }
    }

    /// A sentinel that watches nothing yet.
    pub fn sentinel(binary: &Binary) -> Self {
        let mut sentinel = Self::stopped(binary, &[]);
        let file = sentinel.folder.path().join("sentinel.conf");
        std::fs::write(&file, format!("port {}\nbind 127.0.0.1\n", sentinel.port)).expect("written");
        sentinel.config = Some(file);
        sentinel.resume();
        sentinel
    }

    /// A node of a cluster, without slots.
    pub fn node(binary: &Binary) -> Self {
        let bus = free_port().to_string();
        // Replicas are there at once, and a master that dies is replaced after a second.
        let at_once = ["--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"];
        let cluster = ["--cluster-enabled", "yes", "--cluster-port", &bus];
        Self::start(binary, &[cluster, at_once].concat())
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn url(&self) -> String {
        match &self.password {
            Some(password) => {
                let encoded: String = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
                format!("redis://:{encoded}@127.0.0.1:{}", self.port)
            }
            None => format!("redis://127.0.0.1:{}", self.port),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("a running server").id()
    }

    /// Starts it (again) and waits until it answers.
    pub fn resume(&mut self) {
        let mut command = Command::new(&self.path);
        command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let port = self.port.to_string();
        match &self.config {
            Some(file) => command.arg(file).arg("--sentinel"),
            None => {
                command.args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            }
        };
        command.args(&self.arguments);
        self.child = Some(command.spawn().expect("redis-server starts"));
        eventually("redis-server answers", || {
            let client = redis::Client::open(self.url()).expect("a URL");
            client
                .get_connection_with_timeout(Duration::from_secs(1))
                .is_ok_and(|mut connection| redis::cmd("PING").query::<String>(&mut connection).is_ok())
        });
    }

    pub fn is_running(&self) -> bool {
        self.child.is_some()
    }

    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Sends a signal, such as `STOP` or `CONT`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    pub fn connect(&self) -> Connection {
        redis::Client::open(self.url()).and_then(|client| client.get_connection()).expect("a connection")
    }

    /// Runs one command, given as words.
    pub fn run<T: FromRedisValue>(&self, words: &str) -> T {
        command(&mut self.connect(), &words.split(' ').collect::<Vec<_>>())
    }

    /// Whether `INFO <section>` says `what` by now. A server that changes its role ends its connections, and says nothing then.
    pub fn informs(&self, section: &str, what: &str) -> bool {
        let info: redis::RedisResult<String> = redis::Client::open(self.url())
            .and_then(|client| client.get_connection())
            .and_then(|mut connection| redis::cmd("INFO").arg(section).query(&mut connection));
        info.is_ok_and(|info| info.contains(what))
    }
}

pub fn command<T: FromRedisValue>(connection: &mut Connection, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command.query(connection).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Waits for a condition, for half a minute.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < give_up, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A deadline that a busy machine doesn't miss, for tests that are not about deadlines.
pub fn patient() -> Builder {
    Limiter::builder().deadline(Duration::from_secs(20)).connect_timeout(Duration::from_secs(20))
}

/// Remembers what a limiter tells.
#[derive(Default)]
pub struct Witness {
    pub told: Mutex<Vec<String>>,
}

impl Witness {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().expect("no panic"))
    }

    fn tell(&self, line: String) {
        self.told.lock().expect("no panic").push(line);
    }
}

impl Observer for Witness {
    fn decided(&self, _: &Tracked, _: Identity<'_>, _: &Decision) {}

    fn faulted(&self, rule: &Tracked, fault: &Fault) {
        self.tell(format!("fault {} {}", rule.label(), fault.code()));
    }

    fn unread(&self, rule: &Tracked, fault: &Fault) {
        self.tell(format!("unread {} {}", rule.label(), fault.code()));
    }

    fn recovered(&self, rule: &Tracked) {
        self.tell(format!("recovered {}", rule.label()));
    }

    fn complained(&self, _: &Tracked, complaint: &tollgate::Complaint) {
        self.tell(format!("complaint {} {}", complaint.field, complaint.value));
    }

    fn replaced(&self, rule: &Tracked, key: &str) {
        self.tell(format!("replaced {} {key}", rule.label()));
    }
}

/// A server that answers what a test tells it to.
pub struct Scripted {
    pub port: u16,
    pub connections: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

/// What a scripted server does with a connection once it has been greeted.
pub type Talk = dyn Fn(&mut TcpStream, usize) + Send + Sync;

impl Scripted {
    pub fn start(talk: Arc<Talk>) -> Self {
        Self::start_as("7.0.0", talk)
    }

    pub fn start_as(version: &'static str, talk: Arc<Talk>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let connections = Arc::new(AtomicUsize::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (count, ended) = (connections.clone(), stop.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (talk, number) = (talk.clone(), count.fetch_add(1, Ordering::SeqCst));
                std::thread::spawn(move || {
                    let mut stream = stream;
                    // CLIENT SETNAME and INFO.
                    if read_commands(&mut stream, 2).is_some() {
                        let _ = write!(stream, "+OK\r\n$19\r\nredis_version:{version}\r\n");
                        talk(&mut stream, number);
                    }
                });
            }
        });
        Self { port, connections, stop }
    }

    /// Answers every hit with the same bytes.
    pub fn answering(reply: &'static [u8]) -> Self {
        Self::start(Arc::new(move |stream, _| {
            while read_commands(stream, 4).is_some() {
                let _ = stream.write_all(reply);
            }
        }))
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Reads so many commands; none when the other side has closed.
pub fn read_commands(stream: &mut TcpStream, commands: usize) -> Option<Vec<Vec<String>>> {
    let read = |stream: &mut TcpStream| {
        let arguments = read_number(stream, b'*')?;
        (0..arguments)
            .map(|_| {
                let mut argument = vec![0; read_number(stream, b'$')? + 2];
                stream.read_exact(&mut argument).ok()?;
                argument.truncate(argument.len() - 2);
                String::from_utf8(argument).ok()
            })
            .collect()
    };
    (0..commands).map(|_| read(stream)).collect()
}

fn read_number(stream: &mut TcpStream, mark: u8) -> Option<usize> {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n") {
        stream.read_exact(&mut byte).ok()?;
        line.push(byte[0]);
    }
    assert_eq!(line[0], mark);
    std::str::from_utf8(&line[1..line.len() - 2]).ok()?.parse().ok()
}

/// Awaits a future on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(done) => return done,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}
