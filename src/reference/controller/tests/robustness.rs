//! Bad input: a clear answer, never a panic, never a server that is gone.

use std::net::SocketAddrV4;

use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::lab::{C0, Lab, address, sleep_ms};
use crate::http::Method;
use crate::reference::ControllerVariant::AsShipped;
use crate::reference::testing::on_paused_clock;
use crate::rng::Rng;

const CLUSTERS: &str = "/api/v1/namespaces/ns0/clusters";

/// Status and message of an answer.
async fn refusal(lab: &Lab, method: Method, target: &str, body: &str) -> (u16, String) {
    let answer = lab.ask(22, method, target, body).await.expect("an answer");
    let body: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    (answer.status, body["error"]["message"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn what_cannot_be_done_is_refused_in_the_real_ones_words() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let nodes = |addrs: &str| format!("{{\"name\":\"c1\",\"nodes\":[{addrs}],\"replicas\":1}}");
        for (method, target, body, status, why) in [
            ("POST", "/api/v1/namespaces", "", 400, "EOF"),
            ("POST", "/api/v1/namespaces", "{}", 400, "namespace should NOT be empty"),
            ("POST", "/api/v1/namespaces", "hello", 400, "invalid character 'h'"),
            ("POST", "/api/v1/namespaces", "[1]", 400, "cannot unmarshal array"),
            ("POST", CLUSTERS, "{}", 400, "cluster nodes should NOT be empty"),
            ("POST", CLUSTERS, &nodes("5"), 400, "cannot unmarshal number into"),
            ("POST", CLUSTERS, &nodes("\"\""), 500, "error while checking node cluster mode"),
            ("POST", CLUSTERS, &nodes("\"kvrocks1:6666\""), 500, "expected IPv4:port"),
            ("POST", CLUSTERS, &nodes("\"10.0.0.77:6666\""), 500, "dial tcp 10.0.0.77:6666"),
            ("POST", CLUSTERS, &nodes("\"10.0.0.31:6666\""), 409, "node: already exists"),
            ("DELETE", "/api/v1/namespaces/ns0/clusters/none", "", 404, "not found"),
            ("POST", &format!("{C0}/import"), "{}", 400, "nodes should NOT be empty"),
            ("POST", &format!("{C0}/import"), "{\"nodes\":[\"10.0.0.77:6666\"]}", 500, "dial tcp"),
            (
                "POST",
                &format!("{C0}/migrate"),
                "{\"target\":-1,\"slot\":\"5\"}",
                400,
                "index out of range",
            ),
            ("POST", &format!("{C0}/migrate"), "{\"target\":1}", 400, "strconv.Atoi: parsing \"\""),
            (
                "POST",
                &format!("{C0}/migrate"),
                "{\"target\":1,\"slot\":\"99999\"}",
                400,
                "slot id was out of range",
            ),
            ("POST", &format!("{C0}/shards"), "{}", 400, "nodes should NOT be empty"),
            (
                "GET",
                &format!("{C0}/shards/x"),
                "",
                400,
                "strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            ("GET", &format!("{C0}/shards/-1"), "", 400, "index out of range"),
            (
                "POST",
                &format!("{C0}/shards/0/nodes"),
                "{\"addr\":\"a\",\"role\":\"king\"}",
                400,
                "invalid argument: role",
            ),
            (
                "POST",
                &format!("{C0}/shards/0/failover"),
                "{\"preferred_node_id\":5}",
                400,
                "cannot unmarshal",
            ),
            ("GET", "/api/v1/namespaces/ns0/clusters/c0/migrate", "", 404, "not found"),
            ("PUT", "/api/v1/namespaces", "", 404, "not found"),
            ("GET", "/api/v1/namespaces/%2e%2e/clusters", "", 400, "namespace not found"),
            ("GET", "/", "", 404, "not found"),
            ("GET", "/api//v1", "", 404, "not found"),
        ] {
            let method = method.parse().expect("a method");
            let (found, message) = refusal(&lab, method, target, body).await;
            assert!(found == status && message.contains(why), "{target} {body}: {found} {message}");
        }
        assert_eq!(lab.version(), 1);
    });
}

#[test]
fn a_node_that_is_in_a_cluster_already_is_not_taken_unless_the_client_insists() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let gone = lab.ask(22, Method::DELETE, C0, "").await.expect("an answer");
        assert_eq!(gone.status, 204);
        let body = r#"{"name":"c1","nodes":["10.0.0.31:6666"]}"#;
        let (status, message) = refusal(&lab, Method::POST, CLUSTERS, body).await;
        assert_eq!((status, message.as_str()), (400, "node is already in cluster mode"));
    });
}

#[test]
fn a_namespace_goes_when_its_clusters_are_gone() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let namespace = "/api/v1/namespaces/ns0";
        assert_eq!(refusal(&lab, Method::DELETE, namespace, "").await.0, 403);
        lab.ask(22, Method::DELETE, C0, "").await.expect("an answer");
        let gone = lab.ask(22, Method::DELETE, namespace, "").await.expect("an answer");
        assert_eq!(gone.status, 204);
        assert_eq!(lab.get(22, namespace).await.status, 404);
    });
}

#[test]
fn a_damaged_document_is_an_error_and_no_more() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let part = crate::cluster::MultiOp::Set {
            path: "/kvrocks/metadata/ns0/cluster/c0".to_owned(),
            data: b"{\"version\":".to_vec(),
            version: None,
        };
        lab.zookeeper.tree.borrow_mut().perform(0, &[part]).expect("written");
        let (status, message) = refusal(&lab, Method::GET, C0, "").await;
        assert!(status == 500 && message.starts_with("cluster: "), "{status} {message}");
        sleep_ms(5_000).await;
        let complaint = "Failed to get the clusterName info from the clusterStore";
        assert!(lab.has_said(22, complaint) > 0);
    });
}

#[test]
fn a_client_that_goes_away_does_not_stop_what_it_asked_for() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let to = SocketAddrV4::new(address(22), 9379);
        let mut stream = lab.lab.network.connect(address(99), to).await.expect("a connection");
        let body = "{\"namespace\":\"late\"}";
        let head =
            format!("POST /api/v1/namespaces HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await.expect("sent");
        drop(stream);
        let has = || lab.zookeeper.text("/kvrocks/metadata/late") == "late";
        lab.until("it is done all the same", has).await;
    });
}

#[test]
fn arbitrary_requests_get_answers_and_leave_the_server_standing() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let mut rng = Rng::from_seed(7);
        let words = [
            "GET ",
            "POST ",
            "DELETE ",
            "/api/v1/namespaces",
            "/ns0/clusters",
            "/c0",
            "/shards",
            "/0",
            "/nodes",
            "/migrate",
            "/failover",
            "/import",
            "%2F",
            "%",
            " HTTP/1.1\r\n",
            "Content-Length: 9\r\n",
            "\r\n",
            "\0",
            "{\"slot\":5}",
            "{\"a\":{}}}",
            "Transfer-Encoding: chunked\r\n",
            "9\r\n",
            "X-Dont-Check-Cluster-Mode: yes\r\n",
        ];
        let to = SocketAddrV4::new(address(22), 9379);
        for _ in 0..300 {
            let length = rng.below(16);
            let mut text: String = (0..length).filter_map(|_| rng.pick(&words).copied()).collect();
            // Half of them are requests at least in form.
            if rng.chance(0.5) {
                text = format!("{text}\r\nHost: a\r\n\r\n");
            }
            let mut stream = lab.lab.network.connect(address(99), to).await.expect("a connection");
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.close().await;
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said).await;
            assert!(said.is_empty() || said.starts_with(b"HTTP/1.1 "), "{text:?}");
        }
        assert_eq!(lab.get(22, "/metrics").await.status, 200);
        assert_eq!(lab.get(22, "/debug/pprof/heap").await.status, 200);
    });
}
