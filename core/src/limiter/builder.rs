//! Opens limiters.

use std::sync::Arc;
use std::time::Duration;

use super::{Inner, Limiter};
use crate::key::{KeyError, Keys};
use crate::observer::{Log, Observer};
use crate::rule::{DEADLINES, OnFault, seconds};
use crate::store::{MemoryStore, Store};

/// Makes a [`Limiter`].
#[must_use]
pub struct Builder {
    source: Source,
    deadline: Duration,
    connect_timeout: Duration,
    on_fault: OnFault,
    prefix: String,
    max_counters: usize,
    observers: Vec<Arc<dyn Observer>>,
}

enum Source {
    Url(String),
    Store(Arc<dyn Store>),
}

/// How long opening may wait.
const MAX_WAIT: Duration = *DEADLINES.end();

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            source: Source::Url("memory:".into()),
            deadline: Duration::from_millis(100),
            connect_timeout: Duration::from_secs(1),
            on_fault: OnFault::Allow,
            prefix: "ratelimit".into(),
            max_counters: 1_000_000,
            observers: Vec::new(),
        }
    }

    /// Counts in process memory; the default.
    pub fn memory(self) -> Self {
        self.url("memory:")
    }

    /// Counts in Redis; see [`Builder::url`] for the forms.
    #[cfg(feature = "redis")]
    pub fn redis(self, url: impl Into<String>) -> Self {
        self.url(url)
    }

    /// Where to count: `memory:`, `redis://[[user]:password@]host[:port][/database]`, the same with `rediss://` for TLS
    /// (trusting the system's certificates), `unix:///path/to/socket[?db=1&user=u&pass=p]`, or, for the master that
    /// sentinels name, `redis-sentinel://[[user]:password@]host[:port][,host[:port]…][/database]?sentinelMasterId=name`
    /// (`rediss-sentinel://` for TLS; `sentinelUser` and `sentinelPassword` get into the sentinels themselves), or, for a cluster,
    /// `redis-cluster://[[user]:password@]host[:port][,host[:port]…]` (`rediss-cluster://` for TLS). Names and
    /// passwords are percent-encoded. For TLS `?ca=FILE` names the authority to trust, `&cert=FILE&key=FILE` who we are, all
    /// PEM; `?connections=n` (1 to 64, 1 by default) opens more than one connection to one server.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.source = Source::Url(url.into());
        self
    }

    /// Counts in a store of the caller's own.
    pub fn store(mut self, store: impl Store) -> Self {
        self.source = Source::Store(Arc::new(store));
        self
    }

    /// How long a hit waits for the store at most, waiting for a connection included: 1 ms to 60 s, 100 ms by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How long [`open`](Self::open) waits for the first connection at most: 0 (not at all) to 60 s, 1 s by default.
    /// A later connection also takes no longer.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// What a hit gets when the store can't answer, unless its rule says otherwise.
    pub fn on_fault(mut self, policy: OnFault) -> Self {
        self.on_fault = policy;
        self
    }

    /// The prefix of every key, `ratelimit` by default.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Counters that are held in memory at most, 1 to 100,000,000, by default 1,000,000; see [`MemoryStore`] for what
    /// happens at the cap. The fault policy [`OnFault::Local`] has as many beside the store.
    pub fn max_counters(mut self, counters: usize) -> Self {
        self.max_counters = counters;
        self
    }

    /// Adds an observer.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Opens the limiter. A Redis that can't be reached is no error: hits get the fault policy until it is there.
    ///
    /// # Errors
    /// [`OpenError`] when an option is out of its range or the URL is not usable.
    pub fn open(self) -> Result<Limiter, OpenError> {
        let keys = Keys::new(&self.prefix)?;
        let range = |option, value: String, remedy| Err(OpenError::Option { option, value, remedy });
        if !DEADLINES.contains(&self.deadline) {
            return range("deadline", seconds(self.deadline), "use 1 ms to 60 s");
        }
        if self.connect_timeout > MAX_WAIT {
            return range("connect timeout", seconds(self.connect_timeout), "use 0 to 60 s");
        }
        if !(1..=100_000_000).contains(&self.max_counters) {
            return range("max counters", self.max_counters.to_string(), "use 1 to 100000000");
        }
        let store = match self.source {
            Source::Store(store) => store,
            Source::Url(url) => open_url(&url, &keys, self.connect_timeout, self.max_counters)?,
        };
        let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(Log::new())];
        observers.extend(self.observers);
        Ok(Limiter(Arc::new(Inner {
            keys,
            store,
            local: MemoryStore::new(self.max_counters),
            deadline: self.deadline,
            on_fault: self.on_fault,
            observers,
            rules: Default::default(),
            outcomes: Default::default(),
        })))
    }
}

fn open_url(
    url: &str,
    keys: &Keys,
    connect_timeout: Duration,
    max_counters: usize,
) -> Result<Arc<dyn Store>, OpenError> {
    if url == "memory:" {
        return Ok(Arc::new(MemoryStore::new(max_counters)));
    }
    #[cfg(feature = "redis")]
    {
        Ok(Arc::new(crate::RedisStore::open(url, keys, connect_timeout)?))
    }
    #[cfg(not(feature = "redis"))]
    {
        let _ = (keys, connect_timeout);
        Err(OpenError::NoSuchStore { scheme: url.split(':').next().unwrap_or_default().to_owned() })
    }
}

/// A limiter that can't be opened: which option, which value, what to do. Passwords are never shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// An option is out of its range.
    #[error("{option} {value} is not usable: {remedy}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The key prefix is not usable.
    #[error(transparent)]
    Prefix(#[from] KeyError),
    /// The URL is not usable.
    #[cfg(feature = "redis")]
    #[error(transparent)]
    Redis(#[from] crate::RedisError),
    /// This build has no store for the URL.
    #[error("URL scheme {scheme:?} is not known to this build: use memory: or build with the feature redis")]
    NoSuchStore {
        /// The URL's scheme.
        scheme: String,
    },
}
