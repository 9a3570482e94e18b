//! One host's agent: it takes segments for its peers out of the kernel's path by a TUN device, and moves datagrams of TMux.
//!
//! Linux, with `CAP_NET_ADMIN` and `CAP_NET_RAW`. What a datagram contains and when it goes is decided by [`wire`](crate::wire).
//!
//! - [`EndpointSpec`]: the settings, as JSON; [`EndpointError`]: why an agent cannot start.
//! - [`Endpoint`]: an agent on a thread of its own, until it is stopped.
//! - [`status_of_running`], [`stop_running`]: ask the agent of this network namespace by its `control` socket.
//! - `resolved`: the settings beside what the kernel says of the peers.
//! - `agent`: that thread; `requests`: what others ask of it; `counters`: what its work costs.
//! - `packet_io`: where packets come from and go to: `tun`, the device; `sockets`, those of each version of IP, with their
//!   `options`; `datagrams`, many in one system call; `capture`, a file of what crosses the sockets.
//! - `too_big`: the ICMP messages that tell TCP which segments are too large for a network device.
//! - `kernel_receive`: a program in the kernel that takes messages apart in the agent's place.
//! - `routing`: which segments go to the device; `ip` runs the command of that name.

mod agent;
mod capture;
mod control;
mod counters;
mod datagrams;
mod error;
mod handle;
mod ip;
mod kernel_receive;
mod options;
mod packet_io;
mod requests;
mod resolved;
mod routing;
mod scheduling;
mod sockets;
mod spec;
mod too_big;
mod tun;

pub use control::{status_of_running, stop_running};
pub use error::EndpointError;
pub use handle::Endpoint;
pub use spec::EndpointSpec;
