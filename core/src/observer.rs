//! Hooks for metrics, logs and records; and the log that every limiter writes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::{Clock, MonotonicClock};
use crate::decision::Decision;
use crate::identity::Identity;
use crate::settings::Complaint;
use crate::store::{Fault, Tracked};

/// Is told what happens and changes nothing of it. Every hook does nothing unless it is implemented.
///
/// Hooks run on the caller's thread, between the decision and its return: they must be quick and must not panic.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use tollgate::{Decision, Identity, Limiter, Observer, Rule, Tracked};
///
/// #[derive(Default)]
/// struct Rejections(AtomicU64);
///
/// impl Observer for Rejections {
///     fn decided(&self, _: &Tracked, _: Identity<'_>, decision: &Decision) {
///         if !decision.is_allowed() {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rejections = Arc::new(Rejections::default());
/// let limiter = Limiter::builder().memory().observer(rejections.clone()).open()?;
/// let rule = limiter.rule(Rule::new("wms", "Order.list"))?;
/// limiter.acquire(&rule, "u1");
/// limiter.acquire(&rule, "u1");
/// assert_eq!(rejections.0.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
pub trait Observer: Send + Sync + 'static {
    /// A hit was decided, by the store or by the fault policy.
    fn decided(&self, rule: &Tracked, who: Identity<'_>, decision: &Decision) {
        let _ = (rule, who, decision);
    }

    /// The store couldn't answer a hit on `rule`: the fault policy decided.
    fn faulted(&self, rule: &Tracked, fault: &Fault) {
        let _ = (rule, fault);
    }

    /// The counter was there but the configuration hash couldn't be read: the settings last seen decided.
    fn unread(&self, rule: &Tracked, fault: &Fault) {
        let _ = (rule, fault);
    }

    /// The store answers hits on `rule` again.
    fn recovered(&self, rule: &Tracked) {
        let _ = rule;
    }

    /// A value in the configuration hash has changed to one that isn't understood.
    fn complained(&self, rule: &Tracked, complaint: &Complaint) {
        let _ = (rule, complaint);
    }

    /// Something at a counter's key was no counter and was replaced by one.
    fn replaced(&self, rule: &Tracked, key: &str) {
        let _ = (rule, key);
    }
}

/// How often a lasting fault is said again.
const REMINDER: Duration = Duration::from_secs(10);
/// Changes that are said within one reminder period.
const CHANGES: u32 = 5;

/// Writes what an operator must know through `tracing`, at a bounded rate.
pub(crate) struct Log<C = MonotonicClock> {
    clock: C,
    faulting: AtomicBool,
    faults: Mutex<Throttle>,
    replacements: Mutex<Throttle>,
    unread: Mutex<Throttle>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self::with_clock(MonotonicClock::new())
    }
}

impl<C: Clock> Log<C> {
    fn with_clock(clock: C) -> Self {
        Self {
            clock,
            faulting: AtomicBool::new(false),
            faults: Mutex::new(Throttle::default()),
            replacements: Mutex::new(Throttle::default()),
            unread: Mutex::new(Throttle::default()),
        }
    }
}

impl<C: Clock> Observer for Log<C> {
    fn faulted(&self, rule: &Tracked, fault: &Fault) {
        self.faulting.store(true, Ordering::Relaxed);
        if let Some(suppressed) = self.faults.lock().admit(fault.code(), self.clock.now()) {
            tracing::error!(
                target: "tollgate",
                rule = rule.label(),
                kind = fault.kind().as_str(),
                code = fault.code(),
                suppressed,
                "store fault, the fault policy decides: {fault}"
            );
        }
    }

    fn unread(&self, rule: &Tracked, fault: &Fault) {
        if let Some(suppressed) = self.unread.lock().admit(fault.code(), self.clock.now()) {
            tracing::error!(
                target: "tollgate",
                rule = rule.label(),
                kind = fault.kind().as_str(),
                code = fault.code(),
                suppressed,
                "the configuration can't be read, what was last seen holds (else the rule's own defaults): {fault}"
            );
        }
    }

    fn recovered(&self, rule: &Tracked) {
        if self.faulting.swap(false, Ordering::Relaxed)
            && let Some(suppressed) = self.faults.lock().admit("", self.clock.now())
        {
            tracing::info!(target: "tollgate", rule = rule.label(), suppressed, "the store answers again, limiting is back");
        }
    }

    fn complained(&self, rule: &Tracked, complaint: &Complaint) {
        let Complaint { field, value, instead, remedy, ignored } = complaint;
        // Once with each change of the value, so an operator's hand is the bound.
        if *ignored {
            tracing::error!(target: "tollgate", rule = rule.label(), field, value, "setting {field} = {value:?} is ignored, {instead}: {remedy}");
        } else {
            tracing::warn!(target: "tollgate", rule = rule.label(), field, value, "setting {field} = {value:?} is not understood, {instead}: {remedy}");
        }
    }

    fn replaced(&self, rule: &Tracked, key: &str) {
        if let Some(suppressed) = self.replacements.lock().admit(rule.label(), self.clock.now()) {
            tracing::error!(
                target: "tollgate",
                rule = rule.label(),
                key,
                suppressed,
                "what stood at {key} was no counter and was replaced: does something else write under this prefix?"
            );
        }
    }
}

/// Lets a line through with each change of its subject, a few times a period, and else once a period.
#[derive(Default)]
struct Throttle {
    subject: String,
    last: Option<Duration>,
    period: Duration,
    changes: u32,
    suppressed: u64,
}

impl Throttle {
    /// Whether to say it now: the number of lines withheld since the last.
    fn admit(&mut self, subject: &str, now: Duration) -> Option<u64> {
        if now.saturating_sub(self.period) >= REMINDER {
            (self.period, self.changes) = (now, 0);
        }
        let changed = self.subject != subject && self.changes < CHANGES;
        let due = self.last.is_none_or(|last| now.saturating_sub(last) >= REMINDER);
        if !changed && !due {
            self.suppressed += 1;
            return None;
        }
        if self.subject != subject {
            self.changes += 1;
            self.subject = subject.to_owned();
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn a_lasting_fault_is_said_on_change_and_then_every_ten_seconds() {
        let mut throttle = Throttle::default();
        assert_eq!(throttle.admit("timeout", secs(1)), Some(0));
        for _ in 0..100 {
            assert_eq!(throttle.admit("timeout", secs(10)), None);
        }
        assert_eq!(throttle.admit("timeout", secs(11)), Some(100));
        assert_eq!(throttle.admit("OOM", secs(12)), Some(0));
        assert_eq!(throttle.admit("OOM", secs(21)), None);
        assert_eq!(throttle.admit("OOM", secs(22)), Some(1));
    }

    #[test]
    fn a_flapping_store_cannot_flood_the_log() {
        let mut throttle = Throttle::default();
        let said = (0..100_000u64)
            .filter(|n| {
                throttle.admit(if n % 2 == 0 { "timeout" } else { "" }, Duration::from_millis(*n)).is_some()
            })
            .count();
        // 100 s are ten periods.
        assert!((50..=70).contains(&said), "{said}");
    }
}
