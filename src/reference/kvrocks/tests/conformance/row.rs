//! One recorded request and its reply.

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Row {
    /// The node, with a suffix where it is another connection to the same one.
    pub conn: String,
    pub state: String,
    pub request: Vec<String>,
    /// The reply's bytes; each character is one.
    raw: String,
}

impl Row {
    pub fn read(line: &str) -> Row {
        serde_json::from_str(line).expect("a row as they were recorded")
    }

    pub fn reply(&self) -> Vec<u8> {
        self.raw.chars().map(|byte| u8::try_from(u32::from(byte)).expect("a byte")).collect()
    }

    /// The time of day when the node answered, where the reply tells it: `CLUSTER NODES` ends the line of
    /// each node with two times, the later of which is now.
    pub fn wall_ms(&self) -> Option<i64> {
        let mut words = self.raw.split(' ');
        let ms = |word: &&str| word.len() == 13 && word.bytes().all(|byte| byte.is_ascii_digit());
        words.find(ms)?;
        words.next().filter(ms)?.parse().ok()
    }
}
