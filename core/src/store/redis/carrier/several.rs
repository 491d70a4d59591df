//! Several hits of one caller, which queue and leave as one: in one batch, whatever else waits.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Hit, Load, Reply, Task, no_answer};
use crate::store::redis::batch::Landing;
use crate::store::redis::reading;
use crate::store::{Fault, Reading};

/// Hits of one caller that haven't come to their end.
pub(in super::super) struct Several {
    /// Each with its place on the board.
    pub(in super::super) hits: Vec<(usize, Hit)>,
    pub(in super::super) board: Arc<Board>,
}

/// What became of the hits of one call. What is known of one stays known though the time runs out over another.
pub(in super::super) struct Board(Mutex<Vec<Option<Result<Reading, Fault>>>>);

impl Board {
    pub(in super::super) fn new(hits: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(vec![None; hits])))
    }

    /// Ends what hasn't ended at these places.
    pub(in super::super) fn fail(&self, places: &[usize], fault: &Fault) {
        let mut results = self.0.lock();
        for place in places {
            results[*place].get_or_insert_with(|| Err(fault.clone()));
        }
    }

    /// What became of each hit, in their order.
    pub(in super::super) fn take(&self) -> Vec<Result<Reading, Fault>> {
        let results = std::mem::take(&mut *self.0.lock());
        results.into_iter().map(|result| result.unwrap_or_else(|| Err(no_answer()))).collect()
    }

    fn put(&self, place: usize, result: Result<Reading, Fault>) {
        // The caller may have left and taken what there was.
        if let Some(known) = self.0.lock().get_mut(place) {
            *known = Some(result);
        }
    }
}

/// Which tasks of a batch a load was.
pub(super) enum Bill {
    One,
    Several { places: Vec<usize>, board: Arc<Board> },
}

/// The tasks of loads, in their order.
pub(super) fn unpack(loads: Vec<Load>) -> (Vec<Task>, Vec<Bill>) {
    let (mut tasks, mut bills) = (Vec::with_capacity(loads.len()), Vec::with_capacity(loads.len()));
    for load in loads {
        match load {
            Load::One(task) => {
                tasks.push(task);
                bills.push(Bill::One);
            }
            Load::Several(Several { hits, board }) => {
                bills.push(Bill::Several { places: hits.iter().map(|(place, _)| *place).collect(), board });
                tasks.extend(hits.into_iter().map(|(_, hit)| Task::Hit(hit)));
            }
        }
    }
    (tasks, bills)
}

/// What became of loads, by what became of their tasks.
pub(super) fn pack(
    bills: Vec<Bill>,
    mut landings: impl Iterator<Item = Landing<Task, Reply>>,
) -> Vec<Landing<Load, Reply>> {
    let mut next = || landings.next().unwrap_or_else(|| Landing::Done(Err(no_answer())));
    let mut land = |bill| match bill {
        Bill::One => match next() {
            Landing::Done(result) => Landing::Done(result),
            Landing::Again(task) => Landing::Again(Load::One(task)),
        },
        Bill::Several { places, board } => {
            let mut hits = Vec::new();
            for place in places {
                match next() {
                    Landing::Done(result) => board.put(place, result.and_then(reading)),
                    Landing::Again(Task::Hit(hit)) => hits.push((place, hit)),
                    Landing::Again(_) => {}
                }
            }
            match hits.is_empty() {
                // The board says what.
                true => Landing::Done(Ok(Reply::Values(Vec::new()))),
                false => Landing::Again(Load::Several(Several { hits, board })),
            }
        }
    };
    bills.into_iter().map(&mut land).collect()
}
