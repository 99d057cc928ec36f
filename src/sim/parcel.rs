//! What travels on the simulated network: messages of the ensemble model, and plain bytes.

use bytes::Bytes;

use super::network::{Signal, Wire};
use super::zookeeper::Message;

#[derive(Clone, Debug)]
pub enum Parcel {
    /// Between ZooKeeper's servers, and between one of them and its clients.
    Message(Message),
    /// To and from programs, which speak as on a real wire.
    Bytes(Bytes),
}

impl Wire for Parcel {
    fn bytes(&self) -> u64 {
        match self {
            Parcel::Message(message) => message.bytes(),
            Parcel::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

/// A signal as the ensemble model takes it, which speaks no bytes and knows just one way to end.
pub fn for_ensemble(signal: Signal<Parcel>) -> Option<Signal<Message>> {
    Some(match signal {
        Signal::Message(Parcel::Message(message)) => Signal::Message(message),
        Signal::Message(Parcel::Bytes(_)) | Signal::Shut => return None,
        Signal::Accepted { from, port } => Signal::Accepted { from, port },
        Signal::Opened => Signal::Opened,
        Signal::Refused => Signal::Refused,
        Signal::Closed | Signal::Reset => Signal::Closed,
    })
}
