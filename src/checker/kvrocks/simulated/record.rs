//! Writes down what happens in a simulated cluster, as a compact history.

use super::{Answered, Asked, NODES};
use crate::rng::Rng;

/// The loop looks as often as this, in milliseconds.
const LOOK_EVERY: u64 = 250;

pub(super) struct Recorder {
    rng: Rng,
    lines: Vec<String>,
    /// In milliseconds.
    pub now: u64,
    looked: u64,
    last_view: String,
    operator: u32,
    fault: u32,
}

impl Recorder {
    pub fn new(rng: Rng) -> Recorder {
        let last_view = String::new();
        Recorder { rng, lines: Vec::new(), now: 0, looked: 0, last_view, operator: 1_000, fault: 0 }
    }

    pub fn pass(&mut self) {
        self.now += self.rng.between(5, 120);
    }

    fn line(&mut self, what: &str) {
        self.lines.push(format!("{}.{:03} {what}", self.now / 1_000, self.now % 1_000));
    }

    pub fn phase(&mut self, name: &str) {
        self.last_view.clear();
        self.line(&format!("nemesis phase {name}"));
    }

    pub fn may_look(&mut self) -> bool {
        self.now >= self.looked + LOOK_EVERY
    }

    /// Recorded if it tells anything new.
    pub fn view(&mut self, view: String) {
        self.looked = self.now;
        if view != self.last_view {
            self.line(&format!("nemesis view {view}"));
            self.last_view = view;
        }
    }

    pub fn strike(&mut self, node: &str, dead: bool) {
        self.fault += 1;
        let (fault, how) = (self.number(node), if dead { "kill" } else { "cut" });
        self.line(&format!("nemesis strike f{fault} {how} {node}"));
    }

    pub fn heal(&mut self, node: &str, dead: bool) {
        let (fault, how) = (self.number(node), if dead { "kill" } else { "cut" });
        self.line(&format!("nemesis heal f{fault} {how} {node}"));
    }

    /// At most one fault strikes a node at a time.
    fn number(&self, node: &str) -> usize {
        1 + NODES.iter().position(|other| *other == node).expect("a node")
    }

    pub fn invoke(&mut self, process: u32, asked: &Asked) {
        self.client(process, "invoke", asked, None, "");
    }

    /// The answering node was asked after others had sent the client on, perhaps.
    pub fn complete(
        &mut self,
        process: u32,
        kind: &str,
        asked: &Asked,
        slot: u16,
        answered: &Answered,
    ) {
        let node = NODES[answered.node];
        let moved = self.rng.chance(0.3).then(|| {
            let after = self.rng.below(answered.at - asked.at + 1) * 1_000;
            format!("{}:MOVED@{after},", self.rng.pick(&NODES).expect("a node"))
        });
        let route = format!("slot={slot} via={}{node}:ok", moved.unwrap_or_default());
        let value = answered.value.as_ref().filter(|_| kind == "ok");
        self.client(process, kind, asked, value, &route);
    }

    fn client(
        &mut self,
        process: u32,
        kind: &str,
        asked: &Asked,
        value: Option<&serde_json::Value>,
        route: &str,
    ) {
        let Asked { f, key, from, value: argument, .. } = asked;
        let seen = value.map_or("null".to_owned(), ToString::to_string);
        let home = NODES[process as usize % NODES.len()];
        let told = match *f {
            "txn" => format!("txn [[\"append\",{key},{argument}],[\"r\",{key},{seen}]]"),
            "txn-read" => format!("txn [[\"r\",{key},{seen}]]"),
            "read" | "incr" => {
                format!("{f} {} key={key}", if seen == "null" { "nil" } else { &seen })
            }
            "cas" => format!("cas {from}>{argument} key={key}"),
            _ => format!("{f} {argument} key={key}"),
        };
        self.line(&format!("{process}@{home} {kind} {told} {route}"));
    }

    /// The controller accepted it, or nobody knows.
    pub fn migrate(&mut self, slot: u16, target: usize, accepted: Option<String>) {
        let asked = format!("{{\"slot\":{slot},\"target\":{target}}}");
        let answer = match accepted {
            None => "info migrate nil".to_owned(),
            Some(cluster) => {
                format!("ok migrate {{\"slot\":{slot},\"target\":{target},\"cluster\":{cluster}}}")
            }
        };
        self.operate(&format!("invoke migrate {asked}"), &answer);
    }

    pub fn failover(&mut self, shard: usize, is_known: bool) {
        let answer = match is_known {
            true => format!("ok failover {{\"shard\":{shard},\"new_master_id\":\"any\"}}"),
            false => "info failover nil".to_owned(),
        };
        self.operate(&format!("invoke failover {{\"shard\":{shard}}}"), &answer);
    }

    pub fn topology(&mut self, document: &str) {
        self.operate("invoke topology nil", &format!("ok topology {document}"));
    }

    fn operate(&mut self, asked: &str, answer: &str) {
        let operator = self.operator;
        self.line(&format!("{operator}@controller1 {asked}"));
        self.now += 1;
        self.line(&format!("{operator}@controller1 {answer}"));
        self.operator += 1;
    }

    pub fn text(&self) -> String {
        self.lines.join("\n")
    }
}
