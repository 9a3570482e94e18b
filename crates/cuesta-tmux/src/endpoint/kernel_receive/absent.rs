//! A build without programs for the kernel.

use super::ReceivedInKernel;
use crate::endpoint::routing::Path;

/// There is none.
#[derive(Debug)]
pub(crate) enum KernelReceive {}

impl KernelReceive {
    /// Says why there is none.
    pub(crate) fn start(_: &[Path], _: &str) -> Result<Self, String> {
        Err("this build has no programs for the kernel: it was made without clang".to_owned())
    }

    /// Nothing was received.
    pub(crate) fn news(&mut self, _: usize) -> Option<ReceivedInKernel> {
        match *self {}
    }
}
