//! Counters and settings in process memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hashbrown::HashTable;
use parking_lot::{Mutex, RwLock};

use super::{Counted, Counter, Fault, FaultKind, Hit, Reading, Store, StoreState};
use crate::clock::{Clock, MonotonicClock};
use crate::settings::{Check, Settings};
use crate::window::Window;

const MAX_SHARDS: usize = 64;
/// Ended counters that one hit clears away beside its own work.
const SWEEP: usize = 2;
/// Fields that the configuration may have.
const MAX_FIELDS: usize = 100_000;

/// The embedded store: nothing else has to run. It counts in this process only.
///
/// At most `max_counters` counters are held. At the cap the counter whose window ends first makes room for a new one:
/// its user gets a fresh window early, and nobody is ever turned away for want of room. Ended counters are cleared away
/// two at a time by later hits, so no request pays for a sweep. A counter takes some 150 bytes.
///
/// ```
/// use tollgate::{Limiter, MemoryStore, Rule};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limiter = Limiter::builder().store(MemoryStore::new(10_000)).open()?;
/// let rule = limiter.rule(Rule::new("wms", "Order.list"))?;
/// limiter.acquire(&rule, "u1");
/// assert_eq!(limiter.setting("wms.Order.list.interval")?.as_deref(), Some("3"));
/// # Ok(())
/// # }
/// ```
pub struct MemoryStore {
    clock: Box<dyn Clock>,
    hasher: RandomState,
    shards: Box<[Mutex<Shard>]>,
    config: RwLock<BTreeMap<String, String>>,
    /// Grows with every write to `config`; 0 is never used.
    revision: AtomicU64,
}

struct Shard {
    index: HashTable<u32>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// When each entry in `index` ends at the latest known, exactly one item an entry.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    capacity: usize,
}

struct Entry {
    hash: u64,
    key: Box<str>,
    epoch: u32,
    count: u64,
    ends: u64,
}

impl MemoryStore {
    /// A store that holds at most `max_counters` counters (at least 1).
    pub fn new(max_counters: usize) -> Self {
        Self::with_clock(max_counters, MonotonicClock::new())
    }

    /// The same on a clock of the caller's, for tests.
    pub fn with_clock(max_counters: usize, clock: impl Clock) -> Self {
        let max_counters = max_counters.max(1);
        // Each shard has room for a few, so that an uneven spread doesn't evict early.
        let shards = (max_counters / 16).next_power_of_two().clamp(1, MAX_SHARDS);
        let capacity = max_counters.div_ceil(shards);
        Self {
            clock: Box::new(clock),
            hasher: RandomState::new(),
            shards: (0..shards).map(|_| Mutex::new(Shard::new(capacity))).collect(),
            config: RwLock::new(BTreeMap::new()),
            revision: AtomicU64::new(1),
        }
    }

    /// Counts `hits` at `key` under settings that are already known. A counter of another `epoch` has ended.
    pub(crate) fn count(&self, key: &str, epoch: u32, settings: &Settings, hits: u64) -> Counted {
        let (hash, shard) = self.shard(key);
        let mut shard = shard.lock();
        // Read under the lock, so that time doesn't go back between two hits on one counter.
        let now = self.clock.now().as_millis() as u64;
        shard.sweep(now);
        shard.hit(hash, key, epoch, settings, hits, now)
    }

    fn shard(&self, key: &str) -> (u64, &Mutex<Shard>) {
        let hash = self.hasher.hash_one(key);
        // The low bits choose within the table.
        (hash, &self.shards[(hash >> 32) as usize & (self.shards.len() - 1)])
    }

    fn live_settings(&self, hit: &Hit<'_>) -> Settings {
        let revision = self.revision.load(Ordering::Acquire);
        if let Some(settings) = hit.rule().last_at(revision) {
            return settings;
        }
        let config = self.config.read();
        let fields = hit.rule().fields();
        if fields.iter().all(|field| config.contains_key(field)) {
            let values = fields.each_ref().map(|field| config.get(field).map(|value| value.as_bytes()));
            return hit.rule().see(values, self.revision.load(Ordering::Acquire));
        }
        drop(config);
        let mut config = self.config.write();
        let mut revision = self.revision.load(Ordering::Acquire);
        for (field, value) in fields.iter().zip(hit.rule().defaults()) {
            if config.len() < MAX_FIELDS && !config.contains_key(field) {
                config.insert(field.clone(), value);
                revision = self.revision.fetch_add(1, Ordering::AcqRel) + 1;
            }
        }
        let values = fields.each_ref().map(|field| config.get(field).map(|value| value.as_bytes()));
        hit.rule().see(values, revision)
    }

    pub(crate) fn counters(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().index.len() as u64).sum()
    }
}

impl Store for MemoryStore {
    fn hit(&self, hit: &Hit<'_>, _deadline: Instant) -> Result<Reading, Fault> {
        let settings = self.live_settings(hit);
        let counted = match settings.check {
            Check::Off => None,
            Check::On | Check::Shadow => Some(self.count(hit.key(), 0, &settings, hit.hits())),
        };
        Ok(Reading { settings, counted, unread: None })
    }

    fn counter(&self, key: &str, _deadline: Instant) -> Result<Option<Counter>, Fault> {
        let (hash, shard) = self.shard(key);
        let mut shard = shard.lock();
        let now = self.clock.now().as_millis() as u64;
        Ok(shard.standing(hash, key, now).map(|entry| Counter {
            count: entry.count,
            ends_in: Some(Duration::from_millis(entry.ends - now)),
        }))
    }

    fn clear(&self, key: &str, _deadline: Instant) -> Result<bool, Fault> {
        let (hash, shard) = self.shard(key);
        let mut shard = shard.lock();
        let now = self.clock.now().as_millis() as u64;
        let found = shard.standing(hash, key, now);
        // It has ended, and goes with the others that have.
        Ok(found.map(|entry| entry.ends = now).is_some())
    }

    fn setting(&self, field: &str, _deadline: Instant) -> Result<Option<String>, Fault> {
        Ok(self.config.read().get(field).cloned())
    }

    fn set(&self, field: &str, value: &str, _deadline: Instant) -> Result<(), Fault> {
        let mut config = self.config.write();
        if config.len() >= MAX_FIELDS && !config.contains_key(field) {
            return Err(Fault::new(
                FaultKind::Refused,
                "full",
                format!("the configuration in memory holds {MAX_FIELDS} fields, its maximum"),
            ));
        }
        config.insert(field.to_owned(), value.to_owned());
        self.revision.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    fn settings(&self, _deadline: Instant) -> Result<Vec<(String, String)>, Fault> {
        Ok(self.config.read().iter().map(|(field, value)| (field.clone(), value.clone())).collect())
    }

    fn state(&self) -> StoreState {
        StoreState { name: "memory".into(), fault: None, connects: 0, counters: self.counters() }
    }
}

impl Shard {
    fn new(capacity: usize) -> Self {
        Self {
            index: HashTable::new(),
            entries: Vec::new(),
            free: Vec::new(),
            ends: BinaryHeap::new(),
            capacity,
        }
    }

    /// The counter whose window hasn't ended.
    fn standing(&mut self, hash: u64, key: &str, now: u64) -> Option<&mut Entry> {
        let at = *self.index.find(hash, |at| *self.entries[*at as usize].key == *key)?;
        Some(&mut self.entries[at as usize]).filter(|entry| entry.ends > now)
    }

    fn hit(&mut self, hash: u64, key: &str, epoch: u32, settings: &Settings, hits: u64, now: u64) -> Counted {
        let found = self.index.find(hash, |at| *self.entries[*at as usize].key == *key).copied();
        let window = match found.map(|at| &self.entries[at as usize]) {
            Some(entry) if entry.epoch == epoch => {
                Window::Open { count: entry.count, ends: Some(entry.ends) }
            }
            _ => Window::Absent,
        };
        let (_, tally) = window.hit(settings, hits, now);
        let ends = now + tally.ends_in;
        match found {
            Some(at) => {
                let entry = &mut self.entries[at as usize];
                // An end that was drawn in is due earlier than the heap knows: it is found later, and only there.
                (entry.epoch, entry.count, entry.ends) = (epoch, tally.count, ends);
            }
            None => {
                if self.index.len() >= self.capacity {
                    self.evict();
                }
                self.insert(Entry { hash, key: key.into(), epoch, count: tally.count, ends });
            }
        }
        Counted { count: tally.count, ends_in: Duration::from_millis(tally.ends_in), replaced: false }
    }

    /// Clears away a few counters that have ended.
    fn sweep(&mut self, now: u64) {
        for _ in 0..SWEEP {
            match self.ends.peek() {
                Some(Reverse((due, _))) if *due <= now => self.pop(now),
                _ => return,
            };
        }
    }

    /// Makes room by dropping the counter that ends first.
    fn evict(&mut self) {
        // An item whose counter was hit anew goes back with its real end; each does so at most once, as none is hit here.
        while !self.pop(u64::MAX) && !self.ends.is_empty() {}
    }

    /// Takes the item due first; true if its counter ended by `now` (or nothing ends earlier) and is gone.
    fn pop(&mut self, now: u64) -> bool {
        let Some(Reverse((due, at))) = self.ends.pop() else { return false };
        let entry = &self.entries[at as usize];
        let ends = entry.ends;
        let first = self.ends.peek().is_none_or(|Reverse((next, _))| ends <= *next);
        if ends > due && (ends > now || !first) {
            self.ends.push(Reverse((ends, at)));
            return false;
        }
        if let Ok(found) = self.index.find_entry(entry.hash, |other| *other == at) {
            found.remove();
        }
        self.entries[at as usize].key = Box::from("");
        self.free.push(at);
        true
    }

    fn insert(&mut self, entry: Entry) {
        let (hash, ends) = (entry.hash, entry.ends);
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        let entries = &self.entries;
        self.index.insert_unique(hash, at, |at| entries[*at as usize].hash);
        self.ends.push(Reverse((ends, at)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::ManualClock;
    use crate::key::Keys;
    use crate::rule::Rule;
    use crate::store::Tracked;

    fn settings(secs: u64) -> Settings {
        Settings { check: Check::On, interval: Duration::from_secs(secs), limit: 1, record: true }
    }

    fn store(max_counters: usize) -> (MemoryStore, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::new());
        (MemoryStore::with_clock(max_counters, clock.clone()), clock)
    }

    #[test]
    fn at_the_cap_the_window_that_ends_first_makes_room() {
        let (store, _) = store(3);
        for (user, secs) in [("a", 30), ("b", 10), ("c", 20)] {
            store.count(user, 0, &settings(secs), 1);
        }
        assert_eq!(store.count("d", 0, &settings(40), 1).count, 1);
        assert_eq!(store.counters(), 3);
        // a, c and d are still counted; b got a fresh window (in the place of c, which now ends first).
        for (user, count) in [("a", 2), ("c", 2), ("d", 2), ("b", 1), ("c", 1)] {
            assert_eq!(store.count(user, 0, &settings(30), 1).count, count, "{user}");
        }
    }

    #[test]
    fn a_flood_of_users_never_turns_anybody_away_and_stays_bounded() {
        let (store, clock) = store(1_000);
        for n in 0..20_000 {
            assert_eq!(store.count(&format!("user{n}"), 0, &settings(3), 1).count, 1);
            clock.advance(Duration::from_micros(50));
        }
        let entries: usize = store.shards.iter().map(|shard| shard.lock().entries.len()).sum();
        let due: usize = store.shards.iter().map(|shard| shard.lock().ends.len()).sum();
        assert!(entries <= 1_024 && due <= 1_024, "{entries} {due}");
    }

    #[test]
    fn ended_counters_are_cleared_away_by_later_hits() {
        let (store, clock) = store(100_000);
        for n in 0..10_000 {
            store.count(&format!("user{n}"), 0, &settings(3), 1);
        }
        clock.advance(Duration::from_secs(3));
        for n in 0..6_000 {
            store.count(&format!("later{n}"), 0, &settings(3_600), 1);
        }
        let ended = store.counters() - 6_000;
        assert!(ended < 500, "{ended} ended counters are left");
    }

    #[test]
    fn a_renewed_counter_outlives_its_first_due_time() {
        let (store, clock) = store(16);
        store.count("a", 0, &settings(3), 1);
        clock.advance(Duration::from_secs(3));
        // Cleared by the sweep and begun anew, or renewed in place: either way one counter with a whole window.
        assert_eq!(store.count("a", 0, &settings(3), 1).count, 1);
        clock.advance(Duration::from_secs(2));
        store.count("b", 0, &settings(3), 1);
        assert_eq!(store.count("a", 0, &settings(3), 1).count, 2);
        assert_eq!(store.counters(), 2);
    }

    #[test]
    fn a_new_epoch_ends_the_windows_of_the_old_one() {
        let (store, _) = store(16);
        store.count("a", 0, &settings(3), 5);
        assert_eq!(store.count("a", 1, &settings(3), 1).count, 1);
        assert_eq!(store.count("a", 1, &settings(3), 1).count, 2);
        assert_eq!(store.counters(), 1);
    }

    #[test]
    fn configuration_is_bounded() {
        let (store, _) = store(16);
        let now = Instant::now();
        for n in 0..MAX_FIELDS {
            store.set(&format!("m.r{n}.check"), "true", now).expect("room");
        }
        assert_eq!(store.set("m.more.check", "true", now).expect_err("full").code(), "full");
        store.set("m.r0.check", "false", now).expect("an existing field");
        // A rule whose defaults find no room is limited all the same.
        let rule = Arc::new(Tracked::new(&Keys::new("ratelimit").expect("usable"), Rule::new("wms", "a")));
        let reading = store.hit(&Hit::new(&rule, "k", 1), now).expect("memory has no faults");
        assert_eq!(reading.counted.map(|counted| counted.count), Some(1));
    }
}
