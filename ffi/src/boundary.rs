//! The edge to other languages: the only `catch_unwind`, NULL and size checks, and the casts between pointers
//! and handles.
//!
//! Every exported body runs in [`boundary!`], which turns a [`Failure`] or a panic into a status code (C) or
//! an exception (Java).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::logs;
use crate::status::{Failure, remember, tollgate_status, tollgate_status::*};

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must unwind to the boundary to become an error code: build with panic = \"unwind\"");

/// Runs an exported body: `boundary!(c { … })` gives its status, `boundary!(jni env { … })` its value or,
/// with an exception pending, the value's default.
macro_rules! boundary {
    (c $body:block) => {
        $crate::boundary::to_status(|| $body)
    };
    (jni $env:ident $body:block) => {
        match $crate::boundary::caught(|| $body) {
            Ok(value) => value,
            Err(failure) => {
                $crate::jni::throw(&mut $env, &failure);
                Default::default()
            }
        }
    };
}
pub(crate) use boundary;

thread_local! {
    /// How many exported bodies this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Where and why this thread panicked, from the hook.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `body`; a panic in it ends here.
pub(crate) fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(install);
    DEPTH.set(DEPTH.get() + 1);
    // What a panic leaves half done inside is the limiter's own state, whose locks don't poison.
    let result = catch_unwind(AssertUnwindSafe(body));
    DEPTH.set(DEPTH.get() - 1);
    result.unwrap_or_else(|payload| Err(panicked(payload)))
}

pub(crate) fn to_status(body: impl FnOnce() -> Result<(), Failure>) -> tollgate_status {
    match caught(body) {
        Ok(()) => TOLLGATE_OK,
        Err(failure) => {
            let status = failure.status;
            remember(failure);
            status
        }
    }
}

/// Sets up what the first call of any kind needs: logs and the panic hook.
fn install() {
    logs::install();
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if DEPTH.get() == 0 {
            return previous(info);
        }
        // Into the log rather than onto the host's stderr.
        let text = format!("defect in tollgate: {}", info.to_string().replace('\n', " "));
        tracing::error!(target: "tollgate", "{text}");
        // Fails on a thread that is ending, whose caller gets a shorter text.
        let _ = PANIC.try_with(|panic| panic.replace(Some(text)));
    }));
}

fn panicked(payload: Box<dyn Any + Send>) -> Failure {
    if !payload.is::<String>() && !payload.is::<&str>() {
        // Somebody's own payload, whose destructor could panic again.
        std::mem::forget(payload);
    }
    let text = PANIC.try_with(RefCell::take).ok().flatten();
    let text = text.unwrap_or_else(|| "defect in tollgate".to_owned());
    Failure::new(TOLLGATE_PANIC, format!("{text}; the limiter goes on working, please report this"))
}

/// Panics for one user, in builds for tests.
pub(crate) fn trip(user: &[u8]) {
    if cfg!(feature = "test-panic") && user == b"panic now" {
        panic!("asked to");
    }
}

/// The most bytes that a user may have in C.
pub(crate) const MAX_USER: usize = 1 << 20;
/// The most bytes that any other text may have in C.
pub(crate) const MAX_TEXT: usize = 4096;
/// No struct grows to this; a larger size is a field that was never set.
const MAX_STRUCT: usize = 4096;

/// The handle that a pointer is. It is never dereferenced.
pub(crate) fn handle<T>(pointer: *mut T, argument: &str) -> Result<usize, Failure> {
    if pointer.is_null() { Err(Failure::null(argument)) } else { Ok(pointer.addr()) }
}

/// The pointer that a handle is.
pub(crate) fn pointer<T>(handle: usize) -> *mut T {
    std::ptr::without_provenance_mut(handle)
}

/// Bytes that a caller lends for the time of a call.
///
/// # Safety
/// `data` is NULL or points to `length` readable bytes.
pub(crate) unsafe fn bytes<'a>(
    data: *const c_char,
    length: usize,
    argument: &str,
    max: usize,
) -> Result<&'a [u8], Failure> {
    if data.is_null() {
        return Err(Failure::new(
            TOLLGATE_NULL_ARGUMENT,
            format!("{argument} is NULL: pass a text and its length in bytes"),
        ));
    }
    if length > max {
        return Err(Failure::new(
            TOLLGATE_TOO_LONG,
            format!("{argument} has {length} bytes: {max} are the most, and the length is in bytes"),
        ));
    }
    // SAFETY: not NULL, and the caller vouches for `length` bytes.
    Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) })
}

/// Text that a caller lends for the time of a call.
///
/// # Safety
/// As [`bytes`].
pub(crate) unsafe fn text<'a>(
    data: *const c_char,
    length: usize,
    argument: &str,
) -> Result<&'a str, Failure> {
    // SAFETY: passed on.
    utf8(unsafe { bytes(data, length, argument, MAX_TEXT) }?, argument)
}

/// Text that may be left out with NULL.
///
/// # Safety
/// As [`bytes`].
pub(crate) unsafe fn optional_text<'a>(
    data: *const c_char,
    length: usize,
    argument: &str,
) -> Result<Option<&'a str>, Failure> {
    if data.is_null() {
        return Ok(None);
    }
    // SAFETY: passed on.
    unsafe { text(data, length, argument) }.map(Some)
}

/// `bytes` as text.
pub(crate) fn utf8<'a>(bytes: &'a [u8], argument: &str) -> Result<&'a str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| {
        Failure::new(
            TOLLGATE_NOT_UTF8,
            format!(
                "{argument} \"{}\" is not UTF-8 at byte {}: pass UTF-8 text without lone surrogates",
                bytes.escape_ascii(),
                error.valid_up_to()
            ),
        )
    })
}

/// Marks the structs of the C interface.
///
/// # Safety
/// The type is `repr(C)`, begins with `size: usize`, holds integers and pointers only, and has no padding.
pub(crate) unsafe trait SizedStruct: Copy {}

/// Reads a struct by its size field. One that is larger than this library knows may only hold zeros there.
///
/// # Safety
/// `data` is NULL or points to a struct whose size field is set and that has as many readable bytes.
pub(crate) unsafe fn read<T: SizedStruct>(data: *const T, argument: &str) -> Result<T, Failure> {
    // SAFETY: passed on.
    let size = unsafe { size_of_struct(data, argument) }?;
    let known = size_of::<T>();
    // SAFETY: the caller vouches for `size` bytes, and `size` is at least `known`.
    let rest = unsafe { std::slice::from_raw_parts(data.cast::<u8>().add(known), size - known) };
    if rest.iter().any(|byte| *byte != 0) {
        return Err(Failure::new(
            TOLLGATE_BAD_SIZE,
            format!(
                "{argument} uses a field that this library doesn't know: clear it, or use the library of your header"
            ),
        ));
    }
    // SAFETY: `known` bytes are readable, and any bits make a T.
    Ok(unsafe { data.read_unaligned() })
}

/// Reads an array of structs, which lie as far apart as the first one's size says.
///
/// # Safety
/// `data` is NULL or points to `count` structs as [`read`] wants them, all of one size.
pub(crate) unsafe fn read_all<T: SizedStruct>(
    data: *const T,
    count: usize,
    argument: &str,
) -> Result<Vec<T>, Failure> {
    // SAFETY: passed on.
    let size = unsafe { size_of_structs(data, count, argument) }?;
    // SAFETY: passed on; each lies within the array.
    (0..count).map(|at| unsafe { read(data.byte_add(at * size), &format!("{argument}[{at}]")) }).collect()
}

/// Checks an array of out-structs.
///
/// # Safety
/// As [`read_all`], and writable.
pub(crate) unsafe fn out_all<T: SizedStruct>(
    data: *mut T,
    count: usize,
    argument: &str,
) -> Result<Vec<Out<T>>, Failure> {
    // SAFETY: passed on.
    let size = unsafe { size_of_structs(data, count, argument) }?;
    // SAFETY: each lies within the array.
    Ok((0..count).map(|at| Out { data: unsafe { data.byte_add(at * size) }, size }).collect())
}

/// # Safety
/// `data` is NULL or points to `count` structs, each of which has as many readable bytes as the first one's size says.
unsafe fn size_of_structs<T: SizedStruct>(
    data: *const T,
    count: usize,
    argument: &str,
) -> Result<usize, Failure> {
    // SAFETY: passed on.
    let size = unsafe { size_of_struct(data, &format!("{argument}[0]")) }?;
    for at in 1..count {
        // SAFETY: it lies within the array and begins with its size.
        let own = unsafe { data.byte_add(at * size).cast::<usize>().read_unaligned() };
        if own != size {
            return Err(Failure::new(
                TOLLGATE_BAD_SIZE,
                format!("{argument}[{at}].size is {own} and that of the first is {size}: set all to sizeof"),
            ));
        }
    }
    Ok(size)
}

/// Checks an out-struct before anything happens that would have to be told in it.
///
/// # Safety
/// As [`read`], and writable.
pub(crate) unsafe fn out<T: SizedStruct>(data: *mut T, argument: &str) -> Result<Out<T>, Failure> {
    // SAFETY: passed on.
    let size = unsafe { size_of_struct(data, argument) }?;
    Ok(Out { data, size })
}

/// A checked out-struct.
pub(crate) struct Out<T> {
    data: *mut T,
    /// What the caller put there, and finds there again.
    pub(crate) size: usize,
}

impl<T: SizedStruct> Out<T> {
    pub(crate) fn set(self, value: T) {
        // SAFETY: `out` checked it, and the caller vouches that it is writable for the time of the call.
        unsafe { self.data.write_unaligned(value) }
    }
}

/// # Safety
/// `data` is NULL or points to a readable `usize`.
unsafe fn size_of_struct<T: SizedStruct>(data: *const T, argument: &str) -> Result<usize, Failure> {
    if data.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: every such struct begins with its size.
    let size = unsafe { data.cast::<usize>().read_unaligned() };
    if !(size_of::<T>()..=MAX_STRUCT).contains(&size) {
        return Err(Failure::new(
            TOLLGATE_BAD_SIZE,
            format!(
                "{argument}.size is {size}: clear the struct and set it to sizeof, {} or more",
                size_of::<T>()
            ),
        ));
    }
    Ok(size)
}

/// Checks a plain out-parameter before anything happens.
pub(crate) fn out_pointer<T>(data: *mut T, argument: &str) -> Result<*mut T, Failure> {
    if data.is_null() { Err(Failure::null(argument)) } else { Ok(data) }
}
