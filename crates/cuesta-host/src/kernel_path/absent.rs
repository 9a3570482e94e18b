//! A build without BPF: telnet lines have no in-kernel path, only the reason and the remedy.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use super::Traffic;
use super::path::Control;

const NOT_BUILT_IN: &str =
    "it is not built in: apt-get install clang libelf-dev zlib1g-dev make pkg-config, and ./scripts/setup";

/// The programs in the kernel; never made in this build.
#[derive(Debug)]
pub(super) enum Telnet {}

/// Reads commands of lines; never made in this build.
pub(super) enum Commands {}

/// A line that the programs look after; never made in this build.
#[derive(Debug)]
pub(super) enum TelnetLine {}

/// Counts of the programs; never made in this build.
#[derive(Debug)]
pub(super) enum TelnetCounters {}

impl Telnet {
    /// Always an error with the reason.
    pub(super) fn load() -> Result<Self, String> {
        Err(NOT_BUILT_IN.to_owned())
    }

    pub(super) fn events(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    pub(super) fn commands(&self, _deliver: impl FnMut(u64, Option<&[u8]>) + 'static) -> io::Result<Commands> {
        match *self {}
    }

    pub(super) fn counters(&self) -> TelnetCounters {
        match *self {}
    }

    pub(super) fn lost(&self) -> u64 {
        match *self {}
    }

    pub(super) fn has_lost(&self, _cookie: u64) -> bool {
        match *self {}
    }

    pub(super) fn enter(&self, _cookie: u64, _line: &OwnedFd, _control: &OwnedFd) -> Result<TelnetLine, &'static str> {
        match *self {}
    }
}

impl Commands {
    pub(super) fn take(&self) -> io::Result<bool> {
        match *self {}
    }
}

impl TelnetLine {
    pub(super) fn output_handled(&mut self, _characters: u64, _line: &OwnedFd) {
        match *self {}
    }
}

impl TelnetCounters {
    pub(super) fn read(&self) -> Traffic {
        match *self {}
    }
}

/// Never called in this build.
pub(super) fn connection(_number: u64) -> io::Result<Control> {
    Err(io::ErrorKind::Unsupported.into())
}
