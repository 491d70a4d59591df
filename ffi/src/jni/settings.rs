//! `io.tollgate.Settings`.

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass, JObjectArray, JString};
use jni::sys::jlong;

use super::{handle, strings, text, with};
use crate::boundary::boundary;
use crate::limiters;

/// `String get(long limiter, byte[] field)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Settings_get<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    field: JByteArray<'local>,
) -> JString<'local> {
    boundary!(jni env {
        with(&mut env, |env| {
            let open = limiters::get(handle(limiter))?;
            let value = open.limiter.setting(&text(env, &field, "field")?)?;
            value.map_or(Ok(JString::null()), |value| Ok(env.new_string(value)?))
        })
    })
}

/// `void set(long limiter, byte[] field, byte[] value)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Settings_set<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    field: JByteArray<'local>,
    value: JByteArray<'local>,
) {
    boundary!(jni env {
        with(&mut env, |env| {
            let open = limiters::get(handle(limiter))?;
            Ok(open.limiter.set(&text(env, &field, "field")?, &text(env, &value, "value")?)?)
        })
    })
}

/// `String[] all(long limiter)`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Settings_all<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
) -> JObjectArray<'local, JString<'local>> {
    boundary!(jni env {
        with(&mut env, |env| {
            let settings = limiters::get(handle(limiter))?.limiter.settings()?;
            let texts: Vec<&str> = settings.iter().flat_map(|(field, value)| [&**field, &**value]).collect();
            strings(env, texts.into_iter())
        })
    })
}
