//! Finds where a value of RESP ends, whatever it holds and however it comes in pieces.

use crate::wire::HEAD_BYTES;

/// Of a simple string, an error or an inline command.
const LONGEST_LINE: usize = 64 * 1024;
const LONGEST_BULK: u64 = 512 << 20;
const MOST_ITEMS: u64 = 1 << 31;
const DEEPEST: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Arrays of bulk strings, or one line of words.
    Requests,
    /// Any value.
    Replies,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Head,
    End,
    Bad,
}

enum Walked {
    Open,
    Whole,
    Bad,
}

pub struct Walker {
    side: Side,
    head: Vec<u8>,
    has_head: bool,
    is_whole: bool,
    /// The line under way.
    line: Vec<u8>,
    /// What is left of a bulk string with its line end.
    bulk: u64,
    /// How many items are left of each value that is open, outermost first.
    open: Vec<u64>,
}

impl Walker {
    pub fn new(side: Side) -> Walker {
        Walker {
            side,
            head: Vec::new(),
            has_head: false,
            is_whole: false,
            line: Vec::new(),
            bulk: 0,
            open: Vec::new(),
        }
    }

    pub fn head(&self) -> &[u8] {
        &self.head
    }

    pub fn kept(&self) -> usize {
        self.head.capacity() + self.line.capacity()
    }

    pub fn is_between(&self) -> bool {
        self.head.is_empty()
    }

    pub fn advance(&mut self, bytes: &[u8]) -> (usize, Option<Step>) {
        if self.is_whole {
            return (0, Some(self.end()));
        }
        let room = if self.has_head { usize::MAX } else { HEAD_BYTES - self.head.len() };
        let bytes = &bytes[..bytes.len().min(room)];
        let (taken, walked) = self.walk(bytes);
        if !self.has_head {
            self.head.extend(&bytes[..taken]);
        }
        let step = match walked {
            Walked::Bad => Some(Step::Bad),
            Walked::Whole if self.has_head => Some(self.end()),
            Walked::Whole => {
                self.is_whole = true;
                Some(Step::Head)
            }
            Walked::Open if !self.has_head && self.head.len() == HEAD_BYTES => {
                self.has_head = true;
                Some(Step::Head)
            }
            Walked::Open => None,
        };
        (taken, step)
    }

    fn end(&mut self) -> Step {
        self.head.clear();
        self.head.shrink_to(1024);
        (self.has_head, self.is_whole) = (false, false);
        Step::End
    }

    fn walk(&mut self, bytes: &[u8]) -> (usize, Walked) {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let is_whole = if self.bulk > 0 {
                let Some(taken) = self.pass_bulk(rest) else { return (at, Walked::Bad) };
                at += taken;
                self.bulk == 0 && self.close_item()
            } else {
                let end = rest.iter().position(|byte| *byte == b'\n');
                let taken = end.map_or(rest.len(), |end| end + 1);
                self.line.extend(&rest[..taken.min(LONGEST_LINE + 1)]);
                at += taken;
                if self.line.len() > LONGEST_LINE || !self.may_begin_line() {
                    return (at, Walked::Bad);
                }
                match end.map(|_| self.take_line()) {
                    None => false,
                    Some(Some(is_whole)) => is_whole,
                    Some(None) => return (at, Walked::Bad),
                }
            };
            if is_whole {
                return (at, Walked::Whole);
            }
        }
        (at, Walked::Open)
    }

    /// `None` where the two bytes behind a bulk string are not a line's end.
    fn pass_bulk(&mut self, bytes: &[u8]) -> Option<usize> {
        let taken = usize::try_from(self.bulk).unwrap_or(usize::MAX).min(bytes.len());
        let left = self.bulk - taken as u64;
        for (place, expected) in [(2, b'\r'), (1, b'\n')] {
            if (left..self.bulk).contains(&(place - 1)) {
                // Counted from the end of the bulk string's line end.
                let index = taken as u64 - (place - left);
                if bytes[index as usize] != expected {
                    return None;
                }
            }
        }
        self.bulk = left;
        Some(taken)
    }

    /// Tells garbage by a line's first byte, before its end comes.
    fn may_begin_line(&self) -> bool {
        let first = self.line.first().copied().unwrap_or(b'\n');
        match (self.side, self.open.is_empty()) {
            (Side::Requests, true) => {
                first == b'*' || first.is_ascii_alphabetic() || first.is_ascii_whitespace()
            }
            (Side::Requests, false) => first == b'$',
            (Side::Replies, _) => b"+-:_#,($!=*~>%".contains(&first),
        }
    }

    /// Whether the value under way is whole with this line; `None` where it is no line of RESP.
    fn take_line(&mut self) -> Option<bool> {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_suffix(b"\n")?;
        let (kind, rest) = match text.split_first() {
            Some((kind, rest)) if b"+-:_#,($!=*~>%".contains(kind) => (*kind, rest),
            // An inline command: lines of it may end without a carriage return.
            _ => {
                let is_text = text.iter().all(|byte| *byte >= b' ' || b"\t\r".contains(byte));
                return is_text.then_some(true);
            }
        };
        let rest = rest.strip_suffix(b"\r")?;
        match kind {
            b'$' | b'!' | b'=' => match count(rest, LONGEST_BULK)? {
                None => Some(self.close_item()),
                Some(length) => {
                    self.bulk = length + 2;
                    Some(false)
                }
            },
            b'*' | b'~' | b'>' | b'%' => {
                let items = count(rest, MOST_ITEMS)?.unwrap_or(0);
                self.open_value(if kind == b'%' { items * 2 } else { items })
            }
            _ => Some(self.close_item()),
        }
    }

    fn open_value(&mut self, items: u64) -> Option<bool> {
        if items == 0 {
            return Some(self.close_item());
        }
        self.open.push(items);
        (self.open.len() <= DEEPEST).then_some(false)
    }

    /// One item is there; whether the outermost value is whole with it.
    fn close_item(&mut self) -> bool {
        while let Some(left) = self.open.last_mut() {
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.open.pop();
        }
        true
    }
}

/// A length; `Some(None)` is -1, which stands for nothing.
pub fn count(digits: &[u8], largest: u64) -> Option<Option<u64>> {
    if digits == b"-1" {
        return Some(None);
    }
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?;
    (number <= largest).then_some(Some(number))
}
