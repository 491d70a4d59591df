//! Commands and replies of a hit, as bytes and values: no sockets, no time.
//!
//! Two command sequences do the same work. `PEXPIRE … NX` came with Redis 7.0; servers before it are told the expiry in a
//! second step, only where the counter has none. Formats: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.

use std::time::Duration;

use redis::{ServerError, Value};

use crate::key::LOG_CHECK;
use crate::settings::Settings;
use crate::store::{Counted, Counter, Fault, FaultKind};
use crate::window::Window;

/// Which commands a server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// 7.0 and later: `HMGET`, `HINCRBY`, `PEXPIRE … NX`, `PTTL`.
    Modern,
    /// 2.8 and later: `HMGET`, `HINCRBY`, `PTTL`, and `PEXPIRE` where it is needed.
    Older,
}

impl Sequence {
    /// The sequence for the server that answered `INFO server` with `info`; one that doesn't say is tried as modern.
    pub(super) fn from_info(info: &str) -> Self {
        let major = info
            .lines()
            .find_map(|line| line.strip_prefix("redis_version:"))
            .and_then(|version| version.split('.').next()?.trim().parse::<u32>().ok());
        match major {
            Some(..7) => Self::Older,
            _ => Self::Modern,
        }
    }
}

/// Appends one command.
pub(super) fn command(wire: &mut Vec<u8>, arguments: &[&[u8]]) {
    wire.extend_from_slice(format!("*{}\r\n", arguments.len()).as_bytes());
    for argument in arguments {
        wire.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        wire.extend_from_slice(argument);
        wire.extend_from_slice(b"\r\n");
    }
}

/// Asks for the settings of rules, given their fields. One reply.
pub(super) fn ask_settings<'a>(
    wire: &mut Vec<u8>,
    config: &str,
    rules: impl Iterator<Item = &'a [String; 4]>,
) {
    let mut arguments: Vec<&[u8]> = vec![b"HMGET", config.as_bytes()];
    // The last field is the same for all.
    arguments.extend(rules.flat_map(|fields| &fields[..3]).map(|field| field.as_bytes()));
    arguments.push(LOG_CHECK.as_bytes());
    command(wire, &arguments);
}

/// Counts hits and asks how long the window lasts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count<'a> {
    pub(super) key: &'a str,
    pub(super) hits: u64,
    /// The interval that a new counter gets, in milliseconds.
    pub(super) interval_ms: u64,
    /// Whether a cluster's node is asked that is only about to get the key.
    pub(super) asking: bool,
}

impl Count<'_> {
    /// Replies to [`ask`](Self::ask).
    pub(super) fn replies(sequence: Sequence) -> usize {
        match sequence {
            Sequence::Modern => 3,
            Sequence::Older => 2,
        }
    }

    /// Replies to [`replace`](Self::replace).
    pub(super) const REPLACE_REPLIES: usize = 4;

    /// Appends the commands.
    pub(super) fn ask(&self, wire: &mut Vec<u8>, sequence: Sequence) {
        let key = self.key.as_bytes();
        self.command(wire, &[b"HINCRBY", key, b"count", self.hits.to_string().as_bytes()]);
        if sequence == Sequence::Modern {
            self.command(wire, &[b"PEXPIRE", key, self.interval_ms.to_string().as_bytes(), b"NX"]);
        }
        self.command(wire, &[b"PTTL", key]);
    }

    /// Appends the command that sets the expiry to the interval. Idempotent. One reply.
    pub(super) fn expire(&self, wire: &mut Vec<u8>) {
        self.command(wire, &[b"PEXPIRE", self.key.as_bytes(), self.interval_ms.to_string().as_bytes()]);
    }

    /// Appends the commands that put a counter in the place of something foreign.
    pub(super) fn replace(&self, wire: &mut Vec<u8>) {
        let key = self.key.as_bytes();
        self.command(wire, &[b"DEL", key]);
        self.command(wire, &[b"HINCRBY", key, b"count", self.hits.to_string().as_bytes()]);
        self.expire(wire);
        self.command(wire, &[b"PTTL", key]);
    }

    /// `ASKING` holds for the next command alone, so each has its own.
    fn command(&self, wire: &mut Vec<u8>, arguments: &[&[u8]]) {
        if self.asking {
            command(wire, &[b"ASKING"]);
        }
        command(wire, arguments);
    }
}

/// Where a cluster's node says that a key is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect<'a> {
    /// `host:port`.
    pub(super) node: &'a str,
    /// Whether the key is there for this once, and has to be asked for with `ASKING`.
    pub(super) asking: bool,
}

/// Reads `MOVED slot host:port` and `ASK slot host:port`.
pub(super) fn redirect(fault: &Fault) -> Option<Redirect<'_>> {
    let asking = match fault.code() {
        "MOVED" => false,
        "ASK" => true,
        _ => return None,
    };
    Some(Redirect { node: fault.detail.rsplit(' ').next()?, asking })
}

/// What `HINCRBY` said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    At(u64),
    /// What stands there is no counter; nothing was executed.
    Foreign,
}

/// What the replies to a [`Count`] say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    place: Result<Place, Fault>,
    /// Whether `PEXPIRE … NX` set the expiry, where it was sent.
    expiry_set: Option<Result<bool, Fault>>,
    /// `PTTL`: −1 no expiry, −2 no key.
    ttl: Result<i64, Fault>,
}

/// What follows from an answer and the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The counter stands and its window is known to end.
    Sound(Counted),
    /// The same, and these hits found its end set.
    Standing(Counted),
    /// The counter needs its expiry set to the interval; then this holds.
    Expire(Counted),
    /// Something foreign stands at the key.
    Replace,
}

impl Answer {
    /// Reads the replies to [`Count::ask`].
    ///
    /// # Errors
    /// A fault when they are not what such commands answer.
    pub(super) fn read(replies: &[Value]) -> Result<Self, Fault> {
        let (place, expiry, ttl) = match replies {
            [place, expiry, ttl] => (place, Some(expiry), ttl),
            [place, ttl] => (place, None, ttl),
            _ => return Err(nonsense("a hit", replies)),
        };
        let expiry_set = match expiry {
            None => None,
            Some(Value::ServerError(error)) => Some(Err(refused("PEXPIRE", error))),
            Some(Value::Int(set)) => Some(Ok(*set == 1)),
            Some(other) => return Err(nonsense("PEXPIRE", other)),
        };
        let ttl = match ttl {
            Value::ServerError(error) => Err(refused("PTTL", error)),
            Value::Int(ms) => Ok(*ms),
            other => return Err(nonsense("PTTL", other)),
        };
        Ok(Self { place: read_place(place)?, expiry_set, ttl })
    }

    /// Whether the server doesn't know `PEXPIRE … NX`.
    pub(super) fn lacks_nx(&self) -> bool {
        matches!(&self.expiry_set, Some(Err(fault)) if is_unknown_option(fault))
    }

    /// Whether these hits began the counter.
    pub(super) fn began(&self, hits: u64) -> bool {
        self.place == Ok(Place::At(hits))
    }

    /// What follows for `hits` under `settings`, where `sent_ms` is the interval that was sent. An end that lies too far off
    /// is drawn in only by settings that are fresh.
    ///
    /// # Errors
    /// The fault that kept the server from counting, or from saying when the window ends.
    pub(super) fn judge(
        self,
        settings: &Settings,
        hits: u64,
        sent_ms: u64,
        are_fresh: bool,
    ) -> Result<Verdict, Fault> {
        let interval_ms = settings.interval_ms();
        let count = match self.place? {
            // Below the hits just counted: somebody wrote a negative number.
            Place::At(count) if count >= hits => count,
            Place::At(_) | Place::Foreign => return Ok(Verdict::Replace),
        };
        let counted = |ms| Counted { count, ends_in: Duration::from_millis(ms), replaced: false };
        let expiry_set = match self.expiry_set {
            Some(Err(fault)) if !is_unknown_option(&fault) => return Err(after_counting(fault)),
            Some(Ok(set)) => set,
            Some(Err(_)) | None => false,
        };
        Ok(match self.ttl.map_err(after_counting)? {
            -1 => Verdict::Expire(counted(interval_ms)),
            ttl if are_fresh && ttl > interval_ms as i64 => Verdict::Expire(counted(interval_ms)),
            // A new window began with the interval last seen, which isn't the one that holds.
            _ if expiry_set && sent_ms != interval_ms => Verdict::Expire(counted(interval_ms)),
            // It ends within this millisecond, or ended between two commands.
            ttl if expiry_set => Verdict::Sound(counted(ttl.max(1) as u64)),
            ttl => Verdict::Standing(counted(ttl.max(1) as u64)),
        })
    }
}

fn read_place(reply: &Value) -> Result<Result<Place, Fault>, Fault> {
    Ok(match reply {
        Value::Int(count) => Ok(Place::At(u64::try_from(*count).unwrap_or(0))),
        Value::ServerError(error) => {
            let text = error.details().unwrap_or_default();
            if error.code() == "WRONGTYPE" || text.contains("not an integer") {
                Ok(Place::Foreign)
            } else if text.contains("would overflow") {
                Ok(Place::At(Window::MAX_COUNT))
            } else {
                Err(refused("HINCRBY", error))
            }
        }
        other => return Err(nonsense("HINCRBY", other)),
    })
}

/// Reads the replies to [`Count::replace`].
///
/// # Errors
/// The fault that kept the server from replacing.
pub(super) fn read_replaced(replies: &[Value], interval_ms: u64) -> Result<Counted, Fault> {
    let [deleted, place, expiry, ttl] = replies else {
        return Err(nonsense("a replacement", replies));
    };
    for (command, reply) in [("DEL", deleted), ("PEXPIRE", expiry), ("PTTL", ttl)] {
        if let Value::ServerError(error) = reply {
            return Err(refused(command, error));
        }
    }
    match (read_place(place)??, ttl) {
        (Place::At(count), Value::Int(ttl)) if *ttl != -1 => {
            let ends_in = Duration::from_millis((*ttl).clamp(1, interval_ms as i64) as u64);
            Ok(Counted { count, ends_in, replaced: true })
        }
        _ => Err(nonsense("a replacement", replies)),
    }
}

/// Reads the replies to `HGET key count` and `PTTL key`; none where nothing is counted.
///
/// # Errors
/// The fault of what is no counter, or of replies that make no sense.
pub(super) fn read_counter(replies: &[Value]) -> Result<Option<Counter>, Fault> {
    let [count, Value::Int(ttl)] = replies else { return Err(nonsense("HGET", replies)) };
    let text = match count {
        // Between the two it may have begun or ended.
        Value::Nil => return Ok(None),
        _ if *ttl == -2 => return Ok(None),
        Value::BulkString(text) => String::from_utf8_lossy(text),
        other => return Err(nonsense("HGET", other)),
    };
    // As the server writes numbers: it takes no others for one.
    match text.parse::<u64>().ok().filter(|count| *count <= Window::MAX_COUNT && count.to_string() == text) {
        Some(count) => {
            let ends_in = u64::try_from(*ttl).ok().map(|ms| Duration::from_millis(ms.max(1)));
            Ok(Some(Counter { count, ends_in }))
        }
        None => Err(Fault::new(FaultKind::Refused, "foreign", text)),
    }
}

/// The fault of a key where something stands that is no counter.
pub(super) fn foreign(key: &str) -> Fault {
    let detail =
        format!("what stands at {key} is no counter: the next hit replaces it, and clearing it removes it");
    Fault::new(FaultKind::Refused, "foreign", detail)
}

/// The values of each rule's fields.
pub(super) type RuleValues<'a> = Vec<[Option<&'a [u8]>; 4]>;

/// Reads the reply to [`ask_settings`] for so many rules: the values, or why they can't be read.
///
/// # Errors
/// A fault when it is not what such a command answers.
pub(super) fn read_settings(reply: &Value, rules: usize) -> Result<Result<RuleValues<'_>, Fault>, Fault> {
    let values = match reply {
        Value::ServerError(error) => return Ok(Err(refused("HMGET", error))),
        Value::Array(values) if values.len() == 3 * rules + 1 => values,
        other => return Err(nonsense("HMGET", other)),
    };
    let value = |at: usize| match &values[at] {
        Value::Nil => Ok(None),
        Value::BulkString(bytes) => Ok(Some(bytes.as_slice())),
        other => Err(nonsense("HMGET", other)),
    };
    let log = value(3 * rules)?;
    (0..rules)
        .map(|rule| Ok([value(3 * rule)?, value(3 * rule + 1)?, value(3 * rule + 2)?, log]))
        .collect::<Result<_, _>>()
        .map(Ok)
}

/// The fault of a command that the server refused, executing nothing.
pub(super) fn refused(command: &str, error: &ServerError) -> Fault {
    let text = error.details().unwrap_or_default();
    let code = if text.contains("max number of clients") { "MAXCLIENTS" } else { error.code() };
    let code: String = code.chars().take(32).collect();
    Fault::new(FaultKind::Refused, code, format!("Redis refused {command}: {} {text}", error.code()))
}

/// A fault that befell a hit which had been counted already: whatever it says of itself, the hit may not be repeated.
pub(super) fn after_counting(fault: Fault) -> Fault {
    match fault.is_safe_to_repeat() {
        true => Fault { kind: FaultKind::Protocol, ..fault },
        false => fault,
    }
}

/// The fault of a reply that makes no sense.
pub(super) fn nonsense(command: &str, reply: impl std::fmt::Debug) -> Fault {
    let reply: String = format!("{reply:?}").chars().take(100).collect();
    Fault::new(
        FaultKind::Protocol,
        "reply",
        format!("Redis answered {command} with {reply}, which makes no sense"),
    )
}

/// A server before 7.0 counts the arguments; a lookalike may name the option.
fn is_unknown_option(fault: &Fault) -> bool {
    let text = fault.to_string().to_ascii_lowercase();
    text.contains("wrong number of arguments") || text.contains("option") || text.contains("syntax error")
}

/// Whether a server that refuses with `code` can't be asked for a while, or another has to be asked.
pub(super) fn is_about_the_server(code: &str) -> bool {
    matches!(
        code,
        "READONLY" | "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "MOVED" | "ASK" | "NOAUTH" | "MAXCLIENTS"
    )
}
