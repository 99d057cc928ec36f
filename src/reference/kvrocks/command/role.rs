//! `ROLE`.

use crate::reference::host::Host;
use crate::reference::kvrocks::cluster::Standing;
use crate::reference::kvrocks::node::Node;
use crate::resp::Value;

pub fn role<H: Host>(node: &Node<H>) -> Value {
    let last = node.log.borrow().sequence().to_string();
    match node.standing() {
        Standing::Slave { of } => {
            let (host, port) = of.map_or(Default::default(), |master| (master.host, master.port));
            let state = if node.replication.is_linked() { "connected" } else { "connecting" };
            let words = ["slave".to_owned(), host, port.to_string(), state.to_owned(), last];
            Value::Array(words.map(Value::bulk).to_vec())
        }
        Standing::Master | Standing::Outside => {
            let mut parts = vec![Value::bulk("master"), Value::bulk(last)];
            let replicas = node.replication.replicas();
            if !replicas.is_empty() {
                let told = replicas.iter().map(|replica| {
                    let words = [
                        replica.address.ip().to_string(),
                        replica.port.to_string(),
                        replica.acknowledged.to_string(),
                    ];
                    Value::Array(words.map(Value::bulk).to_vec())
                });
                parts.push(Value::Array(told.collect()));
            }
            Value::Array(parts)
        }
    }
}
