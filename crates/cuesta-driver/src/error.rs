//! Why a run cannot be, and why a user has no line.

use std::io;

use cuesta_lines::{Fault, OpenError};
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

/// Why a user has lost its line, or could open none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineLoss {
    /// It could not be opened.
    NotOpened {
        /// What the error is counted as.
        failure: Failure,
        /// The host turned the user away because too many others were logging in.
        overload: bool,
    },
    /// It broke.
    Fault(Fault),
    /// It has taken no characters for as long as anything is awaited.
    Blocked,
    /// What is done once in a session was not answered.
    NoLogin,
    /// The program at its other end has ended before it answered anything.
    ExitedAtStart,
    /// The program at its other end has failed.
    Exited,
}

impl LineLoss {
    /// What it is counted as.
    pub(crate) fn failure(self) -> Failure {
        match self {
            Self::NotOpened { failure, .. } => failure,
            Self::Fault(fault) => fault.failure(),
            Self::Blocked => Failure::Blocked,
            Self::NoLogin => Failure::NoLogin,
            Self::ExitedAtStart => Failure::ExitedAtStart,
            Self::Exited => Failure::Exited,
        }
    }
}

impl From<io::Error> for LineLoss {
    fn from(error: io::Error) -> Self {
        Self::Fault(Fault::of(&error))
    }
}

impl From<&OpenError> for LineLoss {
    fn from(error: &OpenError) -> Self {
        Self::NotOpened { failure: error.failure(), overload: error.is_overload() }
    }
}

/// What a key that a keyboard did not take is counted as.
pub(crate) fn failure_of(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Locked => Failure::KeyboardLocked,
        Refusal::Protected => Failure::ProtectedField,
        Refusal::Full => Failure::FullField,
        Refusal::Unknown => Failure::UnknownKey,
    }
}
