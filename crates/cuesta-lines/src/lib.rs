//! Terminal lines, both ends.
//!
//! A line carries characters between a terminal and a host; it knows nothing of users, tapes or services.
//!
//! - [`Line`]: the trait of every line, and the capabilities that some offer; [`receive`] and [`send`] wait for one; [`failure_of`]: how one broke.
//! - [`Target`]: where a line goes, as a URL; [`KINDS`]: the table of kinds; [`open`] opens the terminal's end, [`Listener`] is the
//!   host's end.
//! - The lines: `tcp`, `telnet`, `tn3270` (both with or without `tls`), `bsc`, `ssh`; [`Pty`], [`Pipe`] and [`Socket`], with a program on
//!   this machine; `serial`; `web`, terminals in browsers; and [`loopback`] within a process.
//! - `followed_ports`: our ports of lines that a tracer at the host is to follow. [`ProbeSocket`]: when such a line acknowledges.
//! - Towards the user, `decoded` makes UTF-8 of what a host sends in a [`Charset`] of eight bits, and keeps its last rows.
//! - Around any line: [`RateLimited`] gives it a line speed, [`Faulty`] injects faults, [`Tap`] observes what passes.
//! - [`wire`]: framings, pure: bytes in, bytes out, no socket and no clock; [`Framed`] is the line over one that carries characters.

mod bisync;
mod charset;
mod decoded;
mod faulty;
mod followed_ports;
mod framed;
mod handed_over;
mod kernel_stamps;
mod kinds;
mod line;
mod listener;
mod login;
pub mod loopback;
mod open;
mod percent;
mod probe_socket;
mod program;
mod serial;
mod speed;
mod ssh;
mod tail;
mod tap;
mod target;
mod target_error;
mod tcp;
mod tcp_info;
mod telnet;
mod terminal_settings;
mod tls;
mod tn3270;
mod web;
pub mod wire;

pub use bisync::{Bisync, BisyncTarget, BisyncTotals, Delivery};
pub use charset::Charset;
pub use decoded::{Transcript, last_rows};
pub use faulty::{Disconnection, Faults, Faulty};
pub use framed::Framed;
pub use handed_over::LineSocket;
pub use kinds::{KINDS, Kind, TerminalKind, kind_of};
pub use line::{
    Expected, Line, LineMark, LineTerminal, LoginParts, Opening, Received, ResponseForm, StampPair, Traffic,
    failure_of, receive, send,
};
pub use listener::Listener;
pub use login::Login;
pub use loopback::Loopback;
pub use open::{OpenError, Options, open, probe};
pub use probe_socket::{ProbeSocket, SegmentCounts};
pub use program::{ExitStatus, Pipe, ProgramError, Pty, Socket, wait_for_ended_programs};
pub use serial::{SerialError, SerialTarget};
pub use speed::{Pace, RateLimited};
pub use ssh::{LoginNeeds, SshError, SshPreflight, SshTarget, Trust, configure, find_login_needs, preflight, unlock};
pub use tap::{Direction, Tap, TapEvent};
pub use target::{Address, Target, canonical};
pub use target_error::TargetError;
pub use tcp_info::{TcpInfo, tcp_info};
pub use telnet::{Enter, Telnet, TelnetTarget};
pub use terminal_settings::TerminalSettings;
pub use tls::TlsSettings;
pub use tn3270::{Tn3270, Tn3270Target};
pub use web::{WebError, WebTarget, count_removals, hide_secrets, shared_token, wait_for_removals};
