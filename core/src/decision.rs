//! From a reading to a decision, and from a fault to one by policy.

use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;

use crate::rule::OnFault;
use crate::settings::{Check, Settings};
use crate::store::{Counted, Fault, Reading};

/// How a hit ended. The names and numbers are the same in every language, in logs, metrics and records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Within the limit.
    Allowed = 0,
    /// Over the limit: turned away.
    Limited = 1,
    /// Over the limit, and let through because the rule's switch says `shadow`.
    Shadowed = 2,
    /// The rule is switched off: neither counted nor limited.
    Off = 3,
    /// Nobody to count for: passes.
    NoIdentity = 4,
    /// The store can't answer and the policy lets through.
    FaultAllowed = 5,
    /// The store can't answer and the policy turns away.
    FaultDenied = 6,
    /// The store can't answer; within the limit as counted in process memory.
    FaultLocalAllowed = 7,
    /// The store can't answer; over the limit as counted in process memory.
    FaultLocalLimited = 8,
}

impl Outcome {
    /// Every outcome, ordered by code.
    pub const ALL: [Self; 9] = [
        Self::Allowed,
        Self::Limited,
        Self::Shadowed,
        Self::Off,
        Self::NoIdentity,
        Self::FaultAllowed,
        Self::FaultDenied,
        Self::FaultLocalAllowed,
        Self::FaultLocalLimited,
    ];

    /// The number of this outcome, which never changes.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The name of this outcome, which never changes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "ALLOWED",
            Self::Limited => "LIMITED",
            Self::Shadowed => "SHADOWED",
            Self::Off => "OFF",
            Self::NoIdentity => "NO_IDENTITY",
            Self::FaultAllowed => "FAULT_ALLOWED",
            Self::FaultDenied => "FAULT_DENIED",
            Self::FaultLocalAllowed => "FAULT_LOCAL_ALLOWED",
            Self::FaultLocalLimited => "FAULT_LOCAL_LIMITED",
        }
    }

    /// Whether the hit passes.
    pub const fn is_allowed(self) -> bool {
        !matches!(self, Self::Limited | Self::FaultDenied | Self::FaultLocalLimited)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The answer to one hit.
///
/// ```
/// use tollgate::{Limiter, Rule};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limiter = Limiter::builder().memory().open()?;
/// let rule = limiter.rule(Rule::new("wms", "Order.list").limit(2))?;
/// let decision = limiter.acquire(&rule, "u1");
/// assert!(decision.is_allowed());
/// assert_eq!((decision.count(), decision.limit(), decision.remaining()), (1, 2, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    outcome: Outcome,
    count: u64,
    settings: Settings,
    reset_after: Duration,
    record: bool,
    fault: Option<Box<Fault>>,
}

impl Decision {
    /// How the hit ended.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Whether the hit passes.
    pub fn is_allowed(&self) -> bool {
        self.outcome.is_allowed()
    }

    /// Hits in this window, this one included; 0 where none was counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Hits that pass in one window, as it holds now.
    pub fn limit(&self) -> u64 {
        self.settings.limit
    }

    /// Hits that still pass in this window.
    pub fn remaining(&self) -> u64 {
        self.limit().saturating_sub(self.count)
    }

    /// Time until the window ends, whole milliseconds; zero where none was counted.
    pub fn reset_after(&self) -> Duration {
        self.reset_after
    }

    /// What held for the rule: its window, its limit and its switches.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether this hit was over the limit or denied, and recording is on.
    pub fn should_record(&self) -> bool {
        self.record
    }

    /// What was wrong with the store, for the outcomes by fault policy.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    /// Which of several decisions on one request answers it; none where nobody was turned away and nothing was counted.
    ///
    /// Among those that turn away, [`Limited`](Outcome::Limited) comes before
    /// [`FaultLocalLimited`](Outcome::FaultLocalLimited), and that before [`FaultDenied`](Outcome::FaultDenied): what the caller
    /// did is told before what befell the store. Of several alike the one that lasts longest answers, so that whoever comes
    /// back then isn't turned away by it again.
    ///
    /// Where all let pass, the one with the fewest hits left answers, of several the one that lasts longest; one over
    /// the limit of a rule in `shadow`, which limits nobody, only where nothing else was counted.
    pub fn tightest(decisions: &[Self]) -> Option<usize> {
        let rank = |decision: &Self| match decision.outcome {
            Outcome::Limited => Some((0, 0)),
            Outcome::FaultLocalLimited => Some((1, 0)),
            Outcome::FaultDenied => Some((2, 0)),
            _ if decision.count == 0 => None,
            _ if decision.count <= decision.limit() => Some((3, decision.remaining())),
            _ => Some((4, 0)),
        };
        let ranked = decisions
            .iter()
            .enumerate()
            .filter_map(|(at, decision)| Some(((rank(decision)?, Reverse(decision.reset_after)), at)));
        ranked.min().map(|(_, at)| at)
    }

    pub(crate) fn no_identity(settings: &Settings) -> Self {
        Self::uncounted(Outcome::NoIdentity, settings)
    }

    /// Decides on what a store read.
    pub(crate) fn from_reading(reading: &Reading) -> Self {
        match reading.counted {
            None => Self::uncounted(Outcome::Off, &reading.settings),
            Some(counted) => {
                let over = match reading.settings.check {
                    Check::Shadow => Outcome::Shadowed,
                    Check::On | Check::Off => Outcome::Limited,
                };
                Self::counted(&reading.settings, counted, Outcome::Allowed, over)
            }
        }
    }

    /// Decides without the store; `local` counts in process memory.
    pub(crate) fn from_fault(
        fault: Fault,
        policy: OnFault,
        settings: &Settings,
        local: impl FnOnce() -> Counted,
    ) -> Self {
        let decision = match (settings.check, policy) {
            // Last seen closed: a fault is no reason to begin limiting.
            (Check::Off, _) | (_, OnFault::Allow) => Self::uncounted(Outcome::FaultAllowed, settings),
            (Check::Shadow, OnFault::Deny) => Self::uncounted(Outcome::FaultAllowed, settings),
            (Check::On, OnFault::Deny) => {
                Self { record: settings.record, ..Self::uncounted(Outcome::FaultDenied, settings) }
            }
            (check, OnFault::Local) => {
                let over = match check {
                    Check::Shadow => Outcome::FaultLocalAllowed,
                    Check::On | Check::Off => Outcome::FaultLocalLimited,
                };
                Self::counted(settings, local(), Outcome::FaultLocalAllowed, over)
            }
        };
        Self { fault: Some(Box::new(fault)), ..decision }
    }

    fn counted(settings: &Settings, counted: Counted, within: Outcome, over: Outcome) -> Self {
        let is_over = counted.count > settings.limit;
        Self {
            outcome: if is_over { over } else { within },
            count: counted.count,
            settings: *settings,
            reset_after: counted.ends_in,
            record: is_over && settings.record,
            fault: None,
        }
    }

    fn uncounted(outcome: Outcome, settings: &Settings) -> Self {
        Self {
            outcome,
            count: 0,
            settings: *settings,
            reset_after: Duration::ZERO,
            record: false,
            fault: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::FaultKind;

    const ENDS_IN: Duration = Duration::from_millis(1_500);

    fn settings(check: Check, limit: u64, record: bool) -> Settings {
        Settings { check, interval: Duration::from_secs(3), limit, record }
    }

    fn counted(count: u64) -> Counted {
        Counted { count, ends_in: ENDS_IN, replaced: false }
    }

    fn decide(check: Check, limit: u64, count: u64, record: bool) -> Decision {
        let counted = (check != Check::Off).then(|| counted(count));
        let settings = settings(check, limit, record);
        Decision::from_reading(&Reading { settings, counted, unread: None })
    }

    #[test]
    fn readings() {
        let cases = [
            (Check::On, 2, 1, Outcome::Allowed, 1, false),
            (Check::On, 2, 2, Outcome::Allowed, 0, false),
            (Check::On, 2, 3, Outcome::Limited, 0, true),
            (Check::On, 0, 1, Outcome::Limited, 0, true),
            (Check::Shadow, 2, 2, Outcome::Allowed, 0, false),
            (Check::Shadow, 2, 3, Outcome::Shadowed, 0, true),
        ];
        for (check, limit, count, outcome, remaining, record) in cases {
            let decision = decide(check, limit, count, true);
            assert_eq!((decision.outcome(), decision.remaining()), (outcome, remaining));
            assert_eq!(decision.should_record(), record, "{outcome}");
            assert_eq!((decision.count(), decision.reset_after()), (count, ENDS_IN));
            assert!(
                !decide(check, limit, count, false).should_record(),
                "log.check stops recording, not limiting"
            );
        }
        let off = decide(Check::Off, 2, 9, true);
        assert_eq!((off.outcome(), off.count(), off.reset_after()), (Outcome::Off, 0, Duration::ZERO));
    }

    #[test]
    fn faults_by_policy() {
        let cases = [
            (Check::On, OnFault::Allow, 9, Outcome::FaultAllowed, false),
            (Check::On, OnFault::Deny, 9, Outcome::FaultDenied, true),
            (Check::On, OnFault::Local, 1, Outcome::FaultLocalAllowed, false),
            (Check::On, OnFault::Local, 2, Outcome::FaultLocalLimited, true),
            (Check::Shadow, OnFault::Deny, 9, Outcome::FaultAllowed, false),
            (Check::Shadow, OnFault::Local, 2, Outcome::FaultLocalAllowed, true),
            (Check::Off, OnFault::Deny, 9, Outcome::FaultAllowed, false),
            (Check::Off, OnFault::Local, 9, Outcome::FaultAllowed, false),
        ];
        for (check, policy, count, outcome, record) in cases {
            let fault = Fault::new(FaultKind::Timeout, "timeout", "no answer");
            let decision =
                Decision::from_fault(fault.clone(), policy, &settings(check, 1, true), || counted(count));
            assert_eq!(
                (decision.outcome(), decision.should_record()),
                (outcome, record),
                "{check:?} {policy:?}"
            );
            assert_eq!(decision.fault(), Some(&fault));
        }
    }

    #[test]
    fn the_tightest_answers() {
        let on = |limit, count, ms| {
            let counted = Counted { count, ends_in: Duration::from_millis(ms), replaced: false };
            Decision::from_reading(&Reading {
                settings: settings(Check::On, limit, true),
                counted: Some(counted),
                unread: None,
            })
        };
        let fault = |check, policy, count| {
            let fault = Fault::new(FaultKind::Timeout, "timeout", "no answer");
            Decision::from_fault(fault, policy, &settings(check, 1, true), || counted(count))
        };
        let nobody = Decision::no_identity(&settings(Check::On, 0, true));
        let off = decide(Check::Off, 1, 0, true);
        let (denied, local) = (fault(Check::On, OnFault::Deny, 0), fault(Check::On, OnFault::Local, 2));
        let open = fault(Check::On, OnFault::Allow, 0);
        let shadow = decide(Check::Shadow, 1, 2, true);
        let (short, long) = (on(1, 2, 3_000), on(200, 201, 80_000));
        let (two_left, one_left, one_left_longer) = (on(5, 3, 9_000), on(2, 1, 1_000), on(9, 8, 2_000));
        let cases: [(&[&Decision], Option<usize>); 13] = [
            (&[], None),
            (&[&nobody, &off, &open], None),
            (&[&short, &long], Some(1)),
            (&[&long, &short], Some(0)),
            (&[&long, &long], Some(0)),
            // A rejection by the count of Redis, then by that of the process, then by policy.
            (&[&denied, &local, &short, &one_left], Some(2)),
            (&[&denied, &local], Some(1)),
            (&[&shadow, &one_left, &denied], Some(2)),
            (&[&two_left, &one_left, &nobody], Some(1)),
            (&[&one_left, &one_left_longer], Some(1)),
            // One in shadow limits nobody, nor does what wasn't counted.
            (&[&shadow, &two_left], Some(1)),
            (&[&open, &shadow], Some(1)),
            (&[&off, &fault(Check::On, OnFault::Local, 1)], Some(1)),
        ];
        for (decisions, at) in cases {
            let decisions: Vec<_> = decisions.iter().copied().cloned().collect();
            assert_eq!(Decision::tightest(&decisions), at, "{decisions:?}");
        }
    }

    #[test]
    fn codes_and_names_never_change() {
        let names = [
            "ALLOWED",
            "LIMITED",
            "SHADOWED",
            "OFF",
            "NO_IDENTITY",
            "FAULT_ALLOWED",
            "FAULT_DENIED",
            "FAULT_LOCAL_ALLOWED",
            "FAULT_LOCAL_LIMITED",
        ];
        for (code, (outcome, name)) in Outcome::ALL.iter().zip(names).enumerate() {
            assert_eq!((outcome.code() as usize, outcome.as_str()), (code, name));
            assert_eq!(outcome.is_allowed(), !name.ends_with("LIMITED") && !name.ends_with("DENIED"));
        }
    }
}
