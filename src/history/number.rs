//! Numbers of JSON and EDN.

use super::tape::{Node, Tape};

/// A whole number of up to 18 digits at a place, and the place after it: nearly all numbers there are.
///
/// What follows may make it another number, which the caller sees.
#[inline]
pub fn short_integer(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let is_negative = bytes.get(at) == Some(&b'-');
    let start = at + usize::from(is_negative);
    let mut end = start;
    let mut value: i64 = 0;
    while let Some(digit) = bytes.get(end).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        if end - start == 18 {
            return None;
        }
        value = value * 10 + i64::from(digit);
        end += 1;
    }
    if end == start {
        return None;
    }
    Some((if is_negative { -value } else { value }, end))
}

/// Puts a number on the tape; false if the text is none.
///
/// Whole numbers beyond 64 bits, and others beyond what a float holds, stay text: equal ones stay equal,
/// different ones different, and no one counts with them.
pub fn push_number(tape: &mut Tape, text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    if let Ok(value) = text.parse::<i64>() {
        tape.push(Node::Int(value));
    } else if let Ok(value) = text.parse::<u64>() {
        tape.push(Node::Large(value));
    } else if is_whole {
        tape.push_text(text);
    } else {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => tape.push(Node::Float(value)),
            Ok(_) => tape.push_text(text),
            Err(_) => return false,
        }
    }
    true
}
