//! How lines break.

use std::error::Error;
use std::io;

use cuesta_record::Failure;

use crate::negotiated::HalfSequence;

/// How a line broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The host closed it within a sequence of its framing.
    HalfSequence,
    /// The host reset it.
    Reset,
    /// The host closed it.
    Closed,
    /// The kernel gave it up.
    Aborted,
    /// The host refused it.
    Refused,
    /// The host no longer answers.
    Timeout,
    /// The program to run does not exist.
    NoProgram,
    /// No route leads to the host.
    Unreachable,
    /// Anything else.
    Broken,
}

impl Fault {
    /// The fault for an error of a line.
    pub fn of(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<HalfSequence>) {
            return Self::HalfSequence;
        }
        match error.kind() {
            Kind::ConnectionReset => Self::Reset,
            Kind::BrokenPipe | Kind::UnexpectedEof | Kind::NotConnected => Self::Closed,
            Kind::ConnectionAborted => Self::Aborted,
            Kind::ConnectionRefused => Self::Refused,
            Kind::TimedOut => Self::Timeout,
            Kind::NotFound => Self::NoProgram,
            Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => Self::Unreachable,
            _ => Self::Broken,
        }
    }

    /// What it is counted as.
    pub fn failure(self) -> Failure {
        match self {
            Self::HalfSequence => Failure::HalfSequence,
            Self::Reset => Failure::Reset,
            Self::Closed => Failure::Closed,
            Self::Aborted => Failure::Aborted,
            Self::Refused => Failure::Refused,
            Self::Timeout => Failure::Timeout,
            Self::NoProgram => Failure::NoProgram,
            Self::Unreachable => Failure::Unreachable,
            Self::Broken => Failure::Broken,
        }
    }
}
