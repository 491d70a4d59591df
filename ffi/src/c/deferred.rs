//! The decision that comes through a callback.

use std::ffi::{c_char, c_void};
use std::ptr;

use tollgate::{Decision, Identity};

use super::decision::told;
use super::{tollgate_decision, tollgate_limiter, tollgate_rule};
use crate::boundary::{self, MAX_USER, boundary};
use crate::callbacks;
use crate::limiters;
use crate::status::{self, Failure, tollgate_status, tollgate_status::*};
use crate::task;

/// Receives one decision: `TOLLGATE_OK` and the decision, valid during the call, or `TOLLGATE_PANIC` and NULL
/// (then `tollgate_last_error`, asked inside the callback, says more); and what was given to
/// `tollgate_acquire_async`.
#[allow(non_camel_case_types)]
pub type tollgate_decision_callback = Option<
    unsafe extern "C" fn(status: tollgate_status, decision: *const tollgate_decision, userdata: *mut c_void),
>;

type Function = unsafe extern "C" fn(tollgate_status, *const tollgate_decision, *mut c_void);

struct Callback {
    function: Function,
    userdata: *mut c_void,
}

// SAFETY: the pointer is only handed back, and `tollgate_acquire_async` demands that any thread may use what it
// points to.
unsafe impl Send for Callback {}

/// Counts one hit and decides it without waiting: `callback` gets the decision. If this returns TOLLGATE_OK it
/// is called exactly once, by the deadline at the latest, also when the store fails and when the limiter is closed
/// meanwhile; otherwise it is never called.
///
/// It is called on whatever thread brings the decision: where nothing has to be waited for on this one, before this
/// returns (from within a callback: after that one has returned), else on one of the library's or on one that is inside
/// another call of the same limiter. So it must be quick and must not throw: while it blocks, other decisions are late. It may call any function of this library except
/// tollgate_close and tollgate_on_log, which give TOLLGATE_IN_CALLBACK; tollgate_acquire and the tollgate_settings
/// functions would block, tollgate_acquire_async doesn't. Decisions may come in another order than the hits went.
/// `userdata` is handed to the callback and never touched.
///
/// `user` is as in tollgate_acquire and only read during the call. Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT,
/// TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8 or TOLLGATE_PANIC.
///
/// # Safety
/// `user` has `user_len` readable bytes or is NULL; `callback` is NULL or a function of that type that any thread
/// may call with `userdata`, until it was called, and that does not throw.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_acquire_async(
    limiter: *mut tollgate_limiter,
    rule: *mut tollgate_rule,
    user: *const c_char,
    user_len: usize,
    callback: tollgate_decision_callback,
    userdata: *mut c_void,
) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        let rule = boundary::handle(rule, "rule")?;
        // SAFETY: passed on.
        let user = unsafe { boundary::bytes(user, user_len, "user", MAX_USER) }?;
        let function = callback.ok_or_else(|| Failure::null("callback"))?;
        boundary::trip(user);
        let acquiring = limiters::acquire_async(limiter, rule, Identity::from_wtf8(user)?)?;
        let callback = Callback { function, userdata };
        task::start(acquiring, move |result| callbacks::call_in_turn(move || callback.call(result)));
        Ok(())
    })
}

impl Callback {
    fn call(self, result: Result<Decision, Failure>) {
        let decision = result.as_ref().ok().map(told);
        let status = result.err().map_or(TOLLGATE_OK, |failure| {
            let status = failure.status;
            status::remember(failure);
            status
        });
        // SAFETY: the decision lives during the call, and `tollgate_acquire_async` demands such a function.
        unsafe {
            (self.function)(status, decision.as_ref().map_or(ptr::null(), ptr::from_ref), self.userdata)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn see(
        status: tollgate_status,
        decision: *const tollgate_decision,
        userdata: *mut c_void,
    ) {
        let text = status::last().map(|last| last.text);
        // SAFETY: the test below hands over such a vector.
        unsafe { &mut *userdata.cast::<Vec<_>>() }.push((status, decision.is_null(), text));
    }

    #[test]
    fn a_defect_reaches_the_callback_with_its_text() {
        let mut seen: Vec<(tollgate_status, bool, Option<String>)> = Vec::new();
        let callback = Callback { function: see, userdata: (&raw mut seen).cast() };
        callbacks::call(|| callback.call(Err(Failure::new(TOLLGATE_PANIC, "asked to"))));
        assert_eq!(seen, [(TOLLGATE_PANIC, true, Some("asked to".to_owned()))]);
        assert!(status::last().is_none(), "it is no failure of the call that it came amid");
    }
}
