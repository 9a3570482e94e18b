//! Why a run cannot be, and what a key that was not taken is counted as.

use std::io;

use cuesta_record::Failure;
use cuesta_screen::block::Refusal;
use cuesta_tape::TooLong;

/// Why a run cannot be.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunError {
    /// The folder cannot be written, or a thread cannot be had.
    #[error("{0}")]
    Io(String),
    /// The plan asks for what cannot be.
    #[error("{0}")]
    Plan(String),
    /// Something broke on the way.
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

/// What a key that a keyboard did not take is counted as.
pub(crate) fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Locked => Failure::KeyboardLocked,
        Refusal::Protected => Failure::ProtectedField,
        Refusal::Full => Failure::FullField,
        Refusal::Unknown => Failure::UnknownKey,
    }
}
