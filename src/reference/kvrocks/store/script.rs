//! `EVAL`, as far as it is one call: `return redis.call('GET', KEYS[1])`, or a plain value.
//!
//! There is no Lua here. Any other script is refused, not half understood.

use bytes::Bytes;

use super::call::{self, Answer, Call, Refusal, read};
use super::{Executed, command, number};
use crate::resp::Value;

pub fn eval(call: &Call<'_>) -> Answer {
    evaluate(call, true)
}

pub fn eval_ro(call: &Call<'_>) -> Answer {
    evaluate(call, false)
}

fn evaluate(call: &Call<'_>, may_write: bool) -> Answer {
    let count = number::argument(call.word(2))?;
    let count =
        usize::try_from(count).map_err(|_| Refusal::err("Number of keys can't be negative"))?;
    let rest = &call.words[3..];
    if count > rest.len() {
        return Err(Refusal::err("Number of keys can't be greater than number of args"));
    }
    let (keys, arguments) = rest.split_at(count);
    let source = std::str::from_utf8(call.word(1)).unwrap_or_default();
    let mut script = Script { rest: source, keys, arguments };
    let executed = script.run(call, may_write)?;
    Ok(Executed { reply: as_lua_gives_it(executed.reply), effects: executed.effects })
}

/// Lua knows no null string within a table's end, and no error but one that is raised.
fn as_lua_gives_it(reply: Value) -> Value {
    match reply {
        Value::NullArray => Value::Null,
        reply => reply,
    }
}

struct Script<'a> {
    rest: &'a str,
    keys: &'a [Bytes],
    arguments: &'a [Bytes],
}

impl Script<'_> {
    fn run(&mut self, call: &Call<'_>, may_write: bool) -> Answer {
        self.eat("return").ok_or_else(unknown)?;
        if self.eat("redis.call").is_none() && self.eat("redis.pcall").is_none() {
            let value = self.value().ok_or_else(unknown)?;
            self.end()?;
            return Ok(read(match value {
                Plain::Number(number) => Value::Int(number),
                Plain::Text(text) => text.map_or(Value::Null, Value::Bulk),
            }));
        }
        self.eat("(").ok_or_else(unknown)?;
        let mut words = Vec::new();
        loop {
            match self.value().ok_or_else(unknown)? {
                Plain::Number(number) => words.push(Bytes::from(number.to_string())),
                Plain::Text(Some(text)) => words.push(text),
                Plain::Text(None) => {
                    return Err(Refusal::err(
                        "Lua redis lib command arguments must be strings or integers",
                    ));
                }
            }
            if self.eat(",").is_none() {
                break;
            }
        }
        self.eat(")").ok_or_else(unknown)?;
        self.end()?;
        let command = command::lookup(&words[0]);
        let nested = command.is_some_and(|command| command.name.starts_with("eval"));
        if nested || command.is_some_and(|command| command.write && !may_write) {
            let text = "Write commands are not allowed from read-only scripts";
            let text = if nested { "This command is not allowed from script" } else { text };
            return Err(Refusal::err(text));
        }
        Ok(call::execute(call.store, &words, call.now_ms))
    }

    fn end(&mut self) -> Result<(), Refusal> {
        self.eat(";");
        if self.rest.trim().is_empty() { Ok(()) } else { Err(unknown()) }
    }

    fn eat(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(word)?;
        Some(())
    }

    /// A number, a string in quotes without escapes, or an element of `KEYS` or `ARGV`.
    fn value(&mut self) -> Option<Plain> {
        self.rest = self.rest.trim_start();
        for (name, words) in [("KEYS[", self.keys), ("ARGV[", self.arguments)] {
            if self.eat(name).is_some() {
                let index = usize::try_from(self.digits()?).ok()?;
                self.eat("]")?;
                return Some(Plain::Text(words.get(index.wrapping_sub(1)).cloned()));
            }
        }
        for quote in ['\'', '"'] {
            if let Some(rest) = self.rest.strip_prefix(quote) {
                let (text, rest) = rest.split_once(quote)?;
                self.rest = rest;
                let plain = !text.contains(['\\', '\n']);
                return plain.then(|| Plain::Text(Some(Bytes::from(text.to_owned()))));
            }
        }
        self.digits().map(Plain::Number)
    }

    fn digits(&mut self) -> Option<i64> {
        let rest = self.rest.trim_start();
        let unsigned = rest.strip_prefix('-').unwrap_or(rest);
        let length = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at(rest.len() - unsigned.len() + length);
        self.rest = rest;
        number.parse().ok()
    }
}

enum Plain {
    Number(i64),
    /// `None` is Lua's nil.
    Text(Option<Bytes>),
}

fn unknown() -> Refusal {
    Refusal::err(
        "this node has no Lua: a script can only be `return` with one redis.call(...), a number or a string",
    )
}
