//! Several hits in one call.

use std::ffi::{c_char, c_void};
use std::ptr;

use tollgate::{Decision, Identity};

use super::decision::told;
use super::{tollgate_decision, tollgate_limiter, tollgate_rule};
use crate::boundary::{self, MAX_USER, Out, SizedStruct, boundary};
use crate::callbacks;
use crate::limiters;
use crate::status::{self, Failure, tollgate_status, tollgate_status::*};
use crate::task;

/// One of several hits: on which rule, by whom. Clear it with TOLLGATE_INIT, then fill it.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Clone, Copy)]
pub struct tollgate_hit {
    /// sizeof(tollgate_hit); TOLLGATE_INIT sets it. The same for all hits of a call.
    pub size: usize,
    /// A rule of the limiter that is asked. Several hits may name the same.
    pub rule: *mut tollgate_rule,
    /// Who asks, as in tollgate_acquire.
    pub user: *const c_char,
    /// Bytes in user, 1,048,576 at most.
    pub user_len: usize,
}

// SAFETY: `repr(C)`, the size first, integers and pointers only, and the assertion below excludes padding.
unsafe impl SizedStruct for tollgate_hit {}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<tollgate_hit>() == 32);

/// Counts several hits and decides each, in one round trip to the store: "1 in 3 seconds and 200 a day". Blocks as
/// tollgate_acquire does, for the shortest deadline of the rules at most.
///
/// `hits` is an array of `count`, 1 to 64. Each is counted, also where another turns the caller away; two on one counter have
/// a place each. `decisions` is an array of as many, each with its size set, all the same; they are told in the order of the hits
/// and only written on success. `tightest` gets the index of the decision to answer with, or `count` where none turns away and
/// none was counted; NULL if it isn't wanted. Among several that turn away TOLLGATE_OUTCOME_LIMITED answers before
/// TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED, and that before TOLLGATE_OUTCOME_FAULT_DENIED, of several alike the one that lasts
/// longest; where all pass the one with the fewest hits left.
///
/// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG,
/// TOLLGATE_NOT_UTF8, TOLLGATE_BAD_SIZE, TOLLGATE_BAD_VALUE for a `count` out of its range, or TOLLGATE_PANIC. Then nothing was
/// counted, except after TOLLGATE_PANIC perhaps.
///
/// # Safety
/// `hits` has `count` structs with as many readable bytes as the first one's size says, their users as many as their lengths
/// say; `decisions` has `count` structs with as many writable bytes as the first one's size says; `tightest` is writable; or
/// they are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_acquire_all(
    limiter: *mut tollgate_limiter,
    hits: *const tollgate_hit,
    count: usize,
    decisions: *mut tollgate_decision,
    tightest: *mut usize,
) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        // SAFETY: passed on.
        let hits = unsafe { read_hits(hits, count) }?;
        // SAFETY: passed on.
        let outs = unsafe { boundary::out_all(decisions, count, "decisions") }?;
        let decided = limiters::acquire_all(limiter, &hits, "hits")?;
        if !tightest.is_null() {
            // SAFETY: not NULL, and the caller vouches for it.
            unsafe { tightest.write(Decision::tightest(&decided).unwrap_or(count)) };
        }
        let tell = |(out, decided): (Out<tollgate_decision>, &Decision)| {
            let size = out.size;
            out.set(tollgate_decision { size, ..told(decided) });
        };
        outs.into_iter().zip(&decided).for_each(tell);
        Ok(())
    })
}

/// Receives the decisions of one call, in the order of its hits: `TOLLGATE_OK`, an array of `count`, valid during the call, and
/// which answers, as in `tollgate_acquire_all`; or `TOLLGATE_PANIC`, NULL, 0 and 0. And what was given to
/// `tollgate_acquire_all_async`.
#[allow(non_camel_case_types)]
pub type tollgate_decisions_callback = Option<
    unsafe extern "C" fn(
        status: tollgate_status,
        decisions: *const tollgate_decision,
        count: usize,
        tightest: usize,
        userdata: *mut c_void,
    ),
>;

type Function = unsafe extern "C" fn(tollgate_status, *const tollgate_decision, usize, usize, *mut c_void);

struct Callback {
    function: Function,
    userdata: *mut c_void,
}

// SAFETY: the pointer is only handed back, and `tollgate_acquire_all_async` demands that any thread may use what it
// points to.
unsafe impl Send for Callback {}

/// Counts several hits as tollgate_acquire_all does, without waiting: `callback` gets the decisions, as that of
/// tollgate_acquire_async gets one.
///
/// `hits` is only read during the call. Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED,
/// TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8, TOLLGATE_BAD_SIZE, TOLLGATE_BAD_VALUE or TOLLGATE_PANIC.
///
/// # Safety
/// `hits` is as in tollgate_acquire_all; `callback` is NULL or a function of that type that any thread may call with
/// `userdata`, until it was called, and that does not throw.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tollgate_acquire_all_async(
    limiter: *mut tollgate_limiter,
    hits: *const tollgate_hit,
    count: usize,
    callback: tollgate_decisions_callback,
    userdata: *mut c_void,
) -> tollgate_status {
    boundary!(c {
        let limiter = boundary::handle(limiter, "limiter")?;
        // SAFETY: passed on.
        let hits = unsafe { read_hits(hits, count) }?;
        let function = callback.ok_or_else(|| Failure::null("callback"))?;
        let acquiring = limiters::acquire_all_async(limiter, &hits, "hits")?;
        let callback = Callback { function, userdata };
        task::start(acquiring, move |result| callbacks::call_in_turn(move || callback.call(result)));
        Ok(())
    })
}

impl Callback {
    fn call(self, result: Result<Vec<Decision>, Failure>) {
        let (status, decided) = match result {
            Ok(decided) => (TOLLGATE_OK, decided),
            Err(failure) => {
                let status = failure.status;
                status::remember(failure);
                (status, Vec::new())
            }
        };
        let decisions: Vec<_> = decided.iter().map(told).collect();
        let first = if decisions.is_empty() { ptr::null() } else { decisions.as_ptr() };
        let tightest = Decision::tightest(&decided).unwrap_or(decided.len());
        // SAFETY: the decisions live during the call, and `tollgate_acquire_all_async` demands such a function.
        unsafe { (self.function)(status, first, decisions.len(), tightest, self.userdata) }
    }
}

/// # Safety
/// `hits` is NULL or has `count` structs as `tollgate_acquire_all` wants them.
unsafe fn read_hits<'a>(
    hits: *const tollgate_hit,
    count: usize,
) -> Result<Vec<(usize, Identity<'a>)>, Failure> {
    if hits.is_null() {
        return Err(Failure::null("hits"));
    }
    limiters::check_hits(count, "count")?;
    // SAFETY: passed on.
    let hits = unsafe { boundary::read_all(hits, count, "hits") }?;
    let read = |(at, hit): (usize, tollgate_hit)| {
        let rule = boundary::handle(hit.rule, &format!("hits[{at}].rule"))?;
        let argument = format!("hits[{at}].user");
        // SAFETY: passed on.
        let user = unsafe { boundary::bytes(hit.user, hit.user_len, &argument, MAX_USER) }?;
        boundary::trip(user);
        let user = Identity::from_wtf8(user)
            .map_err(|error| Failure::new(TOLLGATE_NOT_UTF8, format!("hits[{at}]: {error}")))?;
        Ok((rule, user))
    };
    hits.into_iter().enumerate().map(read).collect()
}
