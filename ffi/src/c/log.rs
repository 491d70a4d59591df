//! The log callback.

use std::ffi::c_void;

use crate::boundary::boundary;
use crate::logs::{self, tollgate_log_callback};
use crate::status::{Failure, tollgate_status, tollgate_status::*};

/// Levels of log lines.
#[repr(i32)]
#[allow(non_camel_case_types)]
pub enum tollgate_level {
    /// An operator must know: the store fails, a setting is ignored.
    TOLLGATE_LEVEL_ERROR = 1,
    /// Something is not as it should be.
    TOLLGATE_LEVEL_WARN = 2,
    /// Good to know: the store answers again.
    TOLLGATE_LEVEL_INFO = 3,
    /// For developers.
    TOLLGATE_LEVEL_DEBUG = 4,
    /// For developers, in detail.
    TOLLGATE_LEVEL_TRACE = 5,
}

/// Sends the log lines of all limiters up to `max_level` (a tollgate_level) to `callback`; NULL ends that.
/// Without a callback nothing is logged.
///
/// Any thread may call it, several at once, also those inside tollgate_acquire: it must be quick, must not
/// throw, and whatever it logs itself through this library is dropped. Calling tollgate_on_log or
/// tollgate_close from it gives TOLLGATE_IN_CALLBACK. `userdata` is handed to it and never touched. When this
/// returns, the callback before is not running any more and its userdata may be freed.
///
/// Returns TOLLGATE_OK, TOLLGATE_BAD_VALUE or TOLLGATE_IN_CALLBACK.
///
/// # Safety
/// `callback` is NULL or a function of that type that any thread may call with `userdata` until it is
/// replaced, and that does not throw.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_on_log(
    max_level: i32,
    callback: tollgate_log_callback,
    userdata: *mut c_void,
) -> tollgate_status {
    boundary!(c {
        let level = u8::try_from(max_level).ok().filter(|level| callback.is_none() || (1..=5).contains(level));
        let level = level.ok_or_else(|| {
            Failure::new(TOLLGATE_BAD_VALUE, format!("max_level {max_level} is no level: use 1 (error) to 5 (trace)"))
        })?;
        logs::set_callback(level, callback, userdata)
    })
}
