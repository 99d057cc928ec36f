//! The controller's log: one JSON object a line, as zap writes them.

use std::fmt::Write;
use std::panic::Location;

use serde_json::Value;

use super::document::json;
use crate::reference::host::Host;

/// What a line tells beside its message.
pub type Field<'a> = (&'a str, Value);

pub struct Log<H> {
    host: H,
}

impl<H: Host> Log<H> {
    pub fn new(host: H) -> Log<H> {
        Log { host }
    }

    #[track_caller]
    pub fn info(&self, message: &str, fields: &[Field<'_>]) {
        self.line("info", message, fields);
    }

    #[track_caller]
    pub fn warn(&self, message: &str, fields: &[Field<'_>]) {
        self.line("warn", message, fields);
    }

    #[track_caller]
    pub fn error(&self, message: &str, fields: &[Field<'_>]) {
        self.line("error", message, fields);
    }

    #[track_caller]
    fn line(&self, level: &str, message: &str, fields: &[Field<'_>]) {
        let time = jiff::Timestamp::from_millisecond(self.host.wall_ms()).unwrap_or_default();
        let place = Location::caller();
        // The last folder and the file, as zap shortens it.
        let file = place.file().rsplitn(3, '/').take(2).collect::<Vec<_>>();
        let file = file.into_iter().rev().collect::<Vec<_>>().join("/");
        let mut line = format!(
            "{{\"level\":\"{level}\",\"timestamp\":\"{}\",\"caller\":\"{file}:{}\",\"msg\":{}",
            time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"),
            place.line(),
            json(&message),
        );
        for (name, value) in fields {
            let _ = write!(line, ",{}:{}", json(name), json(value));
        }
        line.push('}');
        self.host.log(&line);
    }
}
