//! One user's counter, for operators' tools.

use super::{Limiter, RuleHandle, settings_deadline};
use crate::identity::Identity;
use crate::store::{Counter, Fault};

impl Limiter {
    /// What stands in the store for `who` on `rule`; none where nothing was counted, the window has ended or `who` is nobody.
    ///
    /// A look: it counts nothing and changes nothing, not even the window's end. What this process counted by itself while
    /// the store was away isn't there.
    ///
    /// ```
    /// use tollgate::{Limiter, Rule};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let limiter = Limiter::builder().memory().open()?;
    /// let rule = limiter.rule(Rule::new("wms", "Order.list"))?;
    /// assert_eq!(limiter.counter(&rule, "u1")?, None);
    /// limiter.acquire(&rule, "u1");
    /// assert_eq!(limiter.counter(&rule, "u1")?.map(|counter| counter.count), Some(1));
    /// assert!(limiter.clear(&rule, "u1")?);
    /// assert_eq!(limiter.acquire(&rule, "u1").count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A [`Fault`] when the store didn't answer within a second, when something stands at the key that is no counter (code
    /// `foreign`; the next hit replaces it), or when the store can't do this (code `unsupported`).
    pub fn counter<'a>(
        &self,
        rule: &RuleHandle,
        who: impl Into<Identity<'a>>,
    ) -> Result<Option<Counter>, Fault> {
        let who: Identity<'_> = who.into();
        let Some(user) = who.bytes() else { return Ok(None) };
        self.0.store.counter(&rule.0.tracked.counter(user), settings_deadline())
    }

    /// Removes what stands in the store for `who` on `rule`, also something that is no counter: the next hit begins a window.
    /// True if there was something.
    ///
    /// # Errors
    /// A [`Fault`] when the store refused or didn't answer within a second, or can't do this (code `unsupported`).
    pub fn clear<'a>(&self, rule: &RuleHandle, who: impl Into<Identity<'a>>) -> Result<bool, Fault> {
        let who: Identity<'_> = who.into();
        let Some(user) = who.bytes() else { return Ok(false) };
        self.0.store.clear(&rule.0.tracked.counter(user), settings_deadline())
    }
}
