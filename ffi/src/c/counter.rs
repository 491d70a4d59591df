//! One user's counter, for operators' tools.

use std::ffi::c_char;

use tollgate::Identity;

use super::{tollgate_limiter, tollgate_rule};
use crate::boundary::{self, MAX_USER, SizedStruct, boundary};
use crate::limiters;
use crate::status::{Failure, tollgate_status, tollgate_status::*};

/// A user's counter as it stands in the store. Set size, or use TOLLGATE_INIT.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub struct tollgate_counter_snapshot {
    /// sizeof(tollgate_counter_snapshot); TOLLGATE_INIT sets it.
    pub size: usize,
    /// Hits so far in the window, rejected ones too.
    pub count: u64,
    /// Milliseconds until the window ends; 0 for a counter whose end was lost, which its next hit gives one.
    pub ends_in_ms: u64,
}

// SAFETY: `repr(C)`, the size first, integers only, and the assertion below excludes padding.
unsafe impl SizedStruct for tollgate_counter_snapshot {}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<tollgate_counter_snapshot>() == 24);

/// Looks at a user's counter: counts nothing and changes nothing, not even the window's end. Blocks for a second at most.
///
/// `user` is as in tollgate_acquire; `counter` is only written on success. What this process counted by itself while the
/// store was away isn't there.
///
/// Returns TOLLGATE_OK, TOLLGATE_NOT_FOUND where nothing is counted, TOLLGATE_STORE_FAULT also where something stands there that
/// is no counter, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
/// TOLLGATE_BAD_SIZE or TOLLGATE_PANIC.
///
/// # Safety
/// `user` has `user_len` readable bytes; `counter` as many writable ones as its size says; or they are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_counter(
    limiter: *mut tollgate_limiter,
    rule: *mut tollgate_rule,
    user: *const c_char,
    user_len: usize,
    counter: *mut tollgate_counter_snapshot,
) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        let rule = boundary::handle(rule, "rule")?;
        // SAFETY: passed on.
        let user = unsafe { boundary::bytes(user, user_len, "user", MAX_USER) }?;
        // SAFETY: passed on.
        let out = unsafe { boundary::out(counter, "counter") }?;
        let found = limiters::counter(limiter, rule, Identity::from_wtf8(user)?)?.ok_or_else(nothing)?;
        let ends_in_ms = found.ends_in.map_or(0, limiters::millis);
        let size = out.size;
        out.set(tollgate_counter_snapshot { size, count: found.count, ends_in_ms });
        Ok(())
    })
}

/// Removes a user's counter, or what else stands in its place: the next hit begins a window. Blocks for a second at most.
///
/// Returns TOLLGATE_OK where there was something, TOLLGATE_NOT_FOUND where there was nothing, TOLLGATE_STORE_FAULT,
/// TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8 or TOLLGATE_PANIC.
///
/// # Safety
/// `user` has `user_len` readable bytes or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_clear(
    limiter: *mut tollgate_limiter,
    rule: *mut tollgate_rule,
    user: *const c_char,
    user_len: usize,
) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        let rule = boundary::handle(rule, "rule")?;
        // SAFETY: passed on.
        let user = unsafe { boundary::bytes(user, user_len, "user", MAX_USER) }?;
        match limiters::clear(limiter, rule, Identity::from_wtf8(user)?)? {
            true => Ok(()),
            false => Err(nothing()),
        }
    })
}

fn nothing() -> Failure {
    Failure::new(TOLLGATE_NOT_FOUND, "nothing is counted for this user: the next hit begins a window")
}
