//! A parser of JSON onto a tape.

use super::duplicates::find_duplicate;
use super::fault::{Fault, MOST_DEPTH};
use super::number::{push_number, short_integer};
use super::tape::{Node, Tape};

/// Appends the value that begins at `at`, and gives the place after it.
pub fn parse(text: &str, at: usize, tape: &mut Tape) -> Result<usize, Fault> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at, tape };
    parser.value(0)?;
    Ok(parser.at)
}

/// The place of what comes after white space.
pub fn blanks(text: &str, at: usize) -> usize {
    let rest = text.as_bytes()[at..].iter();
    at + rest.take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
}

#[cfg(test)]
pub fn parsed(text: &str) -> Tape {
    let mut tape = Tape::default();
    parse(text, 0, &mut tape).expect(text);
    tape
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tape: &'a mut Tape,
}

impl Parser<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, Fault> {
        Fault::unexpected(self.text, self.at, expected)
    }

    fn value(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > MOST_DEPTH {
            return Fault::too_deep(self.at);
        }
        self.blanks();
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'n') => self.word("null", Node::Nil),
            Some(b't') => self.word("true", Node::Bool(true)),
            Some(b'f') => self.word("false", Node::Bool(false)),
            _ => self.unexpected("a value"),
        }
    }

    fn word(&mut self, word: &str, node: Node) -> Result<(), Fault> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            self.tape.push(node);
            Ok(())
        } else if word.as_bytes().starts_with(rest) {
            Fault::ends(self.at, format!("expected `{word}`, found the end of the text"))
        } else {
            self.unexpected(&format!("`{word}`"))
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        if let Some((value, end)) = short_integer(self.bytes, self.at)
            && !matches!(self.bytes.get(end), Some(b'.' | b'e' | b'E' | b'0'..=b'9'))
        {
            self.at = end;
            self.tape.push(Node::Int(value));
            return Ok(());
        }
        let start = self.at;
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        self.at += self.bytes[start..].iter().take_while(is_part).count();
        if push_number(self.tape, &self.text[start..self.at]) {
            Ok(())
        } else if self.at == self.bytes.len() {
            Fault::ends(start, "the text ends within a number")
        } else {
            Fault::wrong(start, format!("`{}` is no number", &self.text[start..self.at]))
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        let list = self.tape.open();
        let mut count = 0;
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            self.tape.close_list(list, 0);
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            count += 1;
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.unexpected("`,` or `]`"),
            }
        }
        self.at += 1;
        self.tape.close_list(list, count);
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        let (begun, map) = (self.at, self.tape.open());
        let mut count = 0;
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.tape.close_map(map, 0);
            return Ok(());
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return self.unexpected("a field's name in quotes");
            }
            self.string()?;
            self.blanks();
            if self.peek() != Some(b':') {
                return self.unexpected("`:`");
            }
            self.at += 1;
            self.value(depth + 1)?;
            count += 1;
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.unexpected("`,` or `}`"),
            }
        }
        self.at += 1;
        self.tape.close_map(map, count);
        find_duplicate(self.tape.at(map), begun)
    }

    /// The quote is next.
    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        let start = self.at;
        let plain = self.plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            self.tape.push_text(&self.text[start..start + plain]);
            return Ok(());
        }
        let text = self.tape.text_start();
        self.tape.add_text(&self.text[start..start + plain]);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return self.unexpected("no control character within a string"),
                None => return Fault::ends(self.at, "a string has no end"),
            }
            let start = self.at;
            let plain = self.plain();
            self.tape.add_text(&self.text[start..start + plain]);
        }
        self.at += 1;
        self.tape.end_text(text);
        Ok(())
    }

    /// Passes what stands for itself, and gives its length.
    fn plain(&mut self) -> usize {
        let is_plain = |byte: &&u8| **byte != b'"' && **byte != b'\\' && **byte >= 0x20;
        let length = self.bytes[self.at..].iter().take_while(is_plain).count();
        self.at += length;
        length
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let begun = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(b'u') => return self.unicode(begun),
            Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(_) => return Fault::wrong(begun, "an escape that JSON does not have"),
            None => return Fault::ends(begun, "a string has no end"),
        };
        self.at += 1;
        self.tape.add_char(plain);
        Ok(())
    }

    /// `uXXXX`, or two of them that are one character. A lone half of two has no character of its own.
    fn unicode(&mut self, begun: usize) -> Result<(), Fault> {
        let high = self.code_unit(begun)?;
        let mut code = high;
        if (0xd800..0xdc00).contains(&high) && self.bytes[self.at..].starts_with(b"\\u") {
            let after = self.at;
            self.at += 1;
            let low = self.code_unit(begun)?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            } else {
                self.at = after;
            }
        }
        self.tape.add_char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn code_unit(&mut self, begun: usize) -> Result<u32, Fault> {
        let digits = &self.bytes[(self.at + 1).min(self.bytes.len())..];
        let Some(digits) = digits.get(..4) else {
            return Fault::ends(begun, "a string has no end");
        };
        self.at += 5;
        let digit = |code: u32, byte: &u8| Some(code << 4 | char::from(*byte).to_digit(16)?);
        match digits.iter().try_fold(0, digit) {
            Some(code) => Ok(code),
            None => Fault::wrong(begun, "expected four hex digits after `\\u`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What serde_json reads, this reads to the same value.
    #[test]
    fn all_kinds_of_values_are_read_as_elsewhere() {
        for text in [
            "null",
            " [1, -2 ,3.5,1e3, [ ], {} ,true,false]",
            r#"{"a":{"b":"\"\\\/\b\f\n\r\té\ud83d\ude00é"},"c":[[],[{}]]}"#,
            "[9223372036854775807,9223372036854775808,18446744073709551615,-9223372036854775808]",
            "[123456789012345678,1234567890123456789,-0,0.0]",
        ] {
            let expected: serde_json::Value = serde_json::from_str(text).expect(text);
            let found = parsed(text).root().to_json();
            assert_eq!(
                found.to_string().replace("-0.0", "0"),
                expected.to_string().replace("-0.0", "0")
            );
        }
    }

    #[test]
    fn numbers_beyond_all_bounds_stay_as_they_are_written() {
        let tape = parsed("[99999999999999999999, -99999999999999999999, 1e999]");
        assert_eq!(
            tape.root().to_json(),
            serde_json::json!(["99999999999999999999", "-99999999999999999999", "1e999"])
        );
    }

    #[test]
    fn bad_values_are_named_with_their_place() {
        for (text, at, why, ends) in [
            ("{\"a\":}", 5, "expected a value, found '}'", false),
            ("{a:1}", 1, "expected a field's name in quotes, found 'a'", false),
            ("{\"a\" 1}", 5, "expected `:`, found '1'", false),
            ("[1 2]", 3, "expected `,` or `]`, found '2'", false),
            ("[1", 2, "expected `,` or `]`, found the end of the text", true),
            ("\"a\nb\"", 2, "expected no control character within a string, found the end", false),
            ("\"a", 2, "a string has no end", true),
            ("\"\\u12", 1, "a string has no end", true),
            ("\"\\u12zz\"", 1, "expected four hex digits", false),
            ("\"\\q\"", 1, "an escape that JSON does not have", false),
            ("nul", 0, "expected `null`", true),
            ("nix", 0, "expected `null`", false),
            ("[-]", 1, "`-` is no number", false),
            ("{\"a\":1,\"a\":2}", 0, "key \"a\" twice in one map", false),
        ] {
            let fault = parse(text, 0, &mut Tape::default()).expect_err(text);
            assert!(fault.why.contains(why), "{text}: {fault:?}");
            assert_eq!((fault.at, fault.ends), (at, ends), "{text}: {fault:?}");
        }
        let deep = "[".repeat(100_000);
        let fault = parse(&deep, 0, &mut Tape::default()).expect_err("too deep");
        assert!(fault.why.contains("more than 100"));
    }
}
