//! A build without programs for the kernel: nothing is ever followed.

use super::FollowSpec;
use crate::traced::NOT_BUILT_IN;

/// The running programs; never made in this build.
#[derive(Debug)]
pub enum Follower {}

impl Follower {
    /// Always an error with the reason.
    pub fn start(_: FollowSpec) -> Result<Self, String> {
        Err(NOT_BUILT_IN.to_owned())
    }

    /// Rows of `paths.jsonl`.
    pub fn read_rows(&mut self) -> Result<String, String> {
        match *self {}
    }
}
