//! What the wire client's errors mean: surely not performed, or perhaps performed.

use zookeeper_client::{Error, MultiWriteError};

use crate::cluster::CoordinationError;

/// The server's code for "not performed because an earlier part of the multi failed".
const RUNTIME_INCONSISTENCY: i32 = -2;

/// What the failure of a request means.
///
/// `was_over` tells that the session had ended before the request was made, so it was never sent.
pub(super) fn of_request(error: Error, was_over: bool) -> CoordinationError {
    match error {
        Error::NoNode => CoordinationError::NoNode,
        Error::NodeExists => CoordinationError::NodeExists,
        Error::BadVersion => CoordinationError::BadVersion,
        Error::NotEmpty => CoordinationError::NotEmpty,
        Error::NoChildrenForEphemerals => CoordinationError::NoChildrenForEphemerals,
        Error::BadArguments(what) => CoordinationError::BadArguments((*what).to_owned()),
        Error::RuntimeInconsistent | Error::UnexpectedErrorCode(RUNTIME_INCONSISTENCY) => {
            CoordinationError::RuntimeInconsistency
        }
        // The client library reports a broken or silent connection as a custom error, too.
        Error::ConnectionLoss | Error::Custom(_) => CoordinationError::ConnectionLoss,
        Error::SessionExpired => CoordinationError::SessionExpired { sent: !was_over },
        // Given only to requests that were still queued when the session ended.
        Error::ClientClosed => CoordinationError::SessionExpired { sent: false },
        Error::NoAuth
        | Error::InvalidAcl
        | Error::NotReadOnly
        | Error::NoWatcher
        | Error::QuotaExceeded
        | Error::Throttled
        | Error::MarshallingError
        | Error::Unimplemented
        | Error::SessionMoved
        | Error::ReconfigDisabled => CoordinationError::Refused(error.to_string()),
        other => CoordinationError::Other(other.to_string()),
    }
}

/// What the failure of a multi means: the index of the part that failed, and why.
pub(super) fn of_multi(
    error: MultiWriteError,
    was_over: bool,
) -> (Option<usize>, CoordinationError) {
    match error {
        MultiWriteError::OperationFailed { index, source } => {
            (Some(index), of_request(source, was_over))
        }
        MultiWriteError::RequestFailed { source } => (None, of_request(source, was_over)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_happened_is_never_called_surely_not_done() {
        for error in [
            Error::ConnectionLoss,
            Error::SessionExpired,
            Error::Timeout,
            Error::UnexpectedError("half an answer".to_owned()),
            Error::UnexpectedErrorCode(-1),
            Error::UnexpectedErrorCode(-7),
        ] {
            let text = error.to_string();
            assert!(!of_request(error, false).surely_not_done(), "{text}");
        }
    }

    #[test]
    fn refusals_and_requests_never_sent_are_surely_not_done() {
        for error in [
            Error::NoNode,
            Error::BadVersion,
            Error::NotReadOnly,
            Error::SessionMoved,
            Error::ClientClosed,
            Error::UnexpectedErrorCode(RUNTIME_INCONSISTENCY),
        ] {
            let text = error.to_string();
            assert!(of_request(error, false).surely_not_done(), "{text}");
        }
        let never_sent = of_request(Error::SessionExpired, true);
        assert_eq!(never_sent, CoordinationError::SessionExpired { sent: false });
    }

    #[test]
    fn a_multi_names_the_part_that_failed() {
        let error = MultiWriteError::OperationFailed { index: 2, source: Error::BadVersion };
        assert_eq!(of_multi(error, false), (Some(2), CoordinationError::BadVersion));
        let error = MultiWriteError::RequestFailed { source: Error::ConnectionLoss };
        assert_eq!(of_multi(error, false), (None, CoordinationError::ConnectionLoss));
    }
}
