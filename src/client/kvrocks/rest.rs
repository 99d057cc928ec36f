//! The controllers' REST API, as far as it is used here: requests, and what their answers say. Pure.

use hyper::Method;
use serde_json::{Value as Json, json};

use super::slot_map::Addresses;
use crate::http::{Request, Response};
use crate::op::{ClusterTopology, Manage, Outcome, Value};

/// The namespace and the cluster of every run.
pub const NAMESPACE: &str = "stormglass";
pub const CLUSTER: &str = "c0";

const NAMESPACES: &str = "/api/v1/namespaces";

/// A method, a path, and the document that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub method: Method,
    pub path: String,
    pub body: Option<Json>,
}

impl Ask {
    pub fn get(path: String) -> Ask {
        Ask { method: Method::GET, path, body: None }
    }

    pub fn post(path: String, body: Json) -> Ask {
        Ask { method: Method::POST, path, body: Some(body) }
    }

    /// As HTTP, to a controller at this address.
    pub fn request(&self, host: &str) -> Request {
        let request = Request::new(self.method.clone(), host, self.path.clone());
        match &self.body {
            Some(body) => request.with_json(body.to_string()),
            None => request,
        }
    }
}

pub fn namespaces() -> Ask {
    Ask::get(NAMESPACES.to_owned())
}

pub fn create_namespace(name: &str) -> Ask {
    Ask::post(NAMESPACES.to_owned(), json!({ "namespace": name }))
}

/// Nodes are taken shard by shard, the first of each shard as its master.
pub fn create_cluster(nodes: &[String], replicas: usize) -> Ask {
    let body = json!({ "name": CLUSTER, "nodes": nodes, "replicas": replicas });
    Ask::post(format!("{NAMESPACES}/{NAMESPACE}/clusters"), body)
}

fn cluster() -> String {
    format!("{NAMESPACES}/{NAMESPACE}/clusters/{CLUSTER}")
}

/// What an operator asks for.
pub fn ask_for(manage: &Manage) -> Ask {
    match manage {
        Manage::Migrate { slot, target } => {
            // The slot must be a text, since it may be a range.
            let body = json!({ "target": target, "slot": slot.to_string(), "slot_only": false });
            Ask::post(format!("{}/migrate", cluster()), body)
        }
        Manage::Failover { shard } => {
            // Without a body it is refused.
            Ask::post(format!("{}/shards/{shard}/failover", cluster()), json!({}))
        }
        Manage::Topology => Ask::get(cluster()),
        Manage::CreateNamespace { name } => create_namespace(name),
        Manage::DeleteNamespace { name } => {
            Ask { method: Method::DELETE, path: format!("{NAMESPACES}/{name}"), body: None }
        }
    }
}

/// Errors with status 500 that are found before anything is changed.
const REFUSALS: &[&str] = &[
    "source and target shard is same",
    "slot range belongs to multiple shards",
    "shard slot is migrating",
    "no match new master in shard",
    // The source's own words, which then does not begin.
    "Can't migrate slot",
    "There is already a migrating job",
    "Can't find the destination node id",
];

/// What an answer means for whoever asked.
///
/// - 2xx: done, by whichever controller; a follower that is posted to does the work itself.
/// - 4xx: refused before anything was changed.
/// - 3xx: of a look, a refusal that names the leader; of a change, perhaps done, since a follower may
///   redirect and do the work all the same.
/// - 5xx: perhaps done (the source may migrate although the metadata could not be written), but for the
///   few errors that are found before.
pub fn outcome(manage: &Manage, response: &Response, addresses: &Addresses) -> Outcome {
    let message = message(response, addresses);
    let looks = *manage == Manage::Topology;
    match response.status {
        200..=299 => done(manage, response, addresses),
        400..=499 => Outcome::Fail(message),
        500..=599 if REFUSALS.iter().any(|refusal| message.contains(refusal)) => {
            Outcome::Fail(message)
        }
        _ if looks => Outcome::Fail(message),
        _ => Outcome::Info(message),
    }
}

fn done(manage: &Manage, response: &Response, addresses: &Addresses) -> Outcome {
    let body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    let data = &body["data"];
    let cluster = named(&data["cluster"], addresses);
    Outcome::Ok(match manage {
        Manage::Topology if ClusterTopology::read(&cluster).is_some() => {
            Value::Json(Box::new(cluster))
        }
        Manage::Topology => {
            return Outcome::Fail("expected a cluster in the answer".to_owned());
        }
        Manage::Migrate { slot, target } => {
            Value::Json(Box::new(json!({ "slot": slot, "target": target, "cluster": cluster })))
        }
        Manage::Failover { shard } => {
            let id = data["new_master_id"].as_str();
            Value::Json(Box::new(json!({ "shard": shard, "new_master_id": id })))
        }
        Manage::CreateNamespace { name } | Manage::DeleteNamespace { name } => {
            Value::Json(Box::new(json!({ "namespace": name })))
        }
    })
}

/// The error in an answer, or where it redirects to, with its status.
pub fn message(response: &Response, addresses: &Addresses) -> String {
    let status = response.status;
    if (300..400).contains(&status) {
        let leader = response.header("location").and_then(|location| leader(location, addresses));
        return format!("{status}, {}", leader.unwrap_or("to nowhere known".to_owned()));
    }
    let body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    match body["error"]["message"].as_str() {
        Some(message) => format!("{status}: {message}"),
        None => format!("{status}: {}", shortened(&response.text())),
    }
}

/// `http://10.0.0.22:9379/api/v1/namespaces` as `controller2 leads`.
fn leader(location: &str, addresses: &Addresses) -> Option<String> {
    let authority = location.strip_prefix("http://")?.split('/').next()?;
    let name = addresses.node(authority).map(|node| node.to_string());
    Some(format!("{} leads", name.unwrap_or_else(|| authority.to_owned())))
}

fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The controller's document of a cluster, with the nodes' names in place of their hosts and without what
/// differs from run to run.
pub fn named(cluster: &Json, addresses: &Addresses) -> Json {
    let mut named = cluster.clone();
    let shards = named.get_mut("shards").and_then(Json::as_array_mut);
    let nodes =
        shards.into_iter().flatten().filter_map(|shard| shard.get_mut("nodes")?.as_array_mut());
    for node in nodes.flatten() {
        let Json::Object(fields) = node else { continue };
        fields.retain(|name, _| ["addr", "id", "role"].contains(&name.as_str()));
        let Some(Json::String(address)) = fields.get_mut("addr") else { continue };
        let port = address.rsplit_once(':').map_or(String::new(), |(_, port)| format!(":{port}"));
        if let Some(name) = addresses.node(address) {
            *address = format!("{name}{port}");
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Node, Role, Topology};

    fn addresses() -> Addresses {
        let nodes =
            [(Role::Controller, 20), (Role::Kvrocks, 30)].into_iter().flat_map(|(role, base)| {
                (1..=4).map(move |number: u8| Node {
                    name: role.node_name(number.into()),
                    role,
                    address: [10, 0, 0, base + number].into(),
                })
            });
        Addresses::of(&Topology { nodes: nodes.collect() })
    }

    fn answer(status: u16, body: &str) -> Response {
        Response::new(status, "application/json; charset=utf-8", body.to_owned())
    }

    const MIGRATE: Manage = Manage::Migrate { slot: 101, target: 1 };

    /// As the controller 1.2.0 answered.
    const MIGRATING: &str = r#"{"data":{"cluster":{"version":2,"name":"c0","shards":[{"nodes":[{"addr":"10.0.0.31:6666","created_at":1795958608,"id":"97eKmon1ZZGqlz4qePwiKf0VKWFNql2WJB9Vpubo","password":"","role":"master"},{"addr":"10.0.0.32:6666","created_at":1795958608,"id":"aPL9O3epen4ZzSM5VZysK5VK4znCmgJbNfhnwKtU","password":"","role":"slave"}],"slot_ranges":["0-99","101-8191"],"target_shard_index":1,"migrating_slot":"101"},{"nodes":[{"addr":"10.0.0.33:6666","created_at":1795958608,"id":"muc6OwdbTNWIGUrNPBcRDGSzT8uG8DhamlbzmdOq","password":"","role":"master"},{"addr":"10.0.0.34:6666","created_at":1795958608,"id":"6oDrpcjjaAu26MF3NkxtnbSLQmWSvDYMzDcON447","password":"","role":"slave"}],"slot_ranges":["100","8192-16383"],"target_shard_index":-1,"migrating_slot":null}]}}}"#;

    #[test]
    fn the_controllers_document_is_read_in_names() {
        let Outcome::Ok(value) = outcome(&Manage::Topology, &answer(200, MIGRATING), &addresses())
        else {
            panic!("an ok")
        };
        let topology = ClusterTopology::of(&value).expect("a topology");
        assert_eq!(topology.version, 2);
        assert_eq!(topology.shards[0].master, Some("kvrocks1".into()));
        assert_eq!(topology.shards[1].replicas, ["kvrocks4".into()]);
        let Value::Json(json) = value else { panic!("a document") };
        let first = r#"{"addr":"kvrocks1:6666","id":"97eKmon1ZZGqlz4qePwiKf0VKWFNql2WJB9Vpubo","role":"master"}"#;
        assert_eq!(json["shards"][0]["nodes"][0].to_string(), first);
        let Outcome::Ok(migrated) = outcome(&MIGRATE, &answer(200, MIGRATING), &addresses()) else {
            panic!("an ok")
        };
        assert_eq!(ClusterTopology::of(&migrated), Some(topology));
    }

    #[test]
    fn what_operators_ask_for_is_what_the_controller_takes() {
        let told = |manage: &Manage| {
            let Ask { method, path, body } = ask_for(manage);
            let path = path.replace("/api/v1/namespaces", "");
            format!("{method} {path} {}", body.map_or(String::new(), |body| body.to_string()))
        };
        let migrate =
            r#"POST /stormglass/clusters/c0/migrate {"slot":"101","slot_only":false,"target":1}"#;
        assert_eq!(told(&MIGRATE), migrate);
        let failover = "POST /stormglass/clusters/c0/shards/1/failover {}";
        assert_eq!(told(&Manage::Failover { shard: 1 }), failover);
        assert_eq!(told(&Manage::Topology), "GET /stormglass/clusters/c0 ");
        let name = || "n1".to_owned();
        let create = r#"POST  {"namespace":"n1"}"#;
        assert_eq!(told(&Manage::CreateNamespace { name: name() }), create);
        assert_eq!(told(&Manage::DeleteNamespace { name: name() }), "DELETE /n1 ");
    }

    #[test]
    fn answers_mean_what_was_measured() {
        let error = |status, message: &str| {
            answer(status, &format!(r#"{{"error":{{"message":"{message}"}},"data":null}}"#))
        };
        for (manage, response, kind) in [
            (MIGRATE, answer(200, MIGRATING), "Ok"),
            (MIGRATE, error(400, "index out of range"), "Fail"),
            (MIGRATE, error(500, "source and target shard is same"), "Fail"),
            (MIGRATE, error(500, "shard slot is migrating"), "Fail"),
            (MIGRATE, error(500, "ERR Can't migrate slot which doesn't belong to me"), "Fail"),
            (MIGRATE, error(500, "the cluster has been updated by others"), "Info"),
            (MIGRATE, error(500, "zk: could not connect to a server"), "Info"),
            (MIGRATE, answer(307, ""), "Info"),
            (MIGRATE, answer(200, "garbage"), "Ok"),
            (Manage::Topology, error(500, "cluster: unexpected end of JSON input"), "Fail"),
            (Manage::Topology, answer(200, "garbage"), "Fail"),
            (Manage::Topology, answer(200, r#"{"data":null}"#), "Fail"),
            (Manage::Topology, answer(307, ""), "Fail"),
            (Manage::Topology, answer(99, ""), "Fail"),
            (Manage::Failover { shard: 1 }, error(500, "no match new master in shard"), "Fail"),
            (Manage::DeleteNamespace { name: "n".into() }, answer(204, ""), "Ok"),
            (Manage::CreateNamespace { name: "n".into() }, error(409, "already exists"), "Fail"),
        ] {
            let found = format!("{:?}", outcome(&manage, &response, &addresses()));
            assert!(found.starts_with(kind), "{manage:?}, {}: {found}", response.status);
        }
    }

    #[test]
    fn a_redirection_of_a_look_names_the_leader() {
        let mut response = answer(307, "<a href=...>");
        let location = "http://10.0.0.22:9379/api/v1/namespaces";
        response.headers.push(("location".into(), location.into()));
        let found = outcome(&Manage::Topology, &response, &addresses());
        assert_eq!(found, Outcome::Fail("307, controller2 leads".into()));
        let long = answer(502, &"ö".repeat(500));
        assert!(message(&long, &addresses()).len() < 300);
    }
}
