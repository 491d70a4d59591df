//! Where counters and live settings stand.

mod memory;
#[cfg(feature = "redis")]
pub(crate) mod redis;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::key::{self, Keys, LOG_CHECK};
use crate::rule::Rule;
use crate::settings::{self, Complaint, Settings};

pub use memory::MemoryStore;

/// What a store answers later.
pub type StoreFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Keeps counters and the configuration hash. It reports what is; it allows and denies nothing.
///
/// Implementations answer within the deadline they are given and never panic.
pub trait Store: Send + Sync + 'static {
    /// Counts `hit`, unless its rule's live switch is closed, and says what the counter and the settings are now.
    ///
    /// # Errors
    /// A [`Fault`] when that couldn't be done by `deadline`.
    fn hit(&self, hit: &Hit<'_>, deadline: Instant) -> Result<Reading, Fault>;

    /// The same without blocking. A store that never waits needn't write this: it is done at once.
    ///
    /// # Errors
    /// As [`hit`](Self::hit).
    fn hit_async(&self, hit: &Hit<'_>, deadline: Instant) -> StoreFuture<Result<Reading, Fault>> {
        Box::pin(std::future::ready(self.hit(hit, deadline)))
    }

    /// Counts the hits of one call, each as [`hit`](Self::hit) does: one's fault or full window keeps no other from being
    /// counted. What became of each, in their order. A store that has something to gain from taking them together, such as
    /// a round trip, writes this and [`hit_all_async`](Self::hit_all_async); by default they go one after the other.
    fn hit_all(&self, hits: &[Hit<'_>], deadline: Instant) -> Vec<Result<Reading, Fault>> {
        hits.iter().map(|hit| self.hit(hit, deadline)).collect()
    }

    /// The same without blocking; by default all at the same time.
    fn hit_all_async(&self, hits: &[Hit<'_>], deadline: Instant) -> StoreFuture<Vec<Result<Reading, Fault>>> {
        Box::pin(together(hits.iter().map(|hit| self.hit_async(hit, deadline)).collect()))
    }

    /// What stands at a counter's key: an operator's look, which counts nothing and changes nothing, not even the window's
    /// end. By default a fault of the code `unsupported`.
    ///
    /// # Errors
    /// A [`Fault`] when the store didn't answer by `deadline`, or when what stands there is no counter (code `foreign`).
    fn counter(&self, key: &str, deadline: Instant) -> Result<Option<Counter>, Fault> {
        let _ = (key, deadline);
        Err(unsupported())
    }

    /// Removes what stands at a counter's key, also something foreign; true if there was something. By default a
    /// fault of the code `unsupported`.
    ///
    /// # Errors
    /// A [`Fault`] when the store refused or didn't answer by `deadline`.
    fn clear(&self, key: &str, deadline: Instant) -> Result<bool, Fault> {
        let _ = (key, deadline);
        Err(unsupported())
    }

    /// The value of one field of the configuration hash.
    ///
    /// # Errors
    /// A [`Fault`] when the store didn't answer by `deadline`.
    fn setting(&self, field: &str, deadline: Instant) -> Result<Option<String>, Fault>;

    /// Writes one field of the configuration hash.
    ///
    /// # Errors
    /// A [`Fault`] when the store refused or didn't answer by `deadline`.
    fn set(&self, field: &str, value: &str, deadline: Instant) -> Result<(), Fault>;

    /// The whole configuration hash, ordered by field.
    ///
    /// # Errors
    /// A [`Fault`] when the store didn't answer by `deadline`.
    fn settings(&self, deadline: Instant) -> Result<Vec<(String, String)>, Fault>;

    /// What the store says of itself.
    fn state(&self) -> StoreState;
}

fn unsupported() -> Fault {
    Fault::new(FaultKind::Refused, "unsupported", "this store can neither show nor clear a counter")
}

/// A counter as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Hits so far in its window, rejected ones too.
    pub count: u64,
    /// Time until the window ends; none for a counter whose end was lost, which its next hit gives one.
    pub ends_in: Option<Duration>,
}

/// Awaits futures side by side; their values in their order.
pub(crate) fn together<T: Send + 'static>(
    mut futures: Vec<StoreFuture<T>>,
) -> impl Future<Output = Vec<T>> + Send {
    let mut values: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (future, value) in futures.iter_mut().zip(&mut values) {
            if value.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *value = Some(ready);
            }
        }
        match values.iter().all(Option::is_some) {
            true => Poll::Ready(std::mem::take(&mut values).into_iter().flatten().collect()),
            false => Poll::Pending,
        }
    })
}

/// A store's own account, for statistics and start-up lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreState {
    /// What it is and where, without secrets: `memory`, `redis 127.0.0.1:6379`.
    pub name: String,
    /// Why it can't be asked right now.
    pub fault: Option<Fault>,
    /// Connections made so far; one more than the store keeps is a reconnect.
    pub connects: u64,
    /// Counters held in this process.
    pub counters: u64,
}

impl StoreState {
    /// Whether it can be asked right now.
    pub fn is_up(&self) -> bool {
        self.fault.is_none()
    }
}

/// Hits of one user on one rule.
#[derive(Debug)]
pub struct Hit<'a> {
    rule: &'a Arc<Tracked>,
    key: &'a str,
    hits: u64,
}

impl<'a> Hit<'a> {
    pub(crate) fn new(rule: &'a Arc<Tracked>, key: &'a str, hits: u64) -> Self {
        Self { rule, key, hits }
    }

    /// The rule that is hit.
    pub fn rule(&self) -> &'a Arc<Tracked> {
        self.rule
    }

    /// The counter's key.
    pub fn key(&self) -> &'a str {
        self.key
    }

    /// How many hits; at least 1.
    pub fn hits(&self) -> u64 {
        self.hits
    }
}

/// What a store found for a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What holds for the rule.
    pub settings: Settings,
    /// The counter; none where the rule's switch is closed.
    pub counted: Option<Counted>,
    /// Why the configuration hash couldn't be read, where the counter could: what was last seen holds.
    pub unread: Option<Fault>,
}

/// A counter after a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Hits so far in this window, these included; 2⁶³−1 at most.
    pub count: u64,
    /// Time until the window ends: above zero, at most the interval.
    pub ends_in: Duration,
    /// Whether something at the key that was no counter was replaced.
    pub replaced: bool,
}

/// A registered rule with the names of its data and what was last seen of its settings.
#[derive(Debug)]
pub struct Tracked {
    rule: Rule,
    label: String,
    counters: String,
    fields: [String; 4],
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    revision: u64,
    values: Option<[Option<Box<[u8]>>; 4]>,
    settings: Settings,
    /// Nobody has been told of these yet.
    complaints: Vec<Complaint>,
}

impl Tracked {
    pub(crate) fn new(keys: &Keys, rule: Rule) -> Self {
        let label = key::label(rule.module(), rule.name());
        let [check, interval, limit] = key::SUFFIXES.map(|suffix| format!("{label}.{suffix}"));
        Self {
            counters: keys.counters_of(rule.module(), rule.name()),
            fields: [check, interval, limit, LOG_CHECK.to_owned()],
            seen: Mutex::new(Seen {
                revision: 0,
                values: None,
                settings: Settings::defaults(&rule),
                complaints: Vec::new(),
            }),
            label,
            rule,
        }
    }

    /// The rule as it was registered.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// `<module>.<rule>`: what the names of its fields begin with.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The fields that a hit reads: check, interval, limit, `log.check`.
    pub fn fields(&self) -> &[String; 4] {
        &self.fields
    }

    /// The values that are written where those fields are missing, in their order.
    pub fn defaults(&self) -> [String; 4] {
        settings::default_values(&self.rule)
    }

    /// The settings last seen, or the rule's own defaults before anything was.
    pub fn last(&self) -> Settings {
        self.seen.lock().settings
    }

    /// The settings last seen, where they were seen at `revision` of the configuration (above 0).
    pub fn last_at(&self, revision: u64) -> Option<Settings> {
        let seen = self.seen.lock();
        (seen.revision == revision).then_some(seen.settings)
    }

    /// Takes the values of [`fields`](Self::fields) as they stand at `revision` (0 where a store doesn't count them); what
    /// holds by them. Values that are not understood are complained of once, when they change.
    pub fn see(&self, values: [Option<&[u8]>; 4], revision: u64) -> Settings {
        let mut seen = self.seen.lock();
        seen.revision = revision;
        let unchanged = |at: usize, seen: &Seen| {
            seen.values.as_ref().is_some_and(|known| known[at].as_deref() == values[at])
        };
        if (0..4).all(|at| unchanged(at, &seen)) {
            return seen.settings;
        }
        let (settings, mut complaints) = settings::parse(&self.rule, &self.fields, values);
        complaints.retain(|complaint| {
            let at = self.fields.iter().position(|field| *field == complaint.field);
            !at.is_some_and(|at| unchanged(at, &seen))
        });
        seen.complaints = complaints;
        seen.values = Some(values.map(|value| value.map(Box::from)));
        seen.settings = settings;
        settings
    }

    /// Complaints that nobody has been told of yet.
    pub(crate) fn take_complaints(&self) -> Vec<Complaint> {
        std::mem::take(&mut self.seen.lock().complaints)
    }

    pub(crate) fn counter(&self, user: &[u8]) -> String {
        Keys::counter_in(&self.counters, user)
    }
}

/// What kind of thing went wrong, and so what may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Nothing was sent: the store is known to be away, or there was no time left. Safe to repeat.
    Unavailable,
    /// Sent and not answered in time. It may have been executed: never repeated.
    Timeout,
    /// The store said no and executed nothing. Safe to repeat.
    Refused,
    /// The connection broke, the answer made no sense, or the store counted and then said no to the rest. It may have been
    /// executed: never repeated.
    Protocol,
}

impl FaultKind {
    /// The kind's name in logs and other languages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "UNAVAILABLE",
            Self::Timeout => "TIMEOUT",
            Self::Refused => "REFUSED",
            Self::Protocol => "PROTOCOL",
        }
    }
}

/// Why a store couldn't do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    code: Cow<'static, str>,
    detail: String,
}

impl Fault {
    /// A fault of `kind`; `code` is short and groups alike faults (`OOM`, `timeout`), `detail` is a sentence for people.
    pub fn new(kind: FaultKind, code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self { kind, code: code.into(), detail: detail.into() }
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The store's own code, such as `OOM` or `READONLY`, or one of `connect`, `timeout`, `closed`, `reply`.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether nothing was executed, so that asking again can't count twice.
    pub fn is_safe_to_repeat(&self) -> bool {
        matches!(self.kind, FaultKind::Unavailable | FaultKind::Refused)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.detail, self.code)
    }
}

impl std::error::Error for Fault {}

impl<S: Store + ?Sized> Store for std::sync::Arc<S> {
    fn hit(&self, hit: &Hit<'_>, deadline: Instant) -> Result<Reading, Fault> {
        (**self).hit(hit, deadline)
    }

    fn hit_async(&self, hit: &Hit<'_>, deadline: Instant) -> StoreFuture<Result<Reading, Fault>> {
        (**self).hit_async(hit, deadline)
    }

    fn hit_all(&self, hits: &[Hit<'_>], deadline: Instant) -> Vec<Result<Reading, Fault>> {
        (**self).hit_all(hits, deadline)
    }

    fn hit_all_async(&self, hits: &[Hit<'_>], deadline: Instant) -> StoreFuture<Vec<Result<Reading, Fault>>> {
        (**self).hit_all_async(hits, deadline)
    }

    fn counter(&self, key: &str, deadline: Instant) -> Result<Option<Counter>, Fault> {
        (**self).counter(key, deadline)
    }

    fn clear(&self, key: &str, deadline: Instant) -> Result<bool, Fault> {
        (**self).clear(key, deadline)
    }

    fn setting(&self, field: &str, deadline: Instant) -> Result<Option<String>, Fault> {
        (**self).setting(field, deadline)
    }

    fn set(&self, field: &str, value: &str, deadline: Instant) -> Result<(), Fault> {
        (**self).set(field, value, deadline)
    }

    fn settings(&self, deadline: Instant) -> Result<Vec<(String, String)>, Fault> {
        (**self).settings(deadline)
    }

    fn state(&self) -> StoreState {
        (**self).state()
    }
}
