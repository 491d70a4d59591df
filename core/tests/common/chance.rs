//! Numbers by chance, the same ones for the same seed.

use std::hash::{BuildHasher, RandomState};

/// SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>).
pub struct Chance(u64);

impl Chance {
    /// The seed is `TOLLGATE_SEED`, or a new one; it is printed, so that a run can be repeated as far as threads allow.
    pub fn new() -> Self {
        let given = std::env::var("TOLLGATE_SEED").ok();
        let seed = given.map_or_else(
            || RandomState::new().hash_one(0),
            |seed| seed.parse().expect("TOLLGATE_SEED is a whole number"),
        );
        println!("TOLLGATE_SEED={seed}");
        Self(seed)
    }

    /// Another one, with numbers of its own.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// 0 to `bound` − 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}
