//! ZooKeeper's four-letter words: a server's own account of itself, outside any session.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer longer than this is cut off.
const LONGEST_ANSWER: u64 = 1 << 20;

/// What a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Leader,
    Follower,
    Observer,
    Standalone,
}

impl Mode {
    /// It decides on writes: the ensemble's leader, or the only server.
    pub fn leads(self) -> bool {
        matches!(self, Mode::Leader | Mode::Standalone)
    }

    pub fn name(self) -> &'static str {
        match self {
            Mode::Leader => "leader",
            Mode::Follower => "follower",
            Mode::Observer => "observer",
            Mode::Standalone => "standalone",
        }
    }
}

/// A server's answer to `srvr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Srvr {
    /// It serves requests.
    Serving { mode: Mode, zxid: i64, version: String },
    /// It runs, but is part of no quorum.
    NotServing,
}

impl Srvr {
    /// Reads the answer; `None` where it is not one.
    pub fn parse(text: &str) -> Option<Srvr> {
        if text.contains("not currently serving requests") {
            return Some(Srvr::NotServing);
        }
        let field = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let mode = match field("Mode")? {
            "leader" => Mode::Leader,
            "follower" => Mode::Follower,
            "observer" => Mode::Observer,
            "standalone" => Mode::Standalone,
            _ => return None,
        };
        let zxid = i64::from_str_radix(field("Zxid")?.strip_prefix("0x")?, 16).ok()?;
        let version = field("Zookeeper version").unwrap_or_default();
        let version = version.split(['-', ',']).next().unwrap_or_default().to_owned();
        Some(Srvr::Serving { mode, zxid, version })
    }
}

/// Sends one four-letter word and returns the answer, all within `patience`.
pub async fn ask(server: SocketAddr, word: &str, patience: Duration) -> std::io::Result<String> {
    let exchange = async {
        let mut stream = TcpStream::connect(server).await?;
        stream.write_all(word.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(LONGEST_ANSWER).read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    tokio::time::timeout(patience, exchange).await?
}

/// Asks a server what it is doing.
pub async fn srvr(server: SocketAddr, patience: Duration) -> std::io::Result<Srvr> {
    let answer = ask(server, "srvr", patience).await?;
    Srvr::parse(&answer).ok_or_else(|| {
        let shown: String = answer.chars().take(80).collect();
        std::io::Error::other(format!("`srvr` was answered with {shown:?}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLLOWER: &str = "Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29\n\
        Latency min/avg/max: 0/0.0/0\nReceived: 2\nSent: 1\nConnections: 1\nOutstanding: 0\n\
        Zxid: 0x10000000a\nMode: follower\nNode count: 5\n";

    #[test]
    fn a_serving_server_says_mode_zxid_and_version() {
        let expected = Srvr::Serving {
            mode: Mode::Follower,
            zxid: 0x1_0000_000a,
            version: "3.8.0".to_owned(),
        };
        assert_eq!(Srvr::parse(FOLLOWER), Some(expected));
    }

    #[test]
    fn a_server_without_quorum_is_not_serving() {
        let text = "This ZooKeeper instance is not currently serving requests\n";
        assert_eq!(Srvr::parse(text), Some(Srvr::NotServing));
    }

    #[test]
    fn anything_else_is_no_answer() {
        for text in ["", "srvr is not executed because it is not in the whitelist.", "Mode: x\n"] {
            assert_eq!(Srvr::parse(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn a_silent_server_costs_no_more_than_the_patience() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = listener.local_addr().expect("an address");
        let error = ask(server, "ruok", Duration::from_millis(20)).await.expect_err("silence");
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    }
}
