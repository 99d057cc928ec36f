//! A parser of EDN onto a tape, form by form.
//!
//! Keywords and symbols become text, sets become lists, tags are dropped. That loses what JSON lacks,
//! and op maps need none of it.

use super::super::duplicates::find_duplicate;
use super::super::fault::{Fault, MOST_DEPTH};
use super::super::number::{push_number, short_integer};
use super::super::tape::{Node, Tape};

/// Appends the form that begins at `at`, and gives the place after it.
pub fn parse(text: &str, at: usize, tape: &mut Tape) -> Result<usize, Fault> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at, tape };
    parser.blanks(0)?;
    parser.form(0)?;
    Ok(parser.at)
}

/// The place of what comes after white space, commas, comments and discarded forms.
pub fn blanks(text: &str, at: usize) -> Result<usize, Fault> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at, tape: &mut Tape::default() };
    parser.blanks(0)?;
    Ok(parser.at)
}

#[cfg(test)]
pub fn parsed(text: &str) -> Tape {
    let mut tape = Tape::default();
    parse(text, 0, &mut tape).expect(text);
    tape
}

/// White space, as far as it is one byte, and commas.
const BLANKS: [bool; 256] = table(b" ,\t\n\r\x0b\x0c");

/// What ends a number, keyword or symbol.
const DELIMITERS: [bool; 256] = table(b" ,\t\n\r\x0b\x0c[](){}\";\\");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut place = 0;
    while place < bytes.len() {
        table[bytes[place] as usize] = true;
        place += 1;
    }
    table
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tape: &'a mut Tape,
}

impl<'a> Parser<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn blanks(&mut self, depth: usize) -> Result<(), Fault> {
        while let Some(next) = self.peek() {
            if BLANKS[usize::from(next)] {
                self.at += 1;
            } else if !matches!(next, b';' | b'#' | 128..) || !self.rare_blank(next, depth)? {
                break;
            }
        }
        Ok(())
    }

    /// Passes a comment, a discarded form or a blank of another script, if there is one.
    fn rare_blank(&mut self, next: u8, depth: usize) -> Result<bool, Fault> {
        match next {
            b';' => {
                let rest = self.bytes[self.at..].iter();
                self.at += rest.take_while(|byte| **byte != b'\n').count();
            }
            b'#' if self.bytes.get(self.at + 1) == Some(&b'_') => self.discarded(2, depth)?,
            _ => match self.text[self.at..].chars().next() {
                Some(blank) if blank.is_whitespace() || blank == '\u{feff}' => {
                    self.at += blank.len_utf8();
                }
                _ => return Ok(false),
            },
        }
        Ok(true)
    }

    fn form(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > MOST_DEPTH {
            return Fault::too_deep(self.at);
        }
        match self.peek() {
            Some(b':') => self.keyword(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'{') => self.map(depth),
            Some(b'[') => self.items(b']', depth),
            Some(b'(') => self.items(b')', depth),
            Some(b'"') => self.string(),
            Some(b'\\') => self.character(),
            Some(b'#') => self.dispatch(depth),
            Some(b'^') => {
                // Metadata, then what it is about.
                self.discarded(1, depth)?;
                self.spaced_form(depth)
            }
            Some(close @ (b']' | b')' | b'}')) => {
                Fault::wrong(self.at, format!("`{}` closes nothing", char::from(close)))
            }
            Some(_) => self.atom(),
            None => Fault::ends(self.at, "the text ends within a form"),
        }
    }

    /// Passes the form behind a mark of this length, which says to read over it.
    fn discarded(&mut self, length: usize, depth: usize) -> Result<(), Fault> {
        self.at += length;
        let mut aside = Tape::default();
        let mut parser =
            Parser { text: self.text, bytes: self.bytes, at: self.at, tape: &mut aside };
        parser.spaced_form(depth)?;
        self.at = parser.at;
        Ok(())
    }

    fn spaced_form(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > MOST_DEPTH {
            return Fault::too_deep(self.at);
        }
        self.blanks(depth + 1)?;
        self.form(depth + 1)
    }

    /// The forms up to the closing bracket; the opening one is next. Gives how many there are.
    fn forms(&mut self, close: u8, depth: usize) -> Result<usize, Fault> {
        let begun = self.at;
        self.at += 1;
        let mut count = 0;
        loop {
            self.blanks(depth)?;
            match self.peek() {
                Some(next) if next == close => {
                    self.at += 1;
                    return Ok(count);
                }
                Some(_) => self.form(depth + 1)?,
                None => {
                    let (close, open) = (char::from(close), char::from(self.bytes[begun]));
                    return Fault::ends(begun, format!("`{close}` is missing for this `{open}`"));
                }
            }
            count += 1;
        }
    }

    fn items(&mut self, close: u8, depth: usize) -> Result<(), Fault> {
        let list = self.tape.open();
        let count = self.forms(close, depth)?;
        self.tape.close_list(list, count);
        Ok(())
    }

    fn map(&mut self, depth: usize) -> Result<(), Fault> {
        let (begun, map) = (self.at, self.tape.open());
        let count = self.forms(b'}', depth)?;
        if count % 2 != 0 {
            return Fault::wrong(begun, "a map with a key that has no value");
        }
        self.tape.close_map(map, count / 2);
        find_duplicate(self.tape.at(map), begun)
    }

    /// What begins with `#`: a set, a pattern, a symbolic number, or a tag before a form.
    fn dispatch(&mut self, depth: usize) -> Result<(), Fault> {
        let begun = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'{') => self.items(b'}', depth),
            Some(b'"') => self.string(),
            Some(b'#') => {
                self.at += 1;
                let token = self.token();
                self.tape.push_text(token);
                Ok(())
            }
            Some(b'(') => Fault::wrong(begun, "`#(` is code, which data does not hold"),
            Some(_) => {
                let tag = self.token();
                let form = self.tape.end();
                self.spaced_form(depth)?;
                if tag.starts_with("jepsen.independent") {
                    self.tape.mark_tuple(form);
                }
                Ok(())
            }
            None => Fault::ends(begun, "`#` stands before nothing"),
        }
    }

    /// The quote is next.
    fn string(&mut self) -> Result<(), Fault> {
        let begun = self.at;
        self.at += 1;
        let plain = self.plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            self.tape.push_text(plain);
            return Ok(());
        }
        let text = self.tape.text_start();
        self.tape.add_text(plain);
        while let Some(next) = self.peek() {
            self.at += 1;
            if next == b'"' {
                self.tape.end_text(text);
                return Ok(());
            }
            self.escape(begun)?;
            let plain = self.plain();
            self.tape.add_text(plain);
        }
        Fault::ends(begun, "a string has no end")
    }

    /// What stands for itself.
    fn plain(&mut self) -> &'a str {
        let start = self.at;
        let is_plain = |byte: &&u8| **byte != b'"' && **byte != b'\\';
        self.at += self.bytes[start..].iter().take_while(is_plain).count();
        &self.text[start..self.at]
    }

    /// What follows a backslash in a string.
    fn escape(&mut self, begun: usize) -> Result<(), Fault> {
        let Some(next) = self.text[self.at..].chars().next() else {
            return Fault::ends(begun, "a string has no end");
        };
        self.at += next.len_utf8();
        let stands_for = match next {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => self.code_unit(begun)?,
            plain => plain,
        };
        self.tape.add_char(stands_for);
        Ok(())
    }

    /// `XXXX` of `\uXXXX`. Halves of surrogate pairs have no character of their own.
    fn code_unit(&mut self, begun: usize) -> Result<char, Fault> {
        let Some(digits) = self.bytes.get(self.at..self.at + 4) else {
            return Fault::ends(begun, "a string has no end");
        };
        let digit = |code: u32, byte: &u8| Some(code << 4 | char::from(*byte).to_digit(16)?);
        let Some(code) = digits.iter().try_fold(0, digit) else {
            return Fault::wrong(self.at, "expected four hex digits after `\\u`");
        };
        self.at += 4;
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn character(&mut self) -> Result<(), Fault> {
        let begun = self.at;
        self.at += 1;
        let Some(first) = self.text[self.at..].chars().next() else {
            return Fault::ends(begun, "`\\` stands before nothing");
        };
        let start = self.at;
        self.at += first.len_utf8();
        self.token();
        self.tape.push_text(match &self.text[start..self.at] {
            "newline" => "\n",
            "space" => " ",
            "tab" => "\t",
            "return" => "\r",
            other => other,
        });
        Ok(())
    }

    /// Everything up to a delimiter.
    fn token(&mut self) -> &'a str {
        let start = self.at;
        let in_token = |byte: &&u8| !DELIMITERS[usize::from(**byte)];
        self.at += self.bytes[start..].iter().take_while(in_token).count();
        &self.text[start..self.at]
    }

    fn keyword(&mut self) -> Result<(), Fault> {
        self.at += 1;
        let token = self.token();
        self.tape.push_text(token);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if let Some((value, end)) = short_integer(self.bytes, self.at)
            && self.bytes.get(end).is_some_and(|next| DELIMITERS[usize::from(*next)])
        {
            self.at = end;
            self.tape.push(Node::Int(value));
            return Ok(());
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<(), Fault> {
        let token = self.token();
        match token {
            "nil" => self.tape.push(Node::Nil),
            "true" => self.tape.push(Node::Bool(true)),
            "false" => self.tape.push(Node::Bool(false)),
            _ => {
                // `N` and `M` mark big numbers, which mostly are not big.
                let plain = token.strip_suffix(['N', 'M']).unwrap_or(token);
                if !push_number(self.tape, plain.strip_prefix('+').unwrap_or(plain)) {
                    self.tape.push_text(token);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
