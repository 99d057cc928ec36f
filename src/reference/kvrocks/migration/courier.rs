//! The connection to a migration's destination: requests out, replies in, each within its second.

use std::net::SocketAddrV4;
use std::time::Duration;

use futures::io::{AsyncReadExt, AsyncWriteExt};

use crate::reference::host::{Host, within};
use crate::reference::kvrocks::slot_range::SlotRange;
use crate::resp::{Decoder, Value, encode_command};

/// How long the destination may be silent while something is expected of it.
const PATIENCE: Duration = Duration::from_secs(1);

pub struct Courier<H: Host> {
    host: H,
    stream: H::Stream,
    decoder: Decoder,
}

/// What the destination is told of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportStatus {
    Start = 0,
    Success = 1,
    Failed = 2,
}

impl<H: Host> Courier<H> {
    /// Connects, for as long as the kernel tries.
    pub async fn connect(host: &H, address: &str) -> Result<Courier<H>, String> {
        let to: Result<SocketAddrV4, _> = address.parse();
        let to =
            to.map_err(|_| format!("expected an IPv4 address and a port, found `{address}`"))?;
        let stream = host.connect(to).await.map_err(|wrong| wrong.to_string())?;
        Ok(Courier { host: host.clone(), stream, decoder: Decoder::default() })
    }

    /// Tells the destination how its import stands, and waits until it has taken note.
    pub async fn set_import(&mut self, slots: SlotRange, to: ImportStatus) -> Result<(), String> {
        let mut bytes = Vec::new();
        let (slots, status) = (slots.to_string(), (to as u8).to_string());
        encode_command(&["cluster", "import", &slots, &status], &mut bytes);
        self.send(&bytes)
            .await
            .map_err(|why| format!("failed to send command to the destination node: {why}"))?;
        self.replies(1)
            .await
            .map_err(|why| format!("failed to check the response from the destination node: {why}"))
    }

    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let stream = &mut self.stream;
        let sent = async {
            stream.write_all(bytes).await?;
            stream.flush().await
        };
        // A destination that takes nothing for a second would not answer within one either.
        let sent = within(&self.host, PATIENCE, sent).await;
        sent.ok_or("it takes nothing for 1 s")?.map_err(|wrong: std::io::Error| wrong.to_string())
    }

    /// Waits for so many replies, none of which may be an error.
    pub async fn replies(&mut self, count: usize) -> Result<(), String> {
        for _ in 0..count {
            if let Value::Error(refusal) = self.reply().await? {
                let length = refusal.len() + 1;
                return Err(format!("got invalid response of length {length}: -{refusal}"));
            }
        }
        Ok(())
    }

    async fn reply(&mut self) -> Result<Value, String> {
        let mut piece = [0; 16 << 10];
        loop {
            let value = self.decoder.next_value();
            if let Some(value) = value.map_err(|wrong| wrong.to_string())? {
                return Ok(value);
            }
            let read = within(&self.host, PATIENCE, self.stream.read(&mut piece)).await;
            let length = match read {
                // What the real one's socket says after its time.
                None => Err("Resource temporarily unavailable".to_owned()),
                Some(Ok(0)) => Err("the connection was ended".to_owned()),
                Some(read) => read.map_err(|wrong| wrong.to_string()),
            };
            let length = length.map_err(|why| format!("failed to read response: {why}"))?;
            self.decoder.feed(&piece[..length]);
        }
    }
}
