//! Why a host cannot start.

use std::io;

use cuesta_distributions::DistributionError;
use cuesta_distributions::duration::DurationError;
use cuesta_lines::TargetError;

/// Why a host cannot start: which setting, what is wrong with it, what to write instead.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The specification is not the JSON that [`Spec`](crate::Spec) describes.
    #[error("the host's specification: {0}")]
    Json(#[from] serde_json::Error),
    /// A setting that does not fit.
    #[error("{setting}: {problem}; {remedy}")]
    Setting {
        /// Its name in the specification.
        setting: &'static str,
        problem: String,
        /// What to write instead.
        remedy: &'static str,
    },
    /// The distribution of service times does not parse.
    #[error("service_time `{text}`: at character {}: {source}", source.at + 1)]
    Distribution {
        /// The distribution as it was written.
        text: String,
        /// The problem and its place.
        source: DistributionError,
    },
    /// A duration does not parse.
    #[error("{setting}: {source}")]
    Duration {
        /// Its name in the specification.
        setting: &'static str,
        /// The problem.
        source: DurationError,
    },
    /// An address that does not parse.
    #[error("listen: {0}")]
    Target(#[from] TargetError),
    /// An address that cannot be listened on; the listener says which, why and what to do.
    #[error("{0}")]
    Listen(#[source] io::Error),
    /// The folder for the meters cannot be written.
    #[error("cannot write the meters to {path}: {source}; name a folder that can be written")]
    Meters {
        /// The file.
        path: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A thread could not be started, pinned or given its timer.
    #[error("cannot start a host thread: {0}")]
    Thread(#[source] io::Error),
}

impl HostError {
    pub(crate) fn setting(setting: &'static str, problem: impl Into<String>, remedy: &'static str) -> Self {
        Self::Setting { setting, problem: problem.into(), remedy }
    }
}
