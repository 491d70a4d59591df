//! Handles that can be wrong without harm: what a caller holds is a number that is looked up, never an
//! address.
//!
//! A number is made of a kind (so that a rule is no limiter), a slot, and the slot's generation (so that a
//! closed handle stays closed when its slot is used again).

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwapOption, Guard};
use parking_lot::Mutex;

const KIND_BITS: u32 = 2;
const SLOT_BITS: u32 = 16;
/// What one table holds at most.
pub(crate) const CAPACITY: usize = 1 << SLOT_BITS;
const CHUNK: usize = 256;
const LAST_GENERATION: usize = usize::MAX >> (KIND_BITS + SLOT_BITS);

type Slot<T> = ArcSwapOption<Entry<T>>;

struct Entry<T> {
    id: usize,
    value: T,
}

/// Objects by handle. Looking up takes no lock; adding and removing do.
pub(crate) struct Table<T> {
    kind: usize,
    chunks: [OnceLock<Box<[Slot<T>]>>; CAPACITY / CHUNK],
    free: Mutex<Free>,
}

struct Free {
    /// The first slot that was never used.
    fresh: usize,
    /// Handles to give out next.
    ids: Vec<usize>,
}

/// An object that stays alive while this is held, whoever removes it.
pub(crate) struct Held<T>(Guard<Option<Arc<Entry<T>>>>);

/// All slots of a table are taken.
#[derive(Debug)]
pub(crate) struct Full;

impl<T> Table<T> {
    /// An empty table; `kind` is 1 to 3, another one for each table.
    pub(crate) const fn new(kind: usize) -> Self {
        assert!(kind > 0 && kind < 1 << KIND_BITS, "0 is NULL");
        Self {
            kind,
            chunks: [const { OnceLock::new() }; CAPACITY / CHUNK],
            free: Mutex::new(Free { fresh: 0, ids: Vec::new() }),
        }
    }

    /// Adds what `make` makes of its handle.
    pub(crate) fn insert(&self, value: T) -> Result<usize, Full> {
        let mut free = self.free.lock();
        let id = match free.ids.pop() {
            Some(id) => id,
            None if free.fresh < CAPACITY => {
                free.fresh += 1;
                (free.fresh - 1) << KIND_BITS | self.kind
            }
            None => return Err(Full),
        };
        let chunk = self.chunks[slot_of(id) / CHUNK]
            .get_or_init(|| std::iter::repeat_with(ArcSwapOption::empty).take(CHUNK).collect());
        chunk[slot_of(id) % CHUNK].store(Some(Arc::new(Entry { id, value })));
        Ok(id)
    }

    /// The object of `id`, unless it was removed or never was.
    pub(crate) fn get(&self, id: usize) -> Option<Held<T>> {
        let entry = self.slot(id)?.load();
        entry.as_ref().is_some_and(|entry| entry.id == id).then_some(Held(entry))
    }

    /// Takes the object of `id` out. Whoever holds it goes on holding it.
    pub(crate) fn remove(&self, id: usize) -> Option<Held<T>> {
        // Under the lock, since between the look and the take another thread could remove it and add a new
        // one.
        let mut free = self.free.lock();
        let held = self.get(id)?;
        self.slot(id)?.store(None);
        if id >> (KIND_BITS + SLOT_BITS) < LAST_GENERATION {
            free.ids.push(id + (1 << (KIND_BITS + SLOT_BITS)));
        }
        Some(held)
    }

    fn slot(&self, id: usize) -> Option<&Slot<T>> {
        if id & ((1 << KIND_BITS) - 1) != self.kind {
            return None;
        }
        Some(&self.chunks[slot_of(id) / CHUNK].get()?[slot_of(id) % CHUNK])
    }
}

const fn slot_of(id: usize) -> usize {
    id >> KIND_BITS & (CAPACITY - 1)
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // `get` lets no empty slot through.
        &self.0.as_ref().expect("a held entry").value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_removed_handle_stays_removed_when_its_slot_is_used_again() {
        let table = Table::new(1);
        let first = table.insert("first").expect("room");
        assert_eq!(*table.get(first).expect("there"), "first");
        let held = table.remove(first).expect("there");
        let second = table.insert("second").expect("room");
        assert_eq!(slot_of(first), slot_of(second));
        assert_ne!(first, second);
        assert!(table.get(first).is_none() && table.remove(first).is_none());
        assert_eq!((*held, *table.get(second).expect("there")), ("first", "second"));
    }

    #[test]
    fn what_was_never_a_handle_is_none() {
        let (limiters, rules) = (Table::new(1), Table::new(2));
        let limiter = limiters.insert(()).expect("room");
        let rule = rules.insert(()).expect("room");
        for id in [0, rule, limiter + 1, limiter | 1 << 10, limiter | 1 << 40, usize::MAX, usize::MAX - 2] {
            assert!(limiters.get(id).is_none(), "{id:#x}");
            assert!(limiters.remove(id).is_none(), "{id:#x}");
        }
        assert!(rules.get(limiter).is_none());
    }

    #[test]
    fn a_full_table_says_so_and_has_room_again_after_a_removal() {
        let table = Table::new(3);
        let ids: Vec<usize> = (0..CAPACITY).map(|n| table.insert(n).expect("room")).collect();
        assert!(table.insert(0).is_err());
        table.remove(ids[77]).expect("there");
        table.insert(77).expect("room");
        assert!(table.insert(0).is_err());
        assert_eq!(*table.get(ids[CAPACITY - 1]).expect("there"), CAPACITY - 1);
    }

    #[test]
    fn the_last_generation_ends_a_slot() {
        let table = Table::new(1);
        let id = table.insert(()).expect("room");
        table.remove(id).expect("there");
        let last = LAST_GENERATION << (KIND_BITS + SLOT_BITS) | id;
        table.free.lock().ids[0] = last;
        assert_eq!(table.insert(()).expect("room"), last);
        table.remove(last).expect("there");
        assert_ne!(slot_of(table.insert(()).expect("room")), slot_of(id));
    }

    #[test]
    fn an_object_lives_while_it_is_held_and_no_longer() {
        struct Alive<'a>(&'a AtomicUsize);
        impl Drop for Alive<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let (alive, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let table = Table::<Alive<'_>>::new(1);
        let current = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    while !stop.load(Ordering::SeqCst) {
                        if let Some(held) = table.get(current.load(Ordering::SeqCst)) {
                            assert!((*held).0.load(Ordering::SeqCst) > 0);
                        }
                    }
                });
            }
            for _ in 0..20_000 {
                alive.fetch_add(1, Ordering::SeqCst);
                current.store(table.insert(Alive(&alive)).expect("room"), Ordering::SeqCst);
                drop(table.remove(current.load(Ordering::SeqCst)).expect("there"));
            }
            stop.store(true, Ordering::SeqCst);
        });
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    }
}
