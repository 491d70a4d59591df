//! A cluster: which node has which key, and a lane to each.
//!
//! The configuration hash lives on one node and a counter on another, so both are asked at the same time, and what the
//! counter's node answered under the settings last seen is set right where the fresh ones differ. A thread of its own keeps
//! the map of slots. Protocol: <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>.

mod map;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};

use self::map::{Map, Node, slot};
use super::carrier::{self, Carrier, Reply, Stage, Task};
use super::link::{Afterwards, Tls};
use super::topology::Address;
use super::{dialect, reading};
use crate::settings::Check;
use crate::store::{Fault, FaultKind, Hit, Reading, Tracked};

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

    pub(super) fn hit_async(
        &self,
        hit: &Hit<'_>,
        deadline: Instant,
    ) -> Pin<Box<dyn Future<Output = Result<Reading, Fault>> + Send>> {
        let asked = Asked {
            rule: hit.rule().clone(),
            key: hit.key().to_owned(),
            hits: hit.hits(),
            deadline,
            shared: self.shared.clone(),
        };
        // Both are on their way before anybody polls.
        let last = asked.rule.last();
        let settings = asked.shared.begin(&self.shared.config, asked.settings(false), deadline);
        let counted = (last.check != Check::Off)
            .then(|| asked.shared.begin(&asked.key, asked.count(Stage::Blind, false), deadline));
        Box::pin(async move {
            let settings =
                asked.finish(&asked.shared.config, settings, |asking| asked.settings(asking)).await;
            // Where the settings' node is away, its last word holds.
            let fresh = match settings.and_then(reading) {
                Ok(fresh) => fresh,
                Err(fault) => Reading { settings: asked.rule.last(), counted: None, unread: Some(fault) },
            };
            let counted = match counted {
                Some(begun) => {
                    asked.finish(&asked.key, begun, |asking| asked.count(Stage::Blind, asking)).await
                }
                None if fresh.settings.check == Check::Off => return Ok(fresh),
                None => asked.carry(&asked.key, |asking| asked.count(Stage::Blind, asking)).await,
            };
            if fresh.settings.check == Check::Off {
                if let Ok(Reply::Reading(Reading { counted: Some(counted), .. })) = &counted
                    && counted.count == asked.hits
                {
                    asked.leave(Afterwards::Drop { key: asked.key.clone() });
                }
                return Ok(fresh);
            }
            asked.set_right(counted?, fresh).await
        })
    }

    /// Runs one command of the configuration hash.
    pub(super) fn configure(
        &self,
        name: &'static str,
        command: &[u8],
        deadline: Instant,
    ) -> Result<Reply, Fault> {
        let task = |_| Task::Command(name, command.to_vec());
        block_on(self.shared.carry(&self.shared.config, task, deadline))
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

/// One hit on its way through a cluster.
struct Asked {
    rule: Arc<Tracked>,
    key: String,
    hits: u64,
    deadline: Instant,
    shared: Arc<Shared>,
}

impl Asked {
    fn settings(&self, asking: bool) -> Task {
        Task::Settings { rule: self.rule.clone(), asking }
    }

    fn count(&self, stage: Stage, asking: bool) -> Task {
        Task::Hit(carrier::Hit {
            rule: self.rule.clone(),
            key: self.key.clone(),
            hits: self.hits,
            stage,
            asking,
        })
    }

    async fn finish(&self, key: &str, begun: Begun, task: impl Fn(bool) -> Task) -> Result<Reply, Fault> {
        self.shared.finish(key, begun, task, self.deadline).await
    }

    async fn carry(&self, key: &str, task: impl Fn(bool) -> Task) -> Result<Reply, Fault> {
        self.shared.carry(key, task, self.deadline).await
    }

    /// Leaves a write to the counter's node, which nobody waits for.
    fn leave(&self, afterwards: Afterwards) {
        if let Ok(node) = self.shared.node_of(&self.key) {
            node.lane.post(Task::Afterwards(afterwards), self.deadline);
        }
    }

    /// Makes what was read under the settings last seen hold under the fresh ones.
    async fn set_right(&self, under: Reply, fresh: Reading) -> Result<Reading, Fault> {
        let end_was_set = matches!(under, Reply::Standing(_));
        let under = reading(under)?;
        let Some(mut counted) = under.counted else { return Ok(fresh) };
        let interval = fresh.settings.interval;
        let is_wrong = counted.ends_in > interval || (!end_was_set && under.settings.interval != interval);
        if is_wrong {
            counted.ends_in = interval;
        }
        let right = Reading { counted: Some(counted), ..fresh };
        if is_wrong {
            if counted.count > right.settings.limit {
                let confirm = |asking| self.count(Stage::Confirm(right.clone()), asking);
                return reading(self.carry(&self.key, confirm).await.map_err(dialect::after_counting)?);
            }
            let interval_ms = right.settings.interval_ms();
            self.leave(Afterwards::Expire { key: self.key.clone(), interval_ms });
        }
        Ok(right)
    }
}

/// A task on its way to the node that has its key, as far as is known.
type Begun = Result<super::batch::Calling<Carrier>, Fault>;

impl Shared {
    fn begin(&self, key: &str, task: Task, deadline: Instant) -> Begun {
        let node = self.node_of(key)?;
        if let Some(fault) = node.lane.carrier().link().fault() {
            self.want_refresh();
            return Err(fault);
        }
        Ok(node.lane.call_async(task, deadline))
    }

    async fn carry(&self, key: &str, task: impl Fn(bool) -> Task, deadline: Instant) -> Result<Reply, Fault> {
        let begun = self.begin(key, task(false), deadline);
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
            calling = node.lane.call_async(task(redirect.asking), deadline);
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
fn block_on<T>(future: impl Future<Output = T>) -> T {
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
