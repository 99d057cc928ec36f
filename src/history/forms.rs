//! Histories that are op maps one after another, in EDN or JSON, with or without a list around them.

use super::edn;
use super::fault::Fault;
use super::json;
use super::op_map::LineError;
use super::tape::Tape;

/// The language of op maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Edn,
    Json,
}

/// What comes next in a text of op maps.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A map, on the tape, begins and ends here.
    Form { begin: usize, end: usize },
    /// Nothing, up to the text's end.
    Nothing { end: usize },
    /// The list around the maps begins or ends, or its tag, and ends at this place.
    Bracket { end: usize },
}

/// The list around the maps, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Nothing was read yet.
    Unknown,
    Nothing,
    /// It ends with this.
    List(u8),
    /// It has ended.
    Ended,
}

impl Language {
    /// Looks at what the text begins with.
    pub fn next(self, text: &str, around: &mut Around, tape: &mut Tape) -> Result<Next, Fault> {
        let begin = self.blanks(text, *around)?;
        if let (Around::Unknown, Language::Edn) = (*around, self)
            && let Some(end) = tag_of_list(text, begin)
        {
            return Ok(Next::Bracket { end });
        }
        let Some(next) = text.as_bytes().get(begin) else {
            return Ok(Next::Nothing { end: begin });
        };
        match (*around, next) {
            (Around::Unknown, b'[') => *around = Around::List(b']'),
            (Around::Unknown, b'(') if self == Language::Edn => *around = Around::List(b')'),
            (Around::List(close), next) if close == *next => *around = Around::Ended,
            _ => {
                tape.clear();
                let end = match self {
                    Language::Edn => edn::parse(text, begin, tape)?,
                    Language::Json => json::parse(text, begin, tape)?,
                };
                if *around == Around::Unknown {
                    *around = Around::Nothing;
                }
                return Ok(Next::Form { begin, end });
            }
        }
        Ok(Next::Bracket { end: begin + 1 })
    }

    fn blanks(self, text: &str, around: Around) -> Result<usize, Fault> {
        match self {
            Language::Edn => edn::blanks(text, 0),
            Language::Json => {
                let mut at = json::blanks(text, 0);
                while matches!(around, Around::List(_)) && text[at..].starts_with(',') {
                    at = json::blanks(text, at + 1);
                }
                Ok(at)
            }
        }
    }

    pub fn error(self, why: String) -> LineError {
        match self {
            Language::Edn => LineError::NotEdn(why),
            Language::Json => LineError::NotJson(why),
        }
    }
}

/// The end of a tag before the list of all maps, as in `#jepsen.history.DenseHistory [{...}]`.
fn tag_of_list(text: &str, begin: usize) -> Option<usize> {
    let tag = text[begin..].strip_prefix('#').filter(|tag| tag.starts_with(char::is_alphabetic))?;
    let length = tag.find(|c: char| c.is_whitespace() || "[({\"".contains(c))?;
    let rest = tag[length..].trim_start();
    rest.starts_with(['[', '(']).then(|| text.len() - rest.len())
}
