//! A record as the command that does the same, as a migration by commands sends it.

use bytes::Bytes;

use super::{Record, Side};
use crate::reference::kvrocks::store::number;

pub fn command(record: &Record) -> Option<Vec<Bytes>> {
    let name = |name: &'static str| Bytes::from_static(name.as_bytes());
    let ms = |ms: &i64| Bytes::from(ms.to_string());
    Some(match record {
        Record::SetString { key, value, expires } => {
            let mut words = vec![name("SET"), key.clone(), value.clone()];
            if let Some(at) = expires {
                words.extend([name("PXAT"), ms(at)]);
            }
            words
        }
        Record::ListPush { key, side, value, .. } => {
            let push = if *side == Side::Left { "LPUSH" } else { "RPUSH" };
            vec![name(push), key.clone(), value.clone()]
        }
        Record::ListPop { key, side, .. } => {
            vec![name(if *side == Side::Left { "LPOP" } else { "RPOP" }), key.clone()]
        }
        Record::HashPut { key, field, value } => {
            vec![name("HSET"), key.clone(), field.clone(), value.clone()]
        }
        Record::HashRemove { key, field } => vec![name("HDEL"), key.clone(), field.clone()],
        Record::SetAdd { key, member } => vec![name("SADD"), key.clone(), member.clone()],
        Record::SetRemove { key, member } => vec![name("SREM"), key.clone(), member.clone()],
        Record::SortedSetPut { key, member, score } => {
            vec![name("ZADD"), key.clone(), number::shortest(*score).into(), member.clone()]
        }
        Record::SortedSetRemove { key, member } => {
            vec![name("ZREM"), key.clone(), member.clone()]
        }
        Record::StreamAdd { key, id, fields } => {
            let mut words = vec![name("XADD"), key.clone(), id.to_string().into()];
            words.extend(fields.iter().cloned());
            words
        }
        Record::Expire { key, expires: Some(at) } => {
            vec![name("PEXPIREAT"), key.clone(), ms(at)]
        }
        Record::Expire { key, expires: None } => vec![name("PERSIST"), key.clone()],
        Record::Delete { key } => vec![name("DEL"), key.clone()],
        Record::ClearSlots { .. } | Record::Clear => return None,
    })
}
