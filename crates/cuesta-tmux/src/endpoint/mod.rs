//! One host's agent: it takes segments for its peers out of the kernel's path by a TUN device, and moves datagrams of TMux.
//!
//! Linux, with `CAP_NET_ADMIN` and `CAP_NET_RAW`. What a datagram contains and when it goes is decided by [`wire`](crate::wire).
//!
//! - [`EndpointSpec`]: the settings, as JSON; [`EndpointError`]: why an agent cannot start.
//! - [`Endpoint`]: an agent on a thread of its own, until it is stopped.
//! - [`status_of_running`], [`stop_running`]: ask the agent of this network namespace by its `control` socket.
//! - `agent`: that thread; `requests`: what others ask of it.

mod agent;
mod control;
mod error;
mod handle;
mod requests;
mod spec;

pub use control::{status_of_running, stop_running};
pub use error::EndpointError;
pub use handle::Endpoint;
pub use spec::EndpointSpec;
