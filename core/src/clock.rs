//! Monotonic time, as a value that tests can drive.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A monotonic clock. The wall clock decides nothing in this crate.
pub trait Clock: Send + Sync + 'static {
    /// Time since this clock's own origin; never goes back.
    fn now(&self) -> Duration;
}

/// The operating system's monotonic clock, counted from the creation of this value.
#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock(Instant);

impl MonotonicClock {
    /// A clock whose origin is now.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A clock that moves only when it is told to; for tests.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use tollgate::{Limiter, ManualClock, MemoryStore, Rule};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = Arc::new(ManualClock::new());
/// let limiter = Limiter::builder().store(MemoryStore::with_clock(1_000, clock.clone())).open()?;
/// let rule = limiter.rule(Rule::new("wms", "Order.list"))?;
/// assert!(limiter.acquire(&rule, "u1").is_allowed());
/// assert!(!limiter.acquire(&rule, "u1").is_allowed());
/// clock.advance(Duration::from_secs(3));
/// assert!(limiter.acquire(&rule, "u1").is_allowed());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that stands at its origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward by `step`, counted in whole microseconds.
    pub fn advance(&self, step: Duration) {
        self.0.fetch_add(step.as_micros() as u64, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::SeqCst))
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Duration {
        (**self).now()
    }
}
