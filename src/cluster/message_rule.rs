//! Faults of single messages: which request of which protocol, and what becomes of it or its reply.
//!
//! Data only. Both worlds carry it out: an interposer in a node's namespace, the simulated network.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::duration::Span;

/// What a link speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Redis' RESP2, request by request with pipelining.
    Resp,
    /// ZooKeeper's client protocol, jute records behind a length.
    Zookeeper,
    /// HTTP/1.1.
    Http,
}

impl Protocol {
    pub const ALL: [Protocol; 3] = [Protocol::Resp, Protocol::Zookeeper, Protocol::Http];

    pub fn name(self) -> &'static str {
        match self {
            Protocol::Resp => "resp",
            Protocol::Zookeeper => "zookeeper",
            Protocol::Http => "http",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A request, by glob patterns over its words: `zookeeper set /sg/*`, `resp CLUSTERX MIGRATE * *`,
/// `http POST /api/v1/*`.
///
/// The first word is the protocol. The others match the words of a request one by one; a pattern with
/// fewer words matches any rest. In a word `*` is any text (also `/`), `?` is one character, `{a,b}` is
/// either. Commands of RESP and operations of ZooKeeper are compared without regard to case.
///
/// Words of a request: RESP: command and arguments (of each the first 1024 bytes). ZooKeeper: operation (`create`, `set`, `delete`,
/// `get`, `exists`, `children`, `sync`, `multi`, `check`, `ping`, `connect`, `close`) and path (of a
/// multi: of each part in turn). HTTP: method and target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    pub protocol: Protocol,
    pub words: Vec<String>,
}

impl Pattern {
    /// Whether a request with these words is meant.
    pub fn matches<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> bool {
        let mut words = words.into_iter();
        self.words.iter().enumerate().all(|(position, glob)| {
            words.next().is_some_and(|word| {
                // Case matters in paths and arguments, not in the names of commands.
                let (glob, word) = if position == 0 && self.protocol != Protocol::Http {
                    (glob.to_ascii_lowercase(), word.to_ascii_lowercase())
                } else {
                    (glob.clone(), word.to_owned())
                };
                glob_matches(glob.as_bytes(), word.as_bytes())
            })
        })
    }
}

/// Alternatives in braces are tried in turn; stars by backtracking to the last one.
fn glob_matches(glob: &[u8], text: &[u8]) -> bool {
    if let Some(open) = glob.iter().position(|byte| *byte == b'{')
        && let Some(length) = glob[open..].iter().position(|byte| *byte == b'}')
    {
        let (before, after) = (&glob[..open], &glob[open + length + 1..]);
        return glob[open + 1..open + length]
            .split(|byte| *byte == b',')
            .any(|choice| glob_matches(&[before, choice, after].concat(), text));
    }
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[seen] => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                Some((back, from)) => {
                    star = Some((back, from + 1));
                    at = back + 1;
                    seen = from + 1;
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

/// Each is tried in turn.
const MOST_CHOICES: usize = 64;

/// How many words without braces a word with braces stands for.
fn choices(word: &str) -> usize {
    let groups = word.split('{').skip(1).map(|group| {
        let inside = group.split('}').next().unwrap_or_default();
        inside.split(',').count()
    });
    groups.fold(1, |product, count| product.saturating_mul(count))
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let first = words.next().unwrap_or_default();
        let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.name() == first);
        let Some(protocol) = protocol else {
            return Err(format!(
                "expected a protocol (resp, zookeeper or http) and the words of a request, such as \
                 `zookeeper set /sg/*`; found `{text}`"
            ));
        };
        let words: Vec<String> = words.collect();
        let open = words.iter().find(|word| {
            let count = |wanted| word.chars().filter(|c| *c == wanted).count();
            count('{') != count('}')
        });
        let many = words.iter().find(|word| choices(word) > MOST_CHOICES);
        match open.or(many) {
            Some(word) if choices(word) > MOST_CHOICES => Err(format!(
                "`{word}`: expected at most {MOST_CHOICES} combinations of its choices"
            )),
            Some(word) => Err(format!("`{word}`: expected as many `{{` as `}}`")),
            None => Ok(Pattern { protocol, words }),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.protocol.name())?;
        self.words.iter().try_for_each(|word| write!(f, " {word}"))
    }
}

crate::text_form!(Pattern, "a protocol and the words of a request, such as `zookeeper set /sg/*`");

/// What becomes of a message that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Nothing: it is only seen, as a trigger wants it, when the request comes by.
    Watch,
    /// The request is applied, its reply and all behind it never come; the connection stays until the
    /// fault ends, then it is closed. From the reply on it is dead both ways: what is said on it later never
    /// arrives, so exactly what was asked for before is applied without being answered.
    Hold,
    /// The request is applied, its reply is not passed on, the connection is closed.
    Close,
    /// The reply comes late, by `delay`.
    Delay,
    /// The request is passed on twice; the second reply is swallowed. One of more than 1 MiB passes once.
    Duplicate,
    /// The request never arrives, the connection stays.
    DropRequest,
}

impl Form {
    pub const ALL: [Form; 6] =
        [Form::Watch, Form::Hold, Form::Close, Form::Delay, Form::Duplicate, Form::DropRequest];

    pub fn name(self) -> &'static str {
        match self {
            Form::Watch => "watch",
            Form::Hold => "hold",
            Form::Close => "close",
            Form::Delay => "delay",
            Form::Duplicate => "duplicate",
            Form::DropRequest => "drop-request",
        }
    }
}

/// Which requests are hit, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageRule {
    pub pattern: Pattern,
    pub form: Form,
    /// The first match that is hit, from 1, counted from when the rule is armed over all connections
    /// of all taps of a node. Of taps at several nodes each node counts for itself.
    pub nth: u64,
    /// How many matches are hit from there on; `None`: all.
    pub times: Option<u64>,
    /// Of `delay` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
}

/// What is done to the bytes of a link, whatever they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "toxic", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Toxic {
    /// Each direction is late by this, give or take the jitter; order is kept.
    Latency { delay: Span, jitter: Span },
    /// Each direction passes at most so many bytes a second.
    Bandwidth { bytes_per_second: u64 },
    /// Bytes come in slices of at most this size, with a pause between them.
    Slicer { bytes: u32, pause: Span },
    /// The connection is reset once so many bytes have come from the server (0: at once).
    Reset { after_bytes: u64 },
}

impl Toxic {
    pub fn name(self) -> &'static str {
        match self {
            Toxic::Latency { .. } => "latency",
            Toxic::Bandwidth { .. } => "bandwidth",
            Toxic::Slicer { .. } => "slicer",
            Toxic::Reset { .. } => "reset",
        }
    }
}

/// One message that a rule hit or saw, as decoded on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSeen {
    /// `set /sg/r/3 = "17"`, for people; cut where long.
    pub request: String,
    /// The znode or key that the request names, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The reply as the server gave it, where one came: `ok zxid=0x100000007 version=3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The server's own words say that the request was applied.
    pub applied: bool,
    /// Who sent it and to whom: `10.0.0.1:4711→10.0.0.11:2181`.
    pub connection: String,
    pub form: Form,
    /// Which match of the pattern it was, from 1.
    pub nth: u64,
}

impl MessageSeen {
    /// The address that the request came from.
    pub fn sender(&self) -> Option<Ipv4Addr> {
        let (from, _) = self.connection.split_once('→')?;
        from.parse::<SocketAddrV4>().ok().map(|from| *from.ip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, request: &str) -> bool {
        let pattern: Pattern = pattern.parse().expect("a pattern");
        pattern.matches(request.split_whitespace())
    }

    #[test]
    fn words_are_globs_and_a_short_pattern_matches_any_rest() {
        for (pattern, request) in [
            ("zookeeper set /sg/*", "set /sg/r/1"),
            ("zookeeper", "set /x"),
            ("zookeeper {set,create} /a", "create /a"),
            ("resp clusterx MIGRATE * 7", "CLUSTERX MIGRATE 12 7 extra"),
            ("resp GET a?c*", "get abcdef"),
            ("http POST /api/*/slots", "POST /api/v1/ns/slots"),
        ] {
            assert!(matches(pattern, request), "{pattern} ~ {request}");
        }
        for (pattern, request) in [
            ("zookeeper set /sg/*", "set /other"),
            ("zookeeper set /sg/*", "set"),
            ("zookeeper {set,create} /a", "delete /a"),
            ("resp GET a?c", "GET ac"),
            ("http post /x", "POST /x"),
            ("resp SET Key", "SET key"),
        ] {
            assert!(!matches(pattern, request), "{pattern} !~ {request}");
        }
    }

    #[test]
    fn a_pattern_is_shown_as_it_was_written() {
        let pattern: Pattern = "zookeeper  set /sg/*".parse().expect("a pattern");
        assert_eq!(pattern.to_string(), "zookeeper set /sg/*");
        assert!("kafka produce".parse::<Pattern>().unwrap_err().contains("found `kafka produce`"));
        assert!("resp a{b".parse::<Pattern>().is_err());
        let many = format!("zookeeper set /{}", "{a,b}".repeat(28));
        assert!(many.parse::<Pattern>().unwrap_err().contains("at most 64 combinations"));
        assert!("zookeeper set /{a,b,c}{d,e}".parse::<Pattern>().is_ok());
    }
}
