//! Ends sessions of others: a server derives a session's password from its id alone, so whoever knows
//! the id can take the session over, and close it.
//!
//! The derivation is that of `ZooKeeperServer.generatePasswd`: the first 16 bytes of Java's `Random`
//! seeded with the id and a constant. The owner is disconnected at once and learns that its session is
//! over when it next reaches a server.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::ask;

/// Mixed into the seed of passwords by every server of every version so far.
const SECRET: u64 = 0xB341_5C00;

const PASSWORD_LENGTH: usize = 16;

/// What we ask for; the server keeps it within its own bounds, and we close the session at once.
const TIMEOUT_MS: i32 = 6_000;

const CLOSE_SESSION: i32 = -11;
const XID: i32 = 1;

const RETRY: Duration = Duration::from_millis(5);

const RETRY_WITHIN: Duration = Duration::from_millis(500);

/// No answer to what is sent here is longer.
const LONGEST_ANSWER: i32 = 1024;

/// Why a session could not be ended.
#[derive(Debug, thiserror::Error)]
pub enum ExpireError {
    #[error("the server does not know session 0x{0:x}, or it has ended by itself")]
    Unknown(i64),
    #[error("the server refuses to close session 0x{id:x} with code {code}")]
    Refused { id: i64, code: i32 },
    #[error("close session 0x{id:x}: {cause}")]
    Broken { id: i64, cause: io::Error },
}

/// Closes a session through a server, all within `patience`; returns once the ensemble has agreed.
///
/// Best is a server other than the one that holds it: there the owner notices nothing until all is
/// over. Through its own server it is disconnected first and comes back at once, maybe faster than we
/// can close: then it is tried again, as long as the server lists the session.
pub async fn expire(server: SocketAddr, id: i64, patience: Duration) -> Result<(), ExpireError> {
    let deadline = Instant::now() + patience;
    let mut was_broken = false;
    loop {
        let tried = tokio::time::timeout_at(deadline, close(server, id)).await;
        let failure = match tried.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(Some(0)) => return Ok(()),
            Ok(Some(code)) => ExpireError::Refused { id, code },
            Ok(None) => ExpireError::Unknown(id),
            Err(cause) => ExpireError::Broken { id, cause },
        };
        let is_gone = matches!(failure, ExpireError::Unknown(_))
            && !knows_session(server, id, RETRY_WITHIN).await.unwrap_or(true);
        match is_gone {
            // The answer to an earlier try was lost, not the try itself.
            true if was_broken => return Ok(()),
            true => return Err(failure),
            false if Instant::now() > deadline => return Err(failure),
            false => was_broken |= matches!(failure, ExpireError::Broken { .. }),
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// The sessions that are connected to a server, sorted by id.
pub async fn sessions(server: SocketAddr, patience: Duration) -> io::Result<Vec<i64>> {
    let answer = ask(server, "cons", patience).await?;
    parse_connections(&answer).ok_or_else(|| unexpected("cons", &answer))
}

/// Whether a server holds a session for alive: as such, or as the owner of ephemeral znodes.
///
/// A connection may outlive its session for a moment: it is closed when the owner next says anything.
pub async fn knows_session(server: SocketAddr, id: i64, patience: Duration) -> io::Result<bool> {
    let answer = ask(server, "dump", patience).await?;
    lists(&answer, id).ok_or_else(|| unexpected("dump", &answer))
}

fn unexpected(word: &str, answer: &str) -> io::Error {
    let shown: String = answer.chars().take(80).collect();
    io::Error::other(format!(
        "`{word}` was answered with {shown:?}; sessions can be found where the configuration has \
         4lw.commands.whitelist=srvr,ruok,cons,dump"
    ))
}

/// Lines like ` /10.0.0.1:40404[1](queued=0,…,sid=0x100000f0a2b0000,…)`; others have no session. A connection
/// that is just being closed has no address any more, ` null[0](…)`, and is nobody's.
fn parse_connections(answer: &str) -> Option<Vec<i64>> {
    let mut ids = Vec::new();
    for line in answer.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("null[") {
            continue;
        }
        if !line.starts_with('/') {
            return None;
        }
        let digits = line.split_once("sid=0x").map(|(_, rest)| rest.split([',', ')']).next());
        let id = digits.flatten().and_then(|digits| u64::from_str_radix(digits, 16).ok());
        ids.extend(id.map(u64::cast_signed));
    }
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

/// Whether a dump has a session before it comes to connections; `None` where it is no dump.
fn lists(dump: &str, id: i64) -> Option<bool> {
    let dump = dump.strip_prefix("SessionTracker dump:")?;
    let sessions = dump.split("Connections dump:").next().unwrap_or(dump);
    let name = format!("0x{id:x}");
    Some(sessions.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name))
}

/// Takes the session over and closes it: the server's code, or `None` where there is no such session.
async fn close(server: SocketAddr, id: i64) -> io::Result<Option<i32>> {
    let mut stream = TcpStream::connect(server).await?;
    // Both at once, so that the owner has no time to come between.
    let close = [XID.to_be_bytes(), CLOSE_SESSION.to_be_bytes()].concat();
    let requests = [framed(&connect_request(id))?, framed(&close)?].concat();
    stream.write_all(&requests).await?;
    let answer = receive(&mut stream).await?;
    let taken = answer.get(8..16).and_then(|bytes| bytes.try_into().ok()).map(i64::from_be_bytes);
    if taken != Some(id) {
        return Ok(None);
    }
    loop {
        // The answer's xid, the transaction, and the code. Events and pings have other xids.
        let answer = receive(&mut stream).await?;
        let code = answer.get(12..16).and_then(|bytes| bytes.try_into().ok());
        let code = code.map(i32::from_be_bytes).ok_or(io::ErrorKind::UnexpectedEof)?;
        if answer.starts_with(&XID.to_be_bytes()) {
            return Ok(Some(code));
        }
    }
}

/// Version, last transaction seen, timeout, session, password, and whether reads alone would do.
fn connect_request(id: i64) -> Vec<u8> {
    let mut request = Vec::new();
    request.extend(0_i32.to_be_bytes());
    request.extend(0_i64.to_be_bytes());
    request.extend(TIMEOUT_MS.to_be_bytes());
    request.extend(id.to_be_bytes());
    request.extend((PASSWORD_LENGTH as i32).to_be_bytes());
    request.extend(password(id));
    request.push(0);
    request
}

fn framed(body: &[u8]) -> io::Result<Vec<u8>> {
    let length = i32::try_from(body.len()).map_err(io::Error::other)?;
    Ok([&length.to_be_bytes(), body].concat())
}

async fn receive(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let length = stream.read_i32().await?;
    let fits = (0..=LONGEST_ANSWER).contains(&length).then_some(length);
    let length = fits.ok_or_else(|| io::Error::other(format!("an answer of {length} bytes")))?;
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body).await?;
    Ok(body)
}

/// Java's linear congruential generator (Knuth, The Art of Computer Programming 2, 3.2.1).
fn password(id: i64) -> [u8; PASSWORD_LENGTH] {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = (id.cast_unsigned() ^ SECRET ^ MULTIPLIER) & MASK;
    let mut password = [0; PASSWORD_LENGTH];
    for word in password.chunks_exact_mut(4) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        word.copy_from_slice(&((state >> 16) as u32).to_le_bytes());
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_that_of_java() {
        // What `new java.util.Random(42)` gives as its first integers; the id cancels the secret.
        let id = (42 ^ SECRET).cast_signed();
        let integers = [-1_170_105_035, 234_785_527, -1_360_544_799, 205_897_768_i32];
        assert_eq!(password(id), *integers.map(i32::to_le_bytes).as_flattened());
    }

    #[test]
    fn sessions_are_read_from_connections_and_dumps() {
        let answer = " /10.0.0.1:33336[0](queued=0,recved=1,sent=0)\n \
             /10.0.0.1:2[1](queued=0,sid=0x100000f0a2b0001,lop=PING,to=6000)\n \
             /10.0.0.1:3[1](queued=0,sid=0xff00000000000000)\n \
             null[0](queued=0,recved=3,sent=3,sid=0x100000f0a2b0002)\n\n";
        let ids = parse_connections(answer).expect("connections");
        assert_eq!(ids, [0xff00_0000_0000_0000_u64.cast_signed(), 0x0100_000f_0a2b_0001]);
        assert_eq!(parse_connections(""), Some(vec![]));
        assert_eq!(parse_connections("cons is not executed because it is not in"), None);

        let dump = "SessionTracker dump:\n1 expire at Fri:\n\t0x100000f0a2b0001\n0xabc:\n\t/e\n\
             Connections dump:\n\tsessionId: 0xdead\n";
        let known = [0x0100_000f_0a2b_0001, 0xabc, 0xab, 0xdead].map(|id| lists(dump, id));
        assert_eq!(known, [true, true, false, false].map(Some));
        assert_eq!(lists("dump is not executed because", 1), None);
    }

    #[test]
    fn a_request_is_as_long_as_the_protocol_says() {
        assert_eq!(connect_request(1).len(), 4 + 8 + 4 + 8 + 4 + 16 + 1);
    }
}
