//! Runs the examples and reads what they print.

#[path = "common/example.rs"]
mod example;

/// What an example prints, a line each.
fn lines(name: &str) -> Vec<String> {
    let output = example::command(name).output().expect("it starts");
    assert!(output.status.success(), "{name}: {}", output.status);
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn sync() {
    let lines = lines("sync");
    assert_eq!(lines[..2], ["hit 1: ALLOWED, 1 left", "hit 2: ALLOWED, 0 left"]);
    assert!(lines[2].starts_with("hit 3: LIMITED, again in "), "{lines:?}");
    assert_eq!(lines[3..], ["another user: ALLOWED", "hit 4: ALLOWED, 1 left"]);
}

#[test]
fn r#async() {
    assert_eq!(lines("async"), ["3 of 10 passed"]);
}

#[cfg(feature = "redis")]
#[test]
fn fault_policies() {
    assert_eq!(
        lines("fault_policies"),
        [
            "the limiter's own, Allow: FAULT_ALLOWED, then FAULT_ALLOWED (fault: connect)",
            "Deny: FAULT_DENIED, then FAULT_DENIED (fault: connect)",
            "Local: FAULT_LOCAL_ALLOWED, then FAULT_LOCAL_LIMITED (fault: connect)",
        ]
    );
}

#[test]
fn custom_store() {
    assert_eq!(
        lines("custom_store"),
        [
            "Limiter(maps): ALLOWED",
            "Limiter(maps): LIMITED",
            "switched off: OFF",
            "log.check = true",
            "wms.Order.list.check = false",
            "wms.Order.list.interval = 60",
            "wms.Order.list.limit = 1",
        ]
    );
}

#[test]
fn custom_observer() {
    assert_eq!(
        lines("custom_observer"),
        [
            "record: Identity(\"u1\") hit wms.Order.list 2 times",
            "metric: wms.Order.list ALLOWED = 2",
            "metric: wms.Order.list LIMITED = 1",
            "metric: wms.Order.list NO_IDENTITY = 1",
        ]
    );
}
