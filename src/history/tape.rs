//! A value as a parser leaves it: all its parts one after another in one buffer, their texts in another.
//!
//! Both buffers serve the next value again, so that reading a history allocates nothing per value. That
//! loses of EDN what no checker asks for: keywords and symbols are text, sets are lists, tags are dropped.

use serde_json::{Map, Number, Value as Json};

/// One part. Lists and maps are followed by what is in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    Nil,
    Bool(bool),
    Int(i64),
    /// Whole, and beyond `Int`.
    Large(u64),
    Float(f64),
    Text {
        start: u32,
        length: u32,
    },
    List {
        count: u32,
        /// The place after its last part.
        end: u32,
    },
    /// Keys and values by turns; `count` pairs.
    Map {
        count: u32,
        end: u32,
    },
}

/// The parts of one value, or of several one after another.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    nodes: Vec<Node>,
    text: String,
    /// A list that a tag marks as key and value of `jepsen.independent`.
    tuple: Option<u32>,
}

/// One value on a tape.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    tape: &'a Tape,
    at: u32,
}

impl Tape {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
        self.tuple = None;
    }

    /// The first value.
    pub fn root(&self) -> Cursor<'_> {
        Cursor { tape: self, at: 0 }
    }

    pub fn push(&mut self, node: Node) {
        self.nodes.push(node);
    }

    pub fn push_text(&mut self, text: &str) {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.nodes.push(Node::Text { start, length: text.len() as u32 });
    }

    /// Begins a text that comes in pieces.
    pub fn text_start(&self) -> usize {
        self.text.len()
    }

    pub fn add_text(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    pub fn add_char(&mut self, piece: char) {
        self.text.push(piece);
    }

    pub fn end_text(&mut self, start: usize) {
        let length = (self.text.len() - start) as u32;
        self.nodes.push(Node::Text { start: start as u32, length });
    }

    /// Begins a list or map; `close_list` or `close_map` ends it.
    pub fn open(&mut self) -> usize {
        self.nodes.push(Node::Nil);
        self.nodes.len() - 1
    }

    pub fn close_list(&mut self, at: usize, count: usize) {
        self.nodes[at] = Node::List { count: count as u32, end: self.nodes.len() as u32 };
    }

    /// Takes the number of pairs.
    pub fn close_map(&mut self, at: usize, count: usize) {
        self.nodes[at] = Node::Map { count: count as u32, end: self.nodes.len() as u32 };
    }

    /// The place of the next part.
    pub fn end(&self) -> usize {
        self.nodes.len()
    }

    /// Takes back the parts from this place on.
    pub fn cut(&mut self, at: usize) {
        self.nodes.truncate(at);
    }

    /// Appends a value of another tape.
    pub fn copy(&mut self, value: Cursor) {
        let range = value.at as usize..value.next().at as usize;
        let (begin, end) = (value.at, self.nodes.len() as u32);
        let moved = |place: u32| place - begin + end;
        for (at, node) in range.clone().zip(value.tape.nodes.get(range).unwrap_or_default()) {
            match *node {
                Node::Text { .. } => self.push_text(value.tape.at(at).as_str().unwrap_or_default()),
                Node::List { count, end } => self.push(Node::List { count, end: moved(end) }),
                Node::Map { count, end } => self.push(Node::Map { count, end: moved(end) }),
                node => self.push(node),
            }
        }
    }

    pub fn mark_tuple(&mut self, at: usize) {
        self.tuple = Some(at as u32);
    }

    pub fn at(&self, at: usize) -> Cursor<'_> {
        Cursor { tape: self, at: at as u32 }
    }
}

impl<'a> Cursor<'a> {
    #[inline]
    pub fn node(self) -> Node {
        self.tape.nodes.get(self.at as usize).copied().unwrap_or(Node::Nil)
    }

    #[inline]
    pub fn as_str(self) -> Option<&'a str> {
        match self.node() {
            Node::Text { start, length } => {
                self.tape.text.get(start as usize..(start + length) as usize)
            }
            _ => None,
        }
    }

    /// The items of a list of which none has parts of its own.
    #[inline]
    pub fn leaves(self) -> Option<&'a [Node]> {
        let Node::List { count, end } = self.node() else { return None };
        let leaves = self.tape.nodes.get(self.at as usize + 1..end as usize)?;
        (leaves.len() == count as usize).then_some(leaves)
    }

    pub fn is_tuple(self) -> bool {
        self.tape.tuple == Some(self.at)
    }

    /// The value after this one.
    #[inline]
    pub fn next(self) -> Cursor<'a> {
        let at = match self.node() {
            Node::List { end, .. } | Node::Map { end, .. } => end,
            _ => self.at + 1,
        };
        Cursor { at, ..self }
    }

    /// The first value in this one.
    #[inline]
    pub fn inner(self) -> Cursor<'a> {
        Cursor { at: self.at + 1, ..self }
    }

    pub fn to_json(self) -> Json {
        match self.node() {
            Node::Nil => Json::Null,
            Node::Bool(value) => Json::Bool(value),
            Node::Int(value) => value.into(),
            Node::Large(value) => value.into(),
            Node::Float(value) => Number::from_f64(value).map_or(Json::Null, Json::Number),
            Node::Text { .. } => self.as_str().unwrap_or_default().into(),
            Node::List { count, .. } => {
                let mut items = Vec::with_capacity(count as usize);
                let mut item = self.inner();
                for _ in 0..count {
                    items.push(item.to_json());
                    item = item.next();
                }
                Json::Array(items)
            }
            Node::Map { count, .. } => {
                let mut map = Map::new();
                let mut key = self.inner();
                for _ in 0..count {
                    let value = key.next();
                    map.insert(key.to_key(), value.to_json());
                    key = value.next();
                }
                Json::Object(map)
            }
        }
    }

    /// As the name of a field: of JSON, which has only text there.
    fn to_key(self) -> String {
        match self.as_str() {
            Some(text) => text.to_owned(),
            None => self.to_json().to_string(),
        }
    }
}
