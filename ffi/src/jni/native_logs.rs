//! `io.tollgate.NativeLogs`.

use std::time::Duration;

use jni::EnvUnowned;
use jni::objects::{JClass, JObjectArray, JString};
use jni::sys::{jint, jlong};

use super::{strings, with};
use crate::boundary::boundary;
use crate::logs::QUEUE;

/// `long start(int level)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_NativeLogs_start<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    level: jint,
) -> jlong {
    boundary!(jni env { Ok(QUEUE.start(number(level)).cast_signed()) })
}

/// `String[] take(long turn, int level, long waitMillis)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_NativeLogs_take<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    turn: jlong,
    level: jint,
    wait_millis: jlong,
) -> JObjectArray<'local, JString<'local>> {
    boundary!(jni env {
        let patience = Duration::from_millis(wait_millis.unsigned_abs());
        let lines = QUEUE.take(turn.cast_unsigned(), number(level), patience);
        let texts: Vec<String> = lines.into_iter().flat_map(|(level, line)| [level.to_string(), line]).collect();
        with(&mut env, |env| strings(env, texts.iter().map(String::as_str)))
    })
}

/// `void stop()`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_NativeLogs_stop<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
) {
    boundary!(jni env {
        QUEUE.stop();
        Ok(())
    })
}

fn number(level: jint) -> u8 {
    u8::try_from(level).unwrap_or(0)
}
