//! What it costs to build one counter's key.

#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tollgate::Keys;

const MODULE: &str = "wms";
const RULE: &str = "WmsInventoryController.queryInventoryOpLogList";

fn key(c: &mut Criterion) {
    let keys = Keys::new("ratelimit").expect("the default prefix is legal");
    let long = "u".repeat(1_000);
    let mut group = c.benchmark_group("key");
    for (name, user) in [("ordinary", "u1001"), ("escaped", "tenant 7:u%1001"), ("digest", long.as_str())] {
        group.bench_function(name, |b| {
            b.iter(|| keys.counter(black_box(MODULE), black_box(RULE), black_box(user)));
        });
    }
    group.finish();
}

criterion_group!(benches, key);
criterion_main!(benches);
