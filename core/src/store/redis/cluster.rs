//! A cluster: which node has which key, and a lane to each.
//!
//! The configuration hash lives on one node and a counter on another, so both are asked at the same time, and what the
//! counter's node answered under the settings last seen is set right where the fresh ones differ. A thread of its own keeps
//! the map of slots. Protocol: <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>.

mod asked;
mod map;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};

use self::asked::{Asked, BegunHit};
use self::map::{Map, Node, slot};
use super::carrier::{Carrier, Command, Load, Reply, Stage, Task};
use super::dialect;
use super::link::Tls;
use super::topology::Address;
use crate::settings::Check;
use crate::store::{Fault, FaultKind, Hit, Reading, StoreFuture, together};

/// Nodes that one task is sent on to at most.
const MAX_REDIRECTS: usize = 4;

pub(super) struct Cluster {
    shared: Arc<Shared>,
}

struct Shared {
    seeds: Vec<Address>,
    tls: Option<Tls>,
    connect_timeout: Duration,
    config: String,
    map: RwLock<Arc<Map>>,
    refresh: Mutex<Refresh>,
    changed: Condvar,
}

#[derive(Default)]
struct Refresh {
    wanted: bool,
    ended: bool,
    /// Attempts that have ended.
    attempts: u64,
    /// Why the last one failed.
    fault: Option<Fault>,
    /// Connections of lanes that are gone.
    connects: u64,
}

impl Cluster {
    /// Starts looking for the nodes, and waits for them until `until`.
    pub(super) fn open(
        seeds: Vec<Address>,
        tls: Option<Tls>,
        connect_timeout: Duration,
        config: String,
        until: Instant,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            seeds,
            tls,
            connect_timeout: connect_timeout.max(Duration::from_secs(1)),
            config,
            map: RwLock::default(),
            refresh: Mutex::new(Refresh { wanted: true, ..Refresh::default() }),
            changed: Condvar::new(),
        });
        let worker = shared.clone();
        std::thread::Builder::new().name("tollgate-cluster".into()).spawn(move || worker.maintain())?;
        let mut refresh = shared.refresh.lock();
        while refresh.attempts == 0 && !shared.changed.wait_until(&mut refresh, until).timed_out() {}
        drop(refresh);
        let map = shared.map.read().clone();
        map.nodes.iter().for_each(|node| node.lane.carrier().link().await_first_dial(until));
        Ok(Self { shared })
    }

    pub(super) fn hit(&self, hit: &Hit<'_>, deadline: Instant) -> Result<Reading, Fault> {
        block_on(self.hit_async(hit, deadline))
    }

    pub(super) fn hit_async(&self, hit: &Hit<'_>, deadline: Instant) -> StoreFuture<Result<Reading, Fault>> {
        let mut begun = self.begin_all(std::slice::from_ref(hit), deadline);
        Box::pin(begun.swap_remove(0).end())
    }

    /// Those for one node queue there in one step.
    pub(super) fn hit_all_async(
        &self,
        hits: &[Hit<'_>],
        deadline: Instant,
    ) -> StoreFuture<Vec<Result<Reading, Fault>>> {
        let begun = self.begin_all(hits, deadline);
        Box::pin(together(begun.into_iter().map(|begun| Box::pin(begun.end()) as StoreFuture<_>).collect()))
    }

    /// Has settings and counters asked for: all are on their way before anybody polls.
    fn begin_all(&self, hits: &[Hit<'_>], deadline: Instant) -> Vec<BegunHit> {
        let asked = hits.iter().map(|hit| Asked {
            rule: hit.rule().clone(),
            key: hit.key().to_owned(),
            hits: hit.hits(),
            deadline,
            shared: self.shared.clone(),
        });
        let asked: Vec<_> = asked.map(|asked| (asked.rule.last().check != Check::Off, asked)).collect();
        let tasks = asked.iter().flat_map(|(counts, asked)| {
            let settings = (self.shared.config.as_str(), asked.settings(false));
            let count = counts.then(|| (asked.key.as_str(), asked.count(Stage::Blind, false)));
            std::iter::once(settings).chain(count)
        });
        let mut begun = self.shared.begin_all(tasks.collect(), deadline).into_iter();
        let mut next = || begun.next().unwrap_or_else(|| Err(self.shared.why_no_map()));
        let begin = |(counts, asked): (bool, Asked)| {
            let settings = next();
            BegunHit { settings, counted: counts.then(&mut next), asked }
        };
        asked.into_iter().map(begin).collect()
    }

    /// Runs commands on one key.
    pub(super) fn run(&self, key: &str, command: &Command, deadline: Instant) -> Result<Reply, Fault> {
        let task = |asking| Task::Command(Command { asking, ..command.clone() });
        block_on(self.shared.carry(key, task, deadline))
    }

    pub(super) fn fault(&self) -> Option<Fault> {
        let map = self.shared.map.read().clone();
        let lanes = map.nodes.iter().find_map(|node| node.lane.carrier().link().fault());
        if map.slots.is_empty() { Some(self.shared.why_no_map()) } else { lanes }
    }

    pub(super) fn connects(&self) -> u64 {
        let map = self.shared.map.read().clone();
        let lanes: u64 = map.nodes.iter().map(|node| node.lane.carrier().link().connects()).sum();
        lanes + self.shared.refresh.lock().connects
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shared.refresh.lock().ended = true;
        self.shared.changed.notify_all();
    }
}

/// A task on its way to the node that has its key, as far as is known.
type Begun = Result<super::batch::Calling<Carrier>, Fault>;

impl Shared {
    /// Sends tasks on their way, those for one node in one step.
    fn begin_all(&self, tasks: Vec<(&str, Task)>, deadline: Instant) -> Vec<Begun> {
        let mut by_node: Vec<(Node, Vec<usize>, Vec<Load>)> = Vec::new();
        let mut begun: Vec<Option<Begun>> = tasks.iter().map(|_| None).collect();
        for (at, (key, task)) in tasks.into_iter().enumerate() {
            let node = match self.node_of(key) {
                Ok(node) => node,
                Err(fault) => {
                    begun[at] = Some(Err(fault));
                    continue;
                }
            };
            match by_node.iter_mut().find(|(known, ..)| Arc::ptr_eq(&known.lane, &node.lane)) {
                Some((_, places, loads)) => {
                    places.push(at);
                    loads.push(task.into());
                }
                None => by_node.push((node, vec![at], vec![task.into()])),
            }
        }
        for (node, places, loads) in by_node {
            match node.lane.carrier().link().fault() {
                Some(fault) => {
                    self.want_refresh();
                    places.iter().for_each(|at| begun[*at] = Some(Err(fault.clone())));
                }
                None => {
                    let callings = node.lane.call_all_async(loads, deadline);
                    places.iter().zip(callings).for_each(|(at, calling)| begun[*at] = Some(Ok(calling)));
                }
            }
        }
        begun.into_iter().flatten().collect()
    }

    async fn carry(&self, key: &str, task: impl Fn(bool) -> Task, deadline: Instant) -> Result<Reply, Fault> {
        let begun = self.begin_all(vec![(key, task(false))], deadline).swap_remove(0);
        self.finish(key, begun, task, deadline).await
    }

    /// Awaits a task, sending it on where a node says so: it has executed nothing then.
    async fn finish(
        &self,
        key: &str,
        begun: Begun,
        task: impl Fn(bool) -> Task,
        deadline: Instant,
    ) -> Result<Reply, Fault> {
        let mut calling = begun?;
        for _ in 0..MAX_REDIRECTS {
            let fault = match calling.await {
                Err(fault) => fault,
                answered => return answered,
            };
            if fault.kind() != FaultKind::Refused {
                self.want_refresh();
            }
            let redirect = dialect::redirect(&fault).filter(|_| fault.is_safe_to_repeat());
            let Some(redirect) = redirect else { return Err(fault) };
            if !redirect.asking {
                self.want_refresh();
            }
            let map = self.map.read().clone();
            let Some(node) = map.nodes.iter().find(|node| node.name == redirect.node) else {
                return Err(fault);
            };
            calling = node.lane.call_async(task(redirect.asking).into(), deadline);
        }
        let detail = format!("the nodes of the cluster send {key} from one to the other");
        Err(Fault::new(FaultKind::Refused, "MOVED", detail))
    }

    fn node_of(&self, key: &str) -> Result<Node, Fault> {
        let map = self.map.read().clone();
        let slot = slot(key);
        match map.slots.get(slot) {
            Some(Some(node)) => Ok(map.nodes[*node as usize].clone()),
            Some(None) => {
                self.want_refresh();
                let detail = format!("no node of the cluster has slot {slot}, where {key} belongs");
                Err(Fault::new(FaultKind::Unavailable, "CLUSTERDOWN", detail))
            }
            None => Err(self.why_no_map()),
        }
    }

    fn why_no_map(&self) -> Fault {
        let fault = self.refresh.lock().fault.clone();
        fault.unwrap_or_else(|| {
            Fault::new(FaultKind::Unavailable, "connect", "the cluster is being looked for")
        })
    }

    fn want_refresh(&self) {
        let mut refresh = self.refresh.lock();
        if !refresh.wanted {
            refresh.wanted = true;
            self.changed.notify_all();
        }
    }
}

/// Awaits a future on this thread. Futures of a lane end by their own deadline.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}
