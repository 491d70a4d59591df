//! Which server to ask: the one that the URL names, or the one that sentinels name.

mod sentinels;

use std::path::PathBuf;
use std::time::Instant;

use percent_encoding::percent_decode_str;
use redis::{ConnectionAddr, IntoConnectionInfo, ProtocolVersion};

use self::sentinels::Sentinels;
use super::link::{Tls, Wire};
use crate::store::Fault;

/// A Redis URL that can't be used. Passwords are never shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "URL {url:?} is not usable: {reason}; use memory:, redis://[[user]:password@]host[:port][/database], rediss://…, unix:///path/to/socket[?db=1], redis-sentinel://[[user]:password@]host[:port],…[/database]?sentinelMasterId=name or redis-cluster://[[user]:password@]host[:port],…"
)]
pub struct RedisError {
    /// The URL, with its password hidden.
    pub url: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What a URL says for tollgate alone: `connections`, and for TLS `ca`, `cert` and `key`, the paths of PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// Connections to one server.
    pub(super) connections: usize,
    /// The authority that is trusted in place of the system's.
    pub(super) ca: Option<PathBuf>,
    /// The client's certificate and key.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

impl Options {
    /// Takes the options out of a URL; the URL without them.
    pub(super) fn take(url: &str) -> Result<(String, Self), RedisError> {
        let fail = |reason: String| RedisError { url: redact(url), reason };
        let mut options = Self { connections: 1, ca: None, identity: None };
        let (mut cert, mut key) = (None, None);
        let Some((rest, query)) = url.split_once('?') else { return Ok((url.to_owned(), options)) };
        let mut others = Vec::new();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let path = || {
                let decoded = percent_decode_str(value)
                    .decode_utf8()
                    .map_err(|_| fail(format!("{name} is not UTF-8")))?;
                match decoded.is_empty() {
                    true => Err(fail(format!("{name} names no file"))),
                    false => Ok(Some(PathBuf::from(&*decoded))),
                }
            };
            match name {
                "connections" => {
                    let known = value.parse().ok().filter(|connections| (1..=64).contains(connections));
                    options.connections =
                        known.ok_or_else(|| fail(format!("connections {value:?} is not 1 to 64")))?;
                }
                "ca" => options.ca = path()?,
                "cert" => cert = path()?,
                "key" => key = path()?,
                _ => others.push(pair),
            }
        }
        options.identity = match (cert, key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => return Err(fail("cert and key go together".into())),
        };
        let is_tls = url.starts_with("rediss") || url.starts_with("valkeys");
        if !is_tls && (options.ca.is_some() || options.identity.is_some()) {
            return Err(fail("ca, cert and key are for TLS: write rediss://".into()));
        }
        let query = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
        Ok((rest.to_owned() + &query, options))
    }
}

/// Where the server is found.
#[derive(Clone)]
pub(super) enum Topology {
    Single(Address),
    Sentinels(Sentinels),
    /// Nodes to ask for the others.
    Cluster(Vec<Address>),
}

impl Topology {
    pub(super) fn parse(url: &str) -> Result<Self, RedisError> {
        let parsed = match url.split_once("://") {
            Some(("redis-sentinel", rest)) => Sentinels::parse("redis", rest).map(Self::Sentinels),
            Some(("rediss-sentinel", rest)) => Sentinels::parse("rediss", rest).map(Self::Sentinels),
            Some(("redis-cluster", rest)) => seeds("redis", rest).map(Self::Cluster),
            Some(("rediss-cluster", rest)) => seeds("rediss", rest).map(Self::Cluster),
            _ => return Address::parse(url).map(Self::Single),
        };
        parsed.map_err(|reason| RedisError { url: redact(url), reason })
    }

    pub(super) fn uses_tls(&self) -> bool {
        let address = match self {
            Self::Single(address) => address,
            Self::Sentinels(sentinels) => &sentinels.data,
            Self::Cluster(seeds) => &seeds[0],
        };
        matches!(address.endpoint, Endpoint::Tcp { tls: true, .. })
    }

    /// What it is and where, for logs.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Single(address) => format!("redis {}", address.name()),
            Self::Sentinels(Sentinels { sentinels, master, .. }) => {
                let places: Vec<_> = sentinels.iter().map(Address::name).collect();
                format!("redis {master} of sentinels {}", places.join(", "))
            }
            Self::Cluster(seeds) => {
                let places: Vec<_> = seeds.iter().map(Address::name).collect();
                format!("redis cluster of {}", places.join(", "))
            }
        }
    }

    /// Connects, looking up the server first where it may move.
    pub(super) fn dial(&self, tls: Option<&Tls>, deadline: Instant) -> Result<Wire, Fault> {
        match self {
            Self::Single(address) => Wire::dial(address, tls, deadline),
            Self::Sentinels(sentinels) => sentinels.dial(tls, deadline),
            Self::Cluster(seeds) => Wire::dial(&seeds[0], tls, deadline),
        }
    }
}

/// Reads the nodes of a cluster: `[[user]:password@]host[:port][,host[:port]]…[?protocol=…]`.
fn seeds(scheme: &str, rest: &str) -> Result<Vec<Address>, String> {
    let (rest, query) =
        rest.split_once('?').map_or((rest, String::new()), |(rest, query)| (rest, format!("?{query}")));
    let (login, hosts) =
        rest.rsplit_once('@').map_or((String::new(), rest), |(login, hosts)| (format!("{login}@"), hosts));
    let hosts = hosts.strip_suffix("/0").unwrap_or(hosts).trim_end_matches('/');
    if hosts.contains('/') {
        return Err("a cluster has database 0 alone".into());
    }
    let seed = |host: &str| {
        Address::parse(&format!("{scheme}://{login}{host}{query}")).map_err(|error| error.reason)
    };
    hosts.split(',').map(seed).collect()
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
            0 => place,
            database => format!("{place} database {database}"),
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
            ("rediss-cluster://u:hunter2@a,b:7001/", "redis cluster of a:6379 (TLS), b:7001 (TLS)"),
            (
                "redis-sentinel://:hunter2@s1,s2:26380,[::1]/2?sentinelMasterId=main&sentinelPassword=hunter2",
                "redis main of sentinels s1:26379, s2:26380, [::1]:26379",
            ),
        ];
        for (url, name) in cases {
            assert_eq!(Topology::parse(url).map(|topology| topology.name()), Ok(name.to_owned()), "{url}");
        }
        let address = Address::parse("redis://user:p%40ss@h?protocol=resp3").expect("usable");
        assert_eq!((address.user.as_deref(), address.password.as_deref()), (Some("user"), Some("p@ss")));
        assert!(address.resp3);
    }

    #[test]
    fn options_of_tollgate_are_taken_out() {
        let (url, options) =
            Options::take("rediss://h/1?ca=/etc/my%20ca.pem&protocol=resp3&connections=4&cert=c&key=k")
                .expect("usable");
        assert_eq!(url, "rediss://h/1?protocol=resp3");
        let expected = Options {
            connections: 4,
            ca: Some("/etc/my ca.pem".into()),
            identity: Some(("c".into(), "k".into())),
        };
        assert_eq!(options, expected);
        for (url, reason) in [
            ("redis://h?connections=0", "1 to 64"),
            ("redis://h?connections=65", "1 to 64"),
            ("redis://h?connections=", "1 to 64"),
            ("redis://h?ca=/ca.pem", "write rediss://"),
            ("rediss://h?ca=", "names no file"),
            ("rediss://h?cert=c", "go together"),
        ] {
            let error = Options::take(url).expect_err(url);
            assert!(error.reason.contains(reason), "{error}");
        }
    }

    #[test]
    fn bad_urls_say_what_is_wrong_and_hide_secrets() {
        for (url, reason) in [
            ("", "no scheme"),
            ("localhost:6379", "no scheme"),
            ("http://h", "not known"),
            ("redis-cluster://:hunter2@a,b/1", "database 0 alone"),
            ("redis-cluster://:hunter2@a,,b", ""),
            ("redis://", ""),
            ("redis://:hunter2@h:99999", ""),
            ("redis://:hunter2@h/x", "database"),
            ("redis://:hunter2@h/-1", "below 0"),
            ("redis://hunter2@h", "no password"),
            ("rediss://:hunter2@h#insecure", "always verified"),
            ("redis://:hunter2@h?protocol=hunter2", ""),
            ("redis://:hun@ter2@0.0.0.0", ""),
            (":hunter2@h", "no scheme"),
            ("redis-sentinel://:hunter2@h", "sentinelMasterId must name"),
            ("redis-sentinel://h?sentinelMasterId=", "sentinelMasterId must name"),
            ("redis-sentinel://h?sentinelMasterId=m&sentinelPasswort=hunter2", "is not known"),
            ("redis-sentinel://,?sentinelMasterId=m", ""),
            ("redis-sentinel://h/x?sentinelMasterId=m", "database"),
        ] {
            let error = Topology::parse(url).map(|topology| topology.name()).expect_err(url);
            assert!(error.reason.contains(reason), "{url}: {error}");
            assert!(!error.url.contains("hun"), "{error}");
            assert!(error.to_string().contains("use memory:, redis://[[user]"));
        }
    }
}
