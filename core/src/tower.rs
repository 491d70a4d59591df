//! The tower layer: from an HTTP request to a decision, and from a decision to an HTTP response.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header::RETRY_AFTER};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::decision::{Decision, Outcome};
use crate::limiter::{Acquiring, Limiter, RuleHandle};
use crate::settings::Check;

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// The largest integer of a structured field.
const MAX_INTEGER: u64 = 999_999_999_999_999;

type Fields = [(HeaderName, HeaderValue); 2];

/// Limits a tower service over HTTP (axum and others) by one rule; cargo feature `tower`.
///
/// Each request is one hit, counted without blocking when the inner service is ready for it. One that is turned away never
/// reaches the inner service: it gets 429 with `Retry-After` (whole seconds, rounded up), or 503 where the store couldn't
/// answer and the policy is [`OnFault::Deny`](crate::OnFault::Deny). Requests without an identity pass uncounted.
///
/// Responses to counted requests carry the fields of
/// [draft-ietf-httpapi-ratelimit-headers-11](https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11),
/// as they stood at the decision: `RateLimit-Policy: "wms.Order.list";q=1;w=3` (hits and seconds of a window) and
/// `RateLimit: "wms.Order.list";r=0;t=2` (hits left, seconds until the window ends). They are appended, so that several
/// layers each announce their own rule. A rule that is off or in shadow announces nothing, nor does a request that a
/// fault policy decided without counting. The user is never named (no `pk`).
///
/// ```
/// use std::time::Duration;
/// use axum::{Router, http::HeaderName, routing::get};
/// use tollgate::{HeaderIdentity, Limiter, RateLimitLayer, Rule};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limiter = Limiter::builder().memory().open()?;
/// let rule = limiter.rule(Rule::new("wms", "Order.list").interval(Duration::from_secs(3)))?;
/// let user = HeaderIdentity::new(HeaderName::from_static("x-user"));
/// let app: Router = Router::new()
///     .route("/orders", get(async || "orders"))
///     .layer(RateLimitLayer::new(limiter, rule, user));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RateLimitLayer<I, R = EmptyResponse> {
    limiter: Limiter,
    rule: RuleHandle,
    identify: I,
    respond: R,
    /// The policy's name as a structured field's string.
    policy: String,
    when_allowed: bool,
}

impl<I> RateLimitLayer<I> {
    /// A layer that hits `rule` of `limiter` for whom `identify` names. The policy is announced under the rule's
    /// [label](RuleHandle::label), and what is turned away gets an [`EmptyResponse`].
    pub fn new(limiter: Limiter, rule: RuleHandle, identify: I) -> Self {
        let policy = structured_string(rule.label());
        Self { limiter, rule, identify, respond: EmptyResponse, policy, when_allowed: true }
    }
}

impl<I, R> RateLimitLayer<I, R> {
    /// Answers what is turned away with `respond`.
    ///
    /// ```
    /// # use axum::{body::Body, extract::Request};
    /// # use tollgate::{Limiter, RateLimitLayer, Rejection, Rule};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let limiter = Limiter::builder().open()?;
    /// # let rule = limiter.rule(Rule::new("wms", "Order.list"))?;
    /// // Who it is was put into the request's extensions by the authentication.
    /// #[derive(Clone)]
    /// struct User(String);
    ///
    /// let layer = RateLimitLayer::new(limiter, rule, |request: &Request| {
    ///     request.extensions().get::<User>().map(|user| user.0.clone())
    /// })
    /// .respond_with(|rejection: &Rejection<'_>| {
    ///     let seconds = rejection.retry_after().as_secs();
    ///     rejection.response(Body::from(format!("Too frequent: try again in {seconds} s.")))
    /// });
    /// # let _: axum::Router = axum::Router::new().route("/", axum::routing::get(async || "")).layer(layer);
    /// # Ok(())
    /// # }
    /// ```
    pub fn respond_with<N>(self, respond: N) -> RateLimitLayer<I, N> {
        let Self { limiter, rule, identify, policy, when_allowed, .. } = self;
        RateLimitLayer { limiter, rule, identify, respond, policy, when_allowed }
    }

    /// Announces the policy under `name` instead of the rule's label, which tells names of the code. What a structured
    /// field's string can't hold (all but printable ASCII) is percent-encoded.
    pub fn policy_name(mut self, name: &str) -> Self {
        self.policy = structured_string(name);
        self
    }

    /// Whether responses of the inner service carry the fields too (the default), or rejections alone.
    pub fn headers_when_allowed(mut self, yes: bool) -> Self {
        self.when_allowed = yes;
        self
    }

    fn announced(&self, decision: &Decision) -> Option<Fields> {
        let settings = decision.settings();
        if decision.reset_after().is_zero() || settings.check == Check::Shadow {
            return None;
        }
        let [quota, remaining] = [decision.limit(), decision.remaining()].map(|hits| hits.min(MAX_INTEGER));
        let (window, left) = (settings.interval.as_secs(), seconds_until(decision));
        let policy = format!("{};q={quota};w={window}", self.policy);
        let limit = format!("{};r={remaining};t={left}", self.policy);
        // Printable ASCII always is a header's value.
        let [policy, limit] = [policy, limit].map(|value| HeaderValue::try_from(value).ok());
        Some([(RATELIMIT_POLICY, policy?), (RATELIMIT, limit?)])
    }
}

/// Names who asks. A function from a request to a text does.
pub trait Identify<B> {
    /// Whom to count `request` for; none, and what [`Identity`](crate::Identity) takes for none, passes uncounted.
    fn identify(&self, request: &Request<B>) -> Option<String>;
}

impl<B, F: Fn(&Request<B>) -> Option<String>> Identify<B> for F {
    fn identify(&self, request: &Request<B>) -> Option<String> {
        self(request)
    }
}

/// Takes the identity from a header, the first where it is repeated: UTF-8, else ISO 8859-1.
///
/// A client can send any header. Use one that a proxy or the authentication in front sets, and takes from clients.
#[derive(Debug, Clone)]
pub struct HeaderIdentity(HeaderName);

impl HeaderIdentity {
    /// The identity that the header `name` holds.
    pub const fn new(name: HeaderName) -> Self {
        Self(name)
    }
}

impl<B> Identify<B> for HeaderIdentity {
    fn identify(&self, request: &Request<B>) -> Option<String> {
        let value = request.headers().get(&self.0)?.as_bytes();
        let utf8 = std::str::from_utf8(value).map(str::to_owned);
        Some(utf8.unwrap_or_else(|_| value.iter().copied().map(char::from).collect()))
    }
}

/// Builds the response to a request that is turned away. A function from a rejection to a response does.
pub trait Respond<B> {
    /// The response, whole: nothing is added to it.
    fn respond(&self, rejection: &Rejection<'_>) -> Response<B>;
}

impl<B, F: Fn(&Rejection<'_>) -> Response<B>> Respond<B> for F {
    fn respond(&self, rejection: &Rejection<'_>) -> Response<B> {
        self(rejection)
    }
}

/// Responds with [`Rejection::response`] and a body that is empty, or whatever else its default is.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyResponse;

impl<B: Default> Respond<B> for EmptyResponse {
    fn respond(&self, rejection: &Rejection<'_>) -> Response<B> {
        rejection.response(B::default())
    }
}

/// A request that is turned away, and why.
#[derive(Debug)]
pub struct Rejection<'a> {
    decision: &'a Decision,
    rule: &'a RuleHandle,
    request: Request<()>,
    announced: Option<Fields>,
}

impl Rejection<'_> {
    /// The decision.
    pub fn decision(&self) -> &Decision {
        self.decision
    }

    /// The rule that was hit, with the key of its message.
    pub fn rule(&self) -> &RuleHandle {
        self.rule
    }

    /// The request without its body.
    pub fn request(&self) -> &Request<()> {
        &self.request
    }

    /// When to come again: whole seconds, rounded up, at least 1.
    pub fn retry_after(&self) -> Duration {
        Duration::from_secs(seconds_until(self.decision))
    }

    /// The standard response around `body`: 429, or 503 where a fault denied, with `Retry-After` and, where the request was
    /// counted, `RateLimit-Policy` and `RateLimit`.
    pub fn response<B>(&self, body: B) -> Response<B> {
        let mut response = Response::new(body);
        *response.status_mut() = match self.decision.outcome() {
            Outcome::FaultDenied => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::TOO_MANY_REQUESTS,
        };
        response.headers_mut().insert(RETRY_AFTER, seconds_until(self.decision).into());
        response.headers_mut().extend(self.announced.iter().flatten().cloned());
        response
    }
}

/// A service under a [`RateLimitLayer`].
#[derive(Debug, Clone)]
pub struct RateLimitService<S, I, R = EmptyResponse> {
    inner: S,
    layer: Arc<RateLimitLayer<I, R>>,
}

impl<S, I: Clone, R: Clone> Layer<S> for RateLimitLayer<I, R> {
    type Service = RateLimitService<S, I, R>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimitService { inner, layer: Arc::new(self.clone()) }
    }
}

impl<S, I, R, B, D> Service<Request<B>> for RateLimitService<S, I, R>
where
    S: Service<Request<B>, Response = Response<D>> + Clone,
    I: Identify<B>,
    R: Respond<D>,
{
    type Response = Response<D>;
    type Error = S::Error;
    type Future = RateLimitFuture<S, I, R, B>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that was polled is ready, its clone may not be.
        let fresh = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, fresh);
        let user = self.layer.identify.identify(&request);
        let acquiring = self.layer.limiter.acquire_async(&self.layer.rule, user.as_deref());
        let state = State::Deciding { acquiring, asked: Some((inner, request)) };
        RateLimitFuture { layer: self.layer.clone(), state }
    }
}

pin_project! {
    /// The response to come of a [`RateLimitService`].
    pub struct RateLimitFuture<S: Service<Request<B>>, I, R, B> {
        layer: Arc<RateLimitLayer<I, R>>,
        #[pin]
        state: State<S, S::Future, B>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<S, F, B> {
        Deciding { acquiring: Acquiring, asked: Option<(S, Request<B>)> },
        Passing { #[pin] response: F, announced: Option<Fields> },
    }
}

impl<S, I, R, B, D> Future for RateLimitFuture<S, I, R, B>
where
    S: Service<Request<B>, Response = Response<D>>,
    R: Respond<D>,
{
    type Output = Result<Response<D>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.state.as_mut().project() {
                StateProjection::Deciding { acquiring, asked } => {
                    let decision = ready!(Pin::new(acquiring).poll(context));
                    let (mut inner, request) = asked.take().expect("not polled again after it was ready");
                    if !decision.is_allowed() {
                        // Gives back what its readiness has reserved.
                        drop(inner);
                        let (announced, rule) = (this.layer.announced(&decision), &this.layer.rule);
                        let rejection =
                            Rejection { decision: &decision, rule, request: request.map(drop), announced };
                        return Poll::Ready(Ok(this.layer.respond.respond(&rejection)));
                    }
                    let announced =
                        this.layer.when_allowed.then(|| this.layer.announced(&decision)).flatten();
                    this.state.set(State::Passing { response: inner.call(request), announced });
                }
                StateProjection::Passing { response, announced } => {
                    let mut response = ready!(response.poll(context))?;
                    for (name, value) in announced.take().into_iter().flatten() {
                        response.headers_mut().append(name, value);
                    }
                    return Poll::Ready(Ok(response));
                }
            }
        }
    }
}

/// Whole seconds until the window ends, rounded up; at least 1, also where no window is known.
fn seconds_until(decision: &Decision) -> u64 {
    let left = decision.reset_after();
    left.as_secs().saturating_add(u64::from(left.subsec_nanos() > 0)).clamp(1, MAX_INTEGER)
}

/// `text` as a String of RFC 9651.
fn structured_string(text: &str) -> String {
    let mut string = String::from('"');
    for byte in text.bytes() {
        // Writing to a String can't fail.
        let _ = match byte {
            b'"' | b'\\' => write!(string, "\\{}", char::from(byte)),
            b' '..=b'~' => write!(string, "{}", char::from(byte)),
            _ => write!(string, "%{byte:02X}"),
        };
    }
    string.push('"');
    string
}
