//! The rule object.

use std::ffi::c_char;
use std::time::Duration;

use tollgate::Rule;

use super::tollgate_limiter;
use crate::boundary::{self, SizedStruct, boundary};
use crate::limiters;
use crate::status::{Failure, tollgate_status, tollgate_status::*};

/// A registered rule: what tollgate_acquire counts against. Any thread may use it.
///
/// Owned by its limiter: it lives until tollgate_close and is never freed by itself. Like a limiter's, the
/// pointer is a number that is looked up.
#[allow(non_camel_case_types)]
pub struct tollgate_rule {
    _opaque: (),
}

/// A rule to register. Clear it with TOLLGATE_INIT, then fill it: a limit that stays 0 rejects everything, an
/// interval that stays 0 is an error.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub struct tollgate_rule_spec {
    /// sizeof(tollgate_rule_spec); TOLLGATE_INIT sets it.
    pub size: usize,
    /// The application's part of the name, like "wms". Copied.
    pub module: *const c_char,
    /// Bytes in module, 4,096 at most.
    pub module_len: usize,
    /// The rule's own part of the name, like "Order.list". Copied.
    pub name: *const c_char,
    /// Bytes in name, 4,096 at most.
    pub name_len: usize,
    /// The window: 1 to 31,536,000 seconds. An operator's setting has the last word.
    pub interval_seconds: u64,
    /// How many hits pass in one window, 0 to 2^63 - 1. An operator's setting has the last word.
    pub limit: u64,
    /// The key of the text that a rejected user reads; NULL for none. Copied.
    pub message_key: *const c_char,
    /// Bytes in message_key, 4,096 at most.
    pub message_key_len: usize,
    /// A tollgate_on_fault.
    pub on_fault: i32,
    /// 0.
    pub reserved: i32,
    /// How long a hit on this rule waits for the store at most: 1 to 60,000 milliseconds; 0 for the limiter's deadline.
    pub deadline_ms: u64,
}

// SAFETY: `repr(C)`, the size first, integers and pointers only, and the assertion below excludes padding.
unsafe impl SizedStruct for tollgate_rule_spec {}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<tollgate_rule_spec>() == 88);

/// Registers a rule. Do it once for each place in the code, not once for each user: a limiter takes 10,000 of
/// them. An equal rule gives the pointer that the first one had.
///
/// `spec` is only read during the call. `rule` gets the rule, which belongs to the limiter.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
/// TOLLGATE_BAD_SIZE, TOLLGATE_BAD_VALUE, TOLLGATE_BAD_RULE or TOLLGATE_TOO_MANY.
///
/// # Safety
/// `spec` has as many readable bytes as its size says, its texts as many as their lengths say; `rule` is
/// writable; or they are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_rule_register(
    limiter: *mut tollgate_limiter,
    spec: *const tollgate_rule_spec,
    rule: *mut *mut tollgate_rule,
) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        // SAFETY: passed on.
        let spec = unsafe { read_spec(spec) }?;
        let rule = boundary::out_pointer(rule, "rule")?;
        let handle = limiters::register(limiter, spec)?;
        // SAFETY: not NULL, and the caller vouches for it.
        unsafe { rule.write(boundary::pointer(handle)) };
        Ok(())
    })
}

/// # Safety
/// `spec` is NULL or has as many readable bytes as its size says, and its texts as many as their lengths say.
unsafe fn read_spec(spec: *const tollgate_rule_spec) -> Result<Rule, Failure> {
    // SAFETY: passed on.
    let spec = unsafe { boundary::read(spec, "spec") }?;
    if spec.reserved != 0 {
        return Err(Failure::new(
            TOLLGATE_BAD_VALUE,
            format!("spec.reserved is {}: clear the struct, it must be 0", spec.reserved),
        ));
    }
    // SAFETY: passed on.
    let module = unsafe { boundary::text(spec.module, spec.module_len, "spec.module") }?;
    // SAFETY: passed on.
    let name = unsafe { boundary::text(spec.name, spec.name_len, "spec.name") }?;
    // SAFETY: passed on.
    let key = unsafe { boundary::optional_text(spec.message_key, spec.message_key_len, "spec.message_key") }?;
    let mut rule =
        Rule::new(module, name).interval(Duration::from_secs(spec.interval_seconds)).limit(spec.limit);
    if let Some(key) = key {
        rule = rule.message_key(key);
    }
    if let Some(policy) = limiters::on_fault(spec.on_fault)? {
        rule = rule.on_fault(policy);
    }
    if spec.deadline_ms != 0 {
        rule = rule.deadline(Duration::from_millis(spec.deadline_ms));
    }
    Ok(rule)
}
