//! The error for an invalid distribution.

/// An invalid distribution: the place in its text, the problem and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {hint}")]
pub struct DistributionError {
    /// Byte offset in the text that was parsed.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl DistributionError {
    pub(crate) fn new(at: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { at, message: message.into(), hint: hint.into() }
    }
}
