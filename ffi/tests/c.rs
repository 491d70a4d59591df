//! Programs in C99 and C++17 against the shared and the static library, plainly and under valgrind.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{Language, Library, Link, root};

const PATIENCE: Duration = Duration::from_secs(30);

fn everywhere(source: &Path) {
    for (language, link) in [
        (Language::C99, Link::Shared),
        (Language::Cpp17, Link::Static),
        (Language::C99, Link::Static),
        (Language::Cpp17, Link::Shared),
    ] {
        Library::shipped().compile(source, language, link).run();
    }
    Library::shipped().compile(source, Language::C99, Link::Shared).run_checked();
    Library::shipped().compile(source, Language::Cpp17, Link::Static).run_checked();
}

#[test]
fn limits_settings_and_statistics() {
    everywhere(&root().join("tests/c/use.c"));
}

#[test]
fn misuse_gives_a_status_and_a_text() {
    everywhere(&root().join("tests/c/misuse.c"));
}

#[test]
fn log_lines_reach_the_callback() {
    everywhere(&root().join("tests/c/logs.c"));
}

#[test]
fn a_limiter_is_closed_while_threads_ask_it() {
    everywhere(&root().join("tests/c/threads.c"));
}

#[test]
fn decisions_reach_the_callback() {
    everywhere(&root().join("tests/c/async.c"));
}

#[test]
fn several_hits_in_one_call() {
    everywhere(&root().join("tests/c/several.c"));
}

#[test]
fn a_panic_inside_is_a_status_and_a_log_line() {
    for language in [Language::C99, Language::Cpp17] {
        let program = Library::panicking().compile(&root().join("tests/c/panic.c"), language, Link::Shared);
        program.run();
        program.run_checked();
    }
}

#[test]
fn the_shared_library_has_a_name_and_is_never_unmapped() {
    let output =
        Command::new("readelf").arg("--dynamic").arg(Library::shipped().shared()).output().expect("readelf");
    let dynamic = String::from_utf8_lossy(&output.stdout);
    assert!(dynamic.contains("[libtollgate.so.0]"), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

#[test]
fn the_headers_example_works() {
    let header = std::fs::read_to_string(root().join("../include/tollgate.h")).expect("a header");
    let example: String = header
        .lines()
        .skip_while(|line| !line.contains("#include <stdio.h>"))
        .take_while(|line| line.starts_with(" *     ") || *line == " *")
        .map(|line| format!("{}\n", line.strip_prefix(" *     ").unwrap_or_default()))
        .collect();
    assert!(example.contains("int main(void)"), "{example}");
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("example.c");
    std::fs::write(&source, example).expect("a file");
    everywhere(&source);
}

#[test]
fn a_server_goes_away_and_comes_back() {
    with_a_server(&root().join("tests/c/redis.c"), true);
}

#[test]
fn callbacks_come_whatever_the_server_does() {
    with_a_server(&root().join("tests/c/async_redis.c"), true);
}

#[test]
fn a_forked_child_opens_its_own() {
    // Not under valgrind: what the child leaves to its parent is lost to the child.
    with_a_server(&root().join("tests/c/fork.c"), false);
}

/// Runs a program that tells what it wants done to its server.
fn with_a_server(source: &Path, valgrind: bool) {
    let runs = [
        (Language::C99, Link::Shared, false),
        (Language::Cpp17, Link::Static, false),
        (Language::C99, Link::Shared, true),
    ];
    for (language, link, checked) in runs.into_iter().filter(|(_, _, checked)| valgrind || !checked) {
        let program = Library::shipped().compile(source, language, link);
        let mut server = Server::start(None);
        let mut child = program.start(checked, &format!("redis://127.0.0.1:{}", server.port));
        let mut input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        for wish in output {
            match &*wish.expect("a line") {
                "stop" => server.stop(),
                "start" => server = Server::start(Some(server.port)),
                "pause" => server.signal("STOP"),
                "continue" => server.signal("CONT"),
                other => panic!("{other}"),
            }
            writeln!(input, "done").expect("a program that listens");
        }
        let status = child.wait().expect("an end");
        assert!(status.success(), "{source:?} {language:?} {link:?}: {status}");
    }
}

/// A redis-server of our own.
struct Server {
    port: u16,
    process: Child,
}

impl Server {
    fn start(port: Option<u16>) -> Self {
        let port = port.unwrap_or_else(|| {
            let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
            free.local_addr().expect("an address").port()
        });
        let process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"])
            .arg(port.to_string())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server; is it installed?");
        let server = Self { port, process };
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(since.elapsed() < PATIENCE, "redis-server doesn't listen on {port}");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status().expect("kill");
        assert!(status.success(), "SIG{name}: {status}");
    }

    fn stop(&mut self) {
        self.process.kill().expect("a process");
        self.process.wait().expect("its end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Stopped already where the test went well.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
