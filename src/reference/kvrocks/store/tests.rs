//! The store against what the real program says, a naive model, and itself on other nodes.

mod model;
mod properties;
mod texts;

use bytes::Bytes;

use super::*;

const NOW: i64 = 1_000_000;

fn words(line: &str) -> Vec<Bytes> {
    line.split_whitespace().map(|word| Bytes::from(word.to_owned())).collect()
}

/// Executes and applies.
fn run(store: &mut Store, words: &[Bytes], now_ms: i64) -> Executed {
    let executed = store.execute(words, now_ms);
    executed.effects.iter().for_each(|record| store.apply(record));
    executed
}

/// The reply to a line as people write it, in RESP without line ends.
fn say(store: &mut Store, line: &str, now_ms: i64) -> String {
    let mut bytes = Vec::new();
    run(store, &words(line), now_ms).reply.encode(&mut bytes);
    String::from_utf8_lossy(&bytes).trim_end().replace("\r\n", " ")
}

/// Says lines of `request => reply`.
fn talk(store: &mut Store, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (request, reply) = line.split_once(" => ").expect("a reply");
        assert_eq!(say(store, request.trim(), NOW), reply.trim(), "{request}");
    }
}
