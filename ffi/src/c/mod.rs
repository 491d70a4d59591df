//! The C interface: one file an object. `include/tollgate.h` is generated from here.

mod counter;
mod decision;
mod deferred;
mod errors;
mod limiter;
mod log;
mod rule;
mod settings;
mod several;
mod stats;
mod text;

pub use counter::*;
pub use decision::*;
pub use deferred::*;
pub use errors::*;
pub use limiter::*;
pub use log::*;
pub use rule::*;
pub use settings::*;
pub use several::*;
pub use stats::*;

pub use crate::logs::tollgate_log_callback;
pub use crate::status::tollgate_status;
