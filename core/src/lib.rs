//! A fixed-window rate limiter for business actions: "user U may hit rule R once in 3 seconds".
//!
//! A [`Limiter`] decides, a [`Rule`] says what may be hit how often, an [`Identity`] says who asks, and a [`Decision`] is
//! the answer. Counters and live settings are kept by a [`Store`]: in process memory ([`MemoryStore`], the default) or in
//! Redis (cargo feature `redis`, on by default).
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{Limiter, Outcome, Rule};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let limiter = Limiter::builder().memory().open()?;
//! let rule = limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(3)).limit(1))?;
//!
//! assert!(limiter.acquire(&rule, "u1").is_allowed());
//! let second = limiter.acquire(&rule, "u1");
//! assert_eq!(second.outcome(), Outcome::Limited);
//! assert!(second.reset_after() <= Duration::from_secs(3));
//! # Ok(())
//! # }
//! ```
//!
//! [`Limiter::acquire`] never returns an error and never panics: what goes wrong with the store is an outcome, chosen by
//! the fault policy ([`OnFault`]).
//!
//! The cargo feature `tower` adds `RateLimitLayer`, which limits axum and other tower services over HTTP.

#![forbid(unsafe_code)]

mod clock;
mod decision;
mod identity;
mod key;
mod limiter;
mod observer;
mod rule;
mod settings;
mod store;
#[cfg(feature = "tower")]
mod tower;
mod window;

pub use clock::{Clock, ManualClock, MonotonicClock};
pub use decision::{Decision, Outcome};
pub use identity::{Identity, IdentityError};
pub use key::{KeyError, Keys};
pub use limiter::{Acquiring, AcquiringAll, Builder, Limiter, OpenError, RuleHandle, Stats};
pub use observer::Observer;
pub use rule::{OnFault, Rule, RuleError};
pub use settings::{Check, Complaint, SettingError, Settings};
#[cfg(feature = "redis")]
pub use store::redis::{RedisError, RedisStore};
pub use store::{
    Counted, Counter, Fault, FaultKind, Hit, MemoryStore, Reading, Store, StoreFuture, StoreState, Tracked,
};
#[cfg(feature = "tower")]
pub use tower::{
    EmptyResponse, HeaderIdentity, Identify, RateLimitFuture, RateLimitLayer, RateLimitService, Rejection,
    Respond,
};
pub use window::{Tally, Window};

#[cfg(test)]
mod assertions {
    const fn shared<T: Send + Sync>() {}
    const _: () = {
        shared::<crate::Limiter>();
        shared::<crate::RuleHandle>();
        shared::<crate::Decision>();
        shared::<crate::MemoryStore>();
        shared::<crate::Fault>();
    };
}
