//! A master that sentinels know.

use std::time::Instant;

use redis::Value;

use super::super::dialect;
use super::super::link::{Tls, Wire};
use super::{Address, Endpoint};
use crate::store::{Fault, FaultKind};

/// Servers that know which one is the master. Protocol: <https://redis.io/docs/latest/develop/reference/sentinel-clients/>.
#[derive(Clone)]
pub(in super::super) struct Sentinels {
    pub(super) sentinels: Vec<Address>,
    pub(super) master: String,
    /// How to get into the master, wherever it is.
    pub(super) data: Address,
}

impl Sentinels {
    /// Reads `[[user]:password@]host[:port][,host[:port]]…[/database]?sentinelMasterId=name`, as Lettuce writes it.
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, String> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (login, rest) = rest.rsplit_once('@').map_or(("", rest), |(login, rest)| (login, rest));
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        let mut master = None;
        let (mut user, mut password, mut options) = ("", "", String::new());
        for (name, value) in query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        {
            match name {
                "sentinelMasterId" => master = Some(value),
                "sentinelUser" => user = value,
                "sentinelPassword" => password = value,
                "protocol" => options = format!("?protocol={value}"),
                _ => return Err(format!("parameter {name:?} is not known")),
            }
        }
        let master = master.filter(|name| !name.is_empty() && !name.contains('%'));
        let master = master.ok_or("sentinelMasterId must name the master, without escapes")?.to_owned();
        let at = |login: &str| if login.is_empty() { String::new() } else { format!("{login}@") };
        let parse = |url: String| Address::parse(&url).map_err(|error| error.reason);
        let login_there = at(&if password.is_empty() { String::new() } else { format!("{user}:{password}") });
        let sentinel = |host: &str| {
            let port = if host.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']')) {
                ""
            } else {
                ":26379"
            };
            parse(format!("{scheme}://{login_there}{host}{port}"))
        };
        Ok(Self {
            sentinels: hosts.split(',').map(sentinel).collect::<Result<_, _>>()?,
            master,
            data: parse(format!("{scheme}://{}master/{database}{options}", at(login)))?,
        })
    }

    pub(super) fn dial(&self, tls: Option<&Tls>, deadline: Instant) -> Result<Wire, Fault> {
        let mut last = Fault::new(FaultKind::Unavailable, "connect", "no sentinel is configured");
        for (asked, sentinel) in self.sentinels.iter().enumerate() {
            // One that is away leaves time for the others and for the master.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / (self.sentinels.len() - asked + 1) as u32;
            match self.ask(sentinel, tls, Instant::now() + share) {
                Ok(address) => return Self::dial_master(&address, tls, deadline),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }

    /// Asks one sentinel where the master is.
    fn ask(&self, sentinel: &Address, tls: Option<&Tls>, deadline: Instant) -> Result<Address, Fault> {
        let mut wire = Wire::dial(sentinel, tls, deadline)?;
        let text = |value: &Value| match value {
            Value::BulkString(bytes) => String::from_utf8(bytes.clone()).ok(),
            _ => None,
        };
        let reply = wire.ask(&["SENTINEL", "get-master-addr-by-name", &self.master])?;
        let Value::Array(parts) = &reply else {
            let detail = format!("sentinel {} knows no master {:?}", sentinel.name(), self.master);
            return Err(Fault::new(FaultKind::Unavailable, "sentinel", detail));
        };
        match parts.iter().map(text).collect::<Option<Vec<_>>>().as_deref() {
            Some([host, port]) if port.parse::<u16>().is_ok() => {
                let (host, port) = (host.clone(), port.parse().unwrap_or_default());
                let endpoint = Endpoint::Tcp { host, port, tls: tls.is_some() };
                Ok(Address { endpoint, ..self.data.clone() })
            }
            _ => Err(dialect::nonsense("SENTINEL", &reply)),
        }
    }

    /// Connects to the server that a sentinel named, unless that knows better: amid a failover it may be a replica still.
    fn dial_master(address: &Address, tls: Option<&Tls>, deadline: Instant) -> Result<Wire, Fault> {
        let mut wire = Wire::dial(address, tls, deadline)?;
        if let Value::Array(role) = wire.ask(&["ROLE"])?
            && let Some(Value::BulkString(role)) = role.first()
            && role.as_slice() != b"master"
        {
            let detail = format!("{} was named as the master and is a replica", address.name());
            return Err(Fault::new(FaultKind::Unavailable, "READONLY", detail));
        }
        Ok(wire)
    }
}
