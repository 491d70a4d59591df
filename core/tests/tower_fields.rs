//! What the tower layer says in HTTP for each outcome, read back by a parser of structured fields.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, Request, Response, StatusCode};
use proptest::prelude::*;
use sfv::{List, ListEntry, Parser};
use tollgate::{
    Check, Counted, Fault, FaultKind, HeaderIdentity, Hit, Limiter, OnFault, RateLimitLayer, Reading, Rule,
    Settings, Store, StoreState,
};
use tower_layer::Layer;
use tower_service::Service;

const LARGEST: u64 = 999_999_999_999_999;
const USER: HeaderIdentity = HeaderIdentity::new(HeaderName::from_static("x-user"));

/// A store that always reads the same.
struct Fixed(Result<Reading, Fault>);

impl Store for Fixed {
    fn hit(&self, _: &Hit<'_>, _: Instant) -> Result<Reading, Fault> {
        self.0.clone()
    }

    fn setting(&self, _: &str, _: Instant) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn set(&self, _: &str, _: &str, _: Instant) -> Result<(), Fault> {
        Ok(())
    }

    fn settings(&self, _: Instant) -> Result<Vec<(String, String)>, Fault> {
        Ok(Vec::new())
    }

    fn state(&self) -> StoreState {
        StoreState { name: "fixed".into(), fault: None, connects: 0, counters: 0 }
    }
}

/// A service that is ready at once and says 200.
#[derive(Clone)]
struct Fine;

impl Service<Request<()>> for Fine {
    type Response = Response<()>;
    type Error = Infallible;
    type Future = Ready<Result<Response<()>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(Response::new(())))
    }
}

fn reading(check: Check, limit: u64, count: u64, interval: u64, ends_in: Duration) -> Reading {
    let settings = Settings { check, interval: Duration::from_secs(interval), limit, record: true };
    let counted = (check != Check::Off).then_some(Counted { count, ends_in, replaced: false });
    Reading { settings, counted, unread: None }
}

/// The response to the first hit of `u1` by `rule`.
fn answer(
    store: Fixed,
    rule: Rule,
    adapt: impl FnOnce(RateLimitLayer<HeaderIdentity>) -> RateLimitLayer<HeaderIdentity>,
) -> (StatusCode, HeaderMap) {
    let limiter = Limiter::builder().store(store).open().expect("opens");
    let rule = limiter.rule(rule).expect("a usable rule");
    let mut service = adapt(RateLimitLayer::new(limiter, rule, USER)).layer(Fine);
    let request = Request::get("/").header("x-user", "u1").body(()).expect("a request");
    // Nothing here ever waits.
    let mut future = std::pin::pin!(service.call(request));
    match future.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())) {
        Poll::Ready(Ok(response)) => (response.status(), response.into_parts().0.headers),
        Poll::Pending => panic!("the store is done at once"),
    }
}

fn orders() -> Rule {
    Rule::new("wms", "Order.list").interval(Duration::from_secs(3)).limit(1)
}

#[test]
fn each_outcome_has_its_status_and_fields() {
    let read = |check, count| Ok(reading(check, 2, count, 3, Duration::from_millis(1_001)));
    let fault = || Err(Fault::new(FaultKind::Timeout, "timeout", "no answer"));
    let policy = Some("\"wms.Order.list\";q=2;w=3");
    let own = Some("\"wms.Order.list\";q=1;w=3");
    // Store, fault policy, status, Retry-After, RateLimit-Policy, RateLimit without its t.
    let cases = [
        (read(Check::On, 1), OnFault::Allow, 200, None, policy, Some("\"wms.Order.list\";r=1;t=2")),
        (read(Check::On, 2), OnFault::Allow, 200, None, policy, Some("\"wms.Order.list\";r=0;t=2")),
        (read(Check::On, 3), OnFault::Allow, 429, Some("2"), policy, Some("\"wms.Order.list\";r=0;t=2")),
        (read(Check::Shadow, 1), OnFault::Allow, 200, None, None, None),
        (read(Check::Shadow, 3), OnFault::Allow, 200, None, None, None),
        (read(Check::Off, 3), OnFault::Allow, 200, None, None, None),
        (fault(), OnFault::Allow, 200, None, None, None),
        (fault(), OnFault::Deny, 503, Some("1"), None, None),
        // Counted in memory, with a whole window ahead.
        (fault(), OnFault::Local, 200, None, own, Some("\"wms.Order.list\";r=0;t=3")),
    ];
    for (store, on_fault, status, retry_after, policy, limit) in cases {
        let case = format!("{store:?} {on_fault:?}");
        let (code, fields) = answer(Fixed(store), orders().on_fault(on_fault), |layer| layer);
        let field = |name: &str| fields.get(name).map(|value| value.to_str().expect("ASCII"));
        assert_eq!(code, status, "{case}");
        assert_eq!(field("retry-after"), retry_after, "{case}");
        assert_eq!((field("ratelimit-policy"), field("ratelimit")), (policy, limit), "{case}");
    }
    let (code, fields) = answer(Fixed(fault()), orders().limit(0).on_fault(OnFault::Local), |layer| layer);
    assert_eq!(code, StatusCode::TOO_MANY_REQUESTS, "over the limit in memory");
    assert_eq!(fields["retry-after"], "3");
    assert_eq!(fields["ratelimit"], "\"wms.Order.list\";r=0;t=3");
}

#[test]
fn allowed_responses_can_stay_bare() {
    let bare = |count| {
        let reading = reading(Check::On, 1, count, 3, Duration::from_secs(3));
        answer(Fixed(Ok(reading)), orders(), |layer| layer.headers_when_allowed(false))
    };
    let (status, fields) = bare(1);
    assert_eq!((status, fields.len()), (StatusCode::OK, 0));
    let (status, fields) = bare(2);
    assert_eq!((status, fields.len()), (StatusCode::TOO_MANY_REQUESTS, 3));
}

/// The only member of a field: its name, and its parameters in their order.
fn member(fields: &HeaderMap, name: &str) -> (String, Vec<(String, u64)>) {
    let list: List = Parser::new(fields[name].as_bytes()).parse().expect("a structured field");
    let [ListEntry::Item(item)] = list.as_slice() else { panic!("{list:?}") };
    let name = item.bare_item.as_string().expect("a String").as_str().to_owned();
    let number = |value: &sfv::BareItem| value.as_integer().and_then(|value| u64::try_from(value).ok());
    let parameters =
        item.params.iter().map(|(key, value)| (key.as_str().to_owned(), number(value).expect("a number")));
    (name, parameters.collect())
}

fn parameters<const N: usize>(expected: [(&str, u64); N]) -> Vec<(String, u64)> {
    expected.map(|(key, value)| (key.to_owned(), value)).to_vec()
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        let hex =
            |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).map(|digit| digit as u8);
        decoded.push(match byte {
            b'%' => hex(bytes.next()).zip(hex(bytes.next())).map_or(b'?', |(high, low)| high * 16 + low),
            _ => byte,
        });
    }
    decoded
}

proptest! {
    #[test]
    fn numbers_are_what_was_read(
        limit in prop_oneof![0u64..5, 0..=i64::MAX as u64],
        count in prop_oneof![1u64..9, 1..=i64::MAX as u64],
        interval in 1u64..=31_536_000,
        part in 1u64..=1_000_000_000,
    ) {
        let ends_in = Duration::from_nanos(interval * part).max(Duration::from_millis(1));
        let read = reading(Check::On, limit, count, interval, ends_in);
        let (status, fields) = answer(Fixed(Ok(read)), orders(), |layer| layer);
        let left = ends_in.as_nanos().div_ceil(1_000_000_000) as u64;
        prop_assert!((1..=interval).contains(&left));
        let quota = ("q", limit.min(LARGEST));
        let name = || "wms.Order.list".to_owned();
        prop_assert_eq!(member(&fields, "ratelimit-policy"), (name(), parameters([quota, ("w", interval)])));
        let remaining = ("r", limit.saturating_sub(count).min(LARGEST));
        prop_assert_eq!(member(&fields, "ratelimit"), (name(), parameters([remaining, ("t", left)])));
        let retry_after = fields.get("retry-after").map(|value| value.to_str().expect("ASCII").to_owned());
        if count > limit {
            prop_assert_eq!((status, retry_after), (StatusCode::TOO_MANY_REQUESTS, Some(left.to_string())));
        } else {
            prop_assert_eq!((status, retry_after), (StatusCode::OK, None));
        }
    }

    #[test]
    fn any_rule_and_any_name_is_announced(module in "\\PC{1,12}", rule in any::<String>(), name in "[^%]{0,20}") {
        prop_assume!(!module.trim().is_empty() && !rule.trim().is_empty());
        let read = || Fixed(Ok(reading(Check::On, 1, 1, 3, Duration::from_secs(1))));
        let limiter = Limiter::builder().open().expect("opens");
        let label = limiter.rule(Rule::new(&module, &rule)).expect("usable").label().to_owned();

        let (_, fields) = answer(read(), Rule::new(&module, &rule), |layer| layer);
        let announced = member(&fields, "ratelimit-policy").0;
        prop_assert_eq!(&announced, &member(&fields, "ratelimit").0);
        prop_assert_eq!(percent_decoded(&announced), percent_decoded(&label));

        let (_, fields) = answer(read(), orders(), |layer| layer.policy_name(&name));
        prop_assert_eq!(percent_decoded(&member(&fields, "ratelimit").0), percent_decoded(&name));
    }

    /// Whatever a store of another's says, there is a response with a value that a parser takes.
    #[test]
    fn an_odd_store_breaks_nothing(secs in any::<u64>(), nanos in 0u32..1_000_000_000) {
        let read = reading(Check::On, 1, 2, 3, Duration::new(secs, nanos));
        let (status, fields) = answer(Fixed(Ok(read)), orders(), |layer| layer);
        prop_assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
        let retry_after = fields["retry-after"].to_str().expect("ASCII").parse::<u64>().expect("seconds");
        prop_assert!((1..=LARGEST).contains(&retry_after));
        if secs > 0 || nanos > 0 {
            prop_assert_eq!(member(&fields, "ratelimit").1, parameters([("r", 0), ("t", retry_after)]));
        }
    }
}
