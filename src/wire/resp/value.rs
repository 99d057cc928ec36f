//! RESP's requests as words, its replies as text, from as much of them as was kept.

use super::walker::count;
use crate::wire::text::{cut, plain, quoted};
use crate::wire::{Reply, Request};

/// Of one request.
const MOST_WORDS: usize = 256;
/// Of one word; what is behind is neither matched nor shown. Large values would cost more than all else.
const LONGEST_WORD: usize = 1024;
/// How much of a reply is written out.
const MOST_ITEMS: usize = 8;
const DEEPEST: usize = 4;

/// The words of a request; the last may be cut short.
pub fn words(head: &[u8]) -> Vec<&[u8]> {
    if head.first() != Some(&b'*') {
        let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        let words = line.unwrap_or_default().split(u8::is_ascii_whitespace);
        return words.filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
    }
    let mut rest = head;
    let _number_of_words = take_line(&mut rest);
    let mut words = Vec::new();
    while words.len() < MOST_WORDS
        && let Some(word) = take_line(&mut rest).and_then(|line| take_bulk(&mut rest, line))
    {
        words.push(word);
    }
    words
}

fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, after) = rest.split_at(end + 1);
    *rest = after;
    Some(line.trim_ascii_end())
}

/// What follows a line `$<length>`.
fn take_bulk<'a>(rest: &mut &'a [u8], line: &[u8]) -> Option<&'a [u8]> {
    let length = count(line.get(1..)?, u64::MAX)?.unwrap_or(0);
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
    let (bulk, after) = rest.split_at(length);
    *rest = after.get(2..).unwrap_or_default();
    Some(bulk)
}

pub fn request(head: &[u8]) -> Request {
    let shown = |word: &[u8]| plain(&word[..word.len().min(LONGEST_WORD)]);
    let words: Vec<String> = words(head).into_iter().map(shown).collect();
    let subject = words.get(1).cloned();
    Request { text: cut(words.join(" ")), words, subject }
}

pub fn reply(head: &[u8]) -> Reply {
    let mut rest = head;
    let text = value(&mut rest, 0).unwrap_or_else(|| "…".to_owned());
    Reply { text: cut(text), applied: !matches!(head.first(), Some(b'-' | b'!')) }
}

fn value(rest: &mut &[u8], depth: usize) -> Option<String> {
    let line = take_line(rest)?;
    let (kind, text) = line.split_first()?;
    Some(match kind {
        b'-' => format!("error {}", plain(text)),
        b'$' | b'!' | b'=' if text != b"-1" => {
            let bulk = quoted(take_bulk(rest, line)?);
            if *kind == b'!' { format!("error {bulk}") } else { bulk }
        }
        b'*' | b'~' | b'>' | b'%' if text != b"-1" => {
            let items = count(text, u64::MAX)?.unwrap_or(0);
            let items = if *kind == b'%' { items.saturating_mul(2) } else { items };
            items_of(rest, items, depth)
        }
        b'$' | b'*' | b'_' => "nil".to_owned(),
        _ => plain(text),
    })
}

fn items_of(rest: &mut &[u8], items: u64, depth: usize) -> String {
    if depth == DEEPEST {
        return format!("[{items} items]");
    }
    let shown = (0..items).take(MOST_ITEMS).map_while(|_| value(rest, depth + 1));
    let shown: Vec<String> = shown.collect();
    let more = if (shown.len() as u64) < items { ", …" } else { "" };
    format!("[{}{more}]", shown.join(", "))
}
