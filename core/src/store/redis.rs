//! Counters and settings in Redis, shared by every process that uses them.

mod dialect;
mod link;
mod topology;

use std::time::{Duration, Instant};

use redis::Value;

use self::dialect::{Answer, Count, Verdict};
use self::link::{Afterwards, Link, TlsRoots, Wire};
use self::topology::{Address, Endpoint};
use super::{Counted, Fault, Hit, Reading, Store, StoreState};
use crate::key::Keys;
use crate::settings::{Check, Settings};

pub use topology::RedisError;

/// How long refused defaults are not written again.
const DEFAULTS_PAUSE: Duration = Duration::from_secs(10);

/// A store in one Redis server, 2.8 or later.
///
/// A hit costs one round trip. Time is the server's. See [`Builder::url`](crate::Builder::url) for the forms of the URL.
///
/// ```no_run
/// use std::time::Duration;
/// use tollgate::{Keys, Limiter, RedisStore};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let keys = Keys::new("ratelimit")?;
/// let store = RedisStore::open("redis://127.0.0.1:6379", &keys, Duration::from_secs(1))?;
/// let limiter = Limiter::builder().store(store).open()?;
/// # Ok(())
/// # }
/// ```
pub struct RedisStore {
    link: Link,
    config: String,
}

impl RedisStore {
    /// Opens a store at `url`; the configuration hash is that of `keys`. Waits for the first connection for
    /// `connect_timeout` at most; a server that can't be reached is dialled on in the background.
    ///
    /// # Errors
    /// [`RedisError`] when the URL is not usable, or TLS finds no trusted certificates.
    pub fn open(url: &str, keys: &Keys, connect_timeout: Duration) -> Result<Self, RedisError> {
        let address = Address::parse(url)?;
        let fail = |reason: String| RedisError { url: address.name(), reason };
        let roots = match address.endpoint {
            Endpoint::Tcp { tls: true, .. } => Some(TlsRoots::of_system().map_err(fail)?),
            _ => None,
        };
        let link = Link::open(address.clone(), roots, connect_timeout)
            .map_err(|error| fail(format!("its maintenance thread can't be started: {error}")))?;
        Ok(Self { link, config: keys.config() })
    }

    /// Counts a hit whose rule isn't known to be closed: one round trip, and another where something has to be mended
    /// before the answer is certain.
    fn count(&self, wire: &mut Wire, hit: &Hit<'_>, last: &Settings) -> Result<Reading, Fault> {
        let sequence = wire.sequence;
        let count = Count { key: hit.key(), hits: hit.hits(), interval_ms: last.interval_ms() };
        let mut bytes = Vec::with_capacity(512);
        dialect::ask_settings(&mut bytes, &self.config, hit.rule().fields());
        let replies = count.ask(&mut bytes, sequence);
        let replies = wire.ask(&bytes, 1 + replies)?;
        let answer = Answer::read(&replies[1..])?;
        if answer.lacks_nx() {
            wire.sequence = dialect::Sequence::Older;
        }
        let mut reading = self.read_settings(wire, hit, &replies[0])?;
        if reading.settings.check == Check::Off {
            if answer.began(hit.hits()) {
                wire.owe(Afterwards::Drop { key: hit.key().to_owned() })?;
            }
            return Ok(reading);
        }
        reading.counted = Some(self.settle(wire, &count, answer, &reading.settings)?);
        Ok(reading)
    }

    /// Makes sure that the counter's window ends.
    fn settle(
        &self,
        wire: &mut Wire,
        count: &Count<'_>,
        answer: Answer,
        settings: &Settings,
    ) -> Result<Counted, Fault> {
        let interval_ms = settings.interval_ms();
        match answer.judge(settings, count.hits, count.interval_ms)? {
            Verdict::Sound(counted) => Ok(counted),
            Verdict::Expire(counted) => {
                wire.owe(Afterwards::Expire { key: count.key.to_owned(), interval_ms })?;
                // One who passes needn't wait, unless repairs have been failing.
                if counted.count > settings.limit || wire.repairs_fail.is_some() {
                    wire.read_owed()?;
                    if let Some(fault) = &wire.repairs_fail {
                        return Err(fault.clone());
                    }
                }
                Ok(counted)
            }
            Verdict::Replace => {
                let mut bytes = Vec::new();
                let replies = Count { interval_ms, ..*count }.replace(&mut bytes);
                dialect::read_replaced(&wire.ask(&bytes, replies)?, interval_ms)
            }
        }
    }

    /// Asks for the settings alone.
    fn ask(&self, wire: &mut Wire, hit: &Hit<'_>) -> Result<Reading, Fault> {
        let mut bytes = Vec::new();
        dialect::ask_settings(&mut bytes, &self.config, hit.rule().fields());
        let replies = wire.ask(&bytes, 1)?;
        self.read_settings(wire, hit, &replies[0])
    }

    /// Takes the settings from their reply and has missing ones written back.
    fn read_settings(&self, wire: &mut Wire, hit: &Hit<'_>, reply: &Value) -> Result<Reading, Fault> {
        let rule = hit.rule();
        let values = match dialect::read_settings(reply)? {
            Ok(values) => values,
            Err(fault) => {
                let settings = Settings::defaults(rule.rule());
                return Ok(Reading { settings, counted: None, complaints: Vec::new(), unread: Some(fault) });
            }
        };
        let (settings, complaints) = rule.see(values, 0);
        let paused = wire.defaults_refused.is_some_and(|refused| refused.elapsed() < DEFAULTS_PAUSE);
        if !paused && values.contains(&None) {
            let missing = rule.fields().iter().zip(rule.defaults()).zip(values);
            for ((field, value), _) in missing.filter(|(_, found)| found.is_none()) {
                wire.owe(Afterwards::Default { config: self.config.clone(), field: field.clone(), value })?;
            }
        }
        Ok(Reading { settings, counted: None, complaints, unread: None })
    }

    /// Runs one command of the configuration hash.
    fn configure(&self, arguments: &[&[u8]], deadline: Instant) -> Result<Value, Fault> {
        self.link.exchange(deadline, |wire| {
            let mut bytes = Vec::new();
            dialect::command(&mut bytes, arguments);
            match wire.ask(&bytes, 1)?.swap_remove(0) {
                Value::ServerError(error) => {
                    Err(dialect::refused(&String::from_utf8_lossy(arguments[0]), &error))
                }
                value => Ok(value),
            }
        })
    }
}

impl Store for RedisStore {
    fn hit(&self, hit: &Hit<'_>, deadline: Instant) -> Result<Reading, Fault> {
        self.link.exchange(deadline, |wire| {
            let last = hit.rule().last();
            if last.check == Check::Off {
                let reading = self.ask(wire, hit)?;
                if reading.settings.check == Check::Off {
                    return Ok(reading);
                }
            }
            self.count(wire, hit, &hit.rule().last())
        })
    }

    fn setting(&self, field: &str, deadline: Instant) -> Result<Option<String>, Fault> {
        match self.configure(&[b"HGET", self.config.as_bytes(), field.as_bytes()], deadline)? {
            Value::Nil => Ok(None),
            Value::BulkString(value) => Ok(Some(String::from_utf8_lossy(&value).into_owned())),
            other => Err(dialect::nonsense("HGET", other)),
        }
    }

    fn set(&self, field: &str, value: &str, deadline: Instant) -> Result<(), Fault> {
        let arguments: [&[u8]; 4] = [b"HSET", self.config.as_bytes(), field.as_bytes(), value.as_bytes()];
        self.configure(&arguments, deadline).map(|_| ())
    }

    fn settings(&self, deadline: Instant) -> Result<Vec<(String, String)>, Fault> {
        let text = |value: Value| match value {
            Value::BulkString(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            other => Err(dialect::nonsense("HGETALL", other)),
        };
        match self.configure(&[b"HGETALL", self.config.as_bytes()], deadline)? {
            Value::Map(pairs) => {
                pairs.into_iter().map(|(field, value)| Ok((text(field)?, text(value)?))).collect()
            }
            Value::Array(items) => {
                let items: Vec<_> = items.into_iter().map(text).collect::<Result<_, _>>()?;
                Ok(items.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect())
            }
            other => Err(dialect::nonsense("HGETALL", other)),
        }
    }

    fn state(&self) -> StoreState {
        StoreState { name: self.link.name(), up: self.link.is_up(), counters: 0 }
    }
}
