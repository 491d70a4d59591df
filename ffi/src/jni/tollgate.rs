//! `io.tollgate.Tollgate`.

use std::mem::MaybeUninit;
use std::time::Duration;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass, JString};
use jni::sys::{JNIEnv, jbyteArray, jint, jlong, jlongArray};
use tollgate::{Decision, Fault, Identity, Outcome};

use super::{handle, optional_text, text, with};
use crate::boundary::{self, boundary};
use crate::limiters::{self, Options};
use crate::status::{Failure, tollgate_status::*};

/// Longs of an answer: outcome, fault and "record" in one; count; limit; remaining; milliseconds until the
/// window ends.
const ANSWER: usize = 5;
/// Longs of the statistics: a total for each outcome; counters; whether the store is up; rules.
const STATS: usize = Outcome::ALL.len() + 3;
/// Users up to this many bytes are copied to the stack.
const SHORT: usize = 256;

/// `long open(byte[] url, long deadlineNanos, long connectTimeoutNanos, int onFault, byte[] prefix, long
/// maxCounters)`; negative numbers are "not said".
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_open<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    url: JByteArray<'local>,
    deadline_nanos: jlong,
    connect_timeout_nanos: jlong,
    on_fault: jint,
    prefix: JByteArray<'local>,
    max_counters: jlong,
) -> jlong {
    boundary!(jni env {
        with(&mut env, |env| {
            let (url, prefix) = (text(env, &url, "url")?, optional_text(env, &prefix, "prefix")?);
            let said = |value: jlong| u64::try_from(value).ok();
            let options = Options {
                deadline: said(deadline_nanos).map(Duration::from_nanos),
                connect_timeout: said(connect_timeout_nanos).map(Duration::from_nanos),
                on_fault: limiters::on_fault(on_fault)?,
                prefix: prefix.as_deref(),
                max_counters: said(max_counters),
            };
            Ok(super::long(limiters::open(&url, &options)?))
        })
    })
}

/// `String store(long limiter)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_store<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
) -> JString<'local> {
    boundary!(jni env {
        let name = limiters::get(handle(limiter))?.limiter.stats().store.name;
        with(&mut env, |env| Ok(env.new_string(name)?))
    })
}

/// `void acquire(long limiter, long rule, byte[] user, int length, long[] answer)`: the call that a request
/// makes, so it goes without the wrapper around the environment.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_acquire<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    rule: jlong,
    user: jbyteArray,
    length: jint,
    answer: jlongArray,
) {
    boundary!(jni env {
        let raw = env.as_raw();
        let mut short = [MaybeUninit::<u8>::uninit(); SHORT];
        let mut long = Vec::new();
        let identity = if user.is_null() {
            Identity::none()
        } else {
            let length = usize::try_from(length)
                .map_err(|_| Failure::new(TOLLGATE_BAD_VALUE, format!("length {length} is negative")))?;
            let buffer = if length <= SHORT {
                &mut short[..length]
            } else {
                long.reserve_exact(length);
                &mut long.spare_capacity_mut()[..length]
            };
            // SAFETY: the JVM passes the environment of this thread, and an array that isn't null.
            let user = unsafe { copy(raw, user, buffer) }?;
            boundary::trip(user);
            Identity::from_wtf8(user)?
        };
        let decision = limiters::acquire(handle(limiter), handle(rule), identity)?;
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(raw, answer, &packed(&decision)) }
    })
}

/// `void stats(long limiter, long[] values)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_stats<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    values: jlongArray,
) {
    boundary!(jni env {
        let stats = limiters::get(handle(limiter))?.limiter.stats();
        let mut longs = [0; STATS];
        for (long, outcome) in longs.iter_mut().zip(Outcome::ALL) {
            *long = clamp(stats.hits(outcome));
        }
        longs[STATS - 3..].copy_from_slice(&[clamp(stats.store.counters), stats.store.is_up().into(), clamp(stats.rules)]);
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(env.as_raw(), values, &longs) }
    })
}

/// `void close(long limiter)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_close<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
) {
    boundary!(jni env { limiters::close(handle(limiter)) })
}

fn packed(decision: &Decision) -> [jlong; ANSWER] {
    let outcome = jlong::from(decision.outcome().code());
    let fault = jlong::from(limiters::fault_code(decision.fault().map(Fault::kind)));
    let record = jlong::from(decision.should_record());
    [
        outcome | fault << 8 | record << 16,
        clamp(decision.count()),
        clamp(decision.limit()),
        clamp(decision.remaining()),
        clamp(limiters::millis(decision.reset_after())),
    ]
}

fn clamp(value: u64) -> jlong {
    jlong::try_from(value).unwrap_or(jlong::MAX)
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
