//! Tasks that ask without blocking a thread: of ten hits of one user at the same time, three pass.
//!
//! `cargo run --example async`, or with `REDIS_URL=redis://127.0.0.1:6379`: all ten then share one connection, and mostly
//! one round trip.

use std::time::Duration;

use tokio::task::JoinSet;
use tollgate::{Limiter, Rule};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("REDIS_URL").unwrap_or_else(|_| "memory:".into());
    // Opening waits for the first connection: do it before the runtime has anything else to do.
    let limiter = Limiter::builder().url(url).open()?;
    let rule = limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(60)).limit(3))?;

    let mut hits = JoinSet::new();
    for _ in 0..10 {
        let (limiter, rule) = (limiter.clone(), rule.clone());
        hits.spawn(async move { limiter.acquire_async(&rule, "u1").await });
    }
    let decisions = hits.join_all().await;
    let passed = decisions.iter().filter(|decision| decision.is_allowed()).count();
    println!("{passed} of {} passed", decisions.len());
    Ok(())
}
