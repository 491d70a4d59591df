//! What the configuration hash says: the only parser of its fields.

use std::time::Duration;

use crate::key::{self, LOG_CHECK};
use crate::rule::{MAX_INTERVAL_SECS, MAX_LIMIT, Rule};

/// A rule's switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Check {
    /// Counts and rejects.
    On,
    /// Neither counts nor rejects.
    Off,
    /// Counts and records, but lets through.
    Shadow,
}

/// What holds for one rule right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The switch.
    pub check: Check,
    /// The window: whole seconds, 1 to 31,536,000.
    pub interval: Duration,
    /// Hits that pass in one window.
    pub limit: u64,
    /// Whether rejections are to be recorded.
    pub record: bool,
}

impl Settings {
    /// What holds for `rule` when the configuration hash says nothing.
    pub fn defaults(rule: &Rule) -> Self {
        Self {
            check: Check::On,
            interval: rule.default_interval(),
            limit: rule.default_limit(),
            record: true,
        }
    }

    pub(crate) fn interval_ms(&self) -> u64 {
        self.interval.as_secs() * 1_000
    }
}

/// A value of the configuration hash that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The field, as it stands in the hash.
    pub field: String,
    /// Its value, as far as it is text.
    pub value: String,
    /// What holds instead.
    pub instead: String,
    /// Values that are understood.
    pub remedy: &'static str,
    /// Whether a number was ignored (an error) rather than a switch read as on (a warning).
    pub ignored: bool,
}

/// The four values that a rule reads, in the order of its fields: check, interval, limit, `log.check`.
pub(crate) type Values<'a> = [Option<&'a [u8]>; 4];

const SWITCH: &str = "use true (or 1), false (or 0) or shadow";
const LOG_SWITCH: &str = "use true (or 1) or false (or 0)";
const INTERVAL: &str = "use whole seconds from 1 to 31536000";
const LIMIT: &str = "use a whole number from 0 to 9223372036854775807";

/// Reads the values of `rule`'s fields. Whatever isn't understood holds as the rule's own default and is complained of.
pub(crate) fn parse(rule: &Rule, fields: &[String; 4], values: Values<'_>) -> (Settings, Vec<Complaint>) {
    let mut settings = Settings::defaults(rule);
    let mut complaints = Vec::new();
    let mut complain = |at: usize, instead: String, remedy, ignored| {
        let value = String::from_utf8_lossy(values[at].unwrap_or_default());
        let value = value.chars().take(64).collect();
        complaints.push(Complaint { field: fields[at].clone(), value, instead, remedy, ignored });
    };
    if let Some(value) = values[0] {
        match switch(value) {
            Some(check) => settings.check = check,
            None => complain(0, "the rule stays on".into(), SWITCH, false),
        }
    }
    if let Some(value) = values[1] {
        match interval(value) {
            Some(secs) => settings.interval = Duration::from_secs(secs),
            None => {
                complain(1, format!("the default of {} s holds", settings.interval.as_secs()), INTERVAL, true)
            }
        }
    }
    if let Some(value) = values[2] {
        match limit(value) {
            Some(limit) => settings.limit = limit,
            None => complain(2, format!("the default of {} holds", settings.limit), LIMIT, true),
        }
    }
    if let Some(value) = values[3] {
        match switch(value) {
            Some(Check::On) => {}
            Some(Check::Off) => settings.record = false,
            Some(Check::Shadow) | None => complain(3, "recording stays on".into(), LOG_SWITCH, false),
        }
    }
    (settings, complaints)
}

/// The values that are written for missing fields, in the order of the fields.
pub(crate) fn default_values(rule: &Rule) -> [String; 4] {
    [
        "true".into(),
        rule.default_interval().as_secs().to_string(),
        rule.default_limit().to_string(),
        "true".into(),
    ]
}

fn switch(value: &[u8]) -> Option<Check> {
    let value = value.trim_ascii();
    let is = |word: &str| value.eq_ignore_ascii_case(word.as_bytes());
    if is("false") || is("0") {
        Some(Check::Off)
    } else if is("shadow") {
        Some(Check::Shadow)
    } else if is("true") || is("1") {
        Some(Check::On)
    } else {
        None
    }
}

fn interval(value: &[u8]) -> Option<u64> {
    number(value).filter(|secs| (1..=MAX_INTERVAL_SECS).contains(secs))
}

fn limit(value: &[u8]) -> Option<u64> {
    number(value).filter(|limit| *limit <= MAX_LIMIT)
}

fn number(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    // `parse` would take a sign.
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A setting that was not read or not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The field is none of those that a limiter reads.
    #[error("setting {field:?} is not known: use <module>.<rule>.check, .interval or .limit, or log.check")]
    UnknownField {
        /// The field, as given.
        field: String,
    },
    /// The value would not be understood.
    #[error("setting {field:?}: value {value:?} is not usable: {remedy}")]
    BadValue {
        /// The field.
        field: String,
        /// The value, as given.
        value: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The store didn't answer, or refused.
    #[error("setting not reached: {0}")]
    Fault(#[from] crate::Fault),
}

/// Whether `field` is one that a limiter reads and `value` one that it would understand.
pub(crate) fn validate(field: &str, value: &str) -> Result<(), SettingError> {
    let value_error =
        |remedy| Err(SettingError::BadValue { field: field.to_owned(), value: value.to_owned(), remedy });
    if field == LOG_CHECK {
        return match switch(value.as_bytes()) {
            Some(Check::On | Check::Off) => Ok(()),
            _ => value_error(LOG_SWITCH),
        };
    }
    let suffix = match field.rsplit_once('.') {
        Some((label, suffix))
            if label.split_once('.').is_some_and(|(m, r)| !m.is_empty() && !r.is_empty()) =>
        {
            suffix
        }
        _ => "",
    };
    match key::SUFFIXES.iter().position(|known| *known == suffix) {
        Some(0) if switch(value.as_bytes()).is_none() => value_error(SWITCH),
        Some(1) if interval(value.as_bytes()).is_none() => value_error(INTERVAL),
        Some(2) if limit(value.as_bytes()).is_none() => value_error(LIMIT),
        Some(_) => Ok(()),
        None => Err(SettingError::UnknownField { field: field.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields() -> [String; 4] {
        ["wms.Order.list.check", "wms.Order.list.interval", "wms.Order.list.limit", LOG_CHECK]
            .map(String::from)
    }

    fn read(values: [Option<&str>; 4]) -> (Settings, Vec<Complaint>) {
        let rule = Rule::new("wms", "Order.list").interval(Duration::from_secs(15)).limit(2);
        parse(&rule, &fields(), values.map(|value| value.map(str::as_bytes)))
    }

    #[test]
    fn switches() {
        for closed in ["false", "0", "FALSE", "False ", " 0\n", "fAlSe"] {
            let (settings, complaints) = read([Some(closed), None, None, Some(closed)]);
            assert_eq!((settings.check, settings.record), (Check::Off, false), "{closed:?}");
            assert!(complaints.is_empty());
        }
        for on in ["true", "1", " TRUE ", "True"] {
            let (settings, complaints) = read([Some(on), None, None, Some(on)]);
            assert_eq!((settings.check, settings.record), (Check::On, true), "{on:?}");
            assert!(complaints.is_empty());
        }
        assert_eq!(read([Some("Shadow "), None, None, None]).0.check, Check::Shadow);
        for unknown in ["off", "no", "", "null", "00", "fasle", "disabled", "-1", "假"] {
            let (settings, complaints) = read([Some(unknown), None, None, None]);
            assert_eq!(settings.check, Check::On, "{unknown:?}");
            assert_eq!(complaints.len(), 1);
            assert_eq!(
                (complaints[0].field.as_str(), complaints[0].value.as_str()),
                ("wms.Order.list.check", unknown)
            );
            assert!(!complaints[0].ignored);
        }
    }

    #[test]
    fn numbers() {
        let (settings, complaints) = read([None, Some(" 30 "), Some("0"), None]);
        assert_eq!((settings.interval.as_secs(), settings.limit), (30, 0));
        assert!(complaints.is_empty());
        for bad in ["", "0", "-3", "+3", "3.0", "3s", "0x3", "31536001", "99999999999999999999", "３", "3 0"]
        {
            let (settings, complaints) = read([None, Some(bad), None, None]);
            assert_eq!(settings.interval.as_secs(), 15, "{bad:?}");
            assert!(complaints.len() == 1 && complaints[0].ignored, "{bad:?}");
        }
        for bad in ["", "-1", "1e3", "9223372036854775808", "unlimited"] {
            let (settings, complaints) = read([None, None, Some(bad), None]);
            assert_eq!(settings.limit, 2, "{bad:?}");
            assert!(complaints.len() == 1 && complaints[0].ignored, "{bad:?}");
        }
    }

    #[test]
    fn writes_are_checked_like_reads() {
        for (field, value) in [
            ("wms.Order.list.check", "shadow"),
            ("wms.Order.list.interval", "30"),
            ("a.b.limit", "0"),
            (LOG_CHECK, "false"),
        ] {
            assert_eq!(validate(field, value), Ok(()), "{field} {value}");
        }
        for (field, value) in [
            ("wms.Order.list.check", "off"),
            ("wms.Order.list.interval", "0"),
            ("wms.Order.list.limit", "-1"),
            (LOG_CHECK, "shadow"),
        ] {
            assert!(matches!(validate(field, value), Err(SettingError::BadValue { .. })), "{field} {value}");
        }
        for field in [
            "",
            "check",
            ".check",
            "wms.check",
            "wms..check",
            ".x.check",
            "wms.Order.list.intervall",
            "log.chek",
        ] {
            assert!(matches!(validate(field, "1"), Err(SettingError::UnknownField { .. })), "{field}");
        }
    }

    proptest! {
        /// No bytes in the hash can panic, close a rule by accident or take it out of its ranges.
        #[test]
        fn any_bytes_are_harmless(values in prop::array::uniform4(prop::option::of(prop::collection::vec(any::<u8>(), 0..12)))) {
            let rule = Rule::new("wms", "Order.list");
            let (settings, _) = parse(&rule, &fields(), [0, 1, 2, 3].map(|at: usize| values[at].as_deref()));
            prop_assert!((1..=MAX_INTERVAL_SECS).contains(&settings.interval.as_secs()));
            prop_assert!(settings.limit <= MAX_LIMIT);
            let closing = |bytes: &[u8]| matches!(bytes.trim_ascii().to_ascii_lowercase().as_slice(), b"false" | b"0");
            prop_assert_eq!(settings.check == Check::Off, values[0].as_deref().is_some_and(closing));
        }

        #[test]
        fn every_default_is_readable(interval in 1..=MAX_INTERVAL_SECS, limit in 0..=MAX_LIMIT) {
            let rule = Rule::new("wms", "Order.list").interval(Duration::from_secs(interval)).limit(limit);
            let written = default_values(&rule);
            let values = [0, 1, 2, 3].map(|at: usize| Some(written[at].as_bytes()));
            prop_assert_eq!(parse(&rule, &fields(), values), (Settings::defaults(&rule), vec![]));
        }
    }
}
