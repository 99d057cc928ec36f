//! Why a register operation is not `ok`, and whether it may have happened all the same.

use crate::cluster::CoordinationError;
use crate::op::Outcome;

#[derive(Debug)]
pub struct Failure {
    perhaps_done: bool,
    why: String,
    /// The session can serve no further request.
    pub ends_session: bool,
}

impl Failure {
    /// The request that would have performed the operation failed; the error says what that means.
    pub fn perhaps_done(request: &str, error: &CoordinationError) -> Failure {
        let perhaps_done = !error.surely_not_done();
        Failure { perhaps_done, ..Failure::not_done(request, error) }
    }

    /// A request failed on which the operation depended, and which does not perform it.
    pub fn not_done(request: &str, error: &CoordinationError) -> Failure {
        Failure {
            perhaps_done: false,
            why: format!("{request}: {error}"),
            ends_session: error.ends_session(),
        }
    }

    /// The service works and said no.
    pub fn refused(why: String) -> Failure {
        Failure { perhaps_done: false, why, ends_session: false }
    }

    /// The same failure in the write before a barrier read, which is not the read.
    pub fn before_read(self) -> Failure {
        Failure { perhaps_done: false, why: format!("barrier: {}", self.why), ..self }
    }

    pub fn outcome(self) -> Outcome {
        if self.perhaps_done { Outcome::Info(self.why) } else { Outcome::Fail(self.why) }
    }
}
