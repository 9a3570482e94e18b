//! Web terminals, the terminal's end: what a browser does, from its first request to its last.
//!
//! - `kinds` is the table of kinds, `target` the URL; what messages carry is in [`crate::wire::web`], pure.
//! - `opening` plays the requests of a page, opens the WebSocket and waits until the session is ready; `client` is HTTP over lines, and
//!   `proxy` the way to the host. `logins` shares one login among users who are told to.
//! - `trial` opens a session before a run, to learn whether users could type there.
//! - `line` is the open session, `host_line` the host's end of one; what both have in common is in `frames`.
//! - `removal` asks the host to remove what a session leaves there, on a thread of its own; `secrets` blacks out a user's secrets in what a
//!   host says.

mod client;
mod error;
mod frames;
mod host_line;
mod kinds;
mod line;
mod logins;
mod opening;
mod proxy;
mod removal;
mod secrets;
mod target;
mod trial;

pub(crate) use error::Break;
pub use error::WebError;
pub(crate) use host_line::WebHostLine;
pub(crate) use kinds::{BARE, COCKPIT, CODE_SERVER, CODER, GOTTY, JUPYTER, KUBERNETES, TELEPORT, TTYD, WETTY, WebKind};
pub(crate) use opening::open;
pub use removal::{count_removals, wait_for_removals};
pub use secrets::{hide_secrets, shared_token};
pub use target::WebTarget;
pub(crate) use trial::probe;
