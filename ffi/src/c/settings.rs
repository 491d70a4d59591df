//! The live settings.

use std::ffi::{c_char, c_void};

use super::{text, tollgate_limiter};
use crate::boundary::{self, boundary};
use crate::limiters;
use crate::status::{Failure, tollgate_status, tollgate_status::*};

/// Receives one setting: its field, its value (each UTF-8 with its length, valid during the call) and what
/// was given to tollgate_settings_list. It may call any function of this library.
#[allow(non_camel_case_types)]
pub type tollgate_setting_callback = Option<
    unsafe extern "C" fn(
        field: *const c_char,
        field_len: usize,
        value: *const c_char,
        value_len: usize,
        userdata: *mut c_void,
    ),
>;

/// Reads one setting, like "wms.Order.list.limit", from the store. Blocks for a second at most.
///
/// `buffer` gets the value and a final NUL, cut where it is longer than `capacity` - 1 bytes; `length` gets
/// the length of the whole value.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
/// TOLLGATE_STORE_FAULT, TOLLGATE_NOT_FOUND or TOLLGATE_BUFFER_TOO_SMALL.
///
/// # Safety
/// `field` has `field_len` readable bytes, `buffer` has `capacity` writable ones, `length` is writable; or
/// they are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_settings_get(
    limiter: *mut tollgate_limiter,
    field: *const c_char,
    field_len: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> tollgate_status {
    boundary!(c {
        let open = limiters::get(boundary::handle(limiter, "limiter")?)?;
        // SAFETY: passed on.
        let field = unsafe { boundary::text(field, field_len, "field") }?;
        let value = open.limiter.setting(field)?.ok_or_else(|| {
            Failure::new(
                TOLLGATE_NOT_FOUND,
                format!("setting {field:?} is not there: a rule's settings appear with its first hit"),
            )
        })?;
        // SAFETY: passed on.
        unsafe { text::copy(&value, buffer, capacity, length) }
    })
}

/// Writes one setting to the store. The next hit obeys, in every process that shares the store. Blocks for a
/// second at most.
///
/// Fields are "<module>.<rule>.check" ("true", "false" or "shadow"), ".interval" (seconds), ".limit", and
/// "log.check".
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
/// TOLLGATE_BAD_SETTING or TOLLGATE_STORE_FAULT.
///
/// # Safety
/// `field` has `field_len` readable bytes and `value` `value_len`; or they are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_settings_set(
    limiter: *mut tollgate_limiter,
    field: *const c_char,
    field_len: usize,
    value: *const c_char,
    value_len: usize,
) -> tollgate_status {
    boundary!(c {
        let open = limiters::get(boundary::handle(limiter, "limiter")?)?;
        // SAFETY: passed on.
        let field = unsafe { boundary::text(field, field_len, "field") }?;
        // SAFETY: passed on.
        let value = unsafe { boundary::text(value, value_len, "value") }?;
        Ok(open.limiter.set(field, value)?)
    })
}

/// Reads all settings from the store and calls `callback` on this thread with each, ordered by field. Blocks
/// for a second at most.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED or TOLLGATE_STORE_FAULT.
///
/// # Safety
/// `callback` is NULL or a function of that type that can be called with `userdata` and does not throw.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_settings_list(
    limiter: *mut tollgate_limiter,
    callback: tollgate_setting_callback,
    userdata: *mut c_void,
) -> tollgate_status {
    boundary!(c {
        let open = limiters::get(boundary::handle(limiter, "limiter")?)?;
        let callback = callback.ok_or_else(|| Failure::null("callback"))?;
        for (field, value) in open.limiter.settings()? {
            // SAFETY: the texts live during the call; for the function the caller vouches.
            unsafe { callback(field.as_ptr().cast(), field.len(), value.as_ptr().cast(), value.len(), userdata) };
        }
        Ok(())
    })
}
