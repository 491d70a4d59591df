//! `io.tollgate.Tollgate`.

use std::mem::MaybeUninit;
use std::time::Duration;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass, JString};
use jni::sys::{JNIEnv, jboolean, jbyteArray, jint, jlong, jlongArray};
use tollgate::{Decision, Fault, Identity, Outcome};

use super::{bytes, copy, fill, handle, longs, optional_text, text, with};
use crate::boundary::{self, boundary};
use crate::completions::{ANSWER, COMPLETION, COMPLETIONS, Completion};
use crate::limiters::{self, Options};
use crate::status::{Failure, tollgate_status::*};
use crate::task;

/// Head of an answer that a panic took the place of.
const DEFECT: jlong = -1;
/// Longs of the statistics: a total for each outcome; counters; whether the store is up; rules; connects.
const STATS: usize = Outcome::ALL.len() + 4;
/// Longs of one of several hits: its rule, where its user begins, how long it is.
const HIT: usize = 3;
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
        let decide = |user: Identity<'_>| limiters::acquire(handle(limiter), handle(rule), user);
        // SAFETY: the JVM passes the environment of this thread, and an array or null.
        let decision = unsafe { identified(raw, user, length, decide) }?;
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(raw, answer, &packed(&decision)) }
    })
}

/// `boolean submit(long limiter, long rule, byte[] user, int length, long hit, long[] answer)`: true where the answer is
/// there at once, else it comes through `Completions.take` with the number of the hit.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_submit<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    rule: jlong,
    user: jbyteArray,
    length: jint,
    hit: jlong,
    answer: jlongArray,
) -> jboolean {
    boundary!(jni env {
        let raw = env.as_raw();
        let begin = |user: Identity<'_>| limiters::acquire_async(handle(limiter), handle(rule), user);
        // SAFETY: the JVM passes the environment of this thread, and an array or null.
        let mut acquiring = unsafe { identified(raw, user, length, begin) }?;
        let Some(decision) = task::ready(&mut acquiring) else {
            task::start(acquiring, move |result| {
                // Java makes an exception of it; the text is in the log.
                let answer = result.map_or([DEFECT; ANSWER], |decision| packed(&decision));
                COMPLETIONS.push(completion(hit, answer));
            });
            return Ok(false);
        };
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(raw, answer, &packed(&decision)) }?;
        Ok(true)
    })
}

/// `void acquireAll(long limiter, long[] hits, byte[] users, long[] answers)`: a hit is three longs, its rule and where its
/// user begins and how long it is among the bytes of all; a negative length is nobody.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_acquireAll<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    hits: jlongArray,
    users: jbyteArray,
    answers: jlongArray,
) {
    boundary!(jni env {
        let raw = env.as_raw();
        // SAFETY: the JVM passes the environment of this thread, and arrays or null.
        let (hits, users) = unsafe { (longs(raw, hits)?, bytes(raw, users)?) };
        let decisions = limiters::acquire_all(handle(limiter), &several(&hits, &users)?, "rules")?;
        let answers_of_all: Vec<_> = decisions.iter().flat_map(packed).collect();
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(raw, answers, &answers_of_all) }
    })
}

/// `boolean submitAll(long limiter, long[] hits, byte[] users, long call, long[] answers)`: true where the answers are there
/// at once, else they come through `Completions.take`, each with the number of the call, in the order of the hits.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_submitAll<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    hits: jlongArray,
    users: jbyteArray,
    call: jlong,
    answers: jlongArray,
) -> jboolean {
    boundary!(jni env {
        let raw = env.as_raw();
        // SAFETY: the JVM passes the environment of this thread, and arrays or null.
        let (hits, users) = unsafe { (longs(raw, hits)?, bytes(raw, users)?) };
        let mut acquiring = limiters::acquire_all_async(handle(limiter), &several(&hits, &users)?, "rules")?;
        let Some(decisions) = task::ready(&mut acquiring) else {
            task::start(acquiring, move |result| {
                // One is enough to end the call with an exception.
                let answers = result.map_or(vec![[DEFECT; ANSWER]], |all| all.iter().map(packed).collect());
                COMPLETIONS.push_all(answers.into_iter().map(|answer| completion(call, answer)));
            });
            return Ok(false);
        };
        let answers_of_all: Vec<_> = decisions.iter().flat_map(packed).collect();
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(raw, answers, &answers_of_all) }?;
        Ok(true)
    })
}

/// `boolean counter(long limiter, long rule, byte[] user, int length, long[] values)`: whether there is one; its count and the
/// milliseconds until its window ends, or −1.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_counter<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    rule: jlong,
    user: jbyteArray,
    length: jint,
    values: jlongArray,
) -> jboolean {
    boundary!(jni env {
        let raw = env.as_raw();
        let look = |user: Identity<'_>| limiters::counter(handle(limiter), handle(rule), user);
        // SAFETY: the JVM passes the environment of this thread, and an array or null.
        let Some(found) = unsafe { identified(raw, user, length, look) }? else { return Ok(false) };
        let ends_in = found.ends_in.map_or(-1, |time| clamp(limiters::millis(time)));
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(raw, values, &[clamp(found.count), ends_in]) }?;
        Ok(true)
    })
}

/// `boolean clear(long limiter, long rule, byte[] user, int length)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_clear<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    rule: jlong,
    user: jbyteArray,
    length: jint,
) -> jboolean {
    boundary!(jni env {
        let clear = |user: Identity<'_>| limiters::clear(handle(limiter), handle(rule), user);
        // SAFETY: the JVM passes the environment of this thread, and an array or null.
        unsafe { identified(env.as_raw(), user, length, clear) }
    })
}

/// `String stats(long limiter, long[] values)`: why the store can't be asked, or null.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Tollgate_stats<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    values: jlongArray,
) -> JString<'local> {
    boundary!(jni env {
        let stats = limiters::get(handle(limiter))?.limiter.stats();
        let mut longs = [0; STATS];
        for (long, outcome) in longs.iter_mut().zip(Outcome::ALL) {
            *long = clamp(stats.hits(outcome));
        }
        let store = stats.store;
        longs[STATS - 4..].copy_from_slice(&[
            clamp(store.counters),
            store.is_up().into(),
            clamp(stats.rules),
            clamp(store.connects),
        ]);
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(env.as_raw(), values, &longs) }?;
        match store.fault {
            None => Ok(JString::null()),
            Some(fault) => with(&mut env, |env| Ok(env.new_string(fault.to_string())?)),
        }
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

/// Runs `body` with the user that an array holds; null is nobody.
///
/// # Safety
/// `env` is this thread's environment, `user` null or a live byte array.
unsafe fn identified<T>(
    env: *mut JNIEnv,
    user: jbyteArray,
    length: jint,
    body: impl FnOnce(Identity<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if user.is_null() {
        return body(Identity::none());
    }
    let length = usize::try_from(length)
        .map_err(|_| Failure::new(TOLLGATE_BAD_VALUE, format!("length {length} is negative")))?;
    let mut short = [MaybeUninit::<u8>::uninit(); SHORT];
    let mut long = Vec::new();
    let buffer = if length <= SHORT {
        &mut short[..length]
    } else {
        long.reserve_exact(length);
        &mut long.spare_capacity_mut()[..length]
    };
    // SAFETY: the caller vouches for both, and it isn't null.
    let user = unsafe { copy(env, user, buffer) }?;
    boundary::trip(user);
    body(Identity::from_wtf8(user)?)
}

/// The hits of one call.
fn several<'a>(hits: &[jlong], users: &'a [u8]) -> Result<Vec<(usize, Identity<'a>)>, Failure> {
    limiters::check_hits(hits.len() / HIT, "the number of rules")?;
    let hit = |hit: &[jlong]| {
        let user = match usize::try_from(hit[2]) {
            // Negative: nobody.
            Err(_) => Identity::none(),
            Ok(length) => {
                let begin = usize::try_from(hit[1]).unwrap_or(usize::MAX);
                let user = begin.checked_add(length).and_then(|end| users.get(begin..end));
                let user = user.ok_or_else(|| {
                    Failure::new(TOLLGATE_BAD_VALUE, "the users' array is shorter than its lengths")
                })?;
                boundary::trip(user);
                Identity::from_wtf8(user)?
            }
        };
        Ok((handle(hit[0]), user))
    };
    hits.chunks_exact(HIT).map(hit).collect()
}

fn completion(number: jlong, answer: [jlong; ANSWER]) -> Completion {
    let mut completion = [number; COMPLETION];
    completion[1..].copy_from_slice(&answer);
    completion
}

/// An answer: outcome, fault, "record" and the window in seconds in one; count; limit; remaining; milliseconds until the window ends.
fn packed(decision: &Decision) -> [jlong; ANSWER] {
    let outcome = jlong::from(decision.outcome().code());
    let fault = jlong::from(limiters::fault_code(decision.fault().map(Fault::kind)));
    let record = jlong::from(decision.should_record());
    // A year in seconds has 25 bits.
    let interval = clamp(decision.settings().interval.as_secs());
    [
        outcome | fault << 8 | record << 16 | interval << 32,
        clamp(decision.count()),
        clamp(decision.limit()),
        clamp(decision.remaining()),
        clamp(limiters::millis(decision.reset_after())),
    ]
}

fn clamp(value: u64) -> jlong {
    jlong::try_from(value).unwrap_or(jlong::MAX)
}
