//! A build without tracers: there is never a [`Trace`], and whoever asks for one is told how to have it.

use cuesta_record::Stamp;

use super::Depth;
use crate::{Reading, Sheet, Subject};

/// A tracer, of which this build has none.
#[derive(Debug)]
pub enum Trace {}

/// What was traced: nothing.
#[derive(Debug)]
pub(crate) enum Traced {}

impl Trace {
    /// Says why not.
    pub fn start(_: &Subject, _: Depth) -> Result<Self, String> {
        let remedy = "apt-get install clang libelf-dev zlib1g-dev make pkg-config, and ./scripts/setup";
        Err(format!("no tracers are built in: {remedy}"))
    }

    pub(crate) fn mark(&mut self, _: &Reading) {
        match *self {}
    }

    pub(crate) fn forget(&mut self, _: Stamp) {
        match *self {}
    }

    pub(crate) fn since(&self, _: Stamp, _: &Sheet) -> Result<Traced, String> {
        match *self {}
    }
}

impl Traced {
    pub(crate) fn put(&self, _: &mut Sheet) {
        match *self {}
    }

    pub(crate) fn put_causes(&self, _: &mut Sheet) {
        match *self {}
    }
}
