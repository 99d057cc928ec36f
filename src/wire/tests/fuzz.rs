//! Random, damaged and cut conversations: no panic, bounded memory, and the same marks in any pieces.

use super::zookeeper::{connect, connected, done, set};
use super::*;
use crate::rng::Rng;

const CONVERSATIONS: usize = 2000;

/// A sound conversation to be damaged: requests and replies by turns.
fn sound(protocol: Protocol, rng: &mut Rng) -> Vec<Said> {
    let mut conversation = match protocol {
        Protocol::Zookeeper => vec![client(connect()), server(connected())],
        _ => Vec::new(),
    };
    for number in 1..=rng.between(1, 6) as i32 {
        let value = vec![b'v'; rng.below(300) as usize];
        let (request, reply) = match protocol {
            Protocol::Zookeeper => (set(number, "/sg/r/1", &value), done(number, number)),
            Protocol::Resp => {
                (resp(&[b"SET", b"key", &value]), [&b"*2\r\n:1\r\n"[..], &bulk(&value)].concat())
            }
            Protocol::Http => (http("POST /a HTTP/1.1", &value), http("HTTP/1.1 200 OK", &value)),
        };
        conversation.extend([client(request), server(reply)]);
    }
    conversation
}

fn bulk(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

fn resp(words: &[&[u8]]) -> Vec<u8> {
    let words: Vec<Vec<u8>> = words.iter().map(|word| bulk(word)).collect();
    [format!("*{}\r\n", words.len()).as_bytes(), &words.concat()].concat()
}

fn http(first_line: &str, body: &[u8]) -> Vec<u8> {
    if body.len().is_multiple_of(2) {
        let head = format!("{first_line}\r\nContent-Length: {}\r\n\r\n", body.len());
        return [head.as_bytes(), body].concat();
    }
    let head = format!("{first_line}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len());
    [head.as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
}

fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let place = rng.below(bytes.len().max(1) as u64) as usize;
    match rng.below(5) {
        0 if !bytes.is_empty() => bytes[place] ^= 1 << rng.below(8),
        1 => bytes.truncate(place),
        2 => bytes.insert(place.min(bytes.len()), rng.below(256) as u8),
        3 if !bytes.is_empty() => {
            bytes.remove(place);
        }
        _ => {
            let length = rng.below(40) as usize;
            let noise: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            bytes.splice(place..place, noise);
        }
    }
}

#[test]
fn damaged_conversations_are_read_alike_in_any_pieces() {
    let mut opaque = 0;
    for protocol in Protocol::ALL {
        let mut rng = Rng::from_seed(7).fork(protocol.name());
        for _ in 0..CONVERSATIONS {
            let mut conversation = sound(protocol, &mut rng);
            for _ in 0..rng.below(4) {
                let place = rng.below(conversation.len() as u64) as usize;
                let (Said::Client(bytes) | Said::Server(bytes)) = &mut conversation[place];
                damage(bytes, &mut rng);
            }
            let whole = transcript(protocol, &conversation, |length| length);
            let longest = rng.between(1, 60);
            let pieces = transcript(protocol, &conversation, |_| rng.between(1, longest) as usize);
            assert_eq!(whole, pieces, "{protocol}: {conversation:?}");
            opaque += usize::from(whole.contains('?'));
        }
    }
    assert!((1000..5000).contains(&opaque), "{opaque} of {} became opaque", 3 * CONVERSATIONS);
}

#[test]
fn noise_is_read_without_harm() {
    for protocol in Protocol::ALL {
        let mut rng = Rng::from_seed(8).fork(protocol.name());
        for _ in 0..CONVERSATIONS {
            let length = rng.below(400);
            let alphabets: [&[u8]; 3] = [b"*$:+-\r\n0123%>", b"GET / HTP1.:\r\n", &[0, 1, 9]];
            let alphabet = rng.pick(&alphabets).expect("three");
            let mut noise: Vec<u8> = Vec::new();
            for _ in 0..length {
                let is_wild = rng.below(30) == 0;
                let tame = *rng.pick(alphabet).expect("some");
                noise.push(if is_wild { rng.below(256) as u8 } else { tame });
            }
            let conversation = [client(&noise), server(&noise), client(&noise)];
            let whole = transcript(protocol, &conversation, |length| length);
            let pieces = transcript(protocol, &conversation, |_| rng.between(1, 9) as usize);
            assert_eq!(whole, pieces, "{protocol}: {noise:?}");
        }
    }
}

#[test]
fn endless_messages_are_not_kept() {
    let heads: [(Protocol, Vec<u8>); 4] = [
        (Protocol::Zookeeper, (40_000_000i32).to_be_bytes().to_vec()),
        (Protocol::Resp, b"*2\r\n$3\r\nSET\r\n$40000000\r\n".to_vec()),
        (Protocol::Http, b"PUT / HTTP/1.1\r\nContent-Length: 40000000\r\n\r\n".to_vec()),
        (
            Protocol::Http,
            b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n9999999\r\n".to_vec(),
        ),
    ];
    for (protocol, head) in heads {
        let body = vec![0; 30_000_000];
        let text = transcript(protocol, &[client(head), client(body)], |length| length.min(65_536));
        assert_eq!(text.lines().count(), 1, "{protocol}: {text}");
    }
}
