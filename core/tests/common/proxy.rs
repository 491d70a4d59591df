//! A TCP proxy on loopback that troubles what passes through it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Reads that a trouble befalls before the connection is cut, so that the next one's turn comes.
const TROUBLED_READS: usize = 20;

/// What happens to the bytes of one direction, once so many have passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// They pass.
    None,
    /// Both sides are closed.
    Cut,
    /// The receiver sees the end; the other direction goes on.
    HalfClose,
    /// Each read is held back for so long: also beyond the end of whoever waits for it.
    Delay(Duration),
    /// Nothing passes any more, not even the end.
    Stall,
    /// One byte at a time, with a pause after each.
    Drip(Duration),
    /// What is read comes twice: whole reads, so that replies are likely to be whole.
    Duplicate,
}

/// One direction of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Lane {
    /// Bytes that pass untroubled.
    pub after: usize,
    pub trouble: Trouble,
}

impl Lane {
    pub const SOUND: Self = Self { after: usize::MAX, trouble: Trouble::None };
}

/// What happens to one connection.
#[derive(Debug, Clone, Copy)]
pub enum Plan {
    /// It is accepted, and nobody is behind it.
    Mute,
    Pass {
        to_server: Lane,
        to_client: Lane,
    },
}

impl Plan {
    pub const SOUND: Self = Self::Pass { to_server: Lane::SOUND, to_client: Lane::SOUND };
}

/// Decides what happens to each connection, by its number.
pub type Planner = dyn Fn(usize) -> Plan + Send + Sync;

pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    server: u16,
    planner: Box<Planner>,
    /// From now on all is well.
    healed: AtomicBool,
    /// Connections so far.
    connections: AtomicUsize,
    /// Each trouble that struck.
    struck: Mutex<Vec<Trouble>>,
    open: Mutex<Open>,
    ended: Condvar,
}

#[derive(Default)]
struct Open {
    ended: bool,
    sockets: Vec<TcpStream>,
    threads: Vec<JoinHandle<()>>,
}

impl Proxy {
    /// A proxy before the server at a port of loopback.
    pub fn start(server: u16, planner: Box<Planner>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let shared = Arc::new(Shared {
            server,
            planner,
            healed: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            struck: Mutex::default(),
            open: Mutex::default(),
            ended: Condvar::new(),
        });
        let accepting = std::thread::spawn({
            let shared = shared.clone();
            move || {
                for client in listener.incoming().map_while(Result::ok) {
                    if !shared.accept(client) {
                        return;
                    }
                }
            }
        });
        Self { port, shared, accepting: Some(accepting) }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Each trouble that struck so far.
    pub fn struck(&self) -> Vec<Trouble> {
        self.shared.struck.lock().expect("no panic").clone()
    }

    /// Connections made from now on are sound. Those that are troubled stay so.
    pub fn heal(&self) {
        self.shared.healed.store(true, Ordering::SeqCst);
    }

    /// Closes everything and waits until nothing is under way any more: what was held back is lost.
    pub fn end(&mut self) {
        let Some(accepting) = self.accepting.take() else { return };
        self.shared.open.lock().expect("no panic").ended = true;
        self.shared.ended.notify_all();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        accepting.join().expect("no panic");
        let open = std::mem::take(&mut *self.shared.open.lock().expect("no panic"));
        self.shared.open.lock().expect("no panic").ended = true;
        for socket in open.sockets {
            let _ = socket.shutdown(Shutdown::Both);
        }
        for thread in open.threads {
            thread.join().expect("no panic");
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// False once the proxy has ended.
    fn accept(self: &Arc<Self>, client: TcpStream) -> bool {
        let number = self.connections.fetch_add(1, Ordering::SeqCst);
        let plan = if self.healed.load(Ordering::SeqCst) { Plan::SOUND } else { (self.planner)(number) };
        let mut open = self.open.lock().expect("no panic");
        if open.ended {
            return false;
        }
        let Plan::Pass { to_server, to_client } = plan else {
            open.sockets.push(client);
            return true;
        };
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.server)) else { return true };
        for (from, to, lane) in [(&client, &server, to_server), (&server, &client, to_client)] {
            let _ = from.set_nodelay(true);
            let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
            let shared = self.clone();
            open.threads.push(std::thread::spawn(move || shared.pass(from, to, lane)));
        }
        open.sockets.extend([client, server]);
        true
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream, lane: Lane) {
        let (mut passed, mut buffer, mut struck) = (0, [0; 4_096], 0);
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let sound = match lane.after - passed {
                1.. if lane.trouble == Trouble::Duplicate => read,
                left => read.min(left),
            };
            let (sound, troubled) = buffer[..read].split_at(sound);
            passed = lane.after.min(passed + sound.len());
            if to.write_all(sound).is_err() {
                break;
            }
            if troubled.is_empty() {
                continue;
            }
            if struck == 0 {
                self.struck.lock().expect("no panic").push(lane.trouble);
            }
            struck += 1;
            if struck > TROUBLED_READS || !self.strike(lane.trouble, &mut from, &mut to, troubled) {
                break;
            }
        }
        // Both ends learn of it: a lane that has nothing more to say ends the connection as a whole.
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }

    /// False when the connection is over.
    fn strike(&self, trouble: Trouble, from: &mut TcpStream, to: &mut TcpStream, bytes: &[u8]) -> bool {
        match trouble {
            Trouble::None => to.write_all(bytes).is_ok(),
            Trouble::Cut => false,
            Trouble::HalfClose => {
                let _ = to.shutdown(Shutdown::Write);
                // What still comes is read and lost.
                let mut lost = [0; 4_096];
                while let Ok(1..) = from.read(&mut lost) {}
                false
            }
            Trouble::Delay(time) => {
                self.pause(time);
                to.write_all(bytes).is_ok()
            }
            Trouble::Stall => {
                self.pause(Duration::MAX);
                false
            }
            Trouble::Drip(pause) => bytes.iter().all(|byte| {
                self.pause(pause);
                to.write_all(&[*byte]).is_ok()
            }),
            Trouble::Duplicate => to.write_all(&bytes.repeat(2)).is_ok(),
        }
    }

    /// Sleeps, but not beyond the end.
    fn pause(&self, time: Duration) {
        let open = self.open.lock().expect("no panic");
        if time == Duration::MAX {
            drop(self.ended.wait_while(open, |open| !open.ended));
        } else {
            drop(self.ended.wait_timeout_while(open, time, |open| !open.ended));
        }
    }
}
