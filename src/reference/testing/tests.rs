//! The host in memory does what a real one does, as far as tests lean on it.

use super::*;
use crate::reference::host::Listener;
use crate::resp::Value;
use futures::io::{AsyncReadExt, AsyncWriteExt};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// Answers `PING` to whatever comes.
async fn pings(place: Place) -> anyhow::Result<()> {
    let mut listener = place.listen(6666).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        place.run(async move {
            let mut piece = [0; 100];
            while let Ok(1..) = stream.read(&mut piece).await {
                if stream.write_all(b"+PONG\r\n").await.is_err() {
                    return;
                }
            }
        });
    }
}

#[test]
fn a_killed_process_closes_its_connections_and_refuses_new_ones() {
    on_paused_clock(async {
        let lab = Lab::new();
        let at = SocketAddrV4::new(B, 6666);
        assert!(lab.converse(A, at).await.is_err());
        let machine = lab.machine(B);
        let process = machine.start(pings);
        tokio::task::yield_now().await;
        let mut client = lab.converse(A, at).await.expect("it listens");
        assert_eq!(client.call(&["PING"]).await, Some(Value::Simple("PONG".into())));
        process.kill();
        assert_eq!(client.call(&["PING"]).await, None);
        assert!(lab.converse(A, at).await.is_err());
    });
}

#[test]
fn a_held_direction_lets_nothing_pass_until_it_is_released() {
    on_paused_clock(async {
        let lab = Lab::new();
        lab.machine(B).start(pings);
        tokio::task::yield_now().await;
        let mut client = lab.converse(A, SocketAddrV4::new(B, 6666)).await.expect("it listens");
        let (word, hold) = (b"MARK".to_vec(), (B, A));
        lab.network.tap(Tap { from: A, to: B, words: vec![word], hold });
        assert!(client.call(&["PING"]).await.is_some());
        let minute = Duration::from_secs(60);
        assert!(tokio::time::timeout(minute, client.call(&["MARK"])).await.is_err());
        lab.network.release(B, A);
        assert!(client.hear().await.is_some());
    });
}
