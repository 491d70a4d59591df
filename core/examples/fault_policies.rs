//! What a hit gets when Redis can't be reached: by the limiter's policy, or by the rule's own.
//!
//! `cargo run --example fault_policies`

use std::time::Duration;

use tollgate::{Fault, Limiter, OnFault, Rule};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Nobody listens there. Opening succeeds all the same: a limiter is a guest, and Redis may come later.
    let limiter = Limiter::builder().redis("redis://127.0.0.1:1").on_fault(OnFault::Allow).open()?;
    let rule = |name| Rule::new("wms", name).interval(Duration::from_secs(60)).limit(1);

    let rules = [
        ("the limiter's own, Allow", limiter.rule(rule("Order.list"))?),
        ("Deny", limiter.rule(rule("Order.export").on_fault(OnFault::Deny))?),
        ("Local", limiter.rule(rule("Order.search").on_fault(OnFault::Local))?),
    ];
    for (policy, rule) in &rules {
        let [first, second] = [(); 2].map(|()| limiter.acquire(rule, "u1"));
        let code = first.fault().map_or("none", Fault::code);
        println!("{policy}: {}, then {} (fault: {code})", first.outcome(), second.outcome());
    }
    Ok(())
}
