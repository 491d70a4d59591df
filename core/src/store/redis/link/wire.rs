//! One connection: commands out, replies in, and what nobody waits for.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use redis::{Parser, Value};

use super::super::dialect::{self, Sequence, command};
use super::super::topology::Address;
use super::stream::{Idle, NothingMore, Stream};
use super::tls::Tls;
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
        let (code, detail) = match self.stream.idle() {
            Idle::Silent => return None,
            Idle::Ended => ("closed", "Redis closed the connection while it was idle"),
            Idle::Speaking if !self.owed.is_empty() => return None,
            Idle::Speaking => ("reply", "Redis said something that nobody had asked for"),
        };
        Some(Fault::new(FaultKind::Unavailable, code, detail))
    }

    /// A reply too many among what has been read, once all that was asked is answered.
    pub(in super::super) fn surplus(&mut self) -> Option<Fault> {
        if !self.owed.is_empty() {
            return None;
        }
        loop {
            match self.parser.parse_value(NothingMore) {
                Ok(Value::Push { .. }) => {}
                Ok(reply) => return Some(dialect::nonsense("more than it was asked, and began", reply)),
                Err(error) if error.is_timeout() => return None,
                Err(error) => return Some(reply_fault(&error)),
            }
        }
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
