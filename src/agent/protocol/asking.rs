//! What a node's service said when it was asked from within its own network.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heard {
    /// The beginning of its answer, or all of it.
    Said { text: String },
    /// It took no connection, or gave no answer.
    Silent { why: String },
}
