//! A reader of EDN into JSON values, form by form.
//!
//! Keywords and symbols become text, sets become arrays, tags are dropped. That loses what JSON lacks,
//! and op maps need none of it.

use serde_json::{Map, Number, Value as Json};

use super::super::op_map::LineError;

/// Forms within forms; deeper ones are refused rather than overflow the stack.
const MOST_DEPTH: usize = 100;

/// One form and the line, from 1, on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub line: u64,
    pub json: Json,
}

/// The forms of a text. A text that is one vector or list counts as the forms in it.
pub struct Forms<'a> {
    text: &'a str,
    at: usize,
    line: u64,
    /// The end of the outermost vector or list, where there is one.
    close: Option<char>,
    failed: bool,
}

impl<'a> Forms<'a> {
    pub fn new(text: &'a str) -> Forms<'a> {
        let mut forms = Forms { text, at: 0, line: 1, close: None, failed: false };
        if forms.blanks(0).is_ok() {
            forms.close = match forms.peek() {
                Some('[') => Some(']'),
                Some('(') => Some(')'),
                _ => None,
            };
        }
        if forms.close.is_some() {
            forms.bump();
        }
        forms
    }

    /// The line that is being read, for errors.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Reads one form from the start of a text and gives the rest, untouched.
    pub fn first(text: &'a str) -> Result<(Json, &'a str), LineError> {
        let mut forms = Forms { text, at: 0, line: 1, close: None, failed: false };
        forms.blanks(0)?;
        let json = forms.form(0)?;
        Ok((json, &text[forms.at..]))
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let taken = self.peek()?;
        self.at += taken.len_utf8();
        self.line += u64::from(taken == '\n');
        Some(taken)
    }

    fn wrong<T>(&self, why: impl Into<String>) -> Result<T, LineError> {
        Err(LineError::NotEdn(why.into()))
    }

    /// Skips white space, commas, comments and discarded forms.
    fn blanks(&mut self, depth: usize) -> Result<(), LineError> {
        if depth > MOST_DEPTH {
            return self.too_deep();
        }
        while let Some(next) = self.peek() {
            if next.is_whitespace() || next == ',' || next == '\u{feff}' {
                self.bump();
            } else if next == ';' {
                while self.peek().is_some_and(|next| next != '\n') {
                    self.bump();
                }
            } else if self.text[self.at..].starts_with("#_") {
                self.at += 2;
                self.spaced_form(depth)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn form(&mut self, depth: usize) -> Result<Json, LineError> {
        if depth > MOST_DEPTH {
            return self.too_deep();
        }
        match self.peek() {
            None => self.wrong("the text ends within a form"),
            Some('{') => self.map(depth),
            Some('[') => self.items(']', depth).map(Json::Array),
            Some('(') => self.items(')', depth).map(Json::Array),
            Some('"') => self.string().map(Json::String),
            Some('\\') => self.character().map(Json::String),
            Some('#') => self.dispatch(depth),
            Some('^') => {
                self.bump();
                // Metadata, then what it is about.
                self.spaced_form(depth)?;
                self.spaced_form(depth)
            }
            Some(close @ (']' | ')' | '}')) => self.wrong(format!("`{close}` closes nothing")),
            Some(_) => Ok(atom(self.token())),
        }
    }

    fn spaced_form(&mut self, depth: usize) -> Result<Json, LineError> {
        self.blanks(depth + 1)?;
        self.form(depth + 1)
    }

    fn too_deep<T>(&self) -> Result<T, LineError> {
        self.wrong(format!("more than {MOST_DEPTH} forms within each other"))
    }

    /// The forms up to the closing bracket; the opening one is next.
    fn items(&mut self, close: char, depth: usize) -> Result<Vec<Json>, LineError> {
        let begun = self.line;
        self.bump();
        let mut items = Vec::new();
        loop {
            self.blanks(depth)?;
            match self.peek() {
                Some(next) if next == close => {
                    self.bump();
                    return Ok(items);
                }
                None => return self.wrong(format!("`{close}` is missing for line {begun}")),
                Some(_) => items.push(self.form(depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Json, LineError> {
        let items = self.items('}', depth)?;
        if items.len() % 2 != 0 {
            return self.wrong("a map with a key that has no value");
        }
        let mut map = Map::new();
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            let key = match key {
                Json::String(key) => key,
                other => other.to_string(),
            };
            map.insert(key, value);
        }
        Ok(Json::Object(map))
    }

    /// What begins with `#`: a set, a pattern, a symbolic number, or a tag before a form.
    fn dispatch(&mut self, depth: usize) -> Result<Json, LineError> {
        self.bump();
        match self.peek() {
            Some('{') => self.items('}', depth).map(Json::Array),
            Some('"') => self.string().map(Json::String),
            Some('#') => {
                self.bump();
                Ok(Json::String(self.token().into()))
            }
            Some('(') | None => self.wrong("`#` stands before nothing that data may hold"),
            Some(_) => {
                self.token();
                self.spaced_form(depth)
            }
        }
    }

    fn string(&mut self) -> Result<String, LineError> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return self.wrong("a string has no end"),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(plain) => text.push(plain),
            }
        }
    }

    fn escape(&mut self) -> Result<char, LineError> {
        match self.bump() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('u') => self.code_unit(),
            Some(plain) => Ok(plain),
            None => self.wrong("a string has no end"),
        }
    }

    /// `XXXX` of `\uXXXX`. Halves of surrogate pairs have no character of their own.
    fn code_unit(&mut self) -> Result<char, LineError> {
        let rest = &self.text[self.at..];
        let code = rest.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                self.at += 4;
                Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            None => self.wrong("expected four hex digits after `\\u`"),
        }
    }

    fn character(&mut self) -> Result<String, LineError> {
        self.bump();
        let Some(first) = self.bump() else { return self.wrong("`\\` stands before nothing") };
        let rest = self.token();
        Ok(match (first, rest) {
            (first, "") => first.into(),
            ('n', "ewline") => "\n".into(),
            ('s', "pace") => " ".into(),
            ('t', "ab") => "\t".into(),
            ('r', "eturn") => "\r".into(),
            (first, rest) => format!("{first}{rest}"),
        })
    }

    /// Everything up to a delimiter.
    fn token(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let is_delimiter = |c: char| c.is_whitespace() || "[](){}\",;\\".contains(c);
        let length = rest.find(is_delimiter).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn next_form(&mut self) -> Result<Option<Form>, LineError> {
        self.blanks(0)?;
        match (self.peek(), self.close) {
            (None, None) => Ok(None),
            (None, Some(close)) => self.wrong(format!("the last `{close}` is missing")),
            (Some(next), Some(close)) if next == close => {
                self.bump();
                self.close = None;
                self.next_form()
            }
            (Some(_), _) => {
                let line = self.line;
                Ok(Some(Form { line, json: self.form(0)? }))
            }
        }
    }
}

impl Iterator for Forms<'_> {
    type Item = Result<Form, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_form();
        self.failed = next.is_err();
        next.transpose()
    }
}

/// A keyword, symbol or number.
fn atom(token: &str) -> Json {
    match token {
        "nil" => Json::Null,
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ => match token.strip_prefix(':') {
            Some(keyword) => Json::String(keyword.into()),
            None => number(token).unwrap_or_else(|| Json::String(token.into())),
        },
    }
}

fn number(token: &str) -> Option<Json> {
    let digits = token.trim_start_matches(['+', '-']);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    // `N` and `M` mark big numbers, which mostly are not big.
    let plain = token.trim_end_matches(['N', 'M']);
    let plain = plain.strip_prefix('+').unwrap_or(plain);
    let integer = plain.parse::<i64>().map(Number::from).ok();
    let integer = integer.or_else(|| plain.parse::<u64>().map(Number::from).ok());
    let number = integer.or_else(|| plain.parse::<f64>().ok().and_then(Number::from_f64));
    number.map(Json::Number)
}

#[cfg(test)]
mod tests;
