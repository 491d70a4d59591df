//! Which node has which slot, kept by a thread of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;

use super::super::batch::Lane;
use super::super::carrier::Carrier;
use super::super::dialect;
use super::super::link::{Link, Wire};
use super::super::topology::{Address, Endpoint, Topology};
use super::Shared;
use crate::store::{Fault, FaultKind};

const SLOTS: usize = 16_384;
/// How often the map is asked for while something is wrong with it.
const RETRY: Duration = Duration::from_millis(250);

/// Which node has which slot.
#[derive(Default)]
pub(super) struct Map {
    pub(super) nodes: Vec<Node>,
    /// Places in `nodes`, by slot; empty until the map is known.
    pub(super) slots: Vec<Option<u16>>,
}

#[derive(Clone)]
pub(super) struct Node {
    /// `host:port`, as the cluster writes it.
    pub(super) name: String,
    pub(super) address: Address,
    pub(super) lane: Arc<Lane<Carrier>>,
}

impl Shared {
    pub(super) fn maintain(&self) {
        loop {
            let refreshed = self.find_map();
            let healthy = refreshed.is_ok() && {
                let map = self.map.read().clone();
                map.slots.iter().all(Option::is_some)
                    && map.nodes.iter().all(|node| node.lane.carrier().link().fault().is_none())
            };
            let mut refresh = self.refresh.lock();
            refresh.attempts += 1;
            refresh.fault = refreshed.err();
            refresh.wanted = !healthy;
            self.changed.notify_all();
            // At most one look in so much time, however many callers find something wrong.
            let next = Instant::now() + RETRY;
            while !refresh.ended && (Instant::now() < next || !refresh.wanted) {
                match refresh.wanted {
                    true => drop(self.changed.wait_until(&mut refresh, next)),
                    false => self.changed.wait(&mut refresh),
                }
            }
            if refresh.ended {
                return;
            }
        }
    }

    /// Asks the nodes, one after the other, which slots each has.
    fn find_map(&self) -> Result<(), Fault> {
        let known = self.map.read().clone();
        let mut last = Fault::new(FaultKind::Unavailable, "connect", "no node of the cluster is configured");
        for address in known.nodes.iter().map(|node| &node.address).chain(&self.seeds) {
            let asked = Wire::dial(address, self.tls.as_ref(), Instant::now() + self.connect_timeout)
                .and_then(|mut wire| wire.ask(&["CLUSTER", "SLOTS"]));
            match asked {
                Ok(Value::ServerError(error)) => {
                    last = Fault { kind: FaultKind::Unavailable, ..dialect::refused("CLUSTER SLOTS", &error) }
                }
                Ok(reply) => match self.read_map(&reply, address, &known) {
                    Some(map) => {
                        self.adopt(map, &known);
                        return Ok(());
                    }
                    None => last = dialect::nonsense("CLUSTER SLOTS", reply),
                },
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }

    /// Reads `[[first, last, [host, port, …], replicas…], …]`; lanes to nodes that are known already stay.
    fn read_map(&self, reply: &Value, asked: &Address, known: &Map) -> Option<Map> {
        let Value::Array(ranges) = reply else { return None };
        let mut map = Map { nodes: Vec::new(), slots: vec![None; SLOTS] };
        for range in ranges {
            let Value::Array(range) = range else { return None };
            let [Value::Int(first), Value::Int(last), Value::Array(master), ..] = range.as_slice() else {
                return None;
            };
            let [host, Value::Int(port), ..] = master.as_slice() else { return None };
            let host = match (host, &asked.endpoint) {
                (Value::BulkString(host), _) if !host.is_empty() => String::from_utf8(host.clone()).ok()?,
                // A node that doesn't know its own address is where it was asked.
                (_, Endpoint::Tcp { host, .. }) => host.clone(),
                _ => return None,
            };
            let port = u16::try_from(*port).ok()?;
            let name = format!("{host}:{port}");
            let at = match map.nodes.iter().position(|node| node.name == name) {
                Some(at) => at,
                None => {
                    map.nodes.push(self.node(name, host, port, asked, known)?);
                    map.nodes.len() - 1
                }
            };
            let slots = map.slots.get_mut(usize::try_from(*first).ok()?..=usize::try_from(*last).ok()?)?;
            slots.fill(Some(at as u16));
        }
        Some(map)
    }

    fn node(&self, name: String, host: String, port: u16, asked: &Address, known: &Map) -> Option<Node> {
        if let Some(node) = known.nodes.iter().find(|node| node.name == name) {
            return Some(node.clone());
        }
        let endpoint = Endpoint::Tcp { host, port, tls: self.tls.is_some() };
        let address = Address { endpoint, ..asked.clone() };
        let link =
            Link::start(Topology::Single(address.clone()), self.tls.clone(), self.connect_timeout).ok()?;
        let lane = Arc::new(Lane::new(Carrier::of_node(link, self.config.clone())));
        Some(Node { name, address, lane })
    }

    fn adopt(&self, map: Map, known: &Map) {
        let gone = known.nodes.iter().filter(|node| !map.nodes.iter().any(|kept| kept.name == node.name));
        self.refresh.lock().connects += gone.map(|node| node.lane.carrier().link().connects()).sum::<u64>();
        *self.map.write() = Arc::new(map);
    }
}

/// CRC16 (XMODEM) modulo the number of slots. Keys of ours have no hash tags, since braces are escaped.
pub(super) fn slot(key: &str) -> usize {
    crc16::State::<crc16::XMODEM>::calculate(key.as_bytes()) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        // The specification's own example, and what CLUSTER KEYSLOT says.
        assert_eq!(slot("123456789"), 0x31C3);
        assert_eq!(slot("foo"), 12_182);
    }
}
