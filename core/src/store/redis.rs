//! Counters and settings in Redis, shared by every process that uses them.

mod batch;
mod carrier;
mod cluster;
mod dialect;
mod link;
mod topology;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;

use self::batch::Lane;
use self::carrier::{Board, Carrier, Command, Load, Reply, Several, Stage, Task};
use self::cluster::{Cluster, block_on};
use self::link::{Link, Tls};
use self::topology::{Options, Topology};
use super::{Counter, Fault, FaultKind, Hit, Reading, Store, StoreFuture, StoreState};
use crate::key::Keys;

pub use topology::RedisError;

/// A store in one Redis server, 2.8 or later, in the master that sentinels name, or in a cluster.
///
/// A process that forks has to open its limiters in the child: one from before answers with a fault there.
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
    /// None only amid the drop.
    servers: Option<Servers>,
    /// The process whose threads and connections these are.
    process: u32,
    name: String,
    config: String,
}

enum Servers {
    /// One lane for each connection to one server.
    One {
        lanes: Vec<Lane<Carrier>>,
        hasher: RandomState,
    },
    Cluster(Cluster),
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
        let until = Instant::now() + connect_timeout;
        let thread = |error| fail(format!("its maintenance thread can't be started: {error}"));
        let servers = match &topology {
            Topology::Cluster(seeds) => {
                let opened = Cluster::open(seeds.clone(), tls, connect_timeout, keys.config(), until);
                Servers::Cluster(opened.map_err(thread)?)
            }
            Topology::Single(_) | Topology::Sentinels(_) => {
                let start = |_| Link::start(topology.clone(), tls.clone(), connect_timeout).map_err(thread);
                let links = (0..options.connections).map(start).collect::<Result<Vec<_>, _>>()?;
                links.iter().for_each(|link| link.await_first_dial(until));
                let lane = |link| Lane::new(Carrier::new(link, keys.config()));
                Servers::One { lanes: links.into_iter().map(lane).collect(), hasher: RandomState::new() }
            }
        };
        let process = std::process::id();
        Ok(Self { servers: Some(servers), process, name: topology.name(), config: keys.config() })
    }

    /// The servers, unless the process has forked: a child has no maintenance threads, and on the connections that it shares
    /// with its parent each would read the other's replies.
    fn servers(&self) -> Result<&Servers, Fault> {
        if let Some(servers) = &self.servers
            && self.process == std::process::id()
        {
            return Ok(servers);
        }
        let detail = "this process was forked after the limiter was opened: open another in the child";
        Err(Fault::new(FaultKind::Unavailable, "forked", detail))
    }

    /// Runs one command of the configuration hash.
    fn configure(&self, name: &'static str, arguments: &[&str], deadline: Instant) -> Result<Value, Fault> {
        let words: Vec<_> = [name, &self.config].into_iter().chain(arguments.iter().copied()).collect();
        let mut values = self.run(&self.config, name, &[&words], deadline)?;
        values.pop().ok_or_else(|| dialect::nonsense(name, values))
    }

    /// Runs commands on one key: a reply for each, none of which is a refusal.
    fn run(
        &self,
        key: &str,
        name: &'static str,
        commands: &[&[&str]],
        deadline: Instant,
    ) -> Result<Vec<Value>, Fault> {
        let encoded = |words: &&[&str]| {
            let mut bytes = Vec::new();
            dialect::command(&mut bytes, &words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>());
            bytes
        };
        let command = Command { name, commands: commands.iter().map(encoded).collect(), asking: false };
        let reply = match self.servers()? {
            Servers::One { lanes, hasher } => {
                lanes[place(lanes, hasher, key)].call(Task::Command(command).into(), deadline)
            }
            Servers::Cluster(cluster) => cluster.run(key, &command, deadline),
        };
        match reply? {
            Reply::Values(values) => Ok(values),
            Reply::Reading(reading) | Reply::Standing(reading) => Err(dialect::nonsense(name, reading)),
        }
    }
}

/// The lane of a key, always the same, so that hits on one key can be merged; nobody queues for a connection that isn't there.
fn lane<'a>(lanes: &'a [Lane<Carrier>], hasher: &RandomState, key: &str) -> Result<&'a Lane<Carrier>, Fault> {
    connected(&lanes[place(lanes, hasher, key)])
}

fn place(lanes: &[Lane<Carrier>], hasher: &RandomState, key: &str) -> usize {
    if lanes.len() == 1 { 0 } else { hasher.hash_one(key) as usize % lanes.len() }
}

fn connected(lane: &Lane<Carrier>) -> Result<&Lane<Carrier>, Fault> {
    match lane.carrier().link().fault() {
        Some(fault) => Err(fault),
        None => Ok(lane),
    }
}

fn asked(hit: &Hit<'_>) -> carrier::Hit {
    let (rule, key, hits) = (Arc::clone(hit.rule()), hit.key().to_owned(), hit.hits());
    carrier::Hit { rule, key, hits, stage: Stage::Ask, asking: false }
}

fn task(hit: &Hit<'_>) -> Load {
    Task::Hit(asked(hit)).into()
}

/// Hits of one call that take the same lane, with their places in the call.
fn several(hits: &[Hit<'_>], places: &[usize], board: &Arc<Board>) -> Load {
    let hits = places.iter().map(|place| (*place, asked(&hits[*place]))).collect();
    Load::Several(Several { hits, board: board.clone() })
}

fn reading(reply: Reply) -> Result<Reading, Fault> {
    match reply {
        Reply::Reading(reading) | Reply::Standing(reading) => Ok(reading),
        Reply::Values(values) => Err(dialect::nonsense("a hit", values)),
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Their threads are the parent's, and their locks may be held by threads that a child hasn't got.
            std::mem::forget(self.servers.take());
        }
    }
}

impl Store for RedisStore {
    fn hit(&self, hit: &Hit<'_>, deadline: Instant) -> Result<Reading, Fault> {
        let lane = match self.servers()? {
            Servers::One { lanes, hasher } => lane(lanes, hasher, hit.key())?,
            Servers::Cluster(cluster) => return cluster.hit(hit, deadline),
        };
        reading(lane.call(task(hit), deadline)?)
    }

    fn hit_async(&self, hit: &Hit<'_>, deadline: Instant) -> StoreFuture<Result<Reading, Fault>> {
        let calling = match self.servers() {
            Ok(Servers::One { lanes, hasher }) => {
                lane(lanes, hasher, hit.key()).map(|lane| lane.call_async(task(hit), deadline))
            }
            Ok(Servers::Cluster(cluster)) => return cluster.hit_async(hit, deadline),
            Err(fault) => Err(fault),
        };
        Box::pin(async move { reading(calling?.await?) })
    }

    fn hit_all(&self, hits: &[Hit<'_>], deadline: Instant) -> Vec<Result<Reading, Fault>> {
        let Ok(Servers::One { lanes, .. }) = self.servers() else {
            return block_on(self.hit_all_async(hits, deadline));
        };
        let [only] = lanes.as_slice() else { return block_on(self.hit_all_async(hits, deadline)) };
        let (board, places) = (Board::new(hits.len()), Vec::from_iter(0..hits.len()));
        let called = connected(only).and_then(|lane| lane.call(several(hits, &places, &board), deadline));
        if let Err(fault) = called {
            board.fail(&places, &fault);
        }
        board.take()
    }

    fn hit_all_async(&self, hits: &[Hit<'_>], deadline: Instant) -> StoreFuture<Vec<Result<Reading, Fault>>> {
        let (lanes, hasher) = match self.servers() {
            Ok(Servers::One { lanes, hasher }) => (lanes, hasher),
            Ok(Servers::Cluster(cluster)) => return cluster.hit_all_async(hits, deadline),
            Err(fault) => return Box::pin(std::future::ready(vec![Err(fault); hits.len()])),
        };
        let board = Board::new(hits.len());
        let mut by_lane: Vec<Vec<usize>> = vec![Vec::new(); lanes.len()];
        for (at, hit) in hits.iter().enumerate() {
            by_lane[place(lanes, hasher, hit.key())].push(at);
        }
        let callings: Vec<_> = by_lane
            .into_iter()
            .zip(lanes)
            .filter(|(places, _)| !places.is_empty())
            .map(|(places, lane)| {
                let load = several(hits, &places, &board);
                (places, connected(lane).map(|lane| lane.call_async(load, deadline)))
            })
            .collect();
        Box::pin(async move {
            for (places, calling) in callings {
                let called = match calling {
                    Ok(calling) => calling.await.map(drop),
                    Err(fault) => Err(fault),
                };
                if let Err(fault) = called {
                    board.fail(&places, &fault);
                }
            }
            board.take()
        })
    }

    fn counter(&self, key: &str, deadline: Instant) -> Result<Option<Counter>, Fault> {
        let look: [&[&str]; 2] = [&["HGET", key, "count"], &["PTTL", key]];
        let found = self.run(key, "HGET", &look, deadline);
        found.and_then(|replies| dialect::read_counter(&replies)).map_err(|fault| match fault.code() {
            "WRONGTYPE" | "foreign" => dialect::foreign(key),
            _ => fault,
        })
    }

    fn clear(&self, key: &str, deadline: Instant) -> Result<bool, Fault> {
        match self.run(key, "DEL", &[&["DEL", key]], deadline)?.as_slice() {
            [Value::Int(removed)] => Ok(*removed > 0),
            other => Err(dialect::nonsense("DEL", other)),
        }
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
        let (fault, connects) = match self.servers() {
            Ok(Servers::One { lanes, .. }) => {
                let links = || lanes.iter().map(|lane| lane.carrier().link());
                (links().find_map(Link::fault), links().map(Link::connects).sum())
            }
            Ok(Servers::Cluster(cluster)) => (cluster.fault(), cluster.connects()),
            Err(fault) => (Some(fault), 0),
        };
        StoreState { name: self.name.clone(), fault, connects, counters: 0 }
    }
}
