//! Carries log lines out of the library: to a C callback, and into a bounded queue that Java drains.

mod queue;

use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::RwLock;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

pub(crate) use queue::QUEUE;

use crate::callbacks;
use crate::status::Failure;

/// Receives log lines: level (a `tollgate_level`), text (UTF-8, ends with a NUL that `message_len` doesn't
/// count, valid during the call), and what was given to `tollgate_on_log`.
#[allow(non_camel_case_types)]
pub type tollgate_log_callback = Option<
    unsafe extern "C" fn(level: i32, message: *const c_char, message_len: usize, userdata: *mut c_void),
>;

type Function = unsafe extern "C" fn(i32, *const c_char, usize, *mut c_void);

struct Callback {
    function: Function,
    userdata: *mut c_void,
}

// SAFETY: the pointer is only handed back, and `tollgate_on_log` demands that any thread may use what it
// points to.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

static CALLBACK: RwLock<Option<Callback>> = RwLock::new(None);
/// The callback's most detailed level, 0 without one. An atomic of its own so that an unwanted event costs
/// one load.
static CALLBACK_LEVEL: AtomicU8 = AtomicU8::new(0);

thread_local! {
    /// Whether this thread is handing a line over. What is logged meanwhile is dropped: it could only recurse.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Makes this library's log lines arrive here. Each loaded copy of the library has its own.
pub(crate) fn install() {
    // Fails only where a Rust host has linked the library and has a subscriber already, which then gets the
    // lines.
    let _ = tracing::subscriber::set_global_default(Forward);
}

/// Replaces the callback; None removes it. When this returns, the one before is not running any more.
pub(crate) fn set_callback(
    level: u8,
    callback: tollgate_log_callback,
    userdata: *mut c_void,
) -> Result<(), Failure> {
    callbacks::outside("tollgate_on_log")?;
    let mut current = CALLBACK.write();
    *current = callback.map(|function| Callback { function, userdata });
    CALLBACK_LEVEL.store(if current.is_some() { level } else { 0 }, Ordering::Relaxed);
    Ok(())
}

/// The number of a level: 1 is error, 5 is trace.
fn number(level: &Level) -> u8 {
    match *level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

struct Forward;

impl Subscriber for Forward {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let level = number(metadata.level());
        level <= CALLBACK_LEVEL.load(Ordering::Relaxed) || level <= QUEUE.level()
    }

    // Asked for each event, since the levels change while the process runs.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> tracing::subscriber::Interest {
        tracing::subscriber::Interest::sometimes()
    }

    fn event(&self, event: &Event<'_>) {
        if BUSY.replace(true) {
            return;
        }
        let _idle = Idle;
        let level = number(event.metadata().level());
        let mut line = Line::default();
        event.record(&mut line);
        let line = line.finish();
        if level <= QUEUE.level() {
            QUEUE.push(level, &line);
        }
        if level <= CALLBACK_LEVEL.load(Ordering::Relaxed) {
            call_back(level, line);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Ends the hand-over, also when something in it panics.
struct Idle;

impl Drop for Idle {
    fn drop(&mut self) {
        BUSY.set(false);
    }
}

fn call_back(level: u8, line: String) {
    let callback = CALLBACK.read();
    let Some(Callback { function, userdata }) = &*callback else { return };
    let line = CString::new(line.replace('\0', "\\0")).unwrap_or_default();
    // SAFETY: the line lives during the call; `tollgate_on_log` demands a function that any thread may call
    // until it is replaced, and replacing waits for the lock that is held here.
    callbacks::call(|| unsafe {
        function(i32::from(level), line.as_ptr(), line.count_bytes(), *userdata);
    });
}

/// One event as a line: the message, then `name=value` of each field.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Line {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = match field.name() {
            "message" => self.message.write_fmt(value),
            name => write!(self.fields, " {name}={value}"),
        };
    }

    fn finish(self) -> String {
        // One line each, whatever a field's value is.
        let line = format!("{}{}", self.message, if self.fields.is_empty() { "" } else { &self.fields });
        line.replace('\r', "\\r").replace('\n', "\\n")
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_message_and_then_the_fields() {
        let _subscriber = tracing::subscriber::set_default(Forward);
        let turn = QUEUE.start(3);
        let (field, many) = ("wms.Order.list.limit", 7u64);
        tracing::warn!(field, many, "not understood:\n{}", "x");
        tracing::debug!("too detailed");
        QUEUE.stop();
        tracing::error!("nobody listens");
        let lines = QUEUE.take(turn, 3, std::time::Duration::ZERO);
        assert_eq!(lines, [(2, r"not understood:\nx field=wms.Order.list.limit many=7".to_owned())]);
    }
}
