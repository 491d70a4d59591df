//! Counters and settings in Redis, shared by every process that uses them.

mod batch;
mod carrier;
mod dialect;
mod link;
mod topology;

use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;

use self::batch::Lane;
use self::carrier::{Carrier, Reply, Stage, Task};
use self::link::{Link, Tls};
use self::topology::{Options, Topology};
use super::{Fault, Hit, Reading, Store, StoreState};
use crate::key::Keys;

pub use topology::RedisError;

/// A store in one Redis server, 2.8 or later, or in the master that sentinels name.
///
/// A hit costs one round trip, which it shares with the hits of other callers that come meanwhile. Time is the server's. See [`Builder::url`](crate::Builder::url) for the forms of the URL.
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
    /// One for each connection.
    lanes: Vec<Lane<Carrier>>,
    hasher: RandomState,
    config: String,
}

impl RedisStore {
    /// Opens a store at `url`; the configuration hash is that of `keys`. Waits for the first connection for
    /// `connect_timeout` at most; a server that can't be reached is dialled on in the background.
    ///
    /// # Errors
    /// [`RedisError`] when the URL is not usable, or TLS finds no trusted certificates.
    pub fn open(url: &str, keys: &Keys, connect_timeout: Duration) -> Result<Self, RedisError> {
        let (url, options) = Options::take(url)?;
        let topology = Topology::parse(&url)?;
        let fail = |reason: String| RedisError { url: topology.name(), reason };
        let tls = topology.uses_tls().then(|| Tls::new(&options)).transpose().map_err(fail)?;
        let start = |_| {
            Link::start(topology.clone(), tls.clone(), connect_timeout)
                .map_err(|error| fail(format!("its maintenance thread can't be started: {error}")))
        };
        let links = (0..options.connections).map(start).collect::<Result<Vec<_>, _>>()?;
        let until = Instant::now() + connect_timeout;
        links.iter().for_each(|link| link.await_first_dial(until));
        let lanes = links.into_iter().map(|link| Lane::new(Carrier::new(link, keys.config()))).collect();
        Ok(Self { lanes, hasher: RandomState::new(), config: keys.config() })
    }

    /// Runs one command of the configuration hash.
    fn configure(&self, name: &'static str, arguments: &[&str], deadline: Instant) -> Result<Value, Fault> {
        let mut bytes = Vec::new();
        let words = [name, &self.config].into_iter().chain(arguments.iter().copied());
        dialect::command(&mut bytes, &words.map(str::as_bytes).collect::<Vec<_>>());
        match self.lanes[0].call(Task::Command(name, bytes), deadline)? {
            Reply::Value(value) => Ok(value),
            Reply::Reading(_) => Err(dialect::nonsense(name, "a hit's reply")),
        }
    }

    /// The lane of a key, always the same, so that hits on one key can be merged.
    fn lane(&self, key: &str) -> &Lane<Carrier> {
        match self.lanes.as_slice() {
            [only] => only,
            lanes => &lanes[self.hasher.hash_one(key) as usize % lanes.len()],
        }
    }
}

fn task(hit: &Hit<'_>) -> Task {
    let (rule, key, hits) = (Arc::clone(hit.rule()), hit.key().to_owned(), hit.hits());
    Task::Hit(carrier::Hit { rule, key, hits, stage: Stage::Ask })
}

fn reading(reply: Reply) -> Result<Reading, Fault> {
    match reply {
        Reply::Reading(reading) => Ok(reading),
        Reply::Value(value) => Err(dialect::nonsense("a hit", value)),
    }
}

impl Store for RedisStore {
    fn hit(&self, hit: &Hit<'_>, deadline: Instant) -> Result<Reading, Fault> {
        // Nobody queues for a connection that isn't there.
        let lane = self.lane(hit.key());
        if let Some(fault) = lane.carrier().link().fault() {
            return Err(fault);
        }
        reading(lane.call(task(hit), deadline)?)
    }

    fn hit_async(
        &self,
        hit: &Hit<'_>,
        deadline: Instant,
    ) -> Pin<Box<dyn Future<Output = Result<Reading, Fault>> + Send>> {
        let lane = self.lane(hit.key());
        if let Some(fault) = lane.carrier().link().fault() {
            return Box::pin(std::future::ready(Err(fault)));
        }
        let calling = lane.call_async(task(hit), deadline);
        Box::pin(async move { reading(calling.await?) })
    }

    fn setting(&self, field: &str, deadline: Instant) -> Result<Option<String>, Fault> {
        match self.configure("HGET", &[field], deadline)? {
            Value::Nil => Ok(None),
            Value::BulkString(value) => Ok(Some(String::from_utf8_lossy(&value).into_owned())),
            other => Err(dialect::nonsense("HGET", other)),
        }
    }

    fn set(&self, field: &str, value: &str, deadline: Instant) -> Result<(), Fault> {
        self.configure("HSET", &[field, value], deadline).map(drop)
    }

    fn settings(&self, deadline: Instant) -> Result<Vec<(String, String)>, Fault> {
        let text = |value: Value| match value {
            Value::BulkString(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            other => Err(dialect::nonsense("HGETALL", other)),
        };
        match self.configure("HGETALL", &[], deadline)? {
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
        let links = || self.lanes.iter().map(|lane| lane.carrier().link());
        StoreState {
            name: self.lanes[0].carrier().link().name(),
            fault: links().find_map(Link::fault),
            connects: links().map(Link::connects).sum(),
            counters: 0,
        }
    }
}
