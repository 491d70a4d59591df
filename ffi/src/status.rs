//! Result codes, and what a failed call leaves behind.

use std::cell::RefCell;
use std::fmt;

use tollgate::{Fault, IdentityError, OpenError, RuleError, SettingError};

/// The result of every function. Numbers are never reused.
#[repr(i32)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum tollgate_status {
    /// Done.
    TOLLGATE_OK = 0,
    /// A pointer that is needed was NULL.
    TOLLGATE_NULL_ARGUMENT = 1,
    /// The limiter is closed, or this was never one.
    TOLLGATE_CLOSED = 2,
    /// The rule belongs to another limiter, or to one that is closed, or this was never one.
    TOLLGATE_FOREIGN_RULE = 3,
    /// A text is longer than it may be.
    TOLLGATE_TOO_LONG = 4,
    /// A text is not UTF-8.
    TOLLGATE_NOT_UTF8 = 5,
    /// A struct's size field is not what sizeof says.
    TOLLGATE_BAD_SIZE = 6,
    /// A number is none of those that its field may have.
    TOLLGATE_BAD_VALUE = 7,
    /// The URL or an option is not usable.
    TOLLGATE_BAD_OPTION = 8,
    /// A rule's value is not usable, or there are too many rules.
    TOLLGATE_BAD_RULE = 9,
    /// A setting's name or value is not usable.
    TOLLGATE_BAD_SETTING = 10,
    /// The store did not answer, or refused. Decisions never end so: they follow the fault policy.
    TOLLGATE_STORE_FAULT = 11,
    /// There is no such setting, or no such counter.
    TOLLGATE_NOT_FOUND = 12,
    /// The text was cut to fit the buffer; the length that was reported is that of the whole.
    TOLLGATE_BUFFER_TOO_SMALL = 13,
    /// 65,536 limiters, or as many rules, are open.
    TOLLGATE_TOO_MANY = 14,
    /// A callback called what it must not call.
    TOLLGATE_IN_CALLBACK = 15,
    /// A defect in this library. The limiter goes on working; please report the text.
    TOLLGATE_PANIC = 16,
}

use tollgate_status::*;

impl tollgate_status {
    pub(crate) const ALL: [Self; 17] = [
        TOLLGATE_OK,
        TOLLGATE_NULL_ARGUMENT,
        TOLLGATE_CLOSED,
        TOLLGATE_FOREIGN_RULE,
        TOLLGATE_TOO_LONG,
        TOLLGATE_NOT_UTF8,
        TOLLGATE_BAD_SIZE,
        TOLLGATE_BAD_VALUE,
        TOLLGATE_BAD_OPTION,
        TOLLGATE_BAD_RULE,
        TOLLGATE_BAD_SETTING,
        TOLLGATE_STORE_FAULT,
        TOLLGATE_NOT_FOUND,
        TOLLGATE_BUFFER_TOO_SMALL,
        TOLLGATE_TOO_MANY,
        TOLLGATE_IN_CALLBACK,
        TOLLGATE_PANIC,
    ];
}

/// Why a call failed: a code for programs and a text that names the thing, the value and the remedy.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) status: tollgate_status,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(status: tollgate_status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(crate) fn null(argument: &str) -> Self {
        Self::new(TOLLGATE_NULL_ARGUMENT, format!("{argument} is NULL: pass a pointer"))
    }

    pub(crate) fn closed() -> Self {
        Self::new(TOLLGATE_CLOSED, "the limiter is closed: open another one")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::new(TOLLGATE_BAD_OPTION, error.to_string())
    }
}

impl From<RuleError> for Failure {
    fn from(error: RuleError) -> Self {
        Self::new(TOLLGATE_BAD_RULE, error.to_string())
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        Self::new(TOLLGATE_NOT_UTF8, error.to_string())
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::new(TOLLGATE_STORE_FAULT, fault.to_string())
    }
}

impl From<SettingError> for Failure {
    fn from(error: SettingError) -> Self {
        let status = match error {
            SettingError::Fault(_) => TOLLGATE_STORE_FAULT,
            _ => TOLLGATE_BAD_SETTING,
        };
        Self::new(status, error.to_string())
    }
}

thread_local! {
    static LAST: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// Keeps `failure` for `tollgate_last_error` on this thread.
pub(crate) fn remember(failure: Failure) {
    // A thread that is ending has nobody left to ask.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(failure));
}

/// Runs a callback that comes amid a call of this thread, whose failures are none of that call's.
pub(crate) fn aside(callback: impl FnOnce()) {
    let before = LAST.try_with(RefCell::take).ok();
    callback();
    if let Some(before) = before {
        let _ = LAST.try_with(|last| last.replace(before));
    }
}

/// This thread's last failure.
pub(crate) fn last() -> Option<Failure> {
    LAST.try_with(|last| last.borrow().clone()).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_never_change() {
        for (code, status) in tollgate_status::ALL.iter().enumerate() {
            assert_eq!(*status as usize, code);
        }
    }
}
