//! A ZooKeeper session by hand: requests are sent when told to, and replies looked at one by one.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

pub struct Raw {
    pub stream: TcpStream,
}

/// The head of a reply, and what follows it.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub number: i32,
    pub error: i32,
    pub rest: Vec<u8>,
}

impl Answer {
    /// Of a reply that is a `Stat`.
    pub fn version(&self) -> i32 {
        i32::from_be_bytes(self.rest[32..36].try_into().expect("four bytes"))
    }
}

fn buffer(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as i32).to_be_bytes()[..], bytes].concat()
}

fn request(number: i32, operation: i32, rest: &[Vec<u8>]) -> Vec<u8> {
    let head = [number.to_be_bytes(), operation.to_be_bytes()].concat();
    buffer(&[head, rest.concat()].concat())
}

pub fn create(number: i32, path: &str, value: &[u8]) -> Vec<u8> {
    let open = [&1i32.to_be_bytes()[..], &31i32.to_be_bytes()].concat();
    let rights = [open, buffer(b"world"), buffer(b"anyone")].concat();
    let kind = 0i32.to_be_bytes().to_vec();
    request(number, 1, &[buffer(path.as_bytes()), buffer(value), rights, kind])
}

pub fn set(number: i32, path: &str, value: &[u8]) -> Vec<u8> {
    let any_version = (-1i32).to_be_bytes().to_vec();
    request(number, 5, &[buffer(path.as_bytes()), buffer(value), any_version])
}

pub fn get(number: i32, path: &str) -> Vec<u8> {
    request(number, 4, &[buffer(path.as_bytes()), vec![0]])
}

pub fn exists(number: i32, path: &str) -> Vec<u8> {
    request(number, 3, &[buffer(path.as_bytes()), vec![0]])
}

impl Raw {
    /// Opens a session of 20 s.
    pub fn open(server: SocketAddr) -> io::Result<Raw> {
        let mut raw = Raw::connect(server)?;
        let timeout = 20_000i32.to_be_bytes();
        let parts = [&[0; 12][..], &timeout, &[0; 8], &buffer(&[0; 16]), &[0]];
        raw.say(&buffer(&parts.concat()))?;
        raw.frame()?;
        Ok(raw)
    }

    pub fn connect(server: SocketAddr) -> io::Result<Raw> {
        let stream = TcpStream::connect(server)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Raw { stream })
    }

    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    fn frame(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut frame)?;
        Ok(frame)
    }

    /// The next reply.
    pub fn hear(&mut self) -> io::Result<Answer> {
        let frame = self.frame()?;
        let int = |at: usize| i32::from_be_bytes(frame[at..at + 4].try_into().expect("four"));
        Ok(Answer { number: int(0), error: int(12), rest: frame[16..].to_vec() })
    }

    pub fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.say(request)?;
        self.hear()
    }

    /// All that comes until the other end closes or resets the connection.
    pub fn rest(&mut self) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut rest = Vec::new();
        let end = self.stream.read_to_end(&mut rest);
        (rest, end.err().map(|error| error.kind()))
    }
}
