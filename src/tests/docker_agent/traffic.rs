//! Real TCP between two nodes: sockets made inside their namespaces, used from here.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::Context;
use stormglass::agent::within;

use super::scratch::Node;

const PORT: u16 = 7100;
/// Longer than what TCP waits before it sends again what was lost during a short cut.
const PATIENCE: Duration = Duration::from_secs(10);
const CONNECT_WITHIN: Duration = Duration::from_millis(500);

/// One connection, both ends in our hands.
pub struct Conversation {
    speaker: TcpStream,
    listener: TcpStream,
}

impl Conversation {
    pub fn open(from: &Node, to: &Node) -> anyhow::Result<Conversation> {
        Conversation::open_at(from, to, PORT)
    }

    pub fn open_at(from: &Node, to: &Node, port: u16) -> anyhow::Result<Conversation> {
        let address = SocketAddr::from((to.address, port));
        let server = within(to.pid, || Ok(TcpListener::bind(address)?))?;
        let connect = || Ok(TcpStream::connect_timeout(&address, CONNECT_WITHIN)?);
        let speaker = within(from.pid, connect)
            .with_context(|| format!("connect from {} to {}", from.name, to.name))?;
        Conversation::between(speaker, &server)
    }

    /// As a client: from the host.
    pub fn from_host(to: &Node) -> anyhow::Result<Conversation> {
        let address = SocketAddr::from((to.address, PORT));
        let server = within(to.pid, || Ok(TcpListener::bind(address)?))?;
        Conversation::between(TcpStream::connect_timeout(&address, CONNECT_WITHIN)?, &server)
    }

    fn between(speaker: TcpStream, server: &TcpListener) -> anyhow::Result<Conversation> {
        let (listener, _) = server.accept()?;
        listener.set_read_timeout(Some(PATIENCE))?;
        speaker.set_read_timeout(Some(PATIENCE))?;
        Ok(Conversation { speaker, listener })
    }

    /// What reading fails with at each end.
    pub fn errors(&mut self) -> anyhow::Result<(io::ErrorKind, io::ErrorKind)> {
        let mut byte = [0];
        let speaker = self.speaker.read(&mut byte).err().context("the speaker can still read")?;
        let listener =
            self.listener.read(&mut byte).err().context("the listener can still read")?;
        Ok((speaker.kind(), listener.kind()))
    }

    pub fn say(&mut self, words: &[u8]) -> anyhow::Result<()> {
        Ok(self.speaker.write_all(words)?)
    }

    /// Waits for so many bytes.
    pub fn hear(&mut self, length: usize) -> anyhow::Result<Vec<u8>> {
        let mut words = vec![0; length];
        self.listener.read_exact(&mut words)?;
        Ok(words)
    }

    /// What has come by now.
    pub fn heard(&mut self) -> anyhow::Result<Vec<u8>> {
        self.listener.set_nonblocking(true)?;
        let mut words = vec![0; 1024];
        let length = match self.listener.read(&mut words) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            result => result?,
        };
        self.listener.set_nonblocking(false)?;
        words.truncate(length);
        Ok(words)
    }

    /// What the other end says back.
    pub fn reply(&mut self, words: &[u8]) -> anyhow::Result<()> {
        Ok(self.listener.write_all(words)?)
    }

    /// All that comes back until the connection ends, and how it ends where not well.
    pub fn rest(&mut self) -> anyhow::Result<(Vec<u8>, Option<io::ErrorKind>)> {
        self.speaker.set_read_timeout(Some(PATIENCE))?;
        let mut rest = Vec::new();
        let end = self.speaker.read_to_end(&mut rest).err().map(|error| error.kind());
        Ok((rest, end))
    }

    /// Waits for so many bytes that come back.
    pub fn hear_back(&mut self, length: usize) -> anyhow::Result<Vec<u8>> {
        self.speaker.set_read_timeout(Some(PATIENCE))?;
        let mut words = vec![0; length];
        self.speaker.read_exact(&mut words)?;
        Ok(words)
    }

    /// Whether both ends know the connection by the same addresses: nobody stands in between.
    pub fn is_direct(&self) -> anyhow::Result<bool> {
        Ok(self.speaker.local_addr()? == self.listener.peer_addr()?)
    }

    /// Who the listener takes the speaker for.
    pub fn speaker_address(&self) -> anyhow::Result<std::net::IpAddr> {
        Ok(self.listener.peer_addr()?.ip())
    }

    pub fn round_trip(&mut self, words: &[u8]) -> anyhow::Result<Vec<u8>> {
        self.say(words)?;
        self.hear(words.len())
    }
}

/// Ports of a node at which connections are accepted.
pub struct Listening {
    _listeners: Vec<TcpListener>,
}

impl Listening {
    pub fn at(node: &Node, ports: &[u16]) -> anyhow::Result<Listening> {
        let bind = || {
            let listeners = ports.iter().map(|port| TcpListener::bind((node.address, *port)));
            Ok(listeners.collect::<io::Result<Vec<_>>>()?)
        };
        Ok(Listening { _listeners: within(node.pid, bind)? })
    }
}

/// Connects from a node, or from the host; what it fails with.
pub fn connect(from: Option<&Node>, to: &Node, port: u16) -> Result<(), io::ErrorKind> {
    let address = SocketAddr::from((to.address, port));
    let connect = || TcpStream::connect_timeout(&address, CONNECT_WITHIN).map(|_| ());
    let connected = match from {
        None => connect(),
        Some(from) => {
            within(from.pid, || Ok(connect())).unwrap_or_else(|error| Err(io::Error::other(error)))
        }
    };
    connected.map_err(|error| error.kind())
}
