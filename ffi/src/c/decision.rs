//! The decision.

use std::ffi::{CStr, c_char};

use tollgate::{Decision, Fault, Identity, Outcome};

use super::{text, tollgate_limiter, tollgate_rule};
use crate::boundary::{self, MAX_USER, SizedStruct, boundary};
use crate::limiters;
use crate::status::{Failure, tollgate_status, tollgate_status::*};

/// How a hit was decided. Numbers are never reused.
#[repr(i32)]
#[allow(non_camel_case_types)]
pub enum tollgate_outcome {
    /// Inside the limit: passes.
    TOLLGATE_OUTCOME_ALLOWED = 0,
    /// Over the limit: rejected until the window ends.
    TOLLGATE_OUTCOME_LIMITED = 1,
    /// Over the limit of a rule whose switch says "shadow": passes.
    TOLLGATE_OUTCOME_SHADOWED = 2,
    /// The rule's switch is off: passes, not counted.
    TOLLGATE_OUTCOME_OFF = 3,
    /// Nobody to count for (blank, "null" or "undefined"): passes, not counted.
    TOLLGATE_OUTCOME_NO_IDENTITY = 4,
    /// The store failed and the policy is to allow: passes.
    TOLLGATE_OUTCOME_FAULT_ALLOWED = 5,
    /// The store failed and the policy is to deny: rejected.
    TOLLGATE_OUTCOME_FAULT_DENIED = 6,
    /// The store failed; inside the limit as counted in process memory: passes.
    TOLLGATE_OUTCOME_FAULT_LOCAL_ALLOWED = 7,
    /// The store failed; over the limit as counted in process memory: rejected.
    TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED = 8,
}

/// What was wrong with the store when the fault policy decided. Numbers are never reused.
#[repr(i32)]
#[allow(non_camel_case_types)]
pub enum tollgate_fault {
    /// Nothing: the store answered.
    TOLLGATE_FAULT_NONE = 0,
    /// The hit was not sent: no connection, or the store is known to be away.
    TOLLGATE_FAULT_UNAVAILABLE = 1,
    /// The hit was sent and not answered in time; the server may have counted it.
    TOLLGATE_FAULT_TIMEOUT = 2,
    /// The server refused the hit and did not count it.
    TOLLGATE_FAULT_REFUSED = 3,
    /// The connection broke or the answer made no sense; the server may have counted it.
    TOLLGATE_FAULT_PROTOCOL = 4,
}

/// What a limiter said about one hit. Set size, or use TOLLGATE_INIT; it can be used again and again.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub struct tollgate_decision {
    /// sizeof(tollgate_decision); TOLLGATE_INIT sets it.
    pub size: usize,
    /// The user's hits in this window, this one included, rejected ones too; 0 where none was counted.
    pub count: u64,
    /// How many hits pass in one window, as it holds now.
    pub limit: u64,
    /// How many hits still pass in this window.
    pub remaining: u64,
    /// Milliseconds until the window ends; 0 where nothing was counted.
    pub reset_after_ms: u64,
    /// A tollgate_outcome.
    pub outcome: i32,
    /// A tollgate_fault.
    pub fault: i32,
    /// 1 where the hit passes, else 0.
    pub allowed: i32,
    /// 1 where the hit was over the limit or denied and recording is on, else 0.
    pub should_record: i32,
}

// SAFETY: `repr(C)`, the size first, integers only, and the assertion below excludes padding.
unsafe impl SizedStruct for tollgate_decision {}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<tollgate_decision>() == 56);

/// Counts one hit and decides it. Blocks for one round trip to the store, at most for the deadline.
///
/// `user` is who asks: 1,048,576 bytes of UTF-8 at most (a lone surrogate as three bytes is let through). A
/// blank one, also one of length 0, is nobody and passes as TOLLGATE_OUTCOME_NO_IDENTITY. It is only read
/// during the call. `decision` is only written on success.
///
/// Whatever happens to the store is no error here but an outcome. Returns TOLLGATE_OK,
/// TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
/// TOLLGATE_BAD_SIZE or TOLLGATE_PANIC.
///
/// # Safety
/// `user` has `user_len` readable bytes; `decision` as many writable ones as its size says; or they are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_acquire(
    limiter: *mut tollgate_limiter,
    rule: *mut tollgate_rule,
    user: *const c_char,
    user_len: usize,
    decision: *mut tollgate_decision,
) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        let rule = boundary::handle(rule, "rule")?;
        // SAFETY: passed on.
        let user = unsafe { boundary::bytes(user, user_len, "user", MAX_USER) }?;
        // SAFETY: passed on.
        let out = unsafe { boundary::out(decision, "decision") }?;
        boundary::trip(user);
        let decided = limiters::acquire(limiter, rule, Identity::from_wtf8(user)?)?;
        let size = out.size;
        out.set(tollgate_decision { size, ..told(&decided) });
        Ok(())
    })
}

/// A decision as C gets it.
pub(super) fn told(decided: &Decision) -> tollgate_decision {
    tollgate_decision {
        size: size_of::<tollgate_decision>(),
        count: decided.count(),
        limit: decided.limit(),
        remaining: decided.remaining(),
        reset_after_ms: limiters::millis(decided.reset_after()),
        outcome: decided.outcome().code().into(),
        fault: limiters::fault_code(decided.fault().map(Fault::kind)),
        allowed: decided.is_allowed().into(),
        should_record: decided.should_record().into(),
    }
}

/// The name of an outcome, like "LIMITED", the same in every language, in logs and in metrics: a constant
/// that ends with a NUL and is never freed.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, or TOLLGATE_BAD_VALUE for a number that is no outcome.
///
/// # Safety
/// `name` is writable or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_outcome_name(outcome: i32, name: *mut *const c_char) -> tollgate_status {
    boundary!(c {
        let known = usize::try_from(outcome).ok().and_then(|at| OUTCOMES.get(at));
        let known = known.ok_or_else(|| {
            Failure::new(TOLLGATE_BAD_VALUE, format!("outcome {outcome} is none: use a tollgate_outcome"))
        })?;
        // SAFETY: passed on.
        unsafe { text::constant(known, name, "name") }
    })
}

/// The core's names with a NUL, ordered by code.
const OUTCOMES: [&CStr; Outcome::ALL.len()] = [
    c"ALLOWED",
    c"LIMITED",
    c"SHADOWED",
    c"OFF",
    c"NO_IDENTITY",
    c"FAULT_ALLOWED",
    c"FAULT_DENIED",
    c"FAULT_LOCAL_ALLOWED",
    c"FAULT_LOCAL_LIMITED",
];

#[cfg(test)]
mod tests {
    use tollgate::FaultKind;

    use super::{tollgate_fault::*, tollgate_outcome::*, *};

    #[test]
    fn codes_and_names_are_the_cores() {
        let codes = [
            TOLLGATE_OUTCOME_ALLOWED,
            TOLLGATE_OUTCOME_LIMITED,
            TOLLGATE_OUTCOME_SHADOWED,
            TOLLGATE_OUTCOME_OFF,
            TOLLGATE_OUTCOME_NO_IDENTITY,
            TOLLGATE_OUTCOME_FAULT_ALLOWED,
            TOLLGATE_OUTCOME_FAULT_DENIED,
            TOLLGATE_OUTCOME_FAULT_LOCAL_ALLOWED,
            TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED,
        ];
        for ((code, name), outcome) in codes.into_iter().zip(OUTCOMES).zip(Outcome::ALL) {
            assert_eq!((code as i32, name.to_str()), (outcome.code().into(), Ok(outcome.as_str())));
        }
        let kinds = [
            (TOLLGATE_FAULT_NONE, None),
            (TOLLGATE_FAULT_UNAVAILABLE, Some(FaultKind::Unavailable)),
            (TOLLGATE_FAULT_TIMEOUT, Some(FaultKind::Timeout)),
            (TOLLGATE_FAULT_REFUSED, Some(FaultKind::Refused)),
            (TOLLGATE_FAULT_PROTOCOL, Some(FaultKind::Protocol)),
        ];
        for (code, kind) in kinds {
            assert_eq!(code as i32, limiters::fault_code(kind));
        }
    }
}
