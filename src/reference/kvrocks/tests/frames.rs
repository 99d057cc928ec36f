//! Bytes that are no sound conversation, from clients and from other nodes: the node goes on.

use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::fleet::{Fleet, address, id, topology, with_fleet};
use crate::reference::NodeVariant;
use crate::reference::host::{Host, Listener};
use crate::reference::testing::Place;
use crate::rng::Rng;

const AS_SHIPPED: NodeVariant = NodeVariant::AsShipped;

#[test]
fn garbage_is_answered_with_what_was_expected_and_the_end() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        for (bytes, said) in [
            (&b"*1\r\n:1\r\n"[..], "-ERR Protocol error: expected $, found `:1`"),
            (b"*x\r\n", "-ERR Protocol error: expected a number, found `x`"),
            (
                b"*1048577\r\n",
                "-ERR Protocol error: expected at most 1048576 parts, found `1048577`",
            ),
            (b"*1\r\n$536870913\r\n", "-ERR Protocol error: expected a string of at most 512 MiB"),
        ] {
            let mut peer = fleet.connect(1).await;
            // What is sound before it is answered first.
            peer.throw(&[b"*1\r\n$4\r\nPING\r\n", bytes].concat()).await;
            assert_eq!(peer.hear().await, "PONG");
            let reply = peer.hear().await;
            assert!(reply.starts_with(said), "{reply}");
            assert_eq!(peer.hear().await, "(closed)");
        }
    });
}

#[test]
fn half_a_request_keeps_nobody_waiting_and_an_endless_one_is_refused() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        let mut half = fleet.connect(1).await;
        half.throw(b"*2\r\n$3\r\nGET\r\n$2\r\nk").await;
        let mut endless = fleet.connect(1).await;
        endless.throw(b"*2\r\n$4\r\nPING\r\n$500000000\r\n").await;
        let mebibyte = vec![b'x'; 1 << 20];
        for _ in 0..65 {
            endless.throw(&mebibyte).await;
        }
        let reply = endless.hear().await;
        assert!(reply.contains("expected a request of at most 64 MiB"), "{reply}");
        half.throw(b"2\r\n").await;
        assert_eq!(half.hear().await, "(nil)");
    });
}

#[test]
fn whoever_reads_nothing_holds_up_itself_alone() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        let value = "x".repeat(1000);
        assert_eq!(fleet.say(1, &["SET", "k2", &value]).await, "OK");
        let mut deaf = fleet.connect(1).await;
        let get = b"*2\r\n$3\r\nGET\r\n$2\r\nk2\r\n";
        let mut sent = 0;
        // It stops reading once its replies are not taken: nothing piles up in the node.
        while deaf.throw_within_a_second(&get.repeat(100)).await {
            sent += 100;
            assert!(sent < 20_000, "{sent} requests were taken");
        }
        assert_eq!(fleet.ask(1, "PING").await, "PONG");
    });
}

/// A server that says these bytes to whoever connects, and more of them whenever it hears something.
fn says(
    bytes: Vec<u8>,
) -> impl FnOnce(Place) -> std::pin::Pin<Box<dyn Future<Output = anyhow::Result<()>>>> {
    move |place| {
        Box::pin(async move {
            let mut listener = place.listen(6666).await?;
            loop {
                let (mut stream, _) = listener.accept().await?;
                let bytes = bytes.clone();
                place.run(async move {
                    let mut piece = [0; 4096];
                    while stream.write_all(&bytes).await.is_ok()
                        && matches!(stream.read(&mut piece).await, Ok(1..))
                    {}
                });
            }
        })
    }
}

fn nonsense(rng: &mut Rng) -> Vec<u8> {
    let alphabet: &[&[u8]] = &[
        b"+OK\r\n",
        b"+CONTINUE a 0\r\n",
        b"+FULLRESYNC a 5\r\n",
        b"-ERR no\r\n",
        b":1\r\n",
        b"$-1\r\n",
        b"*1\r\n$4\r\nping\r\n",
        b"*2\r\n$5\r\nbatch\r\n$3\r\nabc\r\n",
        b"*2\r\n$8\r\nsnapshot\r\n$1\r\n\x0e\r\n",
        b"*1\r\n$12\r\nsnapshot-end\r\n",
        b"$500000000\r\n",
        b"*9\r\n",
        b"\xff\x00",
        b"\r\n",
    ];
    let pick = |rng: &mut Rng| alphabet[rng.below(alphabet.len() as u64) as usize];
    (0..1 + rng.below(6)).flat_map(|_| pick(rng).to_vec()).collect()
}

async fn goes_on(fleet: &Fleet, node: usize, told: &str) {
    assert_eq!(fleet.ask(node, "PING").await, "PONG", "{told}");
    for word in ["panicked", "ended: "] {
        assert_eq!(fleet.log(node, word), Vec::<String>::new(), "{told}");
    }
}

#[test]
fn a_destination_that_talks_nonsense_fails_the_migration() {
    for seed in 0..15 {
        let mut bytes = nonsense(&mut Rng::from_seed(seed));
        // Not what means that all went well.
        bytes.splice(0..0, *b"-ERR I am no node\r\n");
        with_fleet(AS_SHIPPED, &[], async |fleet| {
            assert_eq!(fleet.ask(1, "SET {t21117}k v").await, "OK");
            fleet.kill(2);
            fleet.machine(2).start(says(bytes));
            fleet.pass(1).await;
            assert_eq!(fleet.ask(1, &format!("CLUSTERX MIGRATE 5000 {}", id(2))).await, "OK");
            fleet.until(1, "CLUSTER INFO", "migrating_state: fail").await;
            assert_eq!(fleet.ask(1, "SET {t21117}k w").await, "OK");
            goes_on(&fleet, 1, &format!("seed {seed}")).await;
        });
    }
}

#[test]
fn a_master_that_talks_nonsense_is_left_and_tried_again() {
    for seed in 0..20 {
        let bytes = nonsense(&mut Rng::from_seed(seed));
        with_fleet(AS_SHIPPED, &[], async |fleet| {
            fleet.kill(1);
            let liar = fleet.machine(1).start(says(bytes));
            fleet.pass(20_000).await;
            goes_on(&fleet, 3, &format!("seed {seed}")).await;
            liar.kill();
            fleet.run(1).await;
            fleet.until(3, "INFO replication", "master_link_status:up").await;
            assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
            fleet.settle(1, 3).await;
        });
    }
}

#[test]
fn an_address_that_is_none_is_no_master_to_reach() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        let usual = topology(&[(1, "0-8191"), (2, "8192-16383")], &[(3, 1)]);
        let nowhere = usual.replace(&address(1).to_string(), "nowhere.invalid");
        assert_eq!(fleet.tell(3, &nowhere, 3).await, "OK");
        fleet.pass(5000).await;
        assert!(!fleet.log(3, "expected an IPv4 address and a port").is_empty());
        goes_on(&fleet, 3, "nowhere").await;
    });
}
