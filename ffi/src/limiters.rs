//! What is open, by handle: the operations that both surfaces are made of.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tollgate::{
    Acquiring, AcquiringAll, Counter, Decision, FaultKind, Identity, Limiter, OnFault, Rule, RuleError,
    RuleHandle,
};

use crate::handles::{CAPACITY, Full, Held, Table};
use crate::status::{Failure, tollgate_status::*};

static LIMITERS: Table<Open> = Table::new(1);
static RULES: Table<Registered> = Table::new(2);

/// A limiter with the rules that die with it.
pub(crate) struct Open {
    pub(crate) limiter: Limiter,
    /// None once it is closed, so that a rule that is being registered meanwhile can't outlive it.
    rules: Mutex<Option<Rules>>,
}

#[derive(Default)]
struct Rules {
    /// The first of each name, which the core gives out again for an equal rule.
    by_name: HashMap<(String, String), (Rule, usize)>,
    ids: Vec<usize>,
}

struct Registered {
    owner: usize,
    handle: RuleHandle,
}

/// Options as both surfaces hand them over; None leaves the core's default.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub(crate) deadline: Option<Duration>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) on_fault: Option<OnFault>,
    pub(crate) prefix: Option<&'a str>,
    pub(crate) max_counters: Option<u64>,
}

/// Opens a limiter.
pub(crate) fn open(url: &str, options: &Options<'_>) -> Result<usize, Failure> {
    let mut builder = Limiter::builder().url(url);
    if let Some(deadline) = options.deadline {
        builder = builder.deadline(deadline);
    }
    if let Some(timeout) = options.connect_timeout {
        builder = builder.connect_timeout(timeout);
    }
    if let Some(policy) = options.on_fault {
        builder = builder.on_fault(policy);
    }
    if let Some(prefix) = options.prefix {
        builder = builder.prefix(prefix);
    }
    if let Some(counters) = options.max_counters {
        builder = builder.max_counters(usize::try_from(counters).unwrap_or(usize::MAX));
    }
    let open = Open { limiter: builder.open()?, rules: Mutex::new(Some(Rules::default())) };
    LIMITERS.insert(open).map_err(|Full| too_many("limiters"))
}

/// The limiter of a handle.
pub(crate) fn get(limiter: usize) -> Result<Held<Open>, Failure> {
    LIMITERS.get(limiter).ok_or_else(Failure::closed)
}

/// Closes a limiter; calls that are under way finish on it.
pub(crate) fn close(limiter: usize) -> Result<(), Failure> {
    let open = LIMITERS.remove(limiter).ok_or_else(Failure::closed)?;
    let rules = open.rules.lock().take();
    for rule in rules.into_iter().flat_map(|rules| rules.ids) {
        RULES.remove(rule);
    }
    Ok(())
}

/// Registers a rule; an equal one gets the handle that it had.
pub(crate) fn register(limiter: usize, rule: Rule) -> Result<usize, Failure> {
    let open = get(limiter)?;
    let handle = open.limiter.rule(rule)?;
    let rule = handle.rule();
    let mut rules = open.rules.lock();
    let rules = rules.as_mut().ok_or_else(Failure::closed)?;
    let name = (rule.module().to_owned(), rule.name().to_owned());
    if let Some((_, id)) = rules.by_name.get(&name).filter(|(known, _)| known == rule) {
        return Ok(*id);
    }
    let rule = rule.clone();
    let id = RULES.insert(Registered { owner: limiter, handle }).map_err(|Full| too_many("rules"))?;
    rules.ids.push(id);
    rules.by_name.entry(name).or_insert((rule, id));
    Ok(id)
}

/// Counts one hit and decides it.
pub(crate) fn acquire(limiter: usize, rule: usize, user: Identity<'_>) -> Result<Decision, Failure> {
    let (open, rule) = both(limiter, rule)?;
    Ok(open.limiter.acquire(&rule.handle, user))
}

/// The same without waiting. The decision comes though the limiter is closed meanwhile: it lives on for it.
pub(crate) fn acquire_async(limiter: usize, rule: usize, user: Identity<'_>) -> Result<Acquiring, Failure> {
    let (open, rule) = both(limiter, rule)?;
    Ok(open.limiter.acquire_async(&rule.handle, user))
}

/// Counts one hit on each of several rules and decides each; `argument` is what the caller calls the hits.
pub(crate) fn acquire_all(
    limiter: usize,
    hits: &[(usize, Identity<'_>)],
    argument: &str,
) -> Result<Vec<Decision>, Failure> {
    let (open, rules) = all(limiter, hits, argument)?;
    let pairs: Vec<_> = rules.iter().zip(hits).map(|(rule, (_, user))| (&rule.handle, *user)).collect();
    Ok(open.limiter.acquire_all(&pairs))
}

/// The same without waiting.
pub(crate) fn acquire_all_async(
    limiter: usize,
    hits: &[(usize, Identity<'_>)],
    argument: &str,
) -> Result<AcquiringAll, Failure> {
    let (open, rules) = all(limiter, hits, argument)?;
    let pairs: Vec<_> = rules.iter().zip(hits).map(|(rule, (_, user))| (&rule.handle, *user)).collect();
    Ok(open.limiter.acquire_all_async(&pairs))
}

/// What stands in the store for a user; none where nothing does.
pub(crate) fn counter(limiter: usize, rule: usize, user: Identity<'_>) -> Result<Option<Counter>, Failure> {
    let (open, rule) = both(limiter, rule)?;
    Ok(open.limiter.counter(&rule.handle, user)?)
}

/// Removes what stands in the store for a user; true if there was something.
pub(crate) fn clear(limiter: usize, rule: usize, user: Identity<'_>) -> Result<bool, Failure> {
    let (open, rule) = both(limiter, rule)?;
    Ok(open.limiter.clear(&rule.handle, user)?)
}

/// A limiter and the rules of hits.
fn all(
    limiter: usize,
    hits: &[(usize, Identity<'_>)],
    argument: &str,
) -> Result<(Held<Open>, Vec<Held<Registered>>), Failure> {
    let rule = |(at, (rule, _)): (usize, &(usize, Identity<'_>))| {
        let found = both(limiter, *rule).map_err(|failure| match failure.status {
            TOLLGATE_CLOSED => failure,
            status => Failure::new(status, format!("{argument}[{at}]: {failure}")),
        });
        found.map(|(_, rule)| rule)
    };
    let open = get(limiter)?;
    Ok((open, hits.iter().enumerate().map(rule).collect::<Result<_, _>>()?))
}

/// Refuses a number of hits that one call doesn't take.
pub(crate) fn check_hits(count: usize, argument: &str) -> Result<(), Failure> {
    let most = Limiter::MAX_PAIRS;
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(Failure::new(TOLLGATE_BAD_VALUE, format!("{argument} is {count}: one call takes 1 to {most} hits")))
}

/// A limiter and one of its rules.
fn both(limiter: usize, rule: usize) -> Result<(Held<Open>, Held<Registered>), Failure> {
    let open = get(limiter)?;
    let Some(rule) = RULES.get(rule) else {
        // Closing takes the limiter away first, so a rule that has gone between the two looks is no foreign one.
        get(limiter)?;
        return Err(foreign("the rule is none, or its limiter is closed"));
    };
    if rule.owner != limiter {
        return Err(foreign(&format!("rule {} belongs to another limiter", rule.handle.label())));
    }
    Ok((open, rule))
}

/// The fault policy of a number: 0 is "not said".
pub(crate) fn on_fault(code: i32) -> Result<Option<OnFault>, Failure> {
    match code {
        0 => Ok(None),
        1 => Ok(Some(OnFault::Allow)),
        2 => Ok(Some(OnFault::Deny)),
        3 => Ok(Some(OnFault::Local)),
        _ => Err(Failure::new(
            TOLLGATE_BAD_VALUE,
            format!("on_fault {code} is not a policy: use 0 (default), 1 (allow), 2 (deny) or 3 (local)"),
        )),
    }
}

/// The number of a fault's kind; 0 is "none".
pub(crate) fn fault_code(kind: Option<FaultKind>) -> i32 {
    match kind {
        None => 0,
        Some(FaultKind::Unavailable) => 1,
        Some(FaultKind::Timeout) => 2,
        Some(FaultKind::Refused) => 3,
        // A kind that this surface doesn't know yet is told as the most careful one.
        Some(_) => 4,
    }
}

/// Whole milliseconds, rounded up so that a caller who waits as long doesn't come early.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// A negative number where the core has none, in the core's words.
pub(crate) fn negative(module: &str, name: &str, field: &'static str, value: i64) -> Failure {
    let remedy = match field {
        "interval" => "use whole seconds from 1 to 31536000",
        _ => "use 0 to 9223372036854775807",
    };
    RuleError { rule: format!("{module}.{name}"), field, value: value.to_string(), remedy }.into()
}

fn too_many(what: &str) -> Failure {
    Failure::new(
        TOLLGATE_TOO_MANY,
        format!("{CAPACITY} {what} are open: close limiters that are no longer used"),
    )
}

fn foreign(what: &str) -> Failure {
    Failure::new(TOLLGATE_FOREIGN_RULE, format!("{what}: register it with the limiter that you ask"))
}
