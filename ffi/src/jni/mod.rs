//! The natives of `io.tollgate`: one file for each Java class that has some. None calls the C interface.
//!
//! Texts come as WTF-8 byte arrays, since modified UTF-8 would have to be translated. A failure becomes an
//! exception.

mod completions;
mod native_library;
mod native_logs;
mod rule;
mod settings;
mod tollgate;

use std::mem::MaybeUninit;

use jni::errors::Error;
use jni::objects::{JByteArray, JObjectArray, JString};
use jni::strings::JNIString;
use jni::sys::{JNIEnv, jbyteArray, jint, jlong, jlongArray};
use jni::{Env, EnvUnowned, jni_str};

use crate::boundary;
use crate::status::{Failure, tollgate_status::*};

/// Leaves an exception pending that tells of `failure`, unless there is one already.
pub(crate) fn throw(env: &mut EnvUnowned<'_>, failure: &Failure) {
    let class = match failure.status {
        TOLLGATE_CLOSED => jni_str!("java/lang/IllegalStateException"),
        TOLLGATE_STORE_FAULT | TOLLGATE_TOO_MANY | TOLLGATE_PANIC => {
            jni_str!("io/tollgate/TollgateException")
        }
        _ => jni_str!("java/lang/IllegalArgumentException"),
    };
    // What fails here leaves the JVM's own exception pending, and says why by itself.
    let _ = env
        .with_env_no_catch(|env| {
            if env.exception_check() {
                return Ok(());
            }
            let class = env.find_class(class)?;
            env.throw_new(class, JNIString::new(&failure.text))
        })
        .into_outcome();
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(TOLLGATE_PANIC, format!("the JVM refused: {error}"))
    }
}

/// Runs `body` with the wrapper around the environment, which costs more than a decision may.
fn with<'local, T>(
    env: &mut EnvUnowned<'local>,
    body: impl FnOnce(&mut Env<'local>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match env.with_env_no_catch(body).into_outcome() {
        jni::Outcome::Ok(value) => Ok(value),
        jni::Outcome::Err(failure) => Err(failure),
        jni::Outcome::Panic(payload) => std::panic::resume_unwind(payload),
    }
}

/// The text of an array, which may be null.
fn optional_text(env: &Env<'_>, array: &JByteArray<'_>, argument: &str) -> Result<Option<String>, Failure> {
    if array.is_null() {
        return Ok(None);
    }
    let bytes = env.convert_byte_array(array)?;
    Ok(Some(boundary::utf8(&bytes, argument)?.to_owned()))
}

/// The text of an array that must be there.
fn text(env: &Env<'_>, array: &JByteArray<'_>, argument: &str) -> Result<String, Failure> {
    optional_text(env, array, argument)?.ok_or_else(|| Failure::null(argument))
}

/// An array of strings.
fn strings<'local, 'a>(
    env: &mut Env<'local>,
    texts: impl ExactSizeIterator<Item = &'a str>,
) -> Result<JObjectArray<'local, JString<'local>>, Failure> {
    let array = JObjectArray::<JString<'_>>::new(env, texts.len(), JString::null())?;
    for (at, text) in texts.enumerate() {
        let text = env.new_string(text)?;
        array.set_element(env, at, &text)?;
        // Two thousand of them would be more local references than a JVM promises.
        env.delete_local_ref(text);
    }
    Ok(array)
}

/// The Java long that a handle is.
fn long(handle: usize) -> jlong {
    // Generations don't reach the top bit, so it is positive.
    handle as jlong
}

/// The handle that a Java long is.
fn handle(value: jlong) -> usize {
    usize::try_from(value).unwrap_or(0)
}

/// Copies the beginning of `array` into `buffer`; a shorter array leaves the JVM's exception pending.
///
/// # Safety
/// `env` is this thread's environment, `array` a live byte array.
unsafe fn copy(
    env: *mut JNIEnv,
    array: jbyteArray,
    buffer: &mut [MaybeUninit<u8>],
) -> Result<&[u8], Failure> {
    // SAFETY: the caller vouches for both; the JVM checks the bounds.
    let failed = unsafe {
        let table = (**env).v1_2;
        (table.GetByteArrayRegion)(env, array, 0, buffer.len() as jint, buffer.as_mut_ptr().cast());
        (table.ExceptionCheck)(env)
    };
    if failed {
        return Err(Failure::new(TOLLGATE_BAD_VALUE, "the user's array is shorter than its length"));
    }
    // SAFETY: without an exception all of it was written.
    Ok(unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), buffer.len()) })
}

/// All of a byte array.
///
/// # Safety
/// `env` is this thread's environment, `array` null or a live byte array.
unsafe fn bytes(env: *mut JNIEnv, array: jbyteArray) -> Result<Vec<u8>, Failure> {
    if array.is_null() {
        return Err(Failure::null("the array"));
    }
    // SAFETY: the caller vouches for both.
    let length = unsafe { ((**env).v1_2.GetArrayLength)(env, array) };
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    // SAFETY: the JVM writes as many as there are.
    unsafe { ((**env).v1_2.GetByteArrayRegion)(env, array, 0, length, bytes.as_mut_ptr().cast()) };
    Ok(bytes)
}

/// All of a long array.
///
/// # Safety
/// `env` is this thread's environment, `array` null or a live long array.
unsafe fn longs(env: *mut JNIEnv, array: jlongArray) -> Result<Vec<jlong>, Failure> {
    if array.is_null() {
        return Err(Failure::null("the array"));
    }
    // SAFETY: the caller vouches for both.
    let length = unsafe { ((**env).v1_2.GetArrayLength)(env, array) };
    let mut longs = vec![0; usize::try_from(length).unwrap_or(0)];
    // SAFETY: the JVM writes as many as there are.
    unsafe { ((**env).v1_2.GetLongArrayRegion)(env, array, 0, length, longs.as_mut_ptr()) };
    Ok(longs)
}

/// Fills `array` with `values`, as a native's last call: a shorter array leaves the JVM's exception pending, and asking for it would
/// cost as much as filling does.
///
/// # Safety
/// `env` is this thread's environment, `array` null or a live long array.
unsafe fn fill(env: *mut JNIEnv, array: jlongArray, values: &[jlong]) -> Result<(), Failure> {
    if array.is_null() {
        return Err(Failure::null("the array"));
    }
    // SAFETY: the caller vouches for both; the JVM checks the bounds.
    unsafe { ((**env).v1_2.SetLongArrayRegion)(env, array, 0, values.len() as jint, values.as_ptr()) };
    Ok(())
}
