//! Threads that ask and wait: two hits a minute pass, an operator raises the limit, and the next hit passes again.
//!
//! `cargo run --example sync`, or with `REDIS_URL=redis://127.0.0.1:6379` to count for several processes.

use std::time::Duration;

use tollgate::{Limiter, Rule};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("REDIS_URL").unwrap_or_else(|_| "memory:".into());
    let limiter = Limiter::builder().url(url).open()?;
    let rule = limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(60)).limit(2))?;

    for hit in 1..=3 {
        let decision = limiter.acquire(&rule, "u1");
        if decision.is_allowed() {
            println!("hit {hit}: {}, {} left", decision.outcome(), decision.remaining());
        } else {
            println!("hit {hit}: {}, again in {} s", decision.outcome(), decision.reset_after().as_secs());
        }
    }
    println!("another user: {}", limiter.acquire(&rule, "u2").outcome());

    // What `HSET ratelimit:config wms.Order.list.limit 5` does in Redis: it governs the very next hit.
    limiter.set("wms.Order.list.limit", "5")?;
    let decision = limiter.acquire(&rule, "u1");
    println!("hit 4: {}, {} left", decision.outcome(), decision.remaining());
    Ok(())
}
