//! Why a run cannot be, and why a user has no line.

use std::io;

use cuesta_lines::{Fault, OpenError};
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
        /// The name of the error.
        name: &'static str,
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
    /// The name under which it is counted.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NotOpened { name, .. } => name,
            Self::Fault(fault) => fault.name(),
            Self::Blocked => "blocked",
            Self::NoLogin => "no-login",
            Self::ExitedAtStart => "exited-at-start",
            Self::Exited => "exited",
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
        Self::NotOpened { name: error.name(), overload: error.is_overload() }
    }
}
