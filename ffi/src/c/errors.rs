//! What went wrong, and which library this is.

use std::ffi::{CStr, c_char};

use super::text;
use crate::boundary::boundary;
use crate::status::{self, Failure, tollgate_status, tollgate_status::*};

/// The text and the code of this thread's last failure. A call that succeeds changes neither; before the
/// first failure the text is empty and the code TOLLGATE_OK.
///
/// `buffer` gets the text and a final NUL, cut where it is longer than `capacity` - 1 bytes; `length` gets
/// the length of the whole text. 512 bytes are enough for most. `code` may be NULL.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT or TOLLGATE_BUFFER_TOO_SMALL, and does not itself become the
/// last failure.
///
/// # Safety
/// `buffer` has `capacity` writable bytes; `length` and `code` are writable or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_last_error(
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    code: *mut tollgate_status,
) -> tollgate_status {
    let last = status::last();
    let result = boundary!(c {
        let (text, status) = last.as_ref().map_or(("", TOLLGATE_OK), |last| (&*last.text, last.status));
        if !code.is_null() {
            // SAFETY: not NULL, and the caller vouches for it.
            unsafe { code.write(status) };
        }
        // SAFETY: passed on.
        unsafe { text::copy(text, buffer, capacity, length) }
    });
    if let Some(last) = last {
        status::remember(last);
    }
    result
}

/// The name of a status, like "TOLLGATE_CLOSED": a constant that ends with a NUL and is never freed.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, or TOLLGATE_BAD_VALUE for a number that is no status.
///
/// # Safety
/// `name` is writable or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_status_name(status: i32, name: *mut *const c_char) -> tollgate_status {
    boundary!(c {
        let known = usize::try_from(status).ok().and_then(|at| tollgate_status::ALL.get(at));
        let known = known.ok_or_else(|| {
            Failure::new(TOLLGATE_BAD_VALUE, format!("status {status} is none: use a tollgate_status"))
        })?;
        // SAFETY: passed on.
        unsafe { text::constant(status_name(*known), name, "name") }
    })
}

/// The version of this library, like "0.1.0": a constant that ends with a NUL and is never freed.
///
/// Returns TOLLGATE_OK or TOLLGATE_NULL_ARGUMENT.
///
/// # Safety
/// `version` is writable or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_version(version: *mut *const c_char) -> tollgate_status {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => unreachable!(),
        };
    boundary!(c {
        // SAFETY: passed on.
        unsafe { text::constant(VERSION, version, "version") }
    })
}

const fn status_name(status: tollgate_status) -> &'static CStr {
    match status {
        TOLLGATE_OK => c"TOLLGATE_OK",
        TOLLGATE_NULL_ARGUMENT => c"TOLLGATE_NULL_ARGUMENT",
        TOLLGATE_CLOSED => c"TOLLGATE_CLOSED",
        TOLLGATE_FOREIGN_RULE => c"TOLLGATE_FOREIGN_RULE",
        TOLLGATE_TOO_LONG => c"TOLLGATE_TOO_LONG",
        TOLLGATE_NOT_UTF8 => c"TOLLGATE_NOT_UTF8",
        TOLLGATE_BAD_SIZE => c"TOLLGATE_BAD_SIZE",
        TOLLGATE_BAD_VALUE => c"TOLLGATE_BAD_VALUE",
        TOLLGATE_BAD_OPTION => c"TOLLGATE_BAD_OPTION",
        TOLLGATE_BAD_RULE => c"TOLLGATE_BAD_RULE",
        TOLLGATE_BAD_SETTING => c"TOLLGATE_BAD_SETTING",
        TOLLGATE_STORE_FAULT => c"TOLLGATE_STORE_FAULT",
        TOLLGATE_NOT_FOUND => c"TOLLGATE_NOT_FOUND",
        TOLLGATE_BUFFER_TOO_SMALL => c"TOLLGATE_BUFFER_TOO_SMALL",
        TOLLGATE_TOO_MANY => c"TOLLGATE_TOO_MANY",
        TOLLGATE_IN_CALLBACK => c"TOLLGATE_IN_CALLBACK",
        TOLLGATE_PANIC => c"TOLLGATE_PANIC",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_constants_own() {
        for status in tollgate_status::ALL {
            assert_eq!(status_name(status).to_str(), Ok(&*format!("{status:?}")));
        }
    }
}
