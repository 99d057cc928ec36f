//! A workload as its file tells it: what clients do, on which services, how fast, and what is expected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog::nearest;
use crate::checker::{ANOMALIES, Expectation, LogPattern};
use crate::cluster::{Pattern, Protocol, Role, Settings};
use crate::duration::Span;
use crate::generator::{Concurrency, Rate};
use crate::scenario::settings;
use crate::scenario::yaml::YamlError;
use crate::workload::AnyWorkload;
use crate::workload::kvrocks::KvrocksOptions;
use crate::workload::register::RegisterOptions;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// How many nodes of each service.
    pub services: BTreeMap<Role, usize>,
    /// The role whose leader is meant by the target `leader`.
    pub leader: Role,
    /// Clients of ZooKeeper that work on registers in znodes. Either this or `kvrocks` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register: Option<RegisterOptions>,
    /// Clients of a kvrocks cluster and of its controllers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kvrocks: Option<KvrocksOptions>,
    /// Settings of the services' own configuration, by role: `kvrocks: { migrate-type: raw-key-value }`.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "settings::deserialize"
    )]
    pub config: BTreeMap<Role, Settings>,
    /// The request by which operations change something: what message faults hit that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Pattern>,
    /// Operations a second, all nodes together, whatever the answers (open loop).
    pub rate: Rate,
    /// Client threads: `30`, or `5n` for five a node.
    pub concurrency: Concurrency,
    /// Length of the main phase.
    pub time: Span,
    /// After this long without an answer an operation is `info`.
    #[serde(default = "default_operation_timeout")]
    pub operation_timeout: Span,
    /// Asked of ZooKeeper for each session.
    #[serde(default = "default_session_timeout")]
    pub session_timeout: Span,
    /// How long after the heal the cluster may take to be healthy and to answer every client.
    #[serde(default = "default_recover_within")]
    pub recover_within: Span,
    /// `ok` operations of each kind needed before the first fault; 20 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ok: Option<u64>,
    /// A regular expression: a line of a node's log that it matches is an anomaly. Where absent, what
    /// surely is a crash of the program itself; where empty, none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash_pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
}

fn default_operation_timeout() -> Span {
    Span::seconds(5)
}

fn default_session_timeout() -> Span {
    Span::seconds(6)
}

fn default_recover_within() -> Span {
    Span::seconds(60)
}

impl WorkloadSpec {
    /// What parses but makes no sense, with the line of its field.
    pub fn check(&self, origin: &str, text: &str) -> Result<(), YamlError> {
        let flaw = |field: &str, message: &str| Err(YamlError::field(origin, text, field, message));
        if self.services.values().all(|count| *count == 0) {
            return flaw("services", "expected at least one service with one node");
        }
        let too_many = |(role, count): &(&Role, &usize)| **count > role.most_nodes();
        if let Some((role, count)) = self.services.iter().find(too_many) {
            let most = role.most_nodes();
            return flaw("services", &format!("{role}: {count} nodes; expected 1 to {most}"));
        }
        if let Some(role) = self.config.keys().find(|role| !self.services.contains_key(role)) {
            let roles: Vec<&str> = self.services.keys().map(|role| role.name()).collect();
            let expected = format!("expected settings of {}", roles.join(" or "));
            return flaw(&format!("config.{role}"), &expected);
        }
        if !self.services.contains_key(&self.leader) {
            return flaw("leader", "expected one of the roles in `services`");
        }
        if let Some(message) = &self.message {
            let spoken: Vec<Protocol> =
                self.services.keys().map(|role| role.client_port().1).collect();
            if !spoken.contains(&message.protocol) {
                let spoken: Vec<&str> = spoken.into_iter().map(Protocol::name).collect();
                let expected = format!("expected a request of {}", spoken.join(" or "));
                return flaw("message", &format!("{expected}, found one of {}", message.protocol));
            }
        }
        for (field, span) in [
            ("time", self.time),
            ("operation_timeout", self.operation_timeout),
            ("session_timeout", self.session_timeout),
            ("recover_within", self.recover_within),
        ] {
            if span.nanos() == 0 {
                return flaw(field, "expected more than 0s");
            }
        }
        let pattern = self.crash_pattern.as_deref().unwrap_or_default();
        if let Err(error) = LogPattern::new(pattern) {
            return flaw("crash_pattern", &error);
        }
        if let Some(anomaly) = self.unknown_anomaly() {
            let names: Vec<&str> = ANOMALIES.iter().map(|kind| kind.name).collect();
            let near = nearest(anomaly, names.iter().copied());
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let expected = format!("expected none or one of {}", names.join(", "));
            return flaw("anomaly", &format!("{expected}, found `{anomaly}`{near}"));
        }
        let idle = [Role::Kvrocks, Role::Controller].into_iter();
        let idle = idle.filter(|role| self.services.get(role).is_some_and(|count| *count > 0));
        if let (None, None, Some(role)) = (&self.kvrocks, &self.register, { idle }.next()) {
            let message = format!(
                "expected a client of `{role}`, found none; add a block such as `kvrocks: {{ data: \
                 register }}`, or `register: {{}}` to work on ZooKeeper alone"
            );
            return flaw("services", &message);
        }
        let needed: &[Role] = match self.kvrocks {
            Some(_) => &[Role::Zookeeper, Role::Controller, Role::Kvrocks],
            None => &[Role::Zookeeper],
        };
        let count = |role: &&Role| self.services.get(*role).copied().unwrap_or(0);
        if let Some(role) = needed.iter().find(|role| count(role) == 0) {
            return flaw("services", &format!("expected at least one node of `{role}`"));
        }
        match AnyWorkload::of(self) {
            Ok(_) => self.check_timeouts(flaw),
            Err(wrong) => {
                let message = format!("expected {}, found {}", wrong.expected, wrong.found);
                let section = if self.kvrocks.is_some() { "kvrocks" } else { "register" };
                match wrong.field == section {
                    true => flaw(section, &message),
                    false => flaw(&format!("{section}.{}", wrong.field), &message),
                }
            }
        }
    }

    /// The way of an operation is known only if its client gives up before the run loop does.
    fn check_timeouts(
        &self,
        flaw: impl Fn(&str, &str) -> Result<(), YamlError>,
    ) -> Result<(), YamlError> {
        match &self.kvrocks {
            Some(kvrocks) if kvrocks.request_timeout >= self.operation_timeout => {
                let (longest, found) = (self.operation_timeout, kvrocks.request_timeout);
                let message =
                    format!("expected less than `operation_timeout` ({longest}), found {found}");
                flaw("kvrocks.request_timeout", &message)
            }
            _ => Ok(()),
        }
    }

    /// An expectation of this could never be met.
    fn unknown_anomaly(&self) -> Option<&str> {
        let known = |name: &str| name == "none" || ANOMALIES.iter().any(|kind| kind.name == name);
        self.expect.iter().map(|item| item.anomaly.as_str()).find(|name| !known(name))
    }

    pub fn nodes(&self) -> usize {
        self.services.values().sum()
    }
}
