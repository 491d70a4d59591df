//! What the window machine costs, without any store.

#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tollgate::{Rule, Settings, Window};

fn window(c: &mut Criterion) {
    let settings = Settings::defaults(&Rule::new("wms", "Order.list"));
    let states = [
        ("first", Window::Absent),
        ("within", Window::Absent.hit(&settings, 1, 1_000).0),
        ("foreign", Window::Foreign),
    ];
    let mut group = c.benchmark_group("window");
    for (name, state) in states {
        group.bench_function(name, |b| {
            b.iter(|| black_box(state).hit(black_box(&settings), 1, black_box(2_000)))
        });
    }
    group.finish();
}

criterion_group!(benches, window);
criterion_main!(benches);
