//! Why a cluster did not come up, and what to do about it.

use crate::cluster::{Mechanism, Role};
use crate::docker::images::ImageError;
use crate::docker::network::NetworkError;
use crate::reference::UnknownVariant;

/// Why a cluster did not come up. Whatever was made of it is removed again.
#[derive(Debug, thiserror::Error)]
pub enum UpError {
    #[error("a cluster of {nodes} nodes cannot be made: expected 1 to {largest}")]
    Size { nodes: usize, largest: usize },
    #[error(transparent)]
    Variant(#[from] UnknownVariant),
    #[error(
        "--variant {role}={variant}: {role} has no variants here; expected one of kvrocks or controller"
    )]
    NoVariants { role: String, variant: String },
    #[error("config of {role}: {flaw}")]
    Config { role: Role, flaw: String },
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(
        "container addresses cannot be reached from here: {address} of the engine at {engine} gives no \
         answer ({cause}). Expected the engine to run on this host, as Linux engines do. Engines in a \
         virtual machine (Docker Desktop) or on another host are not supported"
    )]
    Addresses { address: String, engine: String, cause: String },
    #[error(
        "{node} ended before it served, with {how}. It ran {image}; expected an image whose own command \
         serves until it is stopped, as that of {expected}. {log}"
    )]
    EndedEarly { node: String, how: String, image: String, expected: String, log: String },
    #[error(
        "{node} runs {image}, which listens {at}, where it is looked for. Expected a \
         server that takes its port and address from the configuration that is put into its container, as \
         {expected} does. {log}"
    )]
    Strayed { node: String, image: String, at: String, expected: String, log: String },
    #[error(
        "the cluster did not become ready within {seconds} s: {state}. Expected every node to serve, and \
         of each service that elects a leader one to lead. Their logs are in {logs}"
    )]
    NotReady { seconds: u64, state: String, logs: String },
    #[error(
        "nemesis {nemesis} cannot act here: it needs {mechanism}, and {how}. What does act here: \
         {alternatives}. `stormglass doctor` tells all; `--world sim` needs nothing of this host"
    )]
    Lacks { nemesis: String, mechanism: Mechanism, how: String, alternatives: String },
    #[error("{0:#}")]
    Engine(#[from] anyhow::Error),
}

impl UpError {
    /// What was asked for cannot be; another try would end the same.
    pub fn is_usage(&self) -> bool {
        match self {
            UpError::Size { .. }
            | UpError::Variant(_)
            | UpError::NoVariants { .. }
            | UpError::Config { .. }
            | UpError::Lacks { .. } => true,
            UpError::Image(error) => error.is_usage(),
            UpError::Network(_)
            | UpError::Addresses { .. }
            | UpError::EndedEarly { .. }
            | UpError::Strayed { .. }
            | UpError::NotReady { .. }
            | UpError::Engine(_) => false,
        }
    }
}
