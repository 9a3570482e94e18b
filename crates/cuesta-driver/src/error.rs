//! Why a run cannot be played, and the failure that a key which the keyboard refused is counted as.

use std::io;

use cuesta_record::Failure;
use cuesta_screen::block::Refusal;
use cuesta_tape::TooLong;

/// Why a run cannot be played.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunError {
    /// The folder cannot be written, or a thread cannot be started.
    #[error("{0}")]
    Io(String),
    /// The plan asks for something that cannot be done.
    #[error("{0}")]
    Plan(String),
    /// The driver itself failed while it ran.
    #[error("the driver failed: {0}")]
    Failed(String),
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

impl From<TooLong> for RunError {
    fn from(error: TooLong) -> Self {
        Self::Plan(error.to_string())
    }
}

pub(crate) fn failure_of_refusal(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Locked => Failure::KeyboardLocked,
        Refusal::Protected => Failure::ProtectedField,
        Refusal::Full => Failure::FullField,
        Refusal::Unknown => Failure::UnknownKey,
    }
}
