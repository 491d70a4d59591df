//! `io.tollgate.Completions`.

use std::time::Duration;

use jni::EnvUnowned;
use jni::objects::JClass;
use jni::sys::{jint, jlong, jlongArray};

use super::fill;
use crate::boundary::boundary;
use crate::completions::{COMPLETION, COMPLETIONS};
use crate::status::{Failure, tollgate_status::*};

/// `int take(long[] completions, int max, long waitMillis)`: how many there are. The array belongs to whoever takes, so
/// that nothing can fail between taking and handing over.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Completions_take<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    completions: jlongArray,
    max: jint,
    wait_millis: jlong,
) -> jint {
    boundary!(jni env {
        let max = usize::try_from(max)
            .map_err(|_| Failure::new(TOLLGATE_BAD_VALUE, format!("max {max} is negative")))?;
        let mut taken = Vec::new();
        COMPLETIONS.take(&mut taken, max, Duration::from_millis(wait_millis.unsigned_abs()));
        // SAFETY: the JVM passes the environment of this thread.
        unsafe { fill(env.as_raw(), completions, &taken) }?;
        Ok((taken.len() / COMPLETION) as jint)
    })
}

/// `void wake()`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Completions_wake<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
) {
    boundary!(jni env {
        COMPLETIONS.wake();
        Ok(())
    })
}
