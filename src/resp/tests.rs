//! The codec: values, requests, garbage.

use super::*;

fn commands(pieces: &[&[u8]]) -> Result<Vec<Vec<String>>, ProtocolError> {
    let (mut decoder, mut found) = (Decoder::default(), Vec::new());
    for piece in pieces {
        decoder.feed(piece);
        while let Some(command) = decoder.next_command()? {
            let words = command.iter().map(|word| String::from_utf8_lossy(word).into_owned());
            found.push(words.collect());
        }
    }
    Ok(found)
}

fn sample() -> Value {
    Value::Array(vec![
        Value::ok(),
        Value::Error("MOVED 130 10.0.0.2:6666".into()),
        Value::Int(-7),
        Value::bulk(&b"a\r\n\0b"[..]),
        Value::bulk(""),
        Value::Null,
        Value::NullArray,
        Value::Array(vec![]),
    ])
}

#[test]
fn values_come_back_from_their_bytes_however_these_are_cut() {
    let mut bytes = Vec::new();
    sample().encode(&mut bytes);
    assert!(bytes.starts_with(b"*8\r\n+OK\r\n-MOVED 130 10.0.0.2:6666\r\n:-7\r\n$5\r\na\r\n\0b\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n"));
    for size in 1..=bytes.len() {
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        for piece in [&bytes[..], &bytes[..]].concat().chunks(size) {
            decoder.feed(piece);
            while let Some(value) = decoder.next_value().expect("sound bytes") {
                found.push(value);
            }
        }
        assert_eq!(found, [sample(), sample()], "in pieces of {size}");
        assert_eq!(decoder.pending(), 0);
    }
}

#[test]
fn requests_are_arrays_or_lines() {
    let mut bytes = b"PING  hi\r\n\r\n*0\r\n".to_vec();
    encode_command(&["SET", "k", "a b"], &mut bytes);
    let found: Vec<Vec<String>> = commands(&[&bytes]).expect("sound bytes");
    let words = |text: &[&str]| text.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        found,
        [words(&["PING", "hi"]), words(&[]), words(&[]), words(&["SET", "k", "a b"])]
    );
}

#[test]
fn absurd_lengths_and_garbage_are_refused_and_take_no_memory() {
    for (bytes, expected) in [
        (&b"*1048577\r\n"[..], "at most 1048576 parts"),
        (b"*-2\r\n", "at most 1048576 parts"),
        (b"*1\r\n$536870913\r\n", "at most 512 MiB"),
        (b"*1\r\n$99999999999999999999\r\n", "a number"),
        (b"*1\r\n$-1\r\n", "a bulk string"),
        (b"*1\r\n:1\r\n", "expected $"),
        (b"*1\r\n$1\r\nabc", "a line end"),
    ] {
        let error = commands(&[bytes]).expect_err("no RESP").to_string();
        assert!(error.contains(expected), "{error}");
    }
    let long = vec![b'x'; LONGEST_LINE + 2];
    assert!(commands(&[&long]).is_err());
    let deep = "*1\r\n".repeat(40);
    let mut decoder = Decoder::default();
    decoder.feed(deep.as_bytes());
    assert!(decoder.next_value().is_err());
    // A promise of half a gigabyte is only a promise.
    assert_eq!(commands(&[b"*1\r\n$536870912\r\nab"]), Ok(vec![]));
}

#[test]
fn arbitrary_bytes_never_panic() {
    let mut rng = crate::rng::Rng::from_seed(3);
    let alphabet = b"*$:+-0123\r\n\r\nPING ";
    for _ in 0..20_000 {
        let length = rng.below(40);
        let bytes: Vec<u8> =
            (0..length).map(|_| alphabet[rng.below(alphabet.len() as u64) as usize]).collect();
        let (mut values, mut requests) = (Decoder::default(), Decoder::default());
        values.feed(&bytes);
        requests.feed(&bytes);
        while let Ok(Some(_)) = values.next_value() {}
        while let Ok(Some(_)) = requests.next_command() {}
    }
}
