//! ZooKeeper's requests as words and as text.

use super::jute::Record;
use crate::wire::Request;
use crate::wire::text::{cut, plain, quoted};

pub const CREATE: i32 = 1;
pub const DELETE: i32 = 2;
pub const EXISTS: i32 = 3;
pub const GET: i32 = 4;
pub const SET: i32 = 5;
pub const SET_RIGHTS: i32 = 7;
pub const CHILDREN: i32 = 8;
pub const CHILDREN_WITH_STAT: i32 = 12;
pub const CHECK: i32 = 13;
pub const MULTI: i32 = 14;
pub const CREATE_WITH_STAT: i32 = 15;
pub const RECONFIGURE: i32 = 16;
pub const CREATE_CONTAINER: i32 = 19;
pub const DELETE_CONTAINER: i32 = 20;
pub const CREATE_FOR_A_TIME: i32 = 21;
pub const CLOSE: i32 = -11;

const MOST_PARTS: usize = 64;

/// What an operation is called in patterns.
pub fn name(operation: i32) -> String {
    let name = match operation {
        CREATE | CREATE_WITH_STAT | CREATE_CONTAINER | CREATE_FOR_A_TIME => "create",
        DELETE | DELETE_CONTAINER => "delete",
        EXISTS => "exists",
        GET => "get",
        SET => "set",
        6 => "get-acl",
        SET_RIGHTS => "set-acl",
        CHILDREN | CHILDREN_WITH_STAT => "children",
        9 => "sync",
        11 => "ping",
        CHECK => "check",
        MULTI => "multi",
        RECONFIGURE => "reconfig",
        17 | 18 => "remove-watches",
        22 => "multi-read",
        100 => "auth",
        101 | 105 => "set-watches",
        102 => "sasl",
        106 => "add-watch",
        CLOSE => "close",
        other => return format!("operation{other}"),
    };
    name.to_owned()
}

pub fn connect(body: &[u8]) -> Request {
    let mut record = Record::new(body);
    let _version = record.int();
    let _last_seen = record.long();
    let timeout = record.int().unwrap_or_default();
    let session = record.long().unwrap_or_default();
    Request {
        words: vec!["connect".to_owned()],
        text: format!("connect session=0x{session:x} timeout={timeout}"),
        subject: None,
    }
}

/// A request behind its number and operation.
pub fn numbered(operation: i32, body: &[u8]) -> Request {
    let mut record = Record::new(body);
    let _number_and_operation = record.long();
    let parts = match operation {
        MULTI | 22 => parts(&mut record),
        _ => vec![part(operation, &mut record)],
    };
    let name = name(operation);
    let paths: Vec<String> = parts.iter().filter_map(|part| part.path.clone()).collect();
    let texts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
    let text = match operation {
        MULTI | 22 => format!("{name} [{}]", texts.join(", ")),
        _ => texts.concat(),
    };
    let subject = paths.first().cloned();
    Request { words: [vec![name], paths].concat(), text: cut(text), subject }
}

struct Part {
    path: Option<String>,
    text: String,
}

fn part(operation: i32, record: &mut Record<'_>) -> Part {
    let name = name(operation);
    let has_path = matches!(operation, 1..=9 | 12 | 13 | 15 | 17..=21 | 106);
    let Some(path) = record.buffer().map(plain).filter(|_| has_path) else {
        return Part { path: None, text: name };
    };
    let mut text = format!("{name} {path}");
    match operation {
        SET | CREATE | CREATE_WITH_STAT | CREATE_CONTAINER | CREATE_FOR_A_TIME => {
            let value = record.buffer().map(quoted).unwrap_or_default();
            text.push_str(&format!(" = {value}"));
            if operation == SET {
                text.push_str(&version(record));
                return Part { path: Some(path), text };
            }
            let _kind = record.skip_rights().and_then(|()| record.int());
            if operation == CREATE_FOR_A_TIME {
                let _lifetime = record.long();
            }
        }
        DELETE | CHECK | DELETE_CONTAINER => text.push_str(&version(record)),
        EXISTS | GET | CHILDREN | CHILDREN_WITH_STAT => {
            let _wants_watch = record.boolean();
        }
        _ => {}
    }
    Part { path: Some(path), text }
}

/// Nothing where any version will do.
fn version(record: &mut Record<'_>) -> String {
    match record.int() {
        Some(version) if version >= 0 => format!(" if version={version}"),
        _ => String::new(),
    }
}

/// Each part of a multi has a header: operation, whether it closes the list, and an unused error.
fn parts(record: &mut Record<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    while let (Some(operation), Some(false), Some(_)) =
        (record.int(), record.boolean(), record.int())
    {
        if parts.len() == MOST_PARTS {
            break;
        }
        parts.push(part(operation, record));
    }
    parts
}
