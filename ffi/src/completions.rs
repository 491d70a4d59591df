//! Decisions that wait for Java's thread to take them, each with the number that Java gave its hit.
//!
//! Java bounds how many hits are under way, and so how many wait here. None is ever dropped.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Longs of a decision as Java gets it.
pub(crate) const ANSWER: usize = 5;
/// Longs of a completion: the number of the hit, then its decision.
pub(crate) const COMPLETION: usize = 1 + ANSWER;

pub(crate) type Completion = [i64; COMPLETION];

/// The queue of this copy of the library.
pub(crate) static COMPLETIONS: Completions = Completions::new();

pub(crate) struct Completions {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    completions: VecDeque<Completion>,
    woken: bool,
}

impl Completions {
    const fn new() -> Self {
        Self {
            waiting: Mutex::new(Waiting { completions: VecDeque::new(), woken: false }),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn push(&self, completion: Completion) {
        self.push_all([completion]);
    }

    /// Several one behind the other, with nothing between them.
    pub(crate) fn push_all(&self, completions: impl IntoIterator<Item = Completion>) {
        self.waiting.lock().completions.extend(completions);
        self.changed.notify_one();
    }

    /// Moves the oldest into `taken`, `max` at most. With nothing there waits for one, for a [`wake`](Self::wake) or
    /// for the end of `patience`.
    pub(crate) fn take(&self, taken: &mut Vec<i64>, max: usize, patience: Duration) {
        let until = Instant::now() + patience;
        let mut waiting = self.waiting.lock();
        while waiting.completions.is_empty() && !waiting.woken {
            if self.changed.wait_until(&mut waiting, until).timed_out() {
                break;
            }
        }
        waiting.woken = false;
        let count = waiting.completions.len().min(max);
        taken.extend(waiting.completions.drain(..count).flatten());
    }

    /// Ends the wait of whoever takes, now or next.
    pub(crate) fn wake(&self) {
        self.waiting.lock().woken = true;
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn take(queue: &Completions, max: usize, patience: Duration) -> Vec<i64> {
        let mut taken = Vec::new();
        queue.take(&mut taken, max, patience);
        taken
    }

    #[test]
    fn what_was_pushed_is_taken_once_and_in_order() {
        let queue = Completions::new();
        (0..5).for_each(|n| queue.push([n; COMPLETION]));
        assert_eq!(take(&queue, 3, LONG), [[0; COMPLETION], [1; COMPLETION], [2; COMPLETION]].concat());
        assert_eq!(take(&queue, 3, LONG), [[3; COMPLETION], [4; COMPLETION]].concat());
        assert_eq!(take(&queue, 3, Duration::ZERO), []);
    }

    #[test]
    fn waiting_ends_with_a_completion_or_a_wake() {
        let queue = Completions::new();
        std::thread::scope(|threads| {
            let taker = threads.spawn(|| take(&queue, 3, LONG));
            queue.push([7; COMPLETION]);
            assert_eq!(taker.join().expect("taken"), [7; COMPLETION]);
            let taker = threads.spawn(|| take(&queue, 3, LONG));
            queue.wake();
            assert_eq!(taker.join().expect("woken"), []);
        });
        // A wake that nobody waited for is not lost.
        queue.wake();
        assert_eq!(take(&queue, 3, LONG), []);
    }
}
