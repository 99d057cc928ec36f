//! Workloads of a kvrocks cluster: what its clients and its operators do.

use serde::{Deserialize, Serialize};

/// What clients of a kvrocks cluster do.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KvrocksOptions {}
