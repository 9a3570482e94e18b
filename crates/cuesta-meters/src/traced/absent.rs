//! A build without tracers: there is never a [`Trace`], and whoever asks for one is told how to have it.

use cuesta_record::Stamp;

use super::Depth;
use crate::report::Measured;
use crate::{ByCause, CounterSnapshot, Figure, Subject};

const NOT_BUILT_IN: &str = "no tracers are built in: apt-get install clang libelf-dev zlib1g-dev make pkg-config, and \
                            ./scripts/setup";

/// A tracer, of which this build has none.
#[derive(Debug)]
pub enum Trace {}

/// What was traced: nothing.
#[derive(Debug)]
pub(crate) enum TraceDelta {}

impl Trace {
    /// Says why not.
    pub fn start(_: &Subject, _: Depth) -> Result<Self, String> {
        Err(NOT_BUILT_IN.to_owned())
    }

    /// Why there can be none here.
    pub fn absence(_of_processes: bool) -> Option<String> {
        Some(NOT_BUILT_IN.to_owned())
    }

    pub(crate) fn mark(&mut self, _: &CounterSnapshot) {
        match *self {}
    }

    pub(crate) fn forget(&mut self, _: Stamp) {
        match *self {}
    }

    pub(crate) fn since(&self, _: Stamp, _: impl Iterator<Item = usize>) -> Result<TraceDelta, String> {
        match *self {}
    }
}

impl TraceDelta {
    pub(crate) fn measured(&self, _: Measured) -> Measured {
        match *self {}
    }

    pub(crate) fn by_cause(&self, _: &Figure<ByCause>, _: &Measured) -> Option<Figure<ByCause>> {
        match *self {}
    }
}
