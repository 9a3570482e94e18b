//! The in-kernel path of the service `socket`: what a line receives goes to its program, and what the program sends goes out on the
//! line, without passing through the host. What telnet gives a meaning to is left to the host; so is all that the relay cannot
//! take, in order, and counted by its reason.
//!
//! The only room that knows BPF, and only with the cargo feature `kernel-path`. Without it all lines are relayed in user space.
//!
//! - [`KernelPath`]: the relay of one host thread. [`Session`]: one line in it.
//! - `relay.bpf.c`, `kernel.h`: the programs in the kernel, and how they keep the order.
//! - [`Traffic`]: characters by the way that they took.

#[cfg(not(feature = "kernel-path"))]
mod absent;
#[cfg(feature = "kernel-path")]
mod relay;
mod traffic;

#[cfg(not(feature = "kernel-path"))]
pub(crate) use absent::{Counters, KernelPath, Session};
#[cfg(feature = "kernel-path")]
pub(crate) use relay::{Counters, KernelPath, Session};
pub(crate) use traffic::Traffic;

use crate::{Path, Service, Spec};

/// The relays for a host's threads.
///
/// # Errors
/// Why lines are relayed in user space although the specification wants the in-kernel path.
pub(crate) fn for_threads(spec: &Spec) -> Result<Vec<KernelPath>, String> {
    match (spec.path, &spec.service) {
        (Path::User, _) => Ok(Vec::new()),
        (Path::Kernel, Service::Socket { .. }) => (0..spec.threads).map(|_| KernelPath::load()).collect(),
        (Path::Kernel, _) => Err("it is for the service `socket`".to_owned()),
    }
}
