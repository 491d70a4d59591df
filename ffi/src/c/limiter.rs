//! The limiter object.

use std::ffi::c_char;
use std::time::Duration;

use super::text;
use crate::boundary::{self, SizedStruct, boundary};
use crate::callbacks;
use crate::limiters::{self, Options};
use crate::status::{Failure, tollgate_status, tollgate_status::*};

/// A limiter. Open one for a process; every function may use it from any thread.
///
/// Owned by whoever opened it, until tollgate_close. The pointer is a number that is looked up and never
/// memory: one that was closed gives TOLLGATE_CLOSED, whoever uses it and however late.
#[allow(non_camel_case_types)]
pub struct tollgate_limiter {
    _opaque: (),
}

/// What a hit gets while the store can't answer.
#[repr(i32)]
#[allow(non_camel_case_types)]
pub enum tollgate_on_fault {
    /// Not said: the limiter's policy for a rule, TOLLGATE_ON_FAULT_ALLOW for a limiter.
    TOLLGATE_ON_FAULT_DEFAULT = 0,
    /// It passes: a limiter is a guest of its host.
    TOLLGATE_ON_FAULT_ALLOW = 1,
    /// It is rejected.
    TOLLGATE_ON_FAULT_DENY = 2,
    /// It is counted in process memory until the store is back.
    TOLLGATE_ON_FAULT_LOCAL = 3,
}

/// Options of a limiter. Clear it with TOLLGATE_INIT; what stays zero has its default.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub struct tollgate_options {
    /// sizeof(tollgate_options); TOLLGATE_INIT sets it.
    pub size: usize,
    /// How long a hit waits for the store at most: 1 to 60,000 milliseconds, 100 by default.
    pub deadline_ms: u64,
    /// How long tollgate_open waits for the first connection at most: 1 to 60,000 milliseconds, 1,000 by
    /// default.
    pub connect_timeout_ms: u64,
    /// Counters held in process memory at most: 1 to 100,000,000, by default 1,000,000.
    pub max_counters: u64,
    /// The first part of every key, 64 bytes at most; NULL for "ratelimit". Copied.
    pub prefix: *const c_char,
    /// Bytes in prefix.
    pub prefix_len: usize,
    /// A tollgate_on_fault, for rules that don't say otherwise.
    pub on_fault: i32,
    /// 0.
    pub reserved: i32,
}

// SAFETY: `repr(C)`, the size first, integers and pointers only, and the assertion below excludes padding.
unsafe impl SizedStruct for tollgate_options {}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<tollgate_options>() == 56);

/// Opens a limiter.
///
/// `url` says where counters and settings stand: "memory:",
/// "redis://[[user]:password@]host[:port][/database]", the same with "rediss://" for TLS (also
/// "?ca=FILE&cert=FILE&key=FILE"), "unix:///path/to/socket[?db=1&user=u&pass=p]",
/// "redis-sentinel://[[user]:password@]host[:port],...[/database]?sentinelMasterId=name" or
/// "redis-cluster://[[user]:password@]host[:port],..."; 4,096 bytes at most. A server that can't be reached is no
/// error: hits get the fault policy until it is there. `options` may be NULL for the defaults. Both are only
/// read during the call.
///
/// `limiter` gets the limiter, which the caller closes with tollgate_close.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8, TOLLGATE_BAD_SIZE,
/// TOLLGATE_BAD_VALUE, TOLLGATE_BAD_OPTION or TOLLGATE_TOO_MANY.
///
/// # Safety
/// `url` has `url_len` readable bytes, `options` as many as its size says; `limiter` is writable; or they are
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_open(
    url: *const c_char,
    url_len: usize,
    options: *const tollgate_options,
    limiter: *mut *mut tollgate_limiter,
) -> tollgate_status {
    boundary!(c {
        // SAFETY: passed on.
        let url = unsafe { boundary::text(url, url_len, "url") }?;
        // SAFETY: passed on.
        let options = if options.is_null() { Options::default() } else { unsafe { read_options(options) }? };
        let limiter = boundary::out_pointer(limiter, "limiter")?;
        let handle = limiters::open(url, &options)?;
        // SAFETY: not NULL, and the caller vouches for it.
        unsafe { limiter.write(boundary::pointer(handle)) };
        Ok(())
    })
}

/// # Safety
/// `options` has as many readable bytes as its size says, and its prefix as many as its length.
unsafe fn read_options<'a>(options: *const tollgate_options) -> Result<Options<'a>, Failure> {
    // SAFETY: passed on.
    let options = unsafe { boundary::read(options, "options") }?;
    if options.reserved != 0 {
        return Err(Failure::new(
            TOLLGATE_BAD_VALUE,
            format!("options.reserved is {}: clear the struct, it must be 0", options.reserved),
        ));
    }
    let said = |value: u64| Some(value).filter(|value| *value != 0);
    Ok(Options {
        deadline: said(options.deadline_ms).map(Duration::from_millis),
        connect_timeout: said(options.connect_timeout_ms).map(Duration::from_millis),
        on_fault: limiters::on_fault(options.on_fault)?,
        // SAFETY: passed on.
        prefix: unsafe { boundary::optional_text(options.prefix, options.prefix_len, "options.prefix") }?,
        max_counters: said(options.max_counters),
    })
}

/// Closes a limiter and frees it with its rules and connections. Calls that are under way on other threads
/// finish, and so do hits of tollgate_acquire_async: each callback is called as if nothing had happened, by its
/// deadline at the latest. Later calls get TOLLGATE_CLOSED.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED when it was closed before, or
/// TOLLGATE_IN_CALLBACK.
///
/// # Safety
/// Always safe; any value may be passed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_close(limiter: *mut tollgate_limiter) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        // Closing may wait for the thread that the callback is on.
        callbacks::outside("tollgate_close")?;
        limiters::close(limiter)
    })
}

/// Where a limiter's counters stand, like "memory" or "redis 127.0.0.1:6379": never a password.
///
/// `buffer` gets the text and a final NUL, cut where it is longer than `capacity` - 1 bytes; `length` gets
/// the length of the whole text.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED or TOLLGATE_BUFFER_TOO_SMALL.
///
/// # Safety
/// `buffer` has `capacity` writable bytes; `length` is writable or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_store(
    limiter: *mut tollgate_limiter,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> tollgate_status {
    boundary!(c {
        let open = limiters::get(boundary::handle(limiter, "limiter")?)?;
        // SAFETY: passed on.
        unsafe { text::copy(&open.limiter.stats().store.name, buffer, capacity, length) }
    })
}
