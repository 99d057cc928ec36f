//! Toxics: late, narrow, sliced and reset connections.

use super::*;
use crate::cluster::{SessionEvent, Toxic};
use crate::duration::Span;

fn milliseconds(count: u64) -> Span {
    Span(Duration::from_millis(count))
}

/// How long a write of this size takes without a toxic, with it, and after it; and the proof.
async fn write_times(toxic: Toxic, size: usize) -> ([u64; 3], Vec<String>) {
    let cluster = up(3, 1).await;
    prepare(&cluster, [client_tap("zookeeper1")]).await;
    let writer = session(&cluster, "zookeeper1").await;
    writer.create("/a", b"", CreateMode::Persistent).await.unwrap();
    let data = vec![7; size];
    let write = async || {
        let (set, took_ms) = timed(writer.set("/a", &data, None)).await;
        set.unwrap();
        took_ms
    };
    let before = write().await;
    let action = interpose(1, client_tap("zookeeper1"), Effect::Toxic(toxic));
    let proof = installed(&cluster, &action).await;
    let within = write().await;
    assert!(installed(&cluster, &action.undo().unwrap()).await.packets >= Some(2));
    ([before, within, write().await], told(&proof))
}

#[test]
fn toxics_slow_a_connection_down_until_they_are_withdrawn() {
    crate::sim::run(async {
        let latency = Toxic::Latency { delay: milliseconds(200), jitter: milliseconds(50) };
        let bandwidth = Toxic::Bandwidth { bytes_per_second: 2_000 };
        let slicer = Toxic::Slicer { bytes: 100, pause: milliseconds(50) };
        for (toxic, size, expected_ms, proof) in [
            (latency, 1, 300..520, "at least 150.0 ms for 64 B"),
            (bandwidth, 1_000, 500..620, "at least 100.0 ms for 200 B"),
            (slicer, 1_000, 500..570, "at least 100.0 ms for 300 B"),
        ] {
            let ([before, within, after], told) = write_times(toxic, size).await;
            assert!(before < 20 && after < 20, "{toxic:?}: {before} and {after} ms");
            assert!(expected_ms.contains(&within), "{toxic:?}: {within} ms");
            let armed = format!("f1 at clients→zookeeper1:2181: {0} / {0}", toxic.name());
            assert_eq!(told[0], armed);
            let probe = format!("clients→zookeeper1:2181: {proof} / ");
            assert!(told[1].starts_with(&probe), "{told:?}");
        }
    })
    .unwrap();
}

#[test]
fn a_toxic_resets_connections_once_so_many_bytes_have_come() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        prepare(&cluster, [client_tap("zookeeper1")]).await;
        let reader = session(&cluster, "zookeeper1").await;
        reader.create("/a", &[7; 600], CreateMode::Persistent).await.unwrap();
        let toxic = Toxic::Reset { after_bytes: 1_000 };
        let action = interpose(1, client_tap("zookeeper1"), Effect::Toxic(toxic));
        installed(&cluster, &action).await;
        reader.get("/a").await.unwrap();
        // The answer that exceeds the limit is lost with its connection.
        assert_eq!(reader.get("/a").await, Err(CoordinationError::ConnectionLoss));
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert_eq!(proof.packets, Some(1));
        for _ in 0..5 {
            reader.get("/a").await.unwrap();
        }
    })
    .unwrap();
}

#[test]
fn a_toxic_resets_at_once_whoever_is_and_whoever_comes() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        prepare(&cluster, [client_tap("zookeeper1")]).await;
        let inside = session(&cluster, "zookeeper1").await;
        let outside = session(&cluster, "zookeeper2").await;
        let toxic = Toxic::Reset { after_bytes: 0 };
        let action = interpose(1, client_tap("zookeeper1"), Effect::Toxic(toxic));
        installed(&cluster, &action).await;
        let disconnected = SessionEvent::Disconnected;
        assert_eq!(inside.changed(SessionEvent::Connected).await, disconnected);
        seconds(2).await;
        assert_eq!(inside.state(), disconnected);
        assert_eq!(outside.state(), SessionEvent::Connected);
        assert!(cluster.view().await.is_healthy());
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert!(proof.packets > Some(2), "{:?}", proof.packets);
        assert_eq!(inside.changed(disconnected).await, SessionEvent::Connected);
        inside.exists("/").await.unwrap();
    })
    .unwrap();
}

#[test]
fn a_follower_lags_while_its_way_to_the_leader_is_slow() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let lagging = followers(&cluster).await[0];
        let out = tap(&lagging, Side::Outbound, 2888, &[]);
        prepare(&cluster, [out.clone()]).await;
        let writer = session(&cluster, &leader(&cluster).await).await;
        let reader = session(&cluster, &lagging).await;
        writer.create("/a", b"0", CreateMode::Persistent).await.unwrap();
        seconds(1).await;
        let toxic = Toxic::Latency { delay: milliseconds(400), jitter: milliseconds(0) };
        let action = interpose(1, out, Effect::Toxic(toxic));
        installed(&cluster, &action).await;
        let lag = async |value: &str| {
            assert!(timed(writer.set("/a", value.as_bytes(), None)).await.1 < 20);
            let began = tokio::time::Instant::now();
            while reader.get("/a").await.unwrap().0 != value.as_bytes() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            began.elapsed().as_millis()
        };
        let lag_ms = lag("1").await;
        assert!((380..450).contains(&lag_ms), "{lag_ms} ms");
        assert!(cluster.view().await.is_healthy());
        installed(&cluster, &action.undo().unwrap()).await;
        let lag_ms = lag("2").await;
        assert!(lag_ms < 20, "{lag_ms} ms");
    })
    .unwrap();
}
