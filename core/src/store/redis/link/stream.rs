//! Sockets whose every system call ends by an absolute deadline, however slowly bytes drip.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use socket2::SockRef;

use super::super::topology::Endpoint;
use super::tls::Tls;

/// A connected socket, of either kind, with or without TLS.
pub(super) enum Stream {
    Tcp(Timed<TcpStream>),
    Tls(Box<StreamOwned<ClientConnection, Timed<TcpStream>>>),
    Unix(Timed<UnixStream>),
}

impl Stream {
    pub(super) fn connect(endpoint: &Endpoint, config: Option<&Tls>, deadline: Instant) -> io::Result<Self> {
        match endpoint {
            Endpoint::Unix(path) => Ok(Self::Unix(Timed::new(UnixStream::connect(path)?, deadline))),
            Endpoint::Tcp { host, port, tls } => {
                let socket = Timed::new(connect_tcp(host, *port, deadline)?, deadline);
                match config {
                    Some(Tls(config)) if *tls => {
                        let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
                        let session =
                            ClientConnection::new(config.clone(), name).map_err(io::Error::other)?;
                        Ok(Self::Tls(Box::new(StreamOwned::new(session, socket))))
                    }
                    _ => Ok(Self::Tcp(socket)),
                }
            }
        }
    }

    pub(super) fn deadline(&self) -> &Cell<Instant> {
        match self {
            Self::Tcp(stream) => &stream.deadline,
            Self::Tls(stream) => &stream.sock.deadline,
            Self::Unix(stream) => &stream.deadline,
        }
    }

    pub(super) fn idle(&self) -> Idle {
        match self {
            Self::Tcp(stream) => stream.idle(),
            // The session may have something to say where Redis hasn't.
            Self::Tls(stream) => match stream.sock.idle() {
                Idle::Speaking => Idle::Silent,
                idle => idle,
            },
            Self::Unix(stream) => stream.idle(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
        }
    }
}

fn connect_tcp(host: &str, port: u16, deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match remaining(deadline).and_then(|left| TcpStream::connect_timeout(&address, left)) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn remaining(deadline: Instant) -> io::Result<Duration> {
    deadline
        .checked_duration_since(Instant::now())
        .filter(|left| !left.is_zero())
        .ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// A socket's timeout that goes well with so much time left. Half of it will do for the next calls too, and saves them a
/// system call. Below a microsecond it would be cut down to zero, which means none.
fn timeout_within(left: Duration) -> Duration {
    (left / 2).max(Duration::from_micros(500).min(left)).max(Duration::from_micros(1))
}

fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// What an idle socket's other side does.
pub(super) enum Idle {
    Silent,
    Speaking,
    Ended,
}

/// Says that there is nothing more to read for now, so that a parser shows what it holds already.
pub(super) struct NothingMore;

impl Read for NothingMore {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// A socket whose every system call ends by one deadline.
pub(super) struct Timed<S> {
    socket: S,
    deadline: Cell<Instant>,
    read_timeout: Cell<Duration>,
    write_timeout: Cell<Duration>,
}

impl<S: AsFd> Timed<S> {
    fn new(socket: S, deadline: Instant) -> Self {
        let unset = || Cell::new(Duration::MAX);
        Self { socket, deadline: Cell::new(deadline), read_timeout: unset(), write_timeout: unset() }
    }

    /// Looks without waiting and without taking anything.
    fn idle(&self) -> Idle {
        let socket = SockRef::from(&self.socket);
        let mut byte = [MaybeUninit::uninit()];
        let peeked = socket.set_nonblocking(true).and_then(|()| socket.peek(&mut byte));
        let restored = socket.set_nonblocking(false);
        match peeked {
            _ if restored.is_err() => Idle::Ended,
            Ok(1..) => Idle::Speaking,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Idle::Silent,
            Ok(_) | Err(_) => Idle::Ended,
        }
    }

    /// Calls until it is done or the deadline has come, again where a signal or a short timeout interrupts.
    fn timed<T>(
        &self,
        timeout: &Cell<Duration>,
        set: fn(&SockRef<'_>, Option<Duration>) -> io::Result<()>,
        mut call: impl FnMut(&S) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            let left = remaining(self.deadline.get())?;
            if timeout.get() > left {
                timeout.set(timeout_within(left));
                set(&SockRef::from(&self.socket), Some(timeout.get()))?;
            }
            match call(&self.socket) {
                Err(error) if is_early(&error) => {}
                done => return done,
            }
        }
    }
}

impl<S: AsFd> Read for Timed<S>
where
    for<'a> &'a S: Read,
{
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let set = |socket: &SockRef<'_>, timeout| socket.set_read_timeout(timeout);
        self.timed(&self.read_timeout, set, |mut socket| socket.read(buffer))
    }
}

impl<S: AsFd> Write for Timed<S>
where
    for<'a> &'a S: Write,
{
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let set = |socket: &SockRef<'_>, timeout| socket.set_write_timeout(timeout);
        self.timed(&self.write_timeout, set, |mut socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a nanosecond left a read of a silent socket ends as well, and so does the next one.
    #[test]
    fn a_read_ends_however_little_time_is_left() {
        for left in [1, 999, 1_000, 1_001, 499_999, 500_001, 150_000_000].map(Duration::from_nanos) {
            let timeout = timeout_within(left);
            assert!(timeout <= left.max(Duration::from_micros(1)), "{timeout:?} of {left:?}");
            let (socket, _silent) = UnixStream::pair().expect("sockets");
            let set = SockRef::from(&socket);
            set.set_read_timeout(Some(timeout)).expect("set");
            assert!(set.read_timeout().expect("read").is_some(), "{timeout:?} is no timeout");
        }
    }
}
