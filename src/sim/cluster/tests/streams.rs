//! Single requests and replies of byte streams that come late, twice or never; links that are slow.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::cluster::{
    Concerning, Form, Lookout, LookoutId, MessageRule, MessageSeen, Sight, Toxic,
};
use crate::duration::Span;
use crate::reference::host::{Host, Listener};
use crate::resp::{Decoder, Value, encode_command};
use crate::sim::SimHost;
use crate::sim::program::Program;

const PORT: u16 = 6666;
const SECOND: Duration = Duration::from_secs(1);

type Store = Rc<RefCell<BTreeMap<Vec<u8>, i64>>>;

/// Counts: `INCR key`, `GET key`, and `ASK address words...`, which it asks another node.
async fn count(host: SimHost) -> anyhow::Result<()> {
    let mut listener = host.listen(PORT).await?;
    let store = Store::default();
    loop {
        let (mut stream, _) = listener.accept().await?;
        let (store, its) = (Rc::clone(&store), host.clone());
        host.run(async move {
            let mut decoder = Decoder::default();
            while let Ok(Some(words)) = next_command(&mut decoder, &mut stream).await {
                let mut reply = Vec::new();
                answer(&its, &store, &words).await.encode(&mut reply);
                if stream.write_all(&reply).await.is_err() {
                    return;
                }
            }
        });
    }
}

async fn next_command(
    decoder: &mut Decoder,
    stream: &mut SimStream,
) -> io::Result<Option<Vec<bytes::Bytes>>> {
    let mut buffer = [0; 4096];
    loop {
        if let Some(words) = decoder.next_command().map_err(io::Error::other)? {
            return Ok(Some(words));
        }
        match stream.read(&mut buffer).await? {
            0 => return Ok(None),
            length => decoder.feed(&buffer[..length]),
        }
    }
}

async fn answer(host: &SimHost, store: &Store, words: &[bytes::Bytes]) -> Value {
    match &*words[0] {
        b"INCR" => {
            let mut store = store.borrow_mut();
            let value = store.entry(words[1].to_vec()).or_insert(0);
            *value += 1;
            Value::Int(*value)
        }
        b"GET" => Value::Int(store.borrow().get(&*words[1]).copied().unwrap_or(0)),
        b"ASK" => {
            let to = String::from_utf8_lossy(&words[1]).parse().expect("an address");
            let asked = async { ask(&mut host.connect(to).await?, &words[2..]).await };
            asked.await.unwrap_or_else(|error| Value::Error(format!("ERR {error}")))
        }
        _ => Value::Error("ERR unknown command".to_owned()),
    }
}

async fn ask<W: AsRef<[u8]>>(stream: &mut SimStream, words: &[W]) -> io::Result<Value> {
    let mut request = Vec::new();
    encode_command(words, &mut request);
    stream.write_all(&request).await?;
    let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
    loop {
        if let Some(value) = decoder.next_value().map_err(io::Error::other)? {
            return Ok(value);
        }
        match stream.read(&mut buffer).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => decoder.feed(&buffer[..length]),
        }
    }
}

async fn say(stream: &mut SimStream, words: &str) -> io::Result<Value> {
    ask(stream, &words.split(' ').collect::<Vec<_>>()).await
}

async fn number(stream: &mut SimStream, words: &str) -> i64 {
    match say(stream, words).await {
        Ok(Value::Int(number)) => number,
        other => panic!("{words}: {other:?}"),
    }
}

async fn counting(taps: impl IntoIterator<Item = Tap>, lookouts: Vec<Lookout>) -> SimCluster {
    let mut spec = SimSpec::ensemble(1, Variant::AsShipped, Rng::from_seed(1));
    spec.services.insert(Role::Kvrocks, 2);
    let program: Program = Rc::new(|host| Box::pin(count(host)));
    let cluster = SimCluster::start_with(&spec, Role::Kvrocks, &program).unwrap();
    seconds(5).await;
    let taps = taps.into_iter().collect();
    cluster.prepare(&Needs { taps, lookouts, ..Needs::default() }).await.unwrap();
    cluster
}

fn at_one() -> Tap {
    tap("kvrocks1", Side::Inbound, PORT, &[])
}

async fn dial(cluster: &SimCluster, node: &str) -> SimStream {
    cluster.dial(&node.into(), PORT).await.unwrap()
}

fn hit(pattern: &str, form: Form) -> Action {
    let delay = (form == Form::Delay).then_some(Span(SECOND));
    let pattern = pattern.parse().unwrap();
    let rule = MessageRule { pattern, form, nth: 2, times: Some(1), delay };
    interpose(1, at_one(), Effect::Message(rule))
}

async fn seen(cluster: &SimCluster) -> MessageSeen {
    let observed = tokio::time::timeout(5 * SECOND, cluster.observed()).await.expect("something");
    assert_eq!(observed.concerning, Concerning::Fault(FaultId(1)));
    observed.message.expect("a message")
}

async fn nothing_seen(cluster: &SimCluster) {
    assert!(tokio::time::timeout(SECOND, cluster.observed()).await.is_err());
}

/// How long a request may take to be answered at once.
const PROMPT_MS: u64 = 10;

#[test]
fn a_held_request_is_done_and_its_reply_comes_never() {
    crate::sim::run(async {
        let cluster = counting([at_one()], Vec::new()).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        let mut other = dial(&cluster, "kvrocks1").await;
        let action = hit("resp incr *", Form::Hold);
        installed(&cluster, &action).await;
        assert_eq!(number(&mut other, "INCR a").await, 1, "the first match passes");
        let held = tokio::time::timeout(3 * SECOND, say(&mut stream, "INCR a")).await;
        assert!(held.is_err(), "{held:?}");
        let message = seen(&cluster).await;
        assert_eq!(message.request, "INCR a");
        assert_eq!((message.subject.as_deref(), message.nth), (Some("a"), 2));
        assert_eq!((message.reply.as_deref(), message.applied), (Some("2"), true));
        assert!(message.connection.ends_with("→10.0.0.101:6666"), "{}", message.connection);
        assert!(message.connection.starts_with("10.0.0.254:"), "{}", message.connection);
        assert_eq!(number(&mut other, "GET a").await, 2);
        let behind = tokio::time::timeout(SECOND, say(&mut stream, "GET a")).await;
        assert!(behind.is_err(), "nothing behind it comes either");
        assert_eq!(installed(&cluster, &action.undo().unwrap()).await.packets, Some(1));
        let mut byte = [0];
        let lost = stream.read(&mut byte).await.unwrap_err().kind();
        assert_eq!(lost, io::ErrorKind::ConnectionReset);
        nothing_seen(&cluster).await;
    })
    .unwrap();
}

#[test]
fn a_reply_is_lost_with_its_connection_and_those_before_it_are_not() {
    crate::sim::run(async {
        let cluster = counting([at_one()], Vec::new()).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        let action = hit("resp INCR *", Form::Close);
        installed(&cluster, &action).await;
        stream.write_all(b"INCR a\r\nINCR a\r\nINCR a\r\n").await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        assert_eq!(String::from_utf8(all).unwrap(), ":1\r\n");
        assert_eq!(seen(&cluster).await.reply.as_deref(), Some("2"));
        let mut stream = dial(&cluster, "kvrocks1").await;
        assert_eq!(number(&mut stream, "GET a").await, 3);
    })
    .unwrap();
}

#[test]
fn a_reply_comes_late_until_the_rule_is_withdrawn() {
    crate::sim::run(async {
        let cluster = counting([at_one()], Vec::new()).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        let action = hit("resp incr *", Form::Delay);
        installed(&cluster, &action).await;
        assert!(timed(number(&mut stream, "INCR a")).await.1 < PROMPT_MS);
        let (value, took_ms) = timed(number(&mut stream, "INCR a")).await;
        assert_eq!(value, 2);
        assert!((1_000..1_010).contains(&took_ms), "{took_ms}");
        assert!(timed(number(&mut stream, "INCR a")).await.1 < PROMPT_MS);
        installed(&cluster, &action.undo().unwrap()).await;
        installed(&cluster, &action).await;
        number(&mut stream, "INCR b").await;
        stream.write_all(b"INCR b\r\n").await.unwrap();
        tokio::time::sleep(SECOND / 10).await;
        installed(&cluster, &action.undo().unwrap()).await;
        let mut reply = [0; 4];
        let (read, took_ms) = timed(stream.read_exact(&mut reply)).await;
        read.unwrap();
        assert_eq!((&reply, took_ms < PROMPT_MS), (b":2\r\n", true), "{took_ms} ms");
    })
    .unwrap();
}

#[test]
fn a_request_is_done_twice_or_never() {
    crate::sim::run(async {
        let cluster = counting([at_one()], Vec::new()).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        let twice = hit("resp incr *", Form::Duplicate);
        installed(&cluster, &twice).await;
        number(&mut stream, "INCR a").await;
        assert_eq!(number(&mut stream, "INCR a").await, 2, "the first answer");
        assert_eq!(number(&mut stream, "GET a").await, 3);
        assert_eq!(seen(&cluster).await.reply.as_deref(), Some("2; again: 3"));
        installed(&cluster, &twice.undo().unwrap()).await;
        let never = hit("resp incr *", Form::DropRequest);
        installed(&cluster, &never).await;
        number(&mut stream, "INCR a").await;
        let lost = tokio::time::timeout(SECOND, say(&mut stream, "INCR a")).await;
        assert!(lost.is_err());
        let message = seen(&cluster).await;
        assert_eq!((message.reply, message.applied), (None, false));
        assert_eq!(number(&mut stream, "GET a").await, 4, "the connection goes on");
        installed(&cluster, &never.undo().unwrap()).await;
    })
    .unwrap();
}

#[test]
fn requests_between_programs_are_hit_at_either_end() {
    crate::sim::run(async {
        let outbound = tap("kvrocks2", Side::Outbound, PORT, &["kvrocks1"]);
        let pattern: crate::cluster::Pattern = "resp get".parse().unwrap();
        let taps = [tap("kvrocks2", Side::Inbound, PORT, &[CLIENTS])].into();
        let sight = Sight::Message { taps, pattern: pattern.clone() };
        let lookouts = vec![Lookout { id: LookoutId(7), sight }];
        let cluster = counting([outbound.clone()], lookouts).await;
        let mut stream = dial(&cluster, "kvrocks2").await;
        let rule = MessageRule {
            pattern: "resp incr".parse().unwrap(),
            form: Form::Close,
            nth: 1,
            times: None,
            delay: None,
        };
        let action = interpose(1, outbound, Effect::Message(rule));
        installed(&cluster, &action).await;
        let lost = say(&mut stream, "ASK 10.0.0.101:6666 INCR a").await.unwrap();
        assert_eq!(lost, Value::Error("ERR unexpected end of file".to_owned()));
        let message = seen(&cluster).await;
        assert!(message.connection.starts_with("10.0.0.102:"), "{}", message.connection);
        let mut direct = dial(&cluster, "kvrocks1").await;
        assert_eq!(number(&mut direct, "INCR a").await, 2, "others pass");
        nothing_seen(&cluster).await;
        number(&mut stream, "GET a").await;
        let observed = tokio::time::timeout(SECOND, cluster.observed()).await.unwrap();
        assert_eq!(observed.concerning, Concerning::Lookout(LookoutId(7)));
        assert_eq!((&*observed.node, observed.what.as_str()), ("kvrocks2", "GET a"));
        assert_eq!(observed.message.unwrap().form, Form::Watch);
    })
    .unwrap();
}

#[test]
fn streams_are_slow_where_links_are_capped_or_poisoned() {
    crate::sim::run(async {
        let cluster = counting([at_one()], Vec::new()).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        let words = format!("GET {}", "k".repeat(20_000));
        assert!(timed(number(&mut stream, &words)).await.1 < PROMPT_MS);
        let links = both_ways(CLIENTS, "kvrocks1");
        let cap = Action::Throttle { fault: FaultId(1), links, bytes_per_second: 10_000 };
        installed(&cluster, &cap).await;
        let (_, took_ms) = timed(number(&mut stream, &words)).await;
        assert!((2_000..2_100).contains(&took_ms), "{took_ms}");
        assert!(installed(&cluster, &cap.undo().unwrap()).await.packets >= Some(2));
        let delay = Toxic::Latency { delay: Span(SECOND / 4), jitter: Span::default() };
        let late = interpose(2, at_one(), Effect::Toxic(delay));
        installed(&cluster, &late).await;
        let (_, took_ms) = timed(number(&mut stream, "GET a")).await;
        assert!((500..510).contains(&took_ms), "{took_ms}");
        installed(&cluster, &late.undo().unwrap()).await;
        let reset = interpose(3, at_one(), Effect::Toxic(Toxic::Reset { after_bytes: 6 }));
        installed(&cluster, &reset).await;
        number(&mut stream, "GET a").await;
        let lost = say(&mut stream, "GET a").await.unwrap_err().kind();
        assert_eq!(lost, io::ErrorKind::ConnectionReset);
    })
    .unwrap();
}
