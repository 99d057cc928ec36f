//! Client requests and replies in words: for patterns, and for people.

use super::message::{Message, Operation, Part, Path, Read, Refusal, Reply, Response, Write};

/// Longer data are cut.
const SHOWN_CHARACTERS: usize = 80;

/// A request's words as a pattern sees them; `None` for what no client asks.
pub fn words(message: &Message) -> Option<Vec<&str>> {
    let operation = match message {
        Message::Connect { .. } => return Some(vec!["connect"]),
        Message::Request { operation, .. } => operation,
        _ => return None,
    };
    Some(match operation {
        Operation::Sync { path } => vec!["sync", path],
        Operation::Read(read) => match read {
            Read::Ping => vec!["ping"],
            Read::Get { path } => vec!["get", path],
            Read::Exists { path, .. } => vec!["exists", path],
            Read::Children { path, .. } => vec!["children", path],
            Read::SetWatches(_) => vec!["set-watches"],
        },
        Operation::Write(write) => match write {
            Write::CreateSession { .. } => vec!["connect"],
            Write::CloseSession => vec!["close"],
            Write::Single(part) => vec![name(part), path(part)],
            Write::Multi(parts) => {
                std::iter::once("multi").chain(parts.iter().map(|part| &**path(part))).collect()
            }
        },
    })
}

/// The znode that a request names first.
pub fn subject(message: &Message) -> Option<String> {
    words(message)?.get(1).map(|path| (*path).to_owned())
}

/// `set /sg/r/3 = "17"`.
pub fn request(message: &Message) -> String {
    if let Message::Request { operation: Operation::Write(write), .. } = message {
        match write {
            Write::Single(part) => return part_text(part),
            Write::Multi(parts) => {
                let parts: Vec<String> = parts.iter().map(part_text).collect();
                return format!("multi {}", parts.join(", "));
            }
            Write::CreateSession { .. } | Write::CloseSession => {}
        }
    }
    words(message).unwrap_or_default().join(" ")
}

/// `ok zxid=0x100000007 version=3`, or `error BadVersion`; and whether it was done.
pub fn reply(reply: &Reply) -> (String, bool) {
    let refusal = match &reply.result {
        Err(refusal) | Ok(Response::MultiFailed { refusal, .. }) => *refusal,
        Ok(response) => {
            let version = match response {
                Response::Stat(stat) | Response::Data(_, stat) => {
                    format!(" version={}", stat.version)
                }
                _ => String::new(),
            };
            return (format!("ok zxid=0x{:x}{version}", reply.zxid), true);
        }
    };
    (format!("error {}", refusal_name(refusal)), false)
}

fn name(part: &Part) -> &'static str {
    match part {
        Part::Create { .. } => "create",
        Part::Set { .. } => "set",
        Part::Delete { .. } => "delete",
        Part::Check { .. } => "check",
    }
}

fn path(part: &Part) -> &Path {
    match part {
        Part::Create { path, .. }
        | Part::Set { path, .. }
        | Part::Delete { path, .. }
        | Part::Check { path, .. } => path,
    }
}

fn part_text(part: &Part) -> String {
    match part {
        Part::Create { data, .. } | Part::Set { data, .. } => {
            let text = String::from_utf8_lossy(data);
            let mut shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            format!("{} {} = {shown:?}", name(part), path(part))
        }
        Part::Delete { .. } | Part::Check { .. } => format!("{} {}", name(part), path(part)),
    }
}

fn refusal_name(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NoNode => "NoNode",
        Refusal::NodeExists => "NodeExists",
        Refusal::BadVersion => "BadVersion",
        Refusal::NotEmpty => "NotEmpty",
        Refusal::NoChildrenForEphemerals => "NoChildrenForEphemerals",
        Refusal::SpecialPath => "BadArguments",
        Refusal::SessionExpired => "SessionExpired",
    }
}
