//! A build without tracers: there is never a [`Trace`], only the reason and the remedy.

use cuesta_record::Stamp;

use super::Depth;
use crate::report::CounterFigures;
use crate::{ByCause, CounterSnapshot, Figure, Subject};

pub(crate) const NOT_BUILT_IN: &str = "no tracers are built in: apt-get install clang libelf-dev zlib1g-dev make pkg-config, and \
                            ./scripts/setup";

/// A tracer; never made in this build.
#[derive(Debug)]
pub enum Trace {}

/// Traced counts; never made in this build.
#[derive(Debug)]
pub(crate) enum TraceDelta {}

impl Trace {
    /// Always an error with the reason.
    pub fn start(_: &Subject, _: Depth) -> Result<Self, String> {
        Err(NOT_BUILT_IN.to_owned())
    }

    /// Why no tracer can run here.
    pub fn absence(_of_processes: bool) -> Option<String> {
        Some(NOT_BUILT_IN.to_owned())
    }

    pub(crate) fn read(&mut self, _: &CounterSnapshot) {
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
    pub(crate) fn counter_figures(&self, _: CounterFigures) -> CounterFigures {
        match *self {}
    }

    pub(crate) fn by_cause(&self, _: &Figure<ByCause>, _: &CounterFigures) -> Option<Figure<ByCause>> {
        match *self {}
    }
}
