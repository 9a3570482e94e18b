//! Receiving in the kernel: a program at the interface to the peers takes messages apart, so that the agent does not wake for them,
//! and no segment takes a system call. What something is wrong with is left to the agent.
//!
//! The only room that knows BPF, and only with the cargo feature `kernel-receive`. Without it the agent receives everything.
//!
//! - [`KernelReceive`]: the program while the agent runs. [`ReceivedInKernel`]: what it has received.
//! - `link`: puts it at an interface; `memory`: its counters, as memory.

#[cfg(not(feature = "kernel-receive"))]
mod absent;
#[cfg(feature = "kernel-receive")]
mod link;
#[cfg(feature = "kernel-receive")]
mod memory;
#[cfg(feature = "kernel-receive")]
mod receive;

#[cfg(not(feature = "kernel-receive"))]
pub(crate) use absent::KernelReceive;
#[cfg(feature = "kernel-receive")]
pub(crate) use receive::KernelReceive;

use cuesta_record::Stamp;

/// Messages of one peer that the kernel took apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ReceivedInKernel {
    /// When the last of them came.
    pub(crate) at: Stamp,
    pub(crate) messages: u64,
    pub(crate) segments: u64,
    /// Octets of the messages, their IP headers included.
    pub(crate) octets: u64,
    /// Segments that the program could not give to the TUN device, and that the device does not count.
    pub(crate) lost: u64,
}
