//! Which server to ask: so far the one that the URL names.

use redis::{ConnectionAddr, IntoConnectionInfo, ProtocolVersion};

/// A Redis URL that can't be used. Passwords are never shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "URL {url:?} is not usable: {reason}; use memory:, redis://[[user]:password@]host[:port][/database], rediss://… or unix:///path/to/socket[?db=1]"
)]
pub struct RedisError {
    /// The URL, with its password hidden.
    pub url: String,
    /// What is wrong with it.
    pub reason: String,
}

/// One server and how to get in.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) endpoint: Endpoint,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
    pub(super) resp3: bool,
}

#[derive(Clone)]
pub(super) enum Endpoint {
    Tcp { host: String, port: u16, tls: bool },
    Unix(std::path::PathBuf),
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, RedisError> {
        let fail = |reason: String| Err(RedisError { url: redact(url), reason });
        let Some((scheme, rest)) = url.split_once("://") else {
            return fail("it has no scheme".into());
        };
        // The crate reads the rest alike; whether there is TLS is decided here, since the socket is ours.
        let (tls, plain) = match scheme {
            "redis" | "valkey" => (false, url.to_owned()),
            "rediss" | "valkeys" => (true, format!("redis://{rest}")),
            "unix" | "redis+unix" => (false, format!("unix://{rest}")),
            "redis-sentinel" | "redis-cluster" => {
                return fail(format!("{scheme} is not supported yet, name one server"));
            }
            _ => return fail(format!("scheme {scheme:?} is not known")),
        };
        if rest.contains('#') {
            return fail("fragments such as #insecure are not supported, TLS is always verified".into());
        }
        let info = match plain.as_str().into_connection_info() {
            Ok(info) => info,
            Err(error) => return fail(error.to_string()),
        };
        let endpoint = match info.addr() {
            ConnectionAddr::Tcp(host, port) => Endpoint::Tcp { host: host.clone(), port: *port, tls },
            ConnectionAddr::Unix(path) => Endpoint::Unix(path.clone()),
            _ => return fail("it names no host".into()),
        };
        let redis = info.redis_settings();
        if redis.db() < 0 {
            return fail(format!("database {} is below 0", redis.db()));
        }
        if redis.username().is_some() && redis.password().is_none() {
            return fail("it has a user but no password".into());
        }
        Ok(Self {
            endpoint,
            user: redis.username().map(str::to_owned),
            password: redis.password().map(str::to_owned),
            database: redis.db(),
            resp3: matches!(redis.protocol(), ProtocolVersion::RESP3),
        })
    }

    /// Where it is, for logs.
    pub(super) fn name(&self) -> String {
        let place = match &self.endpoint {
            Endpoint::Tcp { host, port, tls } => {
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                format!("{host}:{port}{}", if *tls { " (TLS)" } else { "" })
            }
            Endpoint::Unix(path) => path.display().to_string(),
        };
        match self.database {
            0 => format!("redis {place}"),
            database => format!("redis {place} database {database}"),
        }
    }
}

/// Hides what may be a secret: all between the scheme and the last `@`, and what follows a `?`.
fn redact(url: &str) -> String {
    let (url, query) = url.split_once('?').map_or((url, ""), |(url, _)| (url, "?…"));
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}{query}"),
        (None, Some((_, host))) => format!("…@{host}{query}"),
        _ => format!("{url}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let cases = [
            ("redis://127.0.0.1", "redis 127.0.0.1:6379"),
            ("redis://user:p%40ss@cache.local:6380/3", "redis cache.local:6380 database 3"),
            ("rediss://:hunter2@[::1]:7000", "redis [::1]:7000 (TLS)"),
            ("unix:///run/redis.sock?db=2&pass=hunter2", "redis /run/redis.sock database 2"),
            ("valkey://h", "redis h:6379"),
        ];
        for (url, name) in cases {
            assert_eq!(Address::parse(url).map(|address| address.name()), Ok(name.to_owned()), "{url}");
        }
        let address = Address::parse("redis://user:p%40ss@h?protocol=resp3").expect("usable");
        assert_eq!((address.user.as_deref(), address.password.as_deref()), (Some("user"), Some("p@ss")));
        assert!(address.resp3);
    }

    #[test]
    fn bad_urls_say_what_is_wrong_and_hide_secrets() {
        for (url, reason) in [
            ("", "no scheme"),
            ("localhost:6379", "no scheme"),
            ("http://h", "not known"),
            ("redis-cluster://a,b", "not supported yet"),
            ("redis://", ""),
            ("redis://:hunter2@h:99999", ""),
            ("redis://:hunter2@h/x", "database"),
            ("redis://:hunter2@h/-1", "below 0"),
            ("redis://hunter2@h", "no password"),
            ("rediss://:hunter2@h#insecure", "always verified"),
            ("redis://:hunter2@h?protocol=hunter2", ""),
            ("redis://:hun@ter2@0.0.0.0", ""),
            (":hunter2@h", "no scheme"),
        ] {
            let error = Address::parse(url).map(|address| address.name()).expect_err(url);
            assert!(error.reason.contains(reason), "{url}: {error}");
            assert!(!error.url.contains("hun"), "{error}");
            assert!(error.to_string().contains("use memory:, redis://[[user]"));
        }
    }
}
