//! What is wrong with a cast.

use thiserror::Error;

/// A cast that cannot be used: where, what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("row {row}: {message}; {remedy}")]
pub struct CastError {
    /// From 1.
    pub row: usize,
    /// What is wrong there.
    pub message: String,
    /// What to do.
    pub remedy: &'static str,
}

impl CastError {
    pub(crate) fn new(row: usize, message: impl Into<String>, remedy: &'static str) -> Self {
        Self { row, message: message.into(), remedy }
    }
}
