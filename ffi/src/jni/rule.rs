//! `io.tollgate.Rule`.

use std::time::Duration;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass};
use jni::sys::{jint, jlong};
use tollgate::Rule;

use super::{handle, optional_text, text, with};
use crate::boundary::boundary;
use crate::limiters;

/// `long register(long limiter, byte[] module, byte[] name, long interval, long limit, byte[] messageKey, int
/// onFault, long deadlineNanos)`; a negative deadline is "not said".
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_Rule_register<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
    limiter: jlong,
    module: JByteArray<'local>,
    name: JByteArray<'local>,
    interval: jlong,
    limit: jlong,
    message_key: JByteArray<'local>,
    on_fault: jint,
    deadline_nanos: jlong,
) -> jlong {
    boundary!(jni env {
        with(&mut env, |env| {
            let (module, name) = (text(env, &module, "module")?, text(env, &name, "name")?);
            let positive = |field, value: jlong| {
                u64::try_from(value).map_err(|_| limiters::negative(&module, &name, field, value))
            };
            let (interval, limit) = (positive("interval", interval)?, positive("limit", limit)?);
            let mut rule = Rule::new(&*module, &*name).interval(Duration::from_secs(interval)).limit(limit);
            if let Some(key) = optional_text(env, &message_key, "messageKey")? {
                rule = rule.message_key(key);
            }
            if let Some(policy) = limiters::on_fault(on_fault)? {
                rule = rule.on_fault(policy);
            }
            if let Ok(nanos) = u64::try_from(deadline_nanos) {
                rule = rule.deadline(Duration::from_nanos(nanos));
            }
            Ok(super::long(limiters::register(handle(limiter), rule)?))
        })
    })
}
