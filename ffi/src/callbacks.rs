//! Calls out to functions of C hosts: what they may call meanwhile, and that they don't nest without end.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::status::{self, Failure, tollgate_status::*};

type Call = Box<dyn FnOnce()>;

thread_local! {
    /// How many callbacks this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Calls that wait until the one that caused them has returned; None while there is none.
    static QUEUE: RefCell<Option<VecDeque<Call>>> = const { RefCell::new(None) };
}

/// Refuses what would wait for the callback that it is called from.
pub(crate) fn outside(function: &str) -> Result<(), Failure> {
    if DEPTH.get() > 0 {
        return Err(Failure::new(
            TOLLGATE_IN_CALLBACK,
            format!("{function} was called by a callback: call it from elsewhere"),
        ));
    }
    Ok(())
}

/// Calls a callback. The last error of a call that it comes amid stays what it is.
pub(crate) fn call(callback: impl FnOnce()) {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    DEPTH.set(DEPTH.get() + 1);
    let _leave = Leave;
    status::aside(callback);
}

/// Calls a callback, after the one of this kind that this thread is in. One that causes the next, and that the next
/// one, would otherwise use up the stack.
pub(crate) fn call_in_turn(callback: impl FnOnce() + 'static) {
    // Fails on a thread that is ending, which has nothing under way.
    let waits = QUEUE.try_with(|queue| queue.borrow().is_some()).unwrap_or(false);
    if waits {
        QUEUE.with_borrow_mut(|queue| queue.get_or_insert_default().push_back(Box::new(callback)));
        return;
    }
    let _ = QUEUE.try_with(|queue| queue.replace(Some(VecDeque::new())));
    call(callback);
    while let Some(next) = QUEUE.try_with(next).ok().flatten() {
        call(next);
    }
}

/// The next call; without one the turn ends.
fn next(queue: &RefCell<Option<VecDeque<Call>>>) -> Option<Call> {
    let mut queue = queue.borrow_mut();
    let next = queue.as_mut()?.pop_front();
    if next.is_none() {
        *queue = None;
    }
    next
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn callbacks_are_told_from_the_rest() {
        assert!(outside("f").is_ok());
        call(|| {
            call(|| assert!(outside("f").is_err()));
            assert_eq!(outside("f").expect_err("inside").status, TOLLGATE_IN_CALLBACK);
        });
        assert!(outside("f").is_ok());
    }

    #[test]
    fn a_chain_of_callbacks_does_not_nest() {
        fn chain(left: u32, depths: Rc<RefCell<Vec<u32>>>) {
            call_in_turn(move || {
                depths.borrow_mut().push(DEPTH.get());
                if left > 0 {
                    chain(left - 1, depths.clone());
                }
            });
        }
        let depths = Rc::new(RefCell::new(Vec::new()));
        chain(100_000, depths.clone());
        assert_eq!(depths.borrow().len(), 100_001);
        assert!(depths.borrow().iter().all(|depth| *depth == 1));
        assert!(QUEUE.with_borrow(Option::is_none));
    }
}
