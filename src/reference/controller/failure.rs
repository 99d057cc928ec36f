//! What a client is told when something cannot be done: a status and the real one's words.

use crate::cluster::CoordinationError;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub status: u16,
    pub message: String,
}

impl Failure {
    pub fn new(status: u16, message: impl Into<String>) -> Failure {
        Failure { status, message: message.into() }
    }

    pub fn bad_request(message: impl Into<String>) -> Failure {
        Failure::new(400, message)
    }

    pub fn internal(message: impl Into<String>) -> Failure {
        Failure::new(500, message)
    }

    pub fn index_out_of_range() -> Failure {
        Failure::bad_request("index out of range")
    }

    pub fn not_found() -> Failure {
        Failure::new(404, "not found")
    }

    pub fn already_exists() -> Failure {
        Failure::new(409, "already exists")
    }

    pub fn updated_by_others() -> Failure {
        Failure::internal("the cluster has been updated by others")
    }

    /// With the thing that it is about before it.
    pub fn of(self, what: &str) -> Failure {
        Failure { message: format!("{what}: {}", self.message), ..self }
    }
}

/// In the words of the real one's client library.
impl From<CoordinationError> for Failure {
    fn from(error: CoordinationError) -> Failure {
        let words = match error {
            CoordinationError::NoNode => "zk: node does not exist".to_owned(),
            CoordinationError::NodeExists => "zk: node already exists".to_owned(),
            CoordinationError::BadVersion => "zk: version conflict".to_owned(),
            CoordinationError::NotEmpty => "zk: node has children".to_owned(),
            CoordinationError::NoChildrenForEphemerals => {
                "zk: ephemeral nodes may not have children".to_owned()
            }
            CoordinationError::BadArguments(_) => "zk: invalid path".to_owned(),
            CoordinationError::ConnectionLoss => "zk: connection closed".to_owned(),
            CoordinationError::SessionExpired { .. } => {
                "zk: session has been expired by the server".to_owned()
            }
            CoordinationError::NotConnected(_) => "zk: could not connect to a server".to_owned(),
            CoordinationError::RuntimeInconsistency
            | CoordinationError::Refused(_)
            | CoordinationError::Other(_) => format!("zk: {error}"),
        };
        Failure::internal(words)
    }
}
