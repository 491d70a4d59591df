//! Lines that wait for Java's log thread: bounded, the oldest make room.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

const MAX_LINES: usize = 1024;
/// Level of the line that tells how many were lost.
const WARN: u8 = 2;

/// The queue of this copy of the library.
pub(crate) static QUEUE: Queue = Queue::new();

pub(crate) struct Queue {
    /// The most detailed level that somebody waits for, 0 for nobody. An atomic of its own so that an
    /// unwanted event costs one load.
    level: AtomicU8,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    lines: VecDeque<(u8, String)>,
    lost: u64,
    /// Grows with each start and stop: whoever takes with an older one is over.
    turn: u64,
}

impl Queue {
    const fn new() -> Self {
        Self {
            level: AtomicU8::new(0),
            waiting: Mutex::new(Waiting { lines: VecDeque::new(), lost: 0, turn: 0 }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn level(&self) -> u8 {
        self.level.load(Ordering::Relaxed)
    }

    /// Keeps lines up to `level` for whoever takes with the turn that this gives.
    pub(crate) fn start(&self, level: u8) -> u64 {
        let mut waiting = self.waiting.lock();
        waiting.turn += 1;
        self.level.store(level, Ordering::Relaxed);
        waiting.turn
    }

    /// Keeps no more lines; those that wait can still be taken.
    pub(crate) fn stop(&self) {
        let mut waiting = self.waiting.lock();
        waiting.turn += 1;
        self.level.store(0, Ordering::Relaxed);
        drop(waiting);
        self.changed.notify_all();
    }

    pub(super) fn push(&self, level: u8, line: &str) {
        let mut waiting = self.waiting.lock();
        if waiting.lines.len() == MAX_LINES {
            waiting.lines.pop_front();
            waiting.lost += 1;
        }
        waiting.lines.push_back((level, line.to_owned()));
        drop(waiting);
        self.changed.notify_one();
    }

    /// Takes what waits and keeps lines up to `level` from now on. With nothing there waits for a line, for
    /// the end of `turn` or of `patience`.
    pub(crate) fn take(&self, turn: u64, level: u8, patience: Duration) -> Vec<(u8, String)> {
        let until = Instant::now() + patience;
        let mut waiting = self.waiting.lock();
        if waiting.turn == turn {
            self.level.store(level, Ordering::Relaxed);
        }
        while waiting.lines.is_empty() && waiting.turn == turn {
            if self.changed.wait_until(&mut waiting, until).timed_out() {
                break;
            }
        }
        let lost = std::mem::take(&mut waiting.lost);
        let mut lines = Vec::from(std::mem::take(&mut waiting.lines));
        drop(waiting);
        if lost > 0 {
            lines.insert(
                0,
                (WARN, format!("{lost} log lines were lost: the logger is slower than what is logged")),
            );
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_oldest_lines_make_room_and_are_counted() {
        let queue = Queue::new();
        let turn = queue.start(5);
        for n in 0..MAX_LINES + 3 {
            queue.push(1, &n.to_string());
        }
        let lines = queue.take(turn, 5, LONG);
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert!(lines[0].1.starts_with("3 log lines were lost"), "{}", lines[0].1);
        assert_eq!((lines[1].1.as_str(), lines[MAX_LINES].1.as_str()), ("3", "1026"));
        assert_eq!(queue.take(turn, 5, Duration::ZERO), []);
    }

    #[test]
    fn waiting_ends_with_a_line_or_with_the_turn() {
        let queue = Queue::new();
        let turn = queue.start(5);
        std::thread::scope(|threads| {
            let taker = threads.spawn(|| queue.take(turn, 5, LONG));
            queue.push(3, "line");
            assert_eq!(taker.join().expect("taken"), [(3, "line".to_owned())]);
            let taker = threads.spawn(|| queue.take(turn, 5, LONG));
            queue.stop();
            assert_eq!(taker.join().expect("taken"), []);
        });
        let next = queue.start(4);
        queue.push(3, "next");
        // Late, of a turn that is over: it takes what is there, waits for nothing and changes no level.
        assert_eq!(queue.take(turn, 5, LONG).len(), 1);
        assert_eq!(queue.take(turn, 5, LONG), []);
        assert_eq!(queue.level(), 4);
        assert_eq!(queue.take(next, 2, Duration::ZERO), []);
        assert_eq!(queue.level(), 2);
    }
}
