//! Transcripts of whole connections: what is read of them, and that it does not depend on the pieces in
//! which they come.

mod fuzz;
mod http;
mod resp;
mod zookeeper;

use super::*;

/// Who sends, and what.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Client(Vec<u8>),
    Server(Vec<u8>),
}

pub(super) fn client(bytes: impl AsRef<[u8]>) -> Said {
    Said::Client(bytes.as_ref().to_vec())
}

pub(super) fn server(bytes: impl AsRef<[u8]>) -> Said {
    Said::Server(bytes.as_ref().to_vec())
}

/// Reads a conversation and writes down what is understood of it, one line a mark.
///
/// `piece` says how many bytes come at once.
pub(super) fn transcript(
    protocol: Protocol,
    conversation: &[Said],
    mut piece: impl FnMut(usize) -> usize,
) -> String {
    let mut dialogue = Dialogue::new(protocol);
    let mut lines = Vec::new();
    let mut is_opaque = [false, false];
    for said in conversation {
        let (direction, mut rest) = match said {
            Said::Client(bytes) => (0, &bytes[..]),
            Said::Server(bytes) => (1, &bytes[..]),
        };
        while !rest.is_empty() && !is_opaque[direction] {
            let (now, later) = rest.split_at(piece(rest.len()).clamp(1, rest.len()));
            is_opaque[direction] = feed(&mut dialogue, direction, now, &mut lines);
            rest = later;
        }
        assert!(dialogue.kept() <= 4 * HEAD_BYTES + 4096, "{} bytes kept", dialogue.kept());
    }
    lines.join("\n")
}

/// Whether the direction has become opaque.
fn feed(dialogue: &mut Dialogue, direction: usize, bytes: &[u8], lines: &mut Vec<String>) -> bool {
    let sign = [">", "<"][direction];
    let mut rest = bytes;
    loop {
        let (taken, mark) =
            if direction == 0 { dialogue.request(rest) } else { dialogue.reply(rest) };
        rest = &rest[taken..];
        match mark {
            None => {
                assert!(rest.is_empty(), "without a mark all is taken");
                return false;
            }
            Some(Mark::End) => lines.push(format!("{sign} .")),
            Some(Mark::Opaque) => {
                lines.push(format!("{sign} ?"));
                return true;
            }
            Some(Mark::Request(id)) => {
                let Request { words, text, .. } = dialogue.describe_request();
                lines.push(format!("> {id} {text} {words:?}"));
            }
            Some(Mark::Reply(id)) => {
                let Reply { text, applied } = dialogue.describe_reply();
                let id = id.map_or("-".to_owned(), |id| id.to_string());
                let applied = if applied { " applied" } else { "" };
                lines.push(format!("< {id} {text}{applied}"));
            }
        }
    }
}

/// The transcript, which must be the same byte by byte.
pub(super) fn read(protocol: Protocol, conversation: &[Said]) -> String {
    let whole = transcript(protocol, conversation, |length| length);
    assert_eq!(whole, transcript(protocol, conversation, |_| 1), "byte by byte");
    assert_eq!(whole, transcript(protocol, conversation, |_| 7), "by sevens");
    whole
}

#[test]
fn a_protocol_is_told_by_its_first_bytes() {
    let cases: [(&[u8], Sniffed); 11] = [
        (b"", Sniffed::TooEarly),
        (b"*1\r\n$4\r\nPING\r\n", Sniffed::Speaks(Protocol::Resp)),
        (b"PING\r\n", Sniffed::Speaks(Protocol::Resp)),
        (b"GET key\r\n", Sniffed::Speaks(Protocol::Resp)),
        (b"GET /x HTTP/1.1\r\n", Sniffed::Speaks(Protocol::Http)),
        (b"GET /x HT", Sniffed::TooEarly),
        (b"ruok", Sniffed::TooEarly),
        (&[0, 0, 0, 45], Sniffed::Speaks(Protocol::Zookeeper)),
        (&[0], Sniffed::Speaks(Protocol::Zookeeper)),
        (&[0x16, 3, 1], Sniffed::Unknown),
        (&[0xff; 8], Sniffed::Unknown),
    ];
    for (bytes, expected) in cases {
        assert_eq!(sniff(bytes), expected, "{bytes:?}");
    }
    assert_eq!(sniff(&[b'x'; HEAD_BYTES]), Sniffed::Unknown);
}
