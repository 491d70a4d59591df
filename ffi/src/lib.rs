//! The C library (`include/tollgate.h`) and the natives of `io.tollgate`.
//!
//! [`c`] and [`jni`] are two surfaces over [`limiters`], which keeps what is open; every exported body runs
//! in [`boundary`]. Nothing here decides anything.

mod boundary;
mod c;
mod callbacks;
mod completions;
mod handles;
mod jni;
mod limiters;
mod logs;
mod status;
mod task;

pub use c::*;
