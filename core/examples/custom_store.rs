//! A store of one's own. `Window` does the counting, `Tracked` reads the settings; what is left is where they stand: here
//! two maps, elsewhere a database. Such a store has to make a hit atomic, and to answer by the deadline.
//!
//! `cargo run --example custom_store`

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tollgate::{
    Check, Clock, Counted, Fault, FaultKind, Hit, Limiter, MonotonicClock, Reading, Rule, Store, StoreState,
    Window,
};

struct Maps {
    clock: MonotonicClock,
    data: Mutex<Data>,
}

#[derive(Default)]
struct Data {
    /// Grows with the users: a real store forgets windows that have ended.
    windows: HashMap<String, Window>,
    config: BTreeMap<String, String>,
}

impl Maps {
    fn data(&self) -> Result<MutexGuard<'_, Data>, Fault> {
        // Whatever goes wrong is a fault, never a panic: the fault policy then decides.
        self.data.lock().map_err(|_| Fault::new(FaultKind::Refused, "poisoned", "the maps are out of order"))
    }
}

impl Store for Maps {
    fn hit(&self, hit: &Hit<'_>, _deadline: Instant) -> Result<Reading, Fault> {
        let Data { windows, config } = &mut *self.data()?;
        for (field, default) in hit.rule().fields().iter().zip(hit.rule().defaults()) {
            config.entry(field.clone()).or_insert(default);
        }
        let values =
            hit.rule().fields().each_ref().map(|field| config.get(field).map(|value| value.as_bytes()));
        let settings = hit.rule().see(values, 0);
        if settings.check == Check::Off {
            return Ok(Reading { settings, counted: None, unread: None });
        }
        let window = windows.entry(hit.key().to_owned()).or_insert(Window::Absent);
        let (after, tally) = window.hit(&settings, hit.hits(), self.clock.now().as_millis() as u64);
        *window = after;
        let ends_in = Duration::from_millis(tally.ends_in);
        let counted = Counted { count: tally.count, ends_in, replaced: tally.replaced };
        Ok(Reading { settings, counted: Some(counted), unread: None })
    }

    // `hit_async` needn't be written: this store never waits.

    fn setting(&self, field: &str, _deadline: Instant) -> Result<Option<String>, Fault> {
        Ok(self.data()?.config.get(field).cloned())
    }

    fn set(&self, field: &str, value: &str, _deadline: Instant) -> Result<(), Fault> {
        self.data()?.config.insert(field.to_owned(), value.to_owned());
        Ok(())
    }

    fn settings(&self, _deadline: Instant) -> Result<Vec<(String, String)>, Fault> {
        Ok(self.data()?.config.clone().into_iter().collect())
    }

    fn state(&self) -> StoreState {
        let (counters, fault) = match self.data() {
            Ok(data) => (data.windows.len() as u64, None),
            Err(fault) => (0, Some(fault)),
        };
        StoreState { name: "maps".into(), fault, connects: 0, counters }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = Maps { clock: MonotonicClock::new(), data: Mutex::default() };
    let limiter = Limiter::builder().store(store).open()?;
    let rule = limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(60)).limit(1))?;
    println!("{limiter:?}: {}", limiter.acquire(&rule, "u1").outcome());
    println!("{limiter:?}: {}", limiter.acquire(&rule, "u1").outcome());
    limiter.set("wms.Order.list.check", "false")?;
    println!("switched off: {}", limiter.acquire(&rule, "u1").outcome());
    for (field, value) in limiter.settings()? {
        println!("{field} = {value}");
    }
    Ok(())
}
