//! Where a step stands in its tape.

use std::fmt;
use std::sync::Arc;

/// The row of a tape in which a step stands; the default is in no tape. It says nothing of what the step does: all places are equal.
#[derive(Debug, Clone, Default)]
pub struct TapePlace(Option<(Arc<str>, u32)>);

impl TapePlace {
    pub(crate) fn new(tape: &str, row: u32) -> Self {
        let file = tape.rsplit('/').next().unwrap_or(tape);
        Self(Some((file.into(), row)))
    }
}

impl PartialEq for TapePlace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Display for TapePlace {
    /// `row 7 of work`; nothing outside of a tape.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |(tape, row)| write!(f, "row {row} of {tape}"))
    }
}
