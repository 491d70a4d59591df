//! Texts that go out: into a caller's buffer, or as constants that live for ever.

use std::ffi::{CStr, c_char};

use crate::boundary;
use crate::status::{Failure, tollgate_status::*};

/// Copies `text` into a buffer, as much as fits, always with a NUL behind it, and reports the whole length.
///
/// # Safety
/// `buffer` is NULL or points to `capacity` writable bytes; `length` is NULL or writable.
pub(super) unsafe fn copy(
    text: &str,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Result<(), Failure> {
    let length = boundary::out_pointer(length, "length")?;
    if buffer.is_null() && capacity > 0 {
        return Err(Failure::null("buffer"));
    }
    // SAFETY: not NULL, and the caller vouches for it.
    unsafe { length.write(text.len()) };
    if capacity > 0 {
        let mut fits = text.len().min(capacity - 1);
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        // SAFETY: `fits` bytes and the NUL are at most `capacity`, and a lent buffer doesn't overlap our own
        // text.
        unsafe {
            buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), fits);
            buffer.add(fits).write(0);
        }
    }
    if capacity <= text.len() {
        return Err(Failure::new(
            TOLLGATE_BUFFER_TOO_SMALL,
            format!("buffer has {capacity} bytes: the text needs {} with its final NUL", text.len() + 1),
        ));
    }
    Ok(())
}

/// Hands out a constant.
///
/// # Safety
/// `out` is NULL or writable.
pub(super) unsafe fn constant(
    text: &'static CStr,
    out: *mut *const c_char,
    argument: &str,
) -> Result<(), Failure> {
    let out = boundary::out_pointer(out, argument)?;
    // SAFETY: not NULL, and the caller vouches for it.
    unsafe { out.write(text.as_ptr()) };
    Ok(())
}
