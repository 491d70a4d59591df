//! Servers that sentinels watch.

use super::{Server, eventually, newest};

/// A master, a replica of it, and three sentinels that watch them.
pub struct Watched {
    pub servers: [Server; 2],
    pub sentinels: Vec<Server>,
}

impl Watched {
    pub fn start() -> Self {
        let newest = newest();
        let master = Server::start(&newest, &[]);
        let port = master.port.to_string();
        let replica = Server::start(&newest, &["--replicaof", "127.0.0.1", &port]);
        let sentinels = (0..3)
            .map(|_| {
                let sentinel = Server::sentinel(&newest);
                let _: redis::Value = sentinel.run(&format!("SENTINEL MONITOR main 127.0.0.1 {port} 2"));
                for option in ["down-after-milliseconds 500", "failover-timeout 3000"] {
                    let _: redis::Value = sentinel.run(&format!("SENTINEL SET main {option}"));
                }
                sentinel
            })
            .collect();
        let watched = Self { servers: [master, replica], sentinels };
        eventually("the sentinels know each other and the replica", || {
            watched.sentinels.iter().all(|sentinel| {
                let state: String = sentinel.run("INFO sentinel");
                state.contains("slaves=1,sentinels=3")
            })
        });
        watched
    }

    pub fn url(&self) -> String {
        let places: Vec<_> =
            self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect();
        format!("redis-sentinel://{}/1?sentinelMasterId=main", places.join(","))
    }
}
