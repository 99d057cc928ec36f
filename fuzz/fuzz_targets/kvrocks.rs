//! A kvrocks node on conversations of any bytes: it goes on, and answers whoever comes next.

#![no_main]

mod lone;

use libfuzzer_sys::fuzz_target;
use stormglass::reference::NodeVariant;
use stormglass::reference::kvrocks::{Config, serve};

/// The node owns all slots, so that commands on keys are executed.
const PRELUDE: &[&[&str]] = &[
    &["CLUSTERX", "SETNODEID", "1111111111111111111111111111111111111111"],
    &[
        "CLUSTERX",
        "SETNODES",
        "1111111111111111111111111111111111111111 10.0.0.41 6666 master - 0-16383",
        "1",
    ],
];

fuzz_target!(|data: &[u8]| {
    let (first, second) = data.split_at(data.len() / 2);
    let mut prelude = Vec::new();
    PRELUDE.iter().for_each(|words| stormglass::resp::encode_command(words, &mut prelude));
    let config = Config::from_pairs(NodeVariant::AsShipped, []).expect("nothing is sound");
    let replies = lone::converse(
        |host| serve(host, config),
        vec![prelude, first.to_vec(), second.to_vec(), b"*1\r\n$4\r\nPING\r\n".to_vec()],
    );
    assert!(replies[0].starts_with(b"+OK\r\n+OK\r\n"));
    assert_eq!(replies[3], b"+PONG\r\n");
});
