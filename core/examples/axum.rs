//! An axum application with two rules: a list that stays open when Redis is away, and an export that then closes.
//!
//! `cargo run --example axum --features tower`, with `PORT` (3000) and `REDIS_URL` (counters in memory). Then
//! `curl -i -H 'x-user: u1' http://127.0.0.1:3000/orders`: the third within a minute is turned away.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, Response};
use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{HeaderIdentity, Limiter, OnFault, RateLimitLayer, Rejection, Rule};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("REDIS_URL").unwrap_or_else(|_| "memory:".into());
    let port = std::env::var("PORT").unwrap_or_else(|_| "3000".into()).parse::<u16>()?;

    let limiter = Limiter::builder().url(url).open()?;
    let rule = |name| Rule::new("wms", name).interval(Duration::from_secs(60)).limit(2);
    let list = limiter.rule(rule("Order.list"))?;
    let export = limiter.rule(rule("Order.export").limit(1).on_fault(OnFault::Deny))?;

    // A gateway in front is to set this header, and to drop one that a client sends.
    let user = HeaderIdentity::new(HeaderName::from_static("x-user"));
    let list = RateLimitLayer::new(limiter.clone(), list, user.clone());
    let export = RateLimitLayer::new(limiter, export, user).respond_with(sorry);

    let app = Router::new()
        .route("/orders", get(async || "orders\n").layer(list))
        .route("/export", get(async || "export\n").layer(export));

    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

/// The standard response, with a body of our own.
fn sorry(rejection: &Rejection<'_>) -> Response<Body> {
    let (path, wait) = (rejection.request().uri().path(), rejection.retry_after());
    rejection.response(Body::from(format!("{path} is not to be had, try again in {} s\n", wait.as_secs())))
}
