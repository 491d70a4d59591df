//! The tower layer as a service: readiness, one hit a request, any body, errors, and a Redis that doesn't answer.

mod common;

use std::future::{Ready, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use common::{Server, block_on, newest, patient};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use tollgate::{
    HeaderIdentity, Identify, Limiter, Outcome, RateLimitLayer, Rejection, Respond, Rule, RuleHandle,
};
use tower_layer::Layer;
use tower_service::Service;

const USER: HeaderIdentity = HeaderIdentity::new(HeaderName::from_static("x-user"));

/// Is ready when it is asked for the third time, and holds a permit from then on until it is called. Its clones have to be
/// asked anew; one that is called without a permit panics.
#[derive(Default)]
struct Inner {
    asked: usize,
    permit: Option<Permit>,
    permits: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
}

struct Permit(Arc<AtomicUsize>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Clone for Inner {
    fn clone(&self) -> Self {
        Self { asked: 0, permit: None, permits: self.permits.clone(), calls: self.calls.clone() }
    }
}

#[derive(Debug, PartialEq)]
struct Broken;

impl<B> Service<Request<B>> for Inner {
    type Response = Response<&'static str>;
    type Error = Broken;
    type Future = Ready<Result<Self::Response, Broken>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        self.asked += 1;
        if self.asked < 3 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.permit.get_or_insert_with(|| {
            self.permits.fetch_add(1, Ordering::SeqCst);
            Permit(self.permits.clone())
        });
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.permit.take().expect("it was ready");
        self.asked = 0;
        self.calls.fetch_add(1, Ordering::SeqCst);
        let mut response = Response::new("fine");
        response.headers_mut().insert("ratelimit", HeaderValue::from_static("\"inner\";r=7"));
        ready(if request.uri().path() == "/broken" { Err(Broken) } else { Ok(response) })
    }
}

fn limiter() -> (Limiter, RuleHandle) {
    let limiter = Limiter::builder().memory().open().expect("opens");
    let rule = Rule::new("wms", "Order.list").interval(Duration::from_secs(600)).message_key("too_frequent");
    let rule = limiter.rule(rule).expect("a usable rule");
    (limiter, rule)
}

fn request<B>(path: &str, body: B) -> Request<B> {
    Request::get(path).header("x-user", "u1").body(body).expect("a request")
}

/// Waits until the service is ready and calls it.
async fn ask<B, S: Service<Request<B>>>(
    service: &mut S,
    request: Request<B>,
) -> Result<S::Response, S::Error> {
    poll_fn(|context| service.poll_ready(context)).await?;
    service.call(request).await
}

fn hits(limiter: &Limiter) -> u64 {
    Outcome::ALL.iter().map(|outcome| limiter.stats().hits(*outcome)).sum()
}

#[test]
fn one_request_is_one_hit_however_often_readiness_is_asked() {
    let (limiter, rule) = limiter();
    let mut service = RateLimitLayer::new(limiter.clone(), rule, USER).layer(Inner::default());
    let mut context = Context::from_waker(Waker::noop());
    let mut ready = |service: &mut _| Service::<Request<()>>::poll_ready(service, &mut context);
    assert!(ready(&mut service).is_pending());
    assert!(ready(&mut service).is_pending());
    assert!(ready(&mut service).is_ready());
    assert!(ready(&mut service).is_ready());
    assert_eq!(hits(&limiter), 0, "asking for readiness is no hit");
    assert_eq!(block_on(service.call(request("/", ()))).map(Response::into_body), Ok("fine"));
    assert!(ready(&mut service).is_pending(), "what took its place has to be asked");
    assert_eq!((hits(&limiter), limiter.stats().hits(Outcome::Allowed)), (1, 1));
}

#[test]
fn what_is_turned_away_never_reaches_the_inner_service_nor_keeps_it_busy() {
    let (limiter, rule) = limiter();
    let inner = Inner::default();
    let (permits, calls) = (inner.permits.clone(), inner.calls.clone());
    let seen = permits.clone();
    let respond = move |_: &Rejection<'_>| {
        assert_eq!(seen.load(Ordering::SeqCst), 0, "its permit is given back first");
        Response::new("turned away")
    };
    let mut service = RateLimitLayer::new(limiter, rule, USER).respond_with(respond).layer(inner);
    let mut bodies = Vec::new();
    for _ in 0..3 {
        bodies.push(block_on(ask(&mut service, request("/", ()))).expect("a response").into_body());
    }
    assert_eq!(bodies, ["fine", "turned away", "turned away"]);
    assert_eq!((calls.load(Ordering::SeqCst), permits.load(Ordering::SeqCst)), (1, 0));
}

#[test]
fn errors_of_the_inner_service_pass_through() {
    let (limiter, rule) = limiter();
    let mut service = RateLimitLayer::new(limiter.clone(), rule, USER).layer(Inner::default());
    assert_eq!(block_on(ask(&mut service, request("/broken", ()))).err(), Some(Broken));
    let response = block_on(ask(&mut service, request("/broken", ()))).expect("a rejection");
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS, "what failed was counted");
}

#[test]
fn several_layers_each_announce_their_own_rule() {
    let (limiter, list) = limiter();
    let daily = limiter.rule(Rule::new("wms", "daily").interval(Duration::from_secs(86_400)).limit(9));
    let list = RateLimitLayer::new(limiter.clone(), list, USER);
    let daily = RateLimitLayer::new(limiter, daily.expect("a usable rule"), USER).policy_name("per \"day\"");
    let mut service = daily.layer(list.layer(Inner::default()));
    let fields = |response: Response<&str>, name: &str| {
        let values = response.headers().get_all(name).iter();
        values
            .map(|value| value.to_str().expect("ASCII").split(";t=").next().expect("a name").to_owned())
            .collect()
    };
    let passed: Vec<String> =
        fields(block_on(ask(&mut service, request("/", ()))).expect("passes"), "ratelimit");
    assert_eq!(passed, ["\"inner\";r=7", "\"wms.Order.list\";r=0", "\"per \\\"day\\\"\";r=8"]);
    let limited: Vec<String> =
        fields(block_on(ask(&mut service, request("/", ()))).expect("a response"), "ratelimit");
    assert_eq!(limited, ["\"wms.Order.list\";r=0", "\"per \\\"day\\\"\";r=7"]);
}

/// A body without any trait, that can't leave its thread.
struct Odd(std::rc::Rc<str>);

#[derive(Clone)]
struct Echo;

impl<B> Service<Request<B>> for Echo {
    type Response = Response<B>;
    type Error = Broken;
    type Future = Ready<Result<Response<B>, Broken>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(Response::new(request.into_body())))
    }
}

#[test]
fn any_body_will_do() {
    fn twice<B>(respond: impl Respond<B> + Clone, [first, second]: [B; 2]) -> B {
        let (limiter, rule) = limiter();
        let mut service = RateLimitLayer::new(limiter, rule, USER).respond_with(respond).layer(Echo);
        assert!(block_on(ask(&mut service, request("/", first))).is_ok());
        block_on(ask(&mut service, request("/", second))).expect("a response").into_body()
    }
    assert_eq!(twice(tollgate::EmptyResponse, [(); 2]), ());
    assert_eq!(twice(tollgate::EmptyResponse, ["a".to_owned(), "b".to_owned()]), "");
    assert_eq!(twice(tollgate::EmptyResponse, [vec![1], vec![2]]), Vec::<u8>::new());
    let odd = |text: &str| Odd(text.into());
    let left = twice(|_: &Rejection<'_>| Response::new(Odd("turned away".into())), [odd("a"), odd("b")]);
    assert_eq!(&*left.0, "turned away");
}

#[test]
fn a_response_is_built_from_the_request_the_rule_and_the_decision() {
    let (limiter, rule) = limiter();
    let respond = |rejection: &Rejection<'_>| {
        let (request, decision) = (rejection.request(), rejection.decision());
        let key = rejection.rule().rule().default_message_key().unwrap_or_default().to_owned();
        let language = request.headers()["accept-language"].to_str().unwrap_or_default();
        let text = format!("{} {language} {key} {}/{}", request.uri(), decision.count(), decision.limit());
        let mut response = rejection.response(text);
        *response.status_mut() = StatusCode::OK;
        response
    };
    let mut service = RateLimitLayer::new(limiter, rule, USER).respond_with(respond).layer(Echo);
    let request = || {
        let mut request = request("/orders?page=2", String::new());
        request.headers_mut().insert("accept-language", HeaderValue::from_static("zh"));
        request
    };
    block_on(ask(&mut service, request())).expect("passes");
    let response = block_on(ask(&mut service, request())).expect("a response");
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.headers().contains_key("retry-after"));
    assert_eq!(response.body(), "/orders?page=2 zh too_frequent 2/1");
}

#[test]
fn a_header_is_an_identity() {
    let identity = |values: &[&[u8]]| {
        let mut request = Request::new(());
        for value in values {
            request.headers_mut().append("x-user", HeaderValue::from_bytes(value).expect("a value"));
        }
        USER.identify(&request)
    };
    assert_eq!(identity(&[]), None);
    assert_eq!(identity(&[b"u1"]).as_deref(), Some("u1"));
    assert_eq!(identity(&[b"u1", b"u2"]).as_deref(), Some("u1"));
    assert_eq!(identity(&["张三".as_bytes()]).as_deref(), Some("张三"));
    assert_eq!(identity(&[b"Ren\xE9"]).as_deref(), Some("René"), "not UTF-8 is no way around the count");
}

/// The thread that polls is free while Redis doesn't answer.
#[test]
fn a_silent_redis_blocks_no_thread() {
    let server = Server::start(&newest(), &[]);
    let limiter = patient().redis(server.url()).open().expect("opens");
    let rule = limiter.rule(Rule::new("wms", "Order.list")).expect("a usable rule");
    let mut service = RateLimitLayer::new(limiter.clone(), rule, USER).layer(Echo);
    server.signal("STOP");
    let mut waiting = pin!(ask(&mut service, request("/", "u1's")));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    server.signal("CONT");
    let response = block_on(waiting).expect("passes");
    assert_eq!((response.status(), *response.body()), (StatusCode::OK, "u1's"));
    assert_eq!(limiter.stats().hits(Outcome::Allowed), 1);
}

/// What servers ask of a service and its future.
#[test]
fn it_goes_wherever_its_parts_go() {
    fn goes<T: Clone + Send + Sync + 'static>(_: &T) {}
    fn moves<T: Send + 'static>(_: T) {}
    let (limiter, rule) = limiter();
    let layer = RateLimitLayer::new(limiter, rule, USER);
    let mut service = layer.layer(Echo);
    goes(&layer);
    goes(&service);
    moves(service.call(request("/", "")));
}
