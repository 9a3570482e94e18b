//! The in-kernel path of the service `socket`: the program has the line's own socket, so that what the line receives and what the
//! program writes do not pass through the host. On telnet lines programs in the kernel take telnet out of the one and look at the
//! other; they leave to the host what they cannot do.
//!
//! Telnet lines need BPF, and the cargo feature `kernel-path`. Without it all lines are relayed in user space.
//!
//! - [`KernelPath`]: that of one host thread. [`Session`]: one line in it.
//! - [`Telnet`]: the programs in the kernel, `telnet.bpf.c` and `kernel.h`, and what the host tells them.
//! - [`Traffic`]: characters by the way that they took.

#[cfg(not(feature = "kernel-path"))]
mod absent;
mod path;
#[cfg(feature = "kernel-path")]
mod telnet;
mod traffic;

#[cfg(not(feature = "kernel-path"))]
use absent::{Commands, Telnet, TelnetCounters, TelnetLine, connection};
pub(crate) use path::{Control, Counters, KernelPath, Session};
#[cfg(feature = "kernel-path")]
use telnet::{Commands, Telnet, TelnetCounters, TelnetLine, connection};
pub(crate) use traffic::Traffic;

use crate::{Path, Service, Spec};

/// The in-kernel paths of a host's threads.
///
/// # Errors
/// Why lines are relayed in user space although the specification wants the in-kernel path.
pub(crate) fn for_threads(spec: &Spec) -> Result<Vec<KernelPath>, String> {
    let telnet = spec.listen.iter().any(|url| url.starts_with("telnet:"));
    match (spec.path, &spec.service) {
        (Path::User, _) => Ok(Vec::new()),
        (Path::Kernel, Service::Socket { .. }) => (0..spec.threads).map(|_| KernelPath::new(telnet)).collect(),
        (Path::Kernel, _) => Err("it is for the service `socket`".to_owned()),
    }
}
