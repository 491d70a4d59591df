//! The pure state machine of one counter, and the reference model that every store is tested against.

use crate::settings::Settings;

/// What stands at a counter's key. Times are milliseconds of the store's own clock.
///
/// ```
/// use tollgate::{Rule, Settings, Window};
/// let settings = Settings::defaults(&Rule::new("wms", "Order.list"));
/// let (window, first) = Window::Absent.hit(&settings, 1, 10_000);
/// assert_eq!((first.count, first.ends_in), (1, 3_000));
/// let (_, second) = window.hit(&settings, 1, 12_000);
/// assert_eq!((second.count, second.ends_in), (2, 1_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Nothing.
    Absent,
    /// Something that is no counter.
    Foreign,
    /// A counter.
    Open {
        /// Hits so far.
        count: u64,
        /// When the window ends; none where an expiry was lost.
        ends: Option<u64>,
    },
}

/// What hits on a window gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// The counter after the hits, which is the place of the last of them.
    pub count: u64,
    /// Milliseconds until the window ends: above 0, at most the interval.
    pub ends_in: u64,
    /// Whether something foreign was replaced.
    pub replaced: bool,
}

impl Window {
    /// The largest count, that of a Redis counter. Hits beyond stay at it.
    pub const MAX_COUNT: u64 = i64::MAX as u64;

    /// Takes `hits` (at least 1) at time `now` under `settings`, whose switch is not closed.
    ///
    /// The first hit sets the window's end; a later one never moves it, except that a lost end is set anew and an end
    /// that lies beyond the interval is drawn in.
    pub fn hit(self, settings: &Settings, hits: u64, now: u64) -> (Self, Tally) {
        let latest = now + settings.interval_ms();
        let (count, ends, replaced) = match self {
            Self::Open { count, ends: None } => (count, latest, false),
            Self::Open { count, ends: Some(ends) } if ends > now => (count, ends.min(latest), false),
            Self::Open { .. } | Self::Absent => (0, latest, false),
            Self::Foreign => (0, latest, true),
        };
        let count = count.saturating_add(hits).min(Self::MAX_COUNT);
        (Self::Open { count, ends: Some(ends) }, Tally { count, ends_in: ends - now, replaced })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::settings::Check;

    fn settings(secs: u64) -> Settings {
        Settings { check: Check::On, interval: Duration::from_secs(secs), limit: 1, record: true }
    }

    #[test]
    fn an_orphan_ends_one_window_later() {
        let (window, tally) = Window::Open { count: 57, ends: None }.hit(&settings(3), 1, 1_000);
        assert_eq!(tally, Tally { count: 58, ends_in: 3_000, replaced: false });
        assert_eq!(window.hit(&settings(3), 1, 4_000).1.count, 1);
    }

    #[test]
    fn retuning_takes_effect_at_the_next_window_or_draws_the_end_in() {
        let (window, _) = Window::Absent.hit(&settings(3), 1, 0);
        assert_eq!(window.hit(&settings(30), 1, 1_000).1.ends_in, 2_000);
        assert_eq!(window.hit(&settings(30), 1, 3_000).1.ends_in, 30_000);
        let long = Window::Open { count: 1, ends: Some(3_500_000) };
        assert_eq!(long.hit(&settings(3), 1, 0).1, Tally { count: 2, ends_in: 3_000, replaced: false });
    }

    #[test]
    fn foreign_values_are_replaced_and_the_largest_count_holds() {
        let (window, tally) = Window::Foreign.hit(&settings(3), 1, 0);
        assert_eq!(tally, Tally { count: 1, ends_in: 3_000, replaced: true });
        assert_eq!(window.hit(&settings(3), 1, 1).1.count, 2);
        let full = Window::Open { count: Window::MAX_COUNT, ends: Some(10) };
        assert_eq!(full.hit(&settings(3), 5, 0).1.count, Window::MAX_COUNT);
    }

    #[derive(Debug, Clone)]
    enum Step {
        Wait(u64),
        Hit(u64),
        Retune(u64),
        LoseEnd,
        Spoil,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0u64..5_000).prop_map(Step::Wait),
            6 => (1u64..4).prop_map(Step::Hit),
            1 => (1u64..9).prop_map(Step::Retune),
            1 => Just(Step::LoseEnd),
            1 => Just(Step::Spoil),
        ]
    }

    proptest! {
        /// Whatever happens: 0 < time left ≤ interval, no hit moves an end later, and without hits a window is over after
        /// one interval.
        #[test]
        fn promises_hold(steps in prop::collection::vec(step(), 1..60)) {
            let (mut window, mut now, mut interval) = (Window::Absent, 0, 3);
            for step in steps {
                match step {
                    Step::Wait(ms) => now += ms,
                    Step::Retune(secs) => interval = secs,
                    Step::LoseEnd => if let Window::Open { ends, .. } = &mut window { *ends = None },
                    Step::Spoil => window = Window::Foreign,
                    Step::Hit(hits) => {
                        let before = window;
                        let (after, tally) = window.hit(&settings(interval), hits, now);
                        prop_assert!(tally.ends_in > 0 && tally.ends_in <= interval * 1_000);
                        prop_assert!(tally.count >= hits);
                        if let Window::Open { count, ends: Some(ends) } = before && ends > now {
                            prop_assert!(now + tally.ends_in <= ends);
                            prop_assert_eq!(tally.count, count + hits);
                        }
                        prop_assert_eq!(after.hit(&settings(interval), 1, now + interval * 1_000).1.count, 1);
                        window = after;
                    }
                }
            }
        }

        /// Merged hits count like single ones.
        #[test]
        fn hits_merge(hits in 1u64..20, count in 0u64..50, now in 0u64..9_000) {
            let start = Window::Open { count, ends: Some(5_000) };
            let merged = start.hit(&settings(3), hits, now);
            let single = (0..hits).fold((start, None), |(window, _), _| {
                let (window, tally) = window.hit(&settings(3), 1, now);
                (window, Some(tally))
            });
            prop_assert_eq!((merged.0, Some(merged.1)), single);
        }
    }
}
