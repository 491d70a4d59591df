//! A rule and its own defaults.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The longest window, in seconds: 365 days.
pub(crate) const MAX_INTERVAL_SECS: u64 = 31_536_000;
/// The largest limit: what a Redis counter can hold.
pub(crate) const MAX_LIMIT: u64 = i64::MAX as u64;

/// How long a hit may wait for the store.
pub(crate) const DEADLINES: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(60);

/// What a hit gets when the store can't answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnFault {
    /// Let it through: a limiter is a guest of its host.
    #[default]
    Allow,
    /// Turn it away.
    Deny,
    /// Count in process memory until the store is back.
    Local,
}

/// "Module M's action A may be hit `limit` times in `interval`, per user".
///
/// The values here are defaults: what the configuration hash says has the last word. They are checked when the rule is
/// registered with [`Limiter::rule`](crate::Limiter::rule).
///
/// ```
/// use std::time::Duration;
/// use tollgate::{OnFault, Rule};
/// let rule = Rule::new("wms", "Order.list")
///     .interval(Duration::from_secs(15))
///     .limit(1)
///     .message_key("operate_too_frequent")
///     .on_fault(OnFault::Deny);
/// assert_eq!(rule.name(), "Order.list");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    module: String,
    name: String,
    interval: Duration,
    limit: u64,
    message_key: Option<String>,
    on_fault: Option<OnFault>,
    deadline: Option<Duration>,
}

impl Rule {
    /// A rule with an interval of 3 s, a limit of 1, no message key and the limiter's own fault policy.
    pub fn new(module: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            module: module.into(),
            name: name.into(),
            interval: Duration::from_secs(3),
            limit: 1,
            message_key: None,
            on_fault: None,
            deadline: None,
        }
    }

    /// The window: whole seconds, 1 to 31,536,000 (365 days).
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Hits that pass in one window, 0 to 2⁶³−1; 0 turns all away.
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// The key under which the host finds the text of a rejection.
    pub fn message_key(mut self, key: impl Into<String>) -> Self {
        self.message_key = Some(key.into());
        self
    }

    /// What a hit on this rule gets when the store can't answer; without it the limiter's policy holds.
    pub fn on_fault(mut self, policy: OnFault) -> Self {
        self.on_fault = Some(policy);
        self
    }

    /// How long a hit on this rule waits for the store at most: 1 ms to 60 s; without it the limiter's deadline holds.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The module, such as `wms`.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// The name within its module, such as `Order.list`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The default window.
    pub fn default_interval(&self) -> Duration {
        self.interval
    }

    /// The default limit.
    pub fn default_limit(&self) -> u64 {
        self.limit
    }

    /// The message key, where one was given.
    pub fn default_message_key(&self) -> Option<&str> {
        self.message_key.as_deref()
    }

    /// The rule's own fault policy, where one was given.
    pub fn fault_policy(&self) -> Option<OnFault> {
        self.on_fault
    }

    /// The rule's own deadline, where one was given.
    pub fn own_deadline(&self) -> Option<Duration> {
        self.deadline
    }

    pub(crate) fn validate(&self) -> Result<(), RuleError> {
        let fail = |field, value: String, remedy| {
            Err(RuleError { rule: format!("{}.{}", self.module, self.name), field, value, remedy })
        };
        if self.module.trim().is_empty() {
            return fail("module", format!("{:?}", self.module), "give it a name, such as the application's");
        }
        if self.name.trim().is_empty() {
            return fail("name", format!("{:?}", self.name), "give it a name, such as Controller.method");
        }
        if self.interval.subsec_nanos() != 0 || !(1..=MAX_INTERVAL_SECS).contains(&self.interval.as_secs()) {
            return fail("interval", seconds(self.interval), "use whole seconds from 1 to 31536000");
        }
        if self.limit > MAX_LIMIT {
            return fail("limit", self.limit.to_string(), "use 0 to 9223372036854775807");
        }
        if let Some(deadline) = self.deadline.filter(|deadline| !DEADLINES.contains(deadline)) {
            return fail("deadline", seconds(deadline), "use 1 ms to 60 s");
        }
        Ok(())
    }
}

/// A duration as people write it: `0 s`, `1.5 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

/// A rule that can't be registered: which field, which value, what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule:?}: {field} {value} is not usable: {remedy}")]
pub struct RuleError {
    /// `module.name`, as given.
    pub rule: String,
    /// The field at fault.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What to do.
    pub remedy: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_values_name_the_field_the_value_and_the_remedy() {
        let rule = || Rule::new("wms", "Order.list");
        let cases = [
            (Rule::new("", "a"), "module"),
            (Rule::new(" \t", "a"), "module"),
            (Rule::new("m", ""), "name"),
            (rule().interval(Duration::ZERO), "interval"),
            (rule().interval(Duration::from_millis(1500)), "interval"),
            (rule().interval(Duration::from_secs(MAX_INTERVAL_SECS + 1)), "interval"),
            (rule().interval(Duration::MAX), "interval"),
            (rule().deadline(Duration::ZERO), "deadline"),
            (rule().deadline(Duration::from_secs(61)), "deadline"),
            (rule().limit(u64::MAX), "limit"),
            (rule().limit(MAX_LIMIT + 1), "limit"),
        ];
        for (rule, field) in cases {
            let error = rule.validate().expect_err(field);
            assert_eq!(error.field, field);
            assert!(error.to_string().contains(&error.value) && error.to_string().contains(error.remedy));
        }
        for rule in [
            rule(),
            rule().limit(0),
            rule().limit(MAX_LIMIT),
            rule().interval(Duration::from_secs(MAX_INTERVAL_SECS)),
        ] {
            assert_eq!(rule.validate(), Ok(()));
        }
    }
}
