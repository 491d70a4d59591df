//! One server's connection and circuit.
//!
//! A maintenance thread dials; a caller never does. Whoever leads a batch takes the connection and gives it back. While there
//! is no connection callers get the fault at once. After a timeout or a broken reply the connection is dropped, never used
//! again, so a late reply has nobody to reach.

mod stream;
mod tls;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::dialect::Sequence;
use super::topology::Topology;
use crate::store::{Fault, FaultKind};

pub(super) use tls::Tls;
pub(super) use wire::{Afterwards, Wire};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Repairs that are kept for the next connection. One that is lost is made by the next hit on its key.
const MAX_REPAIRS: usize = 1_000;

pub(super) struct Link {
    shared: Arc<Shared>,
    maintenance: Option<JoinHandle<()>>,
}

struct Shared {
    topology: Topology,
    tls: Option<Tls>,
    connect_timeout: Duration,
    state: Mutex<State>,
    changed: Condvar,
    /// Set once the server refused the modern sequence, whatever it says of itself.
    older: AtomicBool,
}

struct State {
    circuit: Circuit,
    dialling: bool,
    /// Dials so far, so that a caller can wait for the next one to end.
    dials: u64,
    connects: u64,
    /// Faults since the last exchange that went well.
    failures: u32,
    repairs: Vec<Afterwards>,
}

enum Circuit {
    Closed(Box<Wire>),
    /// Closed, with a leader who has taken the connection.
    InUse,
    Open(Fault),
    /// The link is dropped.
    Ended,
}

impl Link {
    /// Starts dialling. A dial takes `connect_timeout` at most, but has a second at least.
    pub(super) fn start(
        topology: Topology,
        tls: Option<Tls>,
        connect_timeout: Duration,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            topology,
            tls,
            connect_timeout: connect_timeout.max(Duration::from_secs(1)),
            state: Mutex::new(State {
                circuit: Circuit::Open(Fault::new(
                    FaultKind::Unavailable,
                    "connect",
                    "Redis is being dialled",
                )),
                dialling: false,
                dials: 0,
                connects: 0,
                failures: 0,
                repairs: Vec::new(),
            }),
            changed: Condvar::new(),
            older: AtomicBool::new(false),
        });
        let maintenance = std::thread::Builder::new().name("tollgate-redis".into()).spawn({
            let shared = shared.clone();
            move || shared.maintain()
        })?;
        Ok(Self { shared, maintenance: Some(maintenance) })
    }

    /// Waits for the first dial to end.
    pub(super) fn await_first_dial(&self, until: Instant) {
        self.shared.await_dial(&mut self.shared.state.lock(), 0, until);
    }

    /// Connections made so far.
    pub(super) fn connects(&self) -> u64 {
        self.shared.state.lock().connects
    }

    /// Takes the connection. There is one, so only one leader may.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn check_out(&self, deadline: Instant) -> Result<Box<Wire>, Fault> {
        let shared = &*self.shared;
        let mut state = shared.state.lock();
        if let Circuit::Closed(wire) = &state.circuit
            && let Some(fault) = wire.hung_up()
        {
            // Nothing was sent yet, so one new connection is worth waiting for.
            let dials = state.dials;
            if let Circuit::Closed(wire) = std::mem::replace(&mut state.circuit, Circuit::InUse) {
                shared.lose(&mut state, *wire, fault);
            }
            shared.await_dial(&mut state, dials, deadline);
        }
        match std::mem::replace(&mut state.circuit, Circuit::InUse) {
            Circuit::Closed(wire) => Ok(wire),
            Circuit::InUse => {
                // There is one leader at a time, so the last one was cut off, and its connection is gone.
                let fault =
                    Fault::new(FaultKind::Unavailable, "closed", "an exchange with Redis was cut off");
                state.circuit = Circuit::Open(fault.clone());
                shared.changed.notify_all();
                Err(fault)
            }
            other => {
                let fault = other.fault();
                state.circuit = other;
                Err(fault)
            }
        }
    }

    /// Gives the connection back after an exchange that went well.
    pub(super) fn give_back(&self, wire: Box<Wire>) {
        if wire.sequence == Sequence::Older {
            self.shared.older.store(true, Ordering::Relaxed);
        }
        let mut state = self.shared.state.lock();
        state.failures = 0;
        state.circuit = Circuit::Closed(wire);
    }

    /// Drops the connection, opens the circuit and has the maintenance thread dial anew.
    pub(super) fn lose(&self, wire: Box<Wire>, fault: Fault) {
        self.shared.lose(&mut self.shared.state.lock(), *wire, fault);
    }

    /// Why callers needn't queue, while there is no connection.
    pub(super) fn fault(&self) -> Option<Fault> {
        match &self.shared.state.lock().circuit {
            Circuit::Open(fault) => Some(fault.clone()),
            _ => None,
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        // Amid a dial the thread may hang in a name look-up: then it ends by itself when that returns.
        let dialling = state.dialling;
        state.circuit = Circuit::Ended;
        self.shared.changed.notify_all();
        drop(state);
        if let Some(maintenance) = self.maintenance.take()
            && !dialling
        {
            let _ = maintenance.join();
        }
    }
}

impl Shared {
    fn maintain(&self) {
        let mut state = self.state.lock();
        loop {
            match &state.circuit {
                Circuit::Ended => return,
                Circuit::Closed(_) | Circuit::InUse => {
                    self.changed.wait(&mut state);
                    continue;
                }
                Circuit::Open(_) => {}
            }
            // After a first fault the dial follows at once.
            if let Some(repeated @ 0..) = state.failures.checked_sub(2) {
                let pause = FIRST_PAUSE.saturating_mul(1 << repeated.min(8)).min(LONGEST_PAUSE);
                let until = Instant::now() + pause;
                while !matches!(state.circuit, Circuit::Ended)
                    && !self.changed.wait_until(&mut state, until).timed_out()
                {}
                if matches!(state.circuit, Circuit::Ended) {
                    return;
                }
            }
            let repairs = state.repairs.clone();
            state.dialling = true;
            drop(state);
            let dialled = self.dial(&repairs);
            state = self.state.lock();
            state.dialling = false;
            if matches!(state.circuit, Circuit::Ended) {
                return;
            }
            state.dials += 1;
            match dialled {
                Ok(wire) => {
                    tracing::debug!(target: "tollgate", "connected to {}", self.topology.name());
                    state.connects += 1;
                    state.repairs.clear();
                    state.circuit = Circuit::Closed(Box::new(wire));
                }
                Err(fault) => {
                    state.failures = state.failures.saturating_add(1);
                    state.circuit = Circuit::Open(fault);
                }
            }
            self.changed.notify_all();
        }
    }

    fn dial(&self, repairs: &[Afterwards]) -> Result<Wire, Fault> {
        let deadline = Instant::now() + self.connect_timeout;
        let mut wire = self.topology.dial(self.tls.as_ref(), deadline)?;
        if self.older.load(Ordering::Relaxed) {
            wire.sequence = Sequence::Older;
        }
        repairs.iter().cloned().for_each(|repair| wire.todo(repair));
        wire.send(&[])?;
        Ok(wire)
    }

    fn lose(&self, state: &mut State, wire: Wire, fault: Fault) {
        tracing::debug!(target: "tollgate", code = fault.code(), "the connection to {} is dropped: {fault}", self.topology.name());
        state.circuit = Circuit::Open(Fault { kind: FaultKind::Unavailable, ..fault });
        state.repairs.extend(wire.unconfirmed());
        state.repairs.truncate(MAX_REPAIRS);
        state.failures = state.failures.saturating_add(1);
        self.changed.notify_all();
    }

    /// Waits until more than `dials` dials have ended.
    fn await_dial(&self, state: &mut MutexGuard<'_, State>, dials: u64, deadline: Instant) {
        while state.dials <= dials && !self.changed.wait_until(state, deadline).timed_out() {}
    }
}

impl Circuit {
    fn fault(&self) -> Fault {
        match self {
            Self::Open(fault) => fault.clone(),
            _ => Fault::new(FaultKind::Unavailable, "closed", "the limiter is closed"),
        }
    }
}
