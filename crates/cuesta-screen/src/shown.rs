//! Which keys the screen shows.

/// Later.
#[derive(Debug, Default)]
pub struct Shown;
/// Later.
#[derive(Debug, Default)]
pub struct Found;
