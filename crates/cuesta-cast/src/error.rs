//! Errors of casts.

use thiserror::Error;

/// Why a cast cannot be used: the row, the problem, and a remedy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("row {row}: {message}; {remedy}")]
pub struct CastError {
    /// The row, from 1.
    pub row: usize,
    /// The problem.
    pub message: String,
    /// What to do.
    pub remedy: &'static str,
}

impl CastError {
    pub(crate) fn new(row: usize, message: impl Into<String>, remedy: &'static str) -> Self {
        Self { row, message: message.into(), remedy }
    }
}
