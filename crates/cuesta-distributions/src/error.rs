//! What is wrong with the text of a distribution, and where.

/// A distribution that cannot be had: the place in its text, what is wrong and what to write instead.
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
