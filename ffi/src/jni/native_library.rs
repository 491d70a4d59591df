//! `io.tollgate.NativeLibrary`.

use jni::EnvUnowned;
use jni::objects::{JClass, JString};

use super::with;
use crate::boundary::boundary;

/// `String version()`
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_tollgate_NativeLibrary_version<'local>(
    mut env: EnvUnowned<'local>,
    _class: JClass<'local>,
) -> JString<'local> {
    boundary!(jni env { with(&mut env, |env| Ok(env.new_string(env!("CARGO_PKG_VERSION"))?)) })
}
