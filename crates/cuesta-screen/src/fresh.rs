//! The text that has come since the last key.

/// Later.
#[derive(Debug, Default)]
pub struct Fresh;
