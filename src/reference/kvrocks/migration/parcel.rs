//! What is sent of a slot: commands in pipelines, or records in batches, each at its pace.

use bytes::Bytes;

use super::courier::Courier;
use super::pace::{Pace, time_of};
use crate::reference::host::Host;
use crate::reference::kvrocks::node::Node;
use crate::reference::kvrocks::store::Record;
use crate::reference::kvrocks::{Config, MigrateType};
use crate::resp::encode_command;

/// Collects what is to be sent, and sends it when enough is there.
pub struct Parcel {
    migrate_type: MigrateType,
    /// Commands, or records as bytes.
    bytes: Vec<u8>,
    commands: usize,
    pace: Pace,
    pub sent: Sent,
}

/// What was sent altogether.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    pub bytes: u64,
    pub batches: u64,
    pub entries: u64,
}

impl Parcel {
    pub fn new(migrate_type: MigrateType) -> Parcel {
        Parcel {
            migrate_type,
            bytes: Vec::new(),
            commands: 0,
            pace: Pace::default(),
            sent: Sent::default(),
        }
    }

    pub async fn put_command<H: Host>(
        &mut self,
        node: &Node<H>,
        courier: &mut Courier<H>,
        command: &[Bytes],
    ) -> Result<(), String> {
        encode_command(command, &mut self.bytes);
        self.commands += 1;
        self.sent.entries += 1;
        let most = node.config(|config| config.migrate_pipeline_size as usize);
        if self.commands >= most { self.send(node, courier).await } else { Ok(()) }
    }

    pub async fn put_record<H: Host>(
        &mut self,
        node: &Node<H>,
        courier: &mut Courier<H>,
        record: &Record,
    ) -> Result<(), String> {
        record.encode(&mut self.bytes);
        self.sent.entries += 1;
        let most = node.config(|config| config.migrate_batch_size);
        if self.bytes.len() as u64 >= most { self.send(node, courier).await } else { Ok(()) }
    }

    /// Puts a change of the store as this migration sends it.
    pub async fn put_change<H: Host>(
        &mut self,
        node: &Node<H>,
        courier: &mut Courier<H>,
        record: &Record,
    ) -> Result<(), String> {
        match self.migrate_type {
            MigrateType::RawKeyValue => self.put_record(node, courier, record).await,
            MigrateType::RedisCommand => match record.command() {
                Some(command) => self.put_command(node, courier, &command).await,
                None => Ok(()),
            },
        }
    }

    /// Sends what is there and waits until the destination has taken it.
    pub async fn send<H: Host>(
        &mut self,
        node: &Node<H>,
        courier: &mut Courier<H>,
    ) -> Result<(), String> {
        if node.migration.is_stopped.get() {
            return Err("key migration stopped due to a task cancellation".to_owned());
        }
        if self.bytes.is_empty() {
            return Ok(());
        }
        let takes = node.config(|config| self.takes(config));
        self.pace.step(&node.host, takes).await;
        let (bytes, commands) =
            (std::mem::take(&mut self.bytes), std::mem::take(&mut self.commands));
        self.sent.bytes += bytes.len() as u64;
        self.sent.batches += 1;
        let replies = match self.migrate_type {
            MigrateType::RedisCommand => {
                courier.send(&bytes).await?;
                commands
            }
            MigrateType::RawKeyValue => {
                let mut request = Vec::new();
                encode_command(&[b"APPLYBATCH", &bytes[..]], &mut request);
                courier.send(&request).await?;
                1
            }
        };
        let taken = courier.replies(replies).await;
        taken.map_err(|why| format!("wrong response from the destination node: {why}"))
    }

    fn takes(&self, config: &Config) -> std::time::Duration {
        match self.migrate_type {
            MigrateType::RedisCommand => {
                time_of(self.commands as u64, config.migrate_speed.map(u64::from))
            }
            MigrateType::RawKeyValue => time_of(self.bytes.len() as u64, config.migrate_batch_rate),
        }
    }
}
