//! One connection: every read and write ends by an absolute deadline, however slowly bytes drip.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::{Parser, Value};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use socket2::SockRef;

use super::super::dialect::{self, Sequence, command};
use super::super::topology::{Address, Endpoint, Options};
use crate::store::{Fault, FaultKind};

/// From when on it is worth a system call to see whether the server has closed.
const IDLE: Duration = Duration::from_millis(5);

/// A write that nobody waits for. Its reply is read before the next exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Afterwards {
    /// Sets a counter's expiry: sent again over the next connection until it is confirmed.
    Expire { key: String, interval_ms: u64 },
    /// Drops a counter that was begun although its rule is closed.
    Drop { key: String },
    /// Writes a default for a missing setting.
    Default { config: String, field: String, value: String },
}

impl Afterwards {
    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Expire { key, interval_ms } => {
                command(bytes, &[b"PEXPIRE", key.as_bytes(), interval_ms.to_string().as_bytes()]);
            }
            Self::Drop { key } => command(bytes, &[b"DEL", key.as_bytes()]),
            Self::Default { config, field, value } => {
                command(bytes, &[b"HSETNX", config.as_bytes(), field.as_bytes(), value.as_bytes()]);
            }
        }
    }

    fn command(&self) -> &'static str {
        match self {
            Self::Expire { .. } => "PEXPIRE",
            Self::Drop { .. } => "DEL",
            Self::Default { .. } => "HSETNX",
        }
    }
}

pub(in super::super) struct Wire {
    stream: Stream,
    parser: Parser,
    pub(in super::super) sequence: Sequence,
    /// To be sent with what is sent next.
    todo: Vec<Afterwards>,
    /// Sent, and not answered yet.
    owed: VecDeque<Afterwards>,
    /// The last repair was refused: until one is taken, nobody passes on the strength of a repair to come.
    pub(in super::super) repairs_fail: Option<Fault>,
    /// When a default was last refused.
    pub(in super::super) defaults_refused: Option<Instant>,
    /// When something was sent last.
    used: Instant,
}

impl Wire {
    /// Connects, authenticates and asks for the server's version, all by `deadline` except a name look-up that hangs.
    pub(in super::super) fn dial(
        address: &Address,
        tls: Option<&Tls>,
        deadline: Instant,
    ) -> Result<Self, Fault> {
        let stream = Stream::connect(&address.endpoint, tls, deadline).map_err(|error| {
            let text = format!("{} can't be reached: {error}", address.name());
            Fault::new(FaultKind::Unavailable, "connect", text)
        })?;
        let mut wire = Self {
            stream,
            parser: Parser::new(),
            sequence: Sequence::Modern,
            todo: Vec::new(),
            owed: VecDeque::new(),
            repairs_fail: None,
            defaults_refused: None,
            used: Instant::now(),
        };
        wire.until(deadline);
        wire.greet(address).map_err(|fault| Fault { kind: FaultKind::Unavailable, ..fault })?;
        Ok(wire)
    }

    /// Speaks the protocol's first words: who we are, which database, which version.
    fn greet(&mut self, address: &Address) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        let mut needed = Vec::new();
        let user = address.user.as_deref().unwrap_or("default");
        match (&address.password, address.resp3) {
            (Some(password), true) => {
                command(&mut bytes, &[b"HELLO", b"3", b"AUTH", user.as_bytes(), password.as_bytes()]);
                needed.push("HELLO");
            }
            (None, true) => {
                command(&mut bytes, &[b"HELLO", b"3"]);
                needed.push("HELLO");
            }
            (Some(password), false) => {
                // Before 6.0 a server takes the password alone.
                match &address.user {
                    Some(user) => command(&mut bytes, &[b"AUTH", user.as_bytes(), password.as_bytes()]),
                    None => command(&mut bytes, &[b"AUTH", password.as_bytes()]),
                }
                needed.push("AUTH");
            }
            (None, false) => {}
        }
        if address.database != 0 {
            command(&mut bytes, &[b"SELECT", address.database.to_string().as_bytes()]);
            needed.push("SELECT");
        }
        // What follows may be forbidden: then the server stays unnamed, or is tried as a modern one.
        command(&mut bytes, &[b"CLIENT", b"SETNAME", b"tollgate"]);
        command(&mut bytes, &[b"INFO", b"server"]);
        let optional = ["CLIENT SETNAME", "INFO"];
        self.send(&bytes)?;
        for command in needed {
            if let Value::ServerError(error) = self.receive()? {
                return Err(dialect::refused(command, &error));
            }
        }
        for command in optional {
            match self.receive()? {
                Value::ServerError(error) => {
                    let fault = dialect::refused(command, &error);
                    if dialect::is_about_the_server(fault.code()) {
                        return Err(fault);
                    }
                }
                Value::BulkString(info) => {
                    self.sequence = Sequence::from_info(&String::from_utf8_lossy(&info))
                }
                Value::VerbatimString { text, .. } => self.sequence = Sequence::from_info(&text),
                _ => {}
            }
        }
        Ok(())
    }

    /// Sets the time by which all that follows has to end.
    pub(in super::super) fn until(&mut self, deadline: Instant) {
        self.stream.deadline().set(deadline);
    }

    /// Whether the server has closed the connection while it lay idle.
    pub(super) fn hung_up(&self) -> Option<Fault> {
        if self.used.elapsed() < IDLE {
            return None;
        }
        self.stream.has_ended().then(|| {
            Fault::new(FaultKind::Unavailable, "closed", "Redis closed the connection while it was idle")
        })
    }

    /// Sends commands, after what is to be done.
    pub(in super::super) fn send(&mut self, commands: &[u8]) -> Result<(), Fault> {
        let mut bytes = Vec::with_capacity(commands.len());
        for afterwards in self.todo.drain(..) {
            afterwards.encode(&mut bytes);
            // Noted first: what is cut off amid the write counts as unconfirmed.
            self.owed.push_back(afterwards);
        }
        bytes.extend_from_slice(commands);
        if bytes.is_empty() {
            return Ok(());
        }
        self.used = Instant::now();
        self.stream.write_all(&bytes).and_then(|()| self.stream.flush()).map_err(|error| io_fault(&error))
    }

    /// Notes a write that goes with what is sent next.
    pub(in super::super) fn todo(&mut self, afterwards: Afterwards) {
        self.todo.push(afterwards);
    }

    /// Sends one command and reads its reply.
    pub(in super::super) fn ask(&mut self, words: &[&str]) -> Result<Value, Fault> {
        let mut bytes = Vec::new();
        command(&mut bytes, &words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>());
        self.send(&bytes)?;
        self.receive()
    }

    /// Reads the next reply that somebody waits for.
    pub(in super::super) fn receive(&mut self) -> Result<Value, Fault> {
        while !self.owed.is_empty() {
            let reply = self.read()?;
            self.settle_owed(reply)?;
        }
        self.read()
    }

    fn read(&mut self) -> Result<Value, Fault> {
        loop {
            match self.parser.parse_value(&mut self.stream) {
                // RESP3 pushes are no replies.
                Ok(Value::Push { .. }) => {}
                Ok(Value::Attribute { data, .. }) => return Ok(*data),
                Ok(value) => return Ok(value),
                Err(error) => return Err(reply_fault(&error)),
            }
        }
    }

    fn settle_owed(&mut self, reply: Value) -> Result<(), Fault> {
        let Some(afterwards) = self.owed.front() else { return Ok(()) };
        let command = afterwards.command();
        let refusal = match reply {
            Value::ServerError(error) => Some(dialect::refused(command, &error)),
            Value::Int(_) => None,
            other => return Err(dialect::nonsense(command, other)),
        };
        match (self.owed.pop_front(), refusal) {
            (Some(Afterwards::Expire { .. }), refusal) => {
                self.repairs_fail = refusal.filter(|fault| dialect::redirect(fault).is_none());
            }
            (Some(Afterwards::Default { field, .. }), Some(fault)) => {
                if self.defaults_refused.is_none() {
                    tracing::warn!(target: "tollgate", field, "a missing setting can't be written back: {fault}");
                }
                self.defaults_refused = Some(Instant::now());
            }
            _ => {}
        }
        Ok(())
    }

    /// Repairs that are not confirmed.
    pub(super) fn unconfirmed(self) -> impl Iterator<Item = Afterwards> {
        self.owed
            .into_iter()
            .chain(self.todo)
            .filter(|afterwards| matches!(afterwards, Afterwards::Expire { .. }))
    }
}

fn io_fault(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            Fault::new(FaultKind::Timeout, "timeout", "Redis didn't answer within the deadline")
        }
        _ => Fault::new(FaultKind::Protocol, "closed", format!("the connection to Redis broke: {error}")),
    }
}

fn reply_fault(error: &redis::RedisError) -> Fault {
    if error.is_timeout() {
        return io_fault(&io::ErrorKind::TimedOut.into());
    }
    if error.is_io_error() {
        return Fault::new(FaultKind::Protocol, "closed", format!("the connection to Redis broke: {error}"));
    }
    dialect::nonsense("a command", error)
}

/// Which TLS servers are trusted, and who we are to them.
#[derive(Clone)]
pub(in super::super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the authority of the options, or else the operating system's certificates, for which the environment
    /// variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
    pub(in super::super) fn new(options: &Options) -> Result<Self, String> {
        let provider = rustls::crypto::ring::default_provider();
        let config = ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(trusted(options.ca.as_deref())?);
        let config = match &options.identity {
            None => config.with_no_client_auth(),
            Some((cert, key)) => {
                let private = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| format!("the key {} can't be read: {error}", key.display()))?;
                config.with_client_auth_cert(certificates(cert)?, private).map_err(|error| {
                    format!("certificate {} and key {}: {error}", cert.display(), key.display())
                })?
            }
        };
        Ok(Self(Arc::new(config)))
    }
}

fn trusted(ca: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    if let Some(ca) = ca {
        for certificate in certificates(ca)? {
            roots.add(certificate).map_err(|error| format!("the certificate {}: {error}", ca.display()))?;
        }
        return Ok(roots);
    }
    let found = rustls_native_certs::load_native_certs();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        let errors = errors.join("; ");
        return Err(format!(
            "no trusted certificates were found for TLS ({errors}): add ?ca=FILE or set SSL_CERT_FILE"
        ));
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => {
            Err(format!("{} holds no certificate in PEM form", file.display()))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(format!("the certificate {} can't be read: {error}", file.display())),
    }
}

enum Stream {
    Tcp(Timed<TcpStream>),
    Tls(Box<StreamOwned<ClientConnection, Timed<TcpStream>>>),
    Unix(Timed<UnixStream>),
}

impl Stream {
    fn connect(endpoint: &Endpoint, config: Option<&Tls>, deadline: Instant) -> io::Result<Self> {
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

    fn deadline(&self) -> &Cell<Instant> {
        match self {
            Self::Tcp(stream) => &stream.deadline,
            Self::Tls(stream) => &stream.sock.deadline,
            Self::Unix(stream) => &stream.deadline,
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.has_ended(),
            Self::Tls(stream) => stream.sock.has_ended(),
            Self::Unix(stream) => stream.has_ended(),
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

fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// A socket whose every system call ends by one deadline.
struct Timed<S> {
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

    /// Whether the other side has closed; looks without waiting and without taking anything.
    fn has_ended(&self) -> bool {
        let socket = SockRef::from(&self.socket);
        let mut byte = [MaybeUninit::uninit()];
        let peeked = socket.set_nonblocking(true).and_then(|()| socket.peek(&mut byte));
        let restored = socket.set_nonblocking(false);
        match peeked {
            Ok(read) => read == 0 || restored.is_err(),
            Err(error) => error.kind() != io::ErrorKind::WouldBlock || restored.is_err(),
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
            // Half of what is left will do for the next calls too, and saves them a system call.
            if timeout.get() > left {
                timeout.set((left / 2).max(Duration::from_micros(500).min(left)));
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
