//! The one composer: identity → rule → key → store → decision.

mod builder;
mod counter;
mod several;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::decision::{Decision, Outcome};
use crate::identity::Identity;
use crate::key::Keys;
use crate::observer::Observer;
use crate::rule::{OnFault, Rule, RuleError};
use crate::settings::{self, SettingError};
use crate::store::{Fault, Hit, MemoryStore, Reading, Store, StoreState, Tracked};

pub use builder::{Builder, OpenError};
pub use several::AcquiringAll;

/// Rules that one limiter keeps. A rule is a place in the code; a rule a user would be a leak.
const MAX_RULES: usize = 10_000;
/// Reading and writing settings is an operator's errand, not a request's.
const SETTINGS_DEADLINE: Duration = Duration::from_secs(1);

/// Decides whether a hit passes. Cheap to clone and to share between threads.
///
/// See the [crate] documentation for an example.
#[derive(Clone)]
pub struct Limiter(Arc<Inner>);

struct Inner {
    keys: Keys,
    store: Arc<dyn Store>,
    /// Counts for [`OnFault::Local`] while the store is away.
    local: MemoryStore,
    deadline: Duration,
    on_fault: OnFault,
    observers: Vec<Arc<dyn Observer>>,
    rules: Mutex<Rules>,
    outcomes: [AtomicU64; Outcome::ALL.len()],
}

#[derive(Default)]
struct Rules {
    by_name: HashMap<(String, String), RuleHandle>,
    registered: usize,
}

/// A decision to come: what [`Limiter::acquire_async`] gives.
#[must_use = "nothing is decided unless it is awaited"]
pub struct Acquiring(Pin<Box<dyn Future<Output = Decision> + Send>>);

impl Future for Acquiring {
    type Output = Decision;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Decision> {
        self.0.as_mut().poll(context)
    }
}

/// A registered rule. Cheap to clone.
#[derive(Clone)]
pub struct RuleHandle(Arc<Registered>);

struct Registered {
    tracked: Arc<Tracked>,
    faulting: AtomicBool,
    /// Grows when the store recovers, which ends the windows that were counted locally.
    epoch: AtomicU32,
}

impl RuleHandle {
    /// The rule as it was registered.
    pub fn rule(&self) -> &Rule {
        self.0.tracked.rule()
    }

    /// `<module>.<rule>`: what the names of its fields begin with.
    pub fn label(&self) -> &str {
        self.0.tracked.label()
    }
}

impl fmt::Debug for RuleHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RuleHandle({})", self.label())
    }
}

impl Limiter {
    /// A limiter on the memory store, with a deadline of 100 ms and the fault policy [`OnFault::Allow`], unless told otherwise.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Registers a rule. Registering an equal one again gives the same handle.
    ///
    /// # Errors
    /// [`RuleError`] when a value is out of its range, or when 10,000 rules are registered already.
    pub fn rule(&self, rule: Rule) -> Result<RuleHandle, RuleError> {
        rule.validate()?;
        let mut rules = self.0.rules.lock();
        let name = (rule.module().to_owned(), rule.name().to_owned());
        let known = rules.by_name.get(&name);
        if let Some(known) = known.filter(|known| *known.rule() == rule) {
            return Ok(known.clone());
        }
        if rules.registered >= MAX_RULES {
            return Err(RuleError {
                rule: format!("{}.{}", name.0, name.1),
                field: "name",
                value: format!("number {}", MAX_RULES + 1),
                remedy: "register one rule for each place in the code, and pass users to acquire",
            });
        }
        if let Some(known) = known {
            tracing::warn!(
                target: "tollgate",
                rule = known.label(),
                "two rules of this name have different defaults: they share counters and settings, so give one another name"
            );
        }
        let handle = RuleHandle(Arc::new(Registered {
            tracked: Arc::new(Tracked::new(&self.0.keys, rule)),
            faulting: AtomicBool::new(false),
            epoch: AtomicU32::new(0),
        }));
        rules.registered += 1;
        rules.by_name.entry(name).or_insert_with(|| handle.clone());
        Ok(handle)
    }

    /// Counts one hit of `who` on `rule` and decides.
    ///
    /// Blocks for one round trip to the store, at most for the deadline. Never fails: a fault is an outcome.
    pub fn acquire<'a>(&self, rule: &RuleHandle, who: impl Into<Identity<'a>>) -> Decision {
        let (rule, who) = (&*rule.0, who.into());
        let decision = match who.bytes() {
            None => Decision::no_identity(&rule.tracked.last()),
            Some(user) => {
                let key = rule.tracked.counter(user);
                let read = self.0.store.hit(&Hit::new(&rule.tracked, &key, 1), self.deadline(rule));
                self.decide(rule, &key, read)
            }
        };
        self.conclude(rule, who, decision)
    }

    /// The same without blocking, in any runtime or none. The hit is on its way when this returns; dropping the future
    /// before it is ready lets a hit that wasn't sent go uncounted.
    ///
    /// ```
    /// # fn block_on<T>(future: impl Future<Output = T>) -> T {
    /// #     let mut future = std::pin::pin!(future);
    /// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #     loop { if let std::task::Poll::Ready(done) = future.as_mut().poll(&mut context) { return done } }
    /// # }
    /// use tollgate::{Limiter, Rule};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let limiter = Limiter::builder().memory().open()?;
    /// let rule = limiter.rule(Rule::new("wms", "Order.list"))?;
    /// let decision = block_on(limiter.acquire_async(&rule, "u1"));
    /// assert!(decision.is_allowed());
    /// # Ok(())
    /// # }
    /// ```
    pub fn acquire_async<'a>(&self, rule: &RuleHandle, who: impl Into<Identity<'a>>) -> Acquiring {
        let who = who.into();
        let asked = who.bytes().map(|user| {
            let key = rule.0.tracked.counter(user);
            let reading = self.0.store.hit_async(&Hit::new(&rule.0.tracked, &key, 1), self.deadline(&rule.0));
            (key, user.to_vec(), reading)
        });
        let (limiter, rule) = (self.clone(), rule.clone());
        Acquiring(Box::pin(async move {
            match asked {
                None => {
                    let decision = Decision::no_identity(&rule.0.tracked.last());
                    limiter.conclude(&rule.0, Identity::none(), decision)
                }
                Some((key, user, reading)) => {
                    let decision = limiter.decide(&rule.0, &key, reading.await);
                    limiter.conclude(&rule.0, Identity::known(&user), decision)
                }
            }
        }))
    }

    fn deadline(&self, rule: &Registered) -> Instant {
        Instant::now() + rule.tracked.rule().own_deadline().unwrap_or(self.0.deadline)
    }

    fn conclude(&self, rule: &Registered, who: Identity<'_>, decision: Decision) -> Decision {
        self.0.outcomes[decision.outcome() as usize].fetch_add(1, Ordering::Relaxed);
        self.tell(|observer| observer.decided(&rule.tracked, who, &decision));
        decision
    }

    fn decide(&self, rule: &Registered, key: &str, read: Result<Reading, Fault>) -> Decision {
        let Registered { tracked, faulting, epoch } = rule;
        for complaint in &tracked.take_complaints() {
            self.tell(|observer| observer.complained(tracked, complaint));
        }
        match read {
            Ok(reading) => {
                if faulting.load(Ordering::Relaxed) && faulting.swap(false, Ordering::Relaxed) {
                    epoch.fetch_add(1, Ordering::Relaxed);
                    self.tell(|observer| observer.recovered(tracked));
                }
                if let Some(fault) = &reading.unread {
                    self.tell(|observer| observer.unread(tracked, fault));
                }
                if reading.counted.is_some_and(|counted| counted.replaced) {
                    self.tell(|observer| observer.replaced(tracked, key));
                }
                Decision::from_reading(&reading)
            }
            Err(fault) => {
                faulting.store(true, Ordering::Relaxed);
                self.tell(|observer| observer.faulted(tracked, &fault));
                let policy = tracked.rule().fault_policy().unwrap_or(self.0.on_fault);
                let settings = tracked.last();
                let epoch = epoch.load(Ordering::Relaxed);
                Decision::from_fault(fault, policy, &settings, || {
                    self.0.local.count(key, epoch, &settings, 1)
                })
            }
        }
    }

    fn tell(&self, what: impl Fn(&dyn Observer)) {
        for observer in &self.0.observers {
            what(&**observer);
        }
    }

    /// One field of the configuration hash, such as `wms.Order.list.interval`; none where it isn't there.
    ///
    /// # Errors
    /// [`SettingError::Fault`] when the store didn't answer within a second.
    pub fn setting(&self, field: &str) -> Result<Option<String>, SettingError> {
        Ok(self.0.store.setting(field, settings_deadline())?)
    }

    /// Writes one field of the configuration hash; the next hit obeys, in every process that shares the store.
    ///
    /// # Errors
    /// [`SettingError`] when no limiter reads such a field, when the value wouldn't be understood, or when the store
    /// didn't take it within a second.
    pub fn set(&self, field: &str, value: &str) -> Result<(), SettingError> {
        settings::validate(field, value)?;
        Ok(self.0.store.set(field, value, settings_deadline())?)
    }

    /// The whole configuration hash, ordered by field.
    ///
    /// # Errors
    /// [`SettingError::Fault`] when the store didn't answer within a second.
    pub fn settings(&self) -> Result<Vec<(String, String)>, SettingError> {
        let mut settings = self.0.store.settings(settings_deadline())?;
        settings.sort();
        Ok(settings)
    }

    /// What happened so far, and what the store says of itself.
    pub fn stats(&self) -> Stats {
        let mut store = self.0.store.state();
        store.counters += self.0.local.counters();
        Stats {
            store,
            outcomes: self.0.outcomes.each_ref().map(|count| count.load(Ordering::Relaxed)),
            rules: self.0.rules.lock().registered as u64,
        }
    }

    /// The names under which this limiter's data stands.
    pub fn keys(&self) -> &Keys {
        &self.0.keys
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limiter({})", self.0.store.state().name)
    }
}

fn settings_deadline() -> Instant {
    Instant::now() + SETTINGS_DEADLINE
}

/// A snapshot of a limiter's counts since it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    outcomes: [u64; Outcome::ALL.len()],
    /// Rules that are registered.
    pub rules: u64,
    /// What the store says of itself.
    pub store: StoreState,
}

impl Stats {
    /// Hits that ended in `outcome`.
    pub fn hits(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }
}
