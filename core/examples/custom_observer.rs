//! An observer that keeps a metric and writes a record: hooks are told what happens and change nothing of it.
//!
//! `cargo run --example custom_observer`

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tollgate::{Decision, Fault, Identity, Limiter, Observer, Rule, Tracked};

#[derive(Default)]
struct Metrics {
    decisions: Mutex<BTreeMap<(String, &'static str), u64>>,
}

impl Observer for Metrics {
    fn decided(&self, rule: &Tracked, who: Identity<'_>, decision: &Decision) {
        let metric = (rule.label().to_owned(), decision.outcome().as_str());
        if let Ok(mut decisions) = self.decisions.lock() {
            *decisions.entry(metric).or_default() += 1;
        }
        // Hooks run on the caller's thread: a database would get this through a queue.
        if decision.should_record() {
            println!("record: {who:?} hit {} {} times", rule.label(), decision.count());
        }
    }

    fn faulted(&self, rule: &Tracked, fault: &Fault) {
        println!("alert: {} has no store: {fault}", rule.label());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let metrics = Arc::new(Metrics::default());
    let limiter = Limiter::builder().memory().observer(metrics.clone()).open()?;
    let rule = limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(60)).limit(1))?;
    for user in [Some("u1"), Some("u1"), Some("u2"), None] {
        limiter.acquire(&rule, user);
    }
    if let Ok(decisions) = metrics.decisions.lock() {
        for ((rule, outcome), count) in decisions.iter() {
            println!("metric: {rule} {outcome} = {count}");
        }
    }
    Ok(())
}
