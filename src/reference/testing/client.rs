//! A client that says what it is told and shows the bytes that come back.

use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::MemoryStream;
use crate::resp::{Decoder, Value, encode_command};

/// One connection to a server.
pub struct Conversation {
    stream: MemoryStream,
    decoder: Decoder,
    /// What came and was not taken yet.
    came: Vec<u8>,
}

impl Conversation {
    pub fn new(stream: MemoryStream) -> Conversation {
        Conversation { stream, decoder: Decoder::default(), came: Vec::new() }
    }

    /// Sends a request and waits for its reply; `None` if the connection ends before.
    pub async fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Option<Value> {
        self.call_raw(words).await.map(|(value, _)| value)
    }

    /// As [`call`](Conversation::call), also in the bytes that came.
    pub async fn call_raw<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Option<(Value, Vec<u8>)> {
        self.say(words).await?;
        self.hear().await
    }

    pub async fn say<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Option<()> {
        let mut bytes = Vec::new();
        encode_command(words, &mut bytes);
        self.stream.write_all(&bytes).await.ok()?;
        self.stream.flush().await.ok()
    }

    /// Sends bytes as they are.
    pub async fn throw(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).await.ok()?;
        self.stream.flush().await.ok()
    }

    pub async fn hear(&mut self) -> Option<(Value, Vec<u8>)> {
        let mut piece = vec![0; 16 << 10];
        loop {
            if let Some(value) = self.decoder.next_value().expect("the server speaks RESP") {
                let taken = self.came.len() - self.decoder.pending();
                let rest = self.came.split_off(taken);
                return Some((value, std::mem::replace(&mut self.came, rest)));
            }
            let length = self.stream.read(&mut piece).await.ok().filter(|length| *length > 0)?;
            self.decoder.feed(&piece[..length]);
            self.came.extend_from_slice(&piece[..length]);
        }
    }
}
