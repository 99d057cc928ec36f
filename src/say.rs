//! What the orchestrator says on stdout and stderr. A reader that went away, or a full disk behind a
//! redirection, is no reason to stop: a run has faults to heal and a verdict to leave in its folder.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::sync::OnceLock;

/// Why something was not written to stdout.
static LOST: OnceLock<String> = OnceLock::new();

/// Why something that was said on stdout is not there; nothing where its reader only went away.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Text to stdout, as it is.
pub fn text(text: Arguments) {
    let mut out = std::io::stdout().lock();
    // What nobody can read is dropped.
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush())
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.to_string());
    }
}

/// Text to stderr, as it is.
pub fn aside(text: Arguments) {
    let _ = std::io::stderr().lock().write_fmt(text);
}

/// As `print!`, without its panic.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::text(format_args!($($words)*)) };
}

/// As `println!`, without its panic.
macro_rules! say_line {
    () => { $crate::say::text(format_args!("\n")) };
    ($($words:tt)*) => { $crate::say::text(format_args!("{}\n", format_args!($($words)*))) };
}

/// As `eprintln!`, without its panic.
macro_rules! say_aside {
    ($($words:tt)*) => { $crate::say::aside(format_args!("{}\n", format_args!($($words)*))) };
}

pub(crate) use {say, say_aside, say_line};
