//! The statistics.

use std::ffi::c_char;

use tollgate::{Fault, Outcome};

use super::{text, tollgate_limiter};
use crate::boundary::{self, SizedStruct, boundary};
use crate::limiters;
use crate::status::tollgate_status;

/// What a limiter has done since it was opened. Set size, or use TOLLGATE_INIT.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub struct tollgate_stats_snapshot {
    /// sizeof(tollgate_stats_snapshot); TOLLGATE_INIT sets it.
    pub size: usize,
    /// Hits that ended in TOLLGATE_OUTCOME_ALLOWED.
    pub allowed: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_LIMITED.
    pub limited: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_SHADOWED.
    pub shadowed: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_OFF.
    pub off: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_NO_IDENTITY.
    pub no_identity: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_FAULT_ALLOWED.
    pub fault_allowed: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_FAULT_DENIED.
    pub fault_denied: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_FAULT_LOCAL_ALLOWED.
    pub fault_local_allowed: u64,
    /// Hits that ended in TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED.
    pub fault_local_limited: u64,
    /// Rules that are registered.
    pub rules: u64,
    /// Counters that are held in process memory right now.
    pub counters: u64,
    /// 1 where the store can be asked right now, else 0.
    pub store_up: u64,
}

// SAFETY: `repr(C)`, the size first, integers only, and the assertion below excludes padding.
unsafe impl SizedStruct for tollgate_stats_snapshot {}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<tollgate_stats_snapshot>() == 104);

/// What a limiter has done so far.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED or TOLLGATE_BAD_SIZE.
///
/// # Safety
/// `stats` has as many writable bytes as its size says, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_stats(
    limiter: *mut tollgate_limiter,
    stats: *mut tollgate_stats_snapshot,
) -> tollgate_status {
    boundary!(c {
        let open = limiters::get(boundary::handle(limiter, "limiter")?)?;
        // SAFETY: passed on.
        let out = unsafe { boundary::out(stats, "stats") }?;
        let stats = open.limiter.stats();
        let size = out.size;
        out.set(tollgate_stats_snapshot {
            size,
            allowed: stats.hits(Outcome::Allowed),
            limited: stats.hits(Outcome::Limited),
            shadowed: stats.hits(Outcome::Shadowed),
            off: stats.hits(Outcome::Off),
            no_identity: stats.hits(Outcome::NoIdentity),
            fault_allowed: stats.hits(Outcome::FaultAllowed),
            fault_denied: stats.hits(Outcome::FaultDenied),
            fault_local_allowed: stats.hits(Outcome::FaultLocalAllowed),
            fault_local_limited: stats.hits(Outcome::FaultLocalLimited),
            rules: stats.rules,
            counters: stats.store.counters,
            store_up: stats.store.is_up().into(),
        });
        Ok(())
    })
}

/// What a limiter's store says of itself. Set size, or use TOLLGATE_INIT.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub struct tollgate_store_snapshot {
    /// sizeof(tollgate_store_snapshot); TOLLGATE_INIT sets it.
    pub size: usize,
    /// Connections made so far; one more than the store keeps is a reconnect.
    pub connects: u64,
    /// A tollgate_fault: why the store can't be asked right now.
    pub fault: u64,
}

// SAFETY: `repr(C)`, the size first, integers only, and the assertion below excludes padding.
unsafe impl SizedStruct for tollgate_store_snapshot {}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<tollgate_store_snapshot>() == 24);

/// How a limiter's store is right now; what tollgate_stats has no place for.
///
/// `buffer` gets why it can't be asked, for people, and a final NUL, cut where it is longer than `capacity` - 1 bytes; empty
/// while it can. `length` gets the length of the whole text. `state` is written also where the text is cut.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_BAD_SIZE or TOLLGATE_BUFFER_TOO_SMALL.
///
/// # Safety
/// `state` has as many writable bytes as its size says, `buffer` has `capacity` writable ones, `length` is writable; or they
/// are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_store_state(
    limiter: *mut tollgate_limiter,
    state: *mut tollgate_store_snapshot,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> tollgate_status {
    boundary!(c {
        let open = limiters::get(boundary::handle(limiter, "limiter")?)?;
        // SAFETY: passed on.
        let out = unsafe { boundary::out(state, "state") }?;
        let length = boundary::out_pointer(length, "length")?;
        let store = open.limiter.stats().store;
        let fault = limiters::fault_code(store.fault.as_ref().map(Fault::kind));
        let size = out.size;
        out.set(tollgate_store_snapshot { size, connects: store.connects, fault: fault.unsigned_abs().into() });
        let why = store.fault.map_or(String::new(), |fault| fault.to_string());
        // SAFETY: passed on.
        unsafe { text::copy(&why, buffer, capacity, length) }
    })
}
