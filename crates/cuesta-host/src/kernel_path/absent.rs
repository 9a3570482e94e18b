//! A build without BPF: there is never a [`KernelPath`], only the reason and the remedy.

use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::Context;

use cuesta_lines::Line;

use super::Traffic;
use crate::settings::Settings;

const NOT_BUILT_IN: &str =
    "it is not built in: apt-get install clang libelf-dev zlib1g-dev make pkg-config, and ./scripts/setup";

/// A relay; never made in this build.
#[derive(Debug)]
pub(crate) enum KernelPath {}

/// A line in a relay; never made in this build.
#[derive(Debug)]
pub(crate) enum Session {}

/// A relay's counters; never made in this build.
#[derive(Debug)]
pub(crate) enum Counters {}

impl KernelPath {
    /// Always an error with the reason.
    pub(crate) fn load() -> Result<Self, String> {
        Err(NOT_BUILT_IN.to_owned())
    }

    pub(crate) fn counters(&self) -> Counters {
        match *self {}
    }

    pub(crate) async fn wake_sessions(self: Rc<Self>) -> io::Result<()> {
        pending().await
    }

    pub(crate) fn join(
        self: &Rc<Self>,
        _: &Settings,
        _: &mut dyn Line,
    ) -> Result<(Session, OwnedFd, OwnedFd), &'static str> {
        match **self {}
    }
}

impl Session {
    pub(crate) fn attend(&mut self, _: &mut Context<'_>) {
        match *self {}
    }

    pub(crate) fn input_handled(&mut self, _received: u64) {
        match *self {}
    }

    pub(crate) fn output_handled(&mut self, _received: u64) {
        match *self {}
    }

    pub(crate) fn leave(&mut self) {
        match *self {}
    }

    pub(crate) fn is_moving(&mut self) -> bool {
        match *self {}
    }
}

impl Counters {
    pub(crate) fn read(&self) -> Traffic {
        match *self {}
    }
}
