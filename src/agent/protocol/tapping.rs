//! What an agent says of its interposers: rules read back, probes through them, and what effects did.

use serde::{Deserialize, Serialize};

use crate::cluster::Tap;
use crate::op::NodeName;

/// A tap's rules as the kernel shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapState {
    pub tap: Tap,
    /// The table that holds them, in the node's own namespace.
    pub table: String,
    /// The kernel removes it with the agent.
    pub owned: bool,
    pub rules: usize,
    pub wanted: usize,
}

impl TapState {
    pub fn is_in_force(&self) -> bool {
        self.wanted > 0 && self.rules == self.wanted
    }
}

/// A connection opened to see whether it is redirected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapProbe {
    pub state: TapState,
    /// The other end.
    pub with: NodeName,
    pub passed: Passed,
}

/// What became of a connection that should pass an interposer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passed {
    /// The interposer had it and the server took it.
    Through { after_us: u64 },
    /// The interposer had it; the server's own end refused it, as where nothing listens.
    Refused,
    /// The interposer had it; the server was not reached within the bound.
    Unanswered,
    /// It was opened, but not through the interposer.
    Around,
    /// It was not opened.
    Failed { error: String },
}

impl Passed {
    /// The interposer stands in the way of new connections.
    pub fn is_tapped(&self) -> bool {
        matches!(self, Passed::Through { .. } | Passed::Refused | Passed::Unanswered)
    }
}

/// What an effect did while it was armed, on one or more nodes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests that matched the pattern.
    pub matches: u64,
    /// Messages that were hit; of a toxic: pieces of data that it acted on, or connections reset.
    pub hits: u64,
    /// Connections that were held until now, and are closed with it.
    pub released: u64,
    /// Directions of connections that turned out not to speak the rule's protocol.
    pub unparsed: u64,
}

impl Spent {
    pub fn and(self, other: Spent) -> Spent {
        Spent {
            matches: self.matches + other.matches,
            hits: self.hits + other.hits,
            released: self.released + other.released,
            unparsed: self.unparsed + other.unparsed,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect;

    use super::*;
    use crate::agent::protocol::{Command, Message, Request};
    use crate::cluster::{
        Concerning, Effect, FaultId, Form, LookoutId, MessageRule, MessageSeen, Side,
    };

    fn tap() -> Tap {
        let peers = BTreeSet::from(["clients".into()]);
        Tap { node: "n1".into(), side: Side::Inbound, port: 2181, peers }
    }

    #[test]
    fn an_armed_rule_on_the_wire() {
        let pattern = "zookeeper set /sg/*".parse().expect("a pattern");
        let rule =
            MessageRule { pattern, form: Form::DropRequest, nth: 2, times: None, delay: None };
        let taps = BTreeSet::from([tap()]);
        let concerning = Concerning::Fault(FaultId(3));
        let command = Command::Arm { concerning, taps, effect: Effect::Message(rule) };
        let request = Request { id: 1, command };
        let line = serde_json::to_string(&request).expect("a line");
        expect![[r#"{"id":1,"command":{"do":"arm","concerning":{"fault":3},"taps":[{"node":"n1","side":"inbound","port":2181,"peers":["clients"]}],"effect":{"message":{"pattern":"zookeeper set /sg/*","form":"drop-request","nth":2,"times":null}}}}"#]].assert_eq(&line);
        assert_eq!(serde_json::from_str::<Request>(&line).expect("a request"), request);
    }

    #[test]
    fn a_message_seen_on_the_wire() {
        let message = MessageSeen {
            request: "set /a = \"1\"".to_owned(),
            subject: Some("/a".to_owned()),
            reply: None,
            applied: false,
            connection: "10.0.0.1:4711→10.0.0.11:2181".to_owned(),
            form: Form::Watch,
            nth: 1,
        };
        let concerning = Concerning::Lookout(LookoutId(4));
        let seen = Message::Seen { concerning, node: "n1".into(), message, age_us: 95 };
        let line = serde_json::to_string(&seen).expect("a line");
        expect![[r#"{"say":"seen","concerning":{"lookout":4},"node":"n1","message":{"request":"set /a = \"1\"","subject":"/a","applied":false,"connection":"10.0.0.1:4711→10.0.0.11:2181","form":"watch","nth":1},"age_us":95}"#]].assert_eq(&line);
        assert_eq!(serde_json::from_str::<Message>(&line).expect("a message"), seen);
    }

    #[test]
    fn a_tap_is_in_force_with_all_its_rules_only() {
        let state = |rules| TapState {
            tap: tap(),
            table: "sg_r_tap".to_owned(),
            owned: true,
            rules,
            wanted: 2,
        };
        assert!(state(2).is_in_force());
        assert!(!state(1).is_in_force() && !state(0).is_in_force());
        assert!(Passed::Refused.is_tapped() && !Passed::Around.is_tapped());
    }
}
