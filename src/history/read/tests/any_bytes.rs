//! What must hold of the reading of any bytes. Fuzz targets take it from here, too.

use std::io::Read;
use std::ops::ControlFlow;

use super::history::{
    Format, Keys, ReadError, ReadOptions, Summary, stream, write_edn, write_line,
};
use super::op::Event;

/// Gives so many bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(buffer.len()).min(self.0.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

type Reading = (Vec<Event>, Result<Summary, ReadError>);

fn read(bytes: impl Read, options: ReadOptions) -> Reading {
    let mut events = Vec::new();
    let summary = stream(bytes, "h", &options, &mut |head, value| {
        events.push(Event { value: value.to_value(), ..head.clone() });
        ControlFlow::Continue(())
    });
    (events, summary)
}

/// Reads the bytes whole, in pieces of this length, with and without an end that may be torn, and what
/// was read once more from its written forms.
pub fn read_in_all_ways(bytes: &[u8], piece: usize) {
    let options = ReadOptions::default();
    let (events, summary) = read(bytes, options);
    assert_eq!((&events, &summary), (&read(Pieces(bytes, piece.max(1)), options).0, &summary));
    assert_eq!(read(Pieces(bytes, piece.max(1)), options).1, summary);
    let (tolerated, kept) = read(bytes, ReadOptions { tolerate_tail: true, ..options });
    assert_eq!(tolerated, events, "what comes before an error is the same");
    let independent = ReadOptions { keys: Keys::Independent, ..options };
    assert_eq!(read(bytes, independent).0.len(), events.len(), "keys are in values or not");
    match summary {
        Ok(summary) => {
            assert_eq!(summary.events, events.len() as u64);
            assert_eq!(kept, Ok(summary));
        }
        Err(ReadError::Line { line, column, .. }) => {
            assert!(line > 0 && column > 0);
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            assert!(bytes.starts_with(&[0x28]) || line <= lines + 1, "line {line} of {lines}");
            assert!(kept.is_ok_and(|summary| summary.damage.is_some()));
        }
        Err(ReadError::Frame { .. }) => assert!(kept.is_ok_and(|kept| kept.damage.is_some())),
        Err(error) => assert_eq!(kept, Err(error)),
    }
    round_trip(&events);
}

/// What was read once is read the same again, from JSON lines and from EDN.
fn round_trip(events: &[Event]) {
    let (mut lines, mut edn) = (Vec::new(), Vec::new());
    for event in events {
        write_line(&mut lines, event);
        write_edn(&mut edn, event, Keys::Plain);
    }
    if events.is_empty() {
        return;
    }
    for (text, format) in [(lines, Format::JsonLines), (edn, Format::Edn)] {
        let (again, summary) = read(text.as_slice(), ReadOptions::default());
        let told = String::from_utf8_lossy(&text);
        assert_eq!(summary.map(|summary| summary.format), Ok(format), "{told}");
        assert_eq!(again, events, "{told}");
    }
}
