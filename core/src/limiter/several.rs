//! Several rules at once: one method may be limited by user and for all, by the second and by the day.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use super::{Limiter, RuleHandle};
use crate::decision::Decision;
use crate::identity::Identity;
use crate::store::{Fault, FaultKind, Hit, Reading};

/// Decisions to come: what [`Limiter::acquire_all_async`] gives.
#[must_use = "nothing is decided unless it is awaited"]
pub struct AcquiringAll(Pin<Box<dyn Future<Output = Vec<Decision>> + Send>>);

impl Future for AcquiringAll {
    type Output = Vec<Decision>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Vec<Decision>> {
        self.0.as_mut().poll(context)
    }
}

impl fmt::Debug for AcquiringAll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AcquiringAll")
    }
}

type Read = Result<Reading, Fault>;

impl Limiter {
    /// Pairs that one call of [`acquire_all`](Self::acquire_all) takes at most.
    pub const MAX_PAIRS: usize = 64;

    /// Counts one hit on each of several rules and decides each, in one round trip: "1 in 3 seconds and 200 a day". The decisions
    /// stand in the order of the pairs; [`Decision::tightest`] finds the one to answer with.
    ///
    /// - Every pair is counted, also where another turns the caller away: nothing on the server could take a hit back in the same
    ///   step. Pairs without an identity are `NO_IDENTITY`, and only they.
    /// - A counter that stands there twice is hit twice, and each hit has its own place in the count.
    /// - Each rule's fault policy holds for its own pair. The shortest deadline of the rules holds for the call, queueing included.
    /// - A server's pairs travel in one write, with `connections=n` or in a cluster in one for each connection or node,
    ///   side by side.
    ///
    /// Never fails, as [`acquire`](Self::acquire) doesn't: more than [`MAX_PAIRS`](Self::MAX_PAIRS) pairs are not sent, and
    /// each gets its rule's fault policy, with a fault of the code `pairs` that is logged as an error.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Decision, Limiter, Outcome, Rule};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let limiter = Limiter::builder().memory().open()?;
    /// let often = limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(3)).limit(1))?;
    /// let daily = limiter.rule(Rule::new("wms", "Order.list.daily").interval(Duration::from_secs(86_400)).limit(200))?;
    ///
    /// let first = limiter.acquire_all(&[(&often, "u1"), (&daily, "u1")]);
    /// assert!(first.iter().all(Decision::is_allowed));
    /// let second = limiter.acquire_all(&[(&often, "u1"), (&daily, "u1")]);
    /// let tightest = Decision::tightest(&second).expect("both were counted");
    /// assert_eq!((tightest, second[tightest].outcome()), (0, Outcome::Limited));
    /// assert_eq!(second[1].count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn acquire_all<'a, I>(&self, pairs: &[(&RuleHandle, I)]) -> Vec<Decision>
    where
        I: Into<Identity<'a>> + Copy,
    {
        let asked = self.asked(pairs);
        let reads = match self.refuse(&asked) {
            Some(refused) => refused,
            None => {
                asked.with_hits(|hits, deadline| self.0.store.hit_all(hits, deadline)).unwrap_or_default()
            }
        };
        self.conclude_all(&asked, reads)
    }

    /// The same without blocking, in any runtime or none. The hits are on their way when this returns; dropping the future
    /// before it is ready lets hits that weren't sent go uncounted.
    pub fn acquire_all_async<'a, I>(&self, pairs: &[(&RuleHandle, I)]) -> AcquiringAll
    where
        I: Into<Identity<'a>> + Copy,
    {
        let (limiter, asked) = (self.clone(), self.asked(pairs));
        let refused = self.refuse(&asked);
        let reading = match refused {
            Some(_) => None,
            None => asked.with_hits(|hits, deadline| self.0.store.hit_all_async(hits, deadline)),
        };
        AcquiringAll(Box::pin(async move {
            let reads = match (refused, reading) {
                (Some(refused), _) => refused,
                (None, Some(reading)) => reading.await,
                (None, None) => Vec::new(),
            };
            limiter.conclude_all(&asked, reads)
        }))
    }

    fn asked<'a, I>(&self, pairs: &[(&RuleHandle, I)]) -> Asked
    where
        I: Into<Identity<'a>> + Copy,
    {
        let pair = |(rule, who): &(&RuleHandle, I)| {
            let who: Identity<'_> = (*who).into();
            let user = who.bytes().map(|user| (rule.0.tracked.counter(user), user.to_vec()));
            (RuleHandle::clone(rule), user)
        };
        let pairs: Vec<_> = pairs.iter().map(pair).collect();
        let waits = pairs.iter().filter(|(_, user)| user.is_some());
        let deadline = waits.map(|(rule, _)| self.deadline(&rule.0)).min();
        Asked { pairs, deadline }
    }

    /// What each hit gets where there are too many.
    fn refuse(&self, asked: &Asked) -> Option<Vec<Read>> {
        let pairs = asked.pairs.len();
        let fault = || {
            let detail =
                format!("one call has {pairs} pairs of rule and identity: {} are the most", Self::MAX_PAIRS);
            Err(Fault::new(FaultKind::Unavailable, "pairs", detail))
        };
        (pairs > Self::MAX_PAIRS).then(|| vec![fault(); pairs])
    }

    fn conclude_all(&self, asked: &Asked, reads: Vec<Read>) -> Vec<Decision> {
        let mut reads = reads.into_iter();
        let decide = |(rule, user): &Pair| match user {
            None => {
                let decision = Decision::no_identity(&rule.0.tracked.last());
                self.conclude(&rule.0, Identity::none(), decision)
            }
            Some((key, user)) => {
                let decision = self.decide(&rule.0, key, reads.next().unwrap_or_else(|| Err(missing())));
                self.conclude(&rule.0, Identity::known(user), decision)
            }
        };
        asked.pairs.iter().map(decide).collect()
    }
}

/// A rule, and whom to count for where there is somebody: the counter's key and the user.
type Pair = (RuleHandle, Option<(String, Vec<u8>)>);

struct Asked {
    pairs: Vec<Pair>,
    /// None where there is nobody to count for.
    deadline: Option<Instant>,
}

impl Asked {
    fn with_hits<T>(&self, ask: impl FnOnce(&[Hit<'_>], Instant) -> T) -> Option<T> {
        let pairs = self.pairs.iter().filter_map(|(rule, user)| Some((rule, user.as_ref()?)));
        let hits: Vec<_> = pairs.map(|(rule, (key, _))| Hit::new(&rule.0.tracked, key, 1)).collect();
        self.deadline.map(|deadline| ask(&hits, deadline))
    }
}

/// A store that says less than it was asked.
fn missing() -> Fault {
    Fault::new(FaultKind::Protocol, "reply", "the store answered for fewer hits than it was asked")
}
