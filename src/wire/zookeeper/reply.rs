//! ZooKeeper's replies as text, and whether they say that a write was done.

use super::jute::Record;
use super::request::{
    CHILDREN, CHILDREN_WITH_STAT, CLOSE, CREATE, CREATE_CONTAINER, CREATE_FOR_A_TIME,
    CREATE_WITH_STAT, DELETE, DELETE_CONTAINER, EXISTS, GET, MULTI, RECONFIGURE, SET, SET_RIGHTS,
};
use crate::wire::Reply;
use crate::wire::text::{cut, plain, quoted};

/// The type of a part of a failed multi.
const ERROR_PART: i32 = -1;
/// The error of those parts that did not fail themselves.
const OTHER_PART_FAILED: i32 = -2;

fn failed(code: i32) -> Reply {
    let name = match code {
        -1 => "SystemError",
        -2 => "RuntimeInconsistency",
        -3 => "DataInconsistency",
        -4 => "ConnectionLoss",
        -5 => "MarshallingError",
        -6 => "Unimplemented",
        -7 => "OperationTimeout",
        -8 => "BadArguments",
        -13 => "NewConfigNoQuorum",
        -14 => "ReconfigInProgress",
        -100 => "APIError",
        -101 => "NoNode",
        -102 => "NoAuth",
        -103 => "BadVersion",
        -108 => "NoChildrenForEphemerals",
        -110 => "NodeExists",
        -111 => "NotEmpty",
        -112 => "SessionExpired",
        -113 => "InvalidCallback",
        -114 => "InvalidACL",
        -115 => "AuthFailed",
        -118 => "SessionMoved",
        -119 => "NotReadOnly",
        -122 => "RequestTimeout",
        -125 => "QuotaExceeded",
        -127 => "Throttled",
        other => return Reply { text: format!("error {other}"), applied: false },
    };
    Reply { text: format!("error {name}"), applied: false }
}

pub fn connected(body: &[u8]) -> Reply {
    let mut record = Record::new(body);
    let _version = record.int();
    let timeout = record.int().unwrap_or_default();
    let session = record.long().unwrap_or_default();
    // A server that no longer knows a session gives none.
    if session == 0 {
        return Reply { text: "error SessionExpired".to_owned(), applied: false };
    }
    Reply { text: format!("ok session=0x{session:x} timeout={timeout}"), applied: true }
}

/// A reply behind its number, the server's last transaction and an error.
pub fn numbered(operation: i32, body: &[u8]) -> Reply {
    let mut record = Record::new(body);
    let _number = record.int();
    let (zxid, error) = (record.long().unwrap_or_default(), record.int().unwrap_or_default());
    if error != 0 {
        return failed(error);
    }
    if operation == MULTI
        && let Some(error) = failed_part(record)
    {
        return failed(error);
    }
    let details = details(operation, &mut record).unwrap_or_default();
    Reply { text: cut(format!("ok zxid=0x{zxid:x}{details}")), applied: is_write(operation) }
}

fn is_write(operation: i32) -> bool {
    matches!(
        operation,
        CREATE
            | CREATE_WITH_STAT
            | CREATE_CONTAINER
            | CREATE_FOR_A_TIME
            | DELETE
            | DELETE_CONTAINER
            | SET
            | SET_RIGHTS
            | MULTI
            | RECONFIGURE
            | CLOSE
    )
}

fn details(operation: i32, record: &mut Record<'_>) -> Option<String> {
    Some(match operation {
        SET | EXISTS | SET_RIGHTS => format!(" version={}", record.stat_version()?),
        CREATE | CREATE_WITH_STAT | CREATE_CONTAINER | CREATE_FOR_A_TIME => {
            format!(" path={}", plain(record.buffer()?))
        }
        GET => {
            let value = quoted(record.buffer()?);
            let version = record.stat_version().map(|version| format!(" version={version}"));
            format!("{} {value}", version.unwrap_or_default())
        }
        CHILDREN | CHILDREN_WITH_STAT => format!(" children={}", record.int()?),
        _ => String::new(),
    })
}

/// The error for which a multi was not done: of a failed one, every part is an error.
fn failed_part(mut record: Record<'_>) -> Option<i32> {
    let mut found = None;
    while let (Some(ERROR_PART), Some(false), Some(_)) =
        (record.int(), record.boolean(), record.int())
    {
        let error = record.int()?;
        if error != 0 && error != OTHER_PART_FAILED {
            return Some(error);
        }
        found = Some(error);
    }
    found
}
