//! Lines over ssh, the terminal's end, with `russh`, which only this folder uses.
//!
//! - `target` is the URL; `destination` adds OpenSSH's configuration (`config`, `tokens`) and the users' table.
//! - `known_hosts` and `certificate` decide which host keys to trust; `keys` reads key files and certificates.
//! - `connect` exchanges keys, with the algorithms of `algorithms`, and logs in. `transport` carries the bytes: a TCP connection, a channel
//!   of a jump host, or a command.
//! - `login` authenticates: with keys (`agent_keys`), by answers to what the host asks (`prompt`, `codes`); `attempts` is why a refused
//!   login is not repeated.
//! - `stream` is the connection as `russh` reads it (without a `preamble`), `client` its handler, `grid` obscures key timing.
//! - A line has two tasks on its thread: the protocol's task reads, decrypts, encrypts and writes; the user's task types.
//!   `shared` is between them. Received characters are stamped when they are read, before they are decrypted. A key counts as
//!   sent when it is handed to the protocol's task, which encrypts and writes it in its next turn; that is part of the response.

mod agent_keys;
mod algorithms;
mod attempts;
mod certificate;
mod client;
mod codes;
mod config;
mod connect;
mod destination;
mod error;
mod grid;
mod keys;
mod known_hosts;
mod login;
mod pattern;
mod preamble;
mod prompt;
mod shared;
mod stream;
mod target;
mod tokens;
mod transport;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};
use russh::client::{Handle, Msg};
use russh::{Channel, ChannelMsg, ChannelWriteHalf, Disconnect, Error, MethodKind};
use tokio::io::AsyncWrite;

pub use error::SshError;
pub use keys::unlock;
pub use target::{SshTarget, Trust};

use crate::{
    Address, ExitStatus, Line, LineMark, LineTerminal, Login, LoginParts, OpenError, Opening, Options, ProbeSocket,
    Received, Traffic, tcp,
};
use agent_keys::AgentKeys;
use client::Client;
use connect::{SshSession, hung_up, inbox, log_in};
use destination::{Destination, Route};
use grid::{Grid, GridSend};
use keys::KeyFileError;
use shared::Shared;

/// Bytes that may wait for the user on a line without a speed; with more, the connection is not read.
const INBOX: usize = 64 * 1024;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A shell or a command on a host, with a pseudo-terminal.
pub(crate) struct Ssh {
    shared: Arc<Shared>,
    handle: Handle<Client>,
    channel: ChannelWriteHalf<Msg>,
    /// Writes keys to the channel.
    keys: Pin<Box<dyn AsyncWrite>>,
    grid: Option<Box<ObscuredKeys>>,
    mark: Option<LineMark>,
    probe: Option<OwnedFd>,
    window: (u16, u16),
    /// Last, so that the protocol's task ends after everything else was sent.
    _guard: TaskGuard,
}

/// The grid of keys, and the wait for its next instant.
struct ObscuredKeys {
    grid: Grid,
    wait: Sleep,
}

/// Ends the protocol's task when it is dropped, also if a login is abandoned half way.
struct TaskGuard(Arc<Shared>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.shut_down();
    }
}

/// Connects, logs in, and starts a program on a pseudo-terminal, all within the connect timeout.
///
/// The future is boxed: it takes 9 KB, which every other kind of line would have to reserve too. As a `dyn` it is compiled here
/// once, not again in every crate and test that opens a line.
pub(crate) fn open<'a>(target: &'a SshTarget, options: &'a Options) -> Boxed<'a, Result<Ssh, OpenError>> {
    Box::pin(async move {
        let destination = Destination::new(target, &options.login)?;
        let due = clock::now() + options.connect_timeout;
        let shared = Arc::new(Shared::new(inbox(options.line_speed)));
        let opened = tcp::with_deadline(due, open_session(&destination, target, options, Arc::clone(&shared))).await;
        let waited = options.connect_timeout;
        let timeout = || Err(OpenError::Timeout { address: destination.address.to_string(), waited });
        opened.unwrap_or_else(timeout).map_err(|error| {
            let progress = shared.progress();
            if progress.0.connected.is_none() {
                return error;
            }
            OpenError::Unfinished { error: Box::new(error), progress: Box::new(progress) }
        })
    })
}

async fn open_session(
    destination: &Destination,
    target: &SshTarget,
    options: &Options,
    shared: Arc<Shared>,
) -> Result<Ssh, OpenError> {
    let session = Box::pin(log_in(destination, options, shared, false)).await?;
    let SshSession { handle, shared, mark, probe, guard } = session;
    let channel = start(&handle, destination, target, options, &shared).await?;
    // `Client` takes the output: an unread receiver would fill and block the session.
    let (_, channel) = channel.split();
    shared.state().opening.logged_in = Some(clock::now());
    let grid = target.obscure.map(|width| {
        let grid = Grid::new(width, clock::now().as_nanos());
        Box::new(ObscuredKeys { grid, wait: clock::sleep_until(Stamp::ZERO) })
    });
    let window = (options.columns, options.rows);
    let keys = Box::pin(channel.make_writer());
    Ok(Ssh { channel, keys, shared, handle, grid, mark, probe, window, _guard: guard })
}

/// Reads the configuration for a login and its jump hosts; the process keeps it.
///
/// # Errors
/// When the configuration has a setting that Cuesta cannot honour.
pub fn configure(target: &SshTarget, login: &Login) -> Result<(), SshError> {
    Destination::new(target, login).map(drop)
}

/// Needs of a login, checked before a connection is opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SshPreflight {
    /// Settings of the configuration that Cuesta does not use, host by host.
    pub unused: Vec<String>,
    /// Key files that have a passphrase, and whose keys the agent does not hold.
    pub locked: Vec<PathBuf>,
}

/// Checks what a login needs, jump hosts included. Only under [`cuesta_record::clock::run`], in real time.
///
/// # Errors
/// When the configuration is invalid or refused.
pub async fn preflight(target: &SshTarget, login: &Login) -> Result<SshPreflight, SshError> {
    let destination = Destination::new(target, login)?;
    let mut preflight = SshPreflight::default();
    for destination in destination.all() {
        preflight.unused.extend(destination.unused.iter().cloned());
        let logs_in_by_password = destination.password.is_some() && !destination.only_these;
        if destination.batch || logs_in_by_password || !destination.methods.contains(&MethodKind::PublicKey) {
            continue;
        }
        let keys = AgentKeys::new(destination).await?;
        let is_locked = |file: &&PathBuf| keys::load(file) == Err(KeyFileError::Locked) && !keys.holds_key_of(file);
        preflight.locked.extend(destination.identities.iter().filter(is_locked).cloned());
    }
    preflight.locked.sort();
    preflight.locked.dedup();
    Ok(preflight)
}

/// What a login needs of the machine from which it is made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoginNeeds {
    /// Where its connection is opened to: the host, or the first jump host. None if a command connects (`ProxyCommand`).
    pub connects_to: Option<Address>,
    /// What this machine lacks of the files that the target names: key files, a file of known hosts.
    pub lacks: Vec<String>,
}

/// Finds what a login needs of this machine, and which of the files that the target names are missing; contacts no host. Keys that are
/// locked are not missing. Only under [`cuesta_record::clock::run`], in real time.
///
/// # Errors
/// When the configuration is invalid or refused.
pub async fn find_login_needs(target: &SshTarget, login: &Login) -> Result<LoginNeeds, SshError> {
    let destination = Destination::new(target, login)?;
    let mut lacks: Vec<_> = destination.without_known_hosts(target).into_iter().collect();
    if !target.identities.is_empty() {
        let unusable = AgentKeys::new(&destination).await?.unusable(&destination);
        lacks.extend(unusable.iter().map(ToString::to_string));
    }
    let first = destination.all().pop().unwrap_or(&destination);
    let connects_to = (!matches!(first.route, Route::Command(_))).then(|| first.address.clone());
    Ok(LoginNeeds { connects_to, lacks })
}

/// Opens a session with a pseudo-terminal and starts a program on it.
async fn start(
    handle: &Handle<Client>,
    destination: &Destination,
    target: &SshTarget,
    options: &Options,
    shared: &Shared,
) -> Result<Channel<Msg>, SshError> {
    let whom = || (destination.address.to_string(), destination.user.clone());
    let mut channel = handle.channel_open_session().await.map_err(|error| match error {
        Error::ChannelOpenFailure(reason) => {
            let (address, user) = whom();
            SshError::Channel { address, user, cause: format!("{reason:?}") }
        }
        error => hung_up(destination, shared, &error),
    })?;
    shared.state().login.admitted = Some(clock::now());
    let broken = |error: Error| hung_up(destination, shared, &error);
    let (columns, rows) = (options.columns.into(), options.rows.into());
    channel.request_pty(true, &options.terminal, columns, rows, 0, 0, &[]).await.map_err(broken)?;
    if !granted(&mut channel).await.ok_or_else(|| broken(Error::Disconnect))? {
        let (address, user) = whom();
        return Err(SshError::NoPty { address, user });
    }
    shared.state().login.terminal = Some(clock::now());
    for (name, value) in &destination.environment {
        channel.set_env(false, name, value).await.map_err(broken)?;
    }
    let what = match target.command.as_ref().or(destination.command.as_ref()) {
        Some(command) => channel.exec(true, command.as_str()).await.map(|()| "command"),
        None => channel.request_shell(true).await.map(|()| "shell"),
    };
    let what = what.map_err(broken)?;
    if !granted(&mut channel).await.ok_or_else(|| broken(Error::Disconnect))? {
        let (address, user) = whom();
        return Err(SshError::NoShell { address, user, what });
    }
    Ok(channel)
}

/// Whether a request was granted; `None` if the line broke.
async fn granted(channel: &mut Channel<Msg>) -> Option<bool> {
    loop {
        match channel.wait().await? {
            ChannelMsg::Success => return Some(true),
            ChannelMsg::Failure => return Some(false),
            ChannelMsg::Close => return None,
            _ => {}
        }
    }
}

impl Ssh {
    /// Sends what is due on the grid, and schedules a wake-up for its next instant.
    fn send_due_keys(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let Some(obscured) = &mut self.grid else { return Ok(()) };
        let ObscuredKeys { grid, wait } = obscured.as_mut();
        while let Some(next) = grid.next() {
            wait.reset(next);
            if Pin::new(&mut *wait).poll(cx).is_pending() {
                break;
            }
            let now = clock::now();
            match grid.due_now(now) {
                GridSend::Keys => {
                    let Poll::Ready(sent) = self.keys.as_mut().poll_write(cx, grid.keys()) else { break };
                    if self.mark.is_some() {
                        self.shared.state().key_written = None;
                    }
                    grid.forget_sent(sent?);
                    if !grid.keys().is_empty() {
                        continue;
                    }
                }
                // Chaff is dropped if the queue to the protocol's task is full.
                GridSend::Chaff => poll_once(self.handle.send_keepalive(true)),
                GridSend::Nothing => {}
            }
            grid.advance(now);
        }
        Ok(())
    }

    /// The error that broke the line, rather than that the channel is closed.
    fn reason(&self, error: io::Error) -> io::Error {
        self.shared.broken().unwrap_or(error)
    }
}

fn poll_once<T>(doing: impl Future<Output = T>) {
    let _ = pin!(doing).poll(&mut Context::from_waker(Waker::noop()));
}

impl Line for Ssh {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        // An error in sending is reported by receiving, after the remaining output.
        let _ = self.send_due_keys(cx);
        self.shared.poll_take(cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(obscured) = &mut self.grid {
            let len = obscured.grid.type_keys(clock::now(), bytes);
            self.send_due_keys(cx).map_err(|error| self.reason(error))?;
            return if len > 0 { Poll::Ready(Ok(len)) } else { Poll::Pending };
        }
        let sent = ready!(self.keys.as_mut().poll_write(cx, bytes));
        if self.mark.is_some() {
            self.shared.state().key_written = None;
        }
        Poll::Ready(sent.map_err(|error| self.reason(error)))
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
    }

    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        self.shared.poll_exit(cx)
    }

    fn mark(&self) -> Option<LineMark> {
        self.mark
    }

    fn probe_socket(&self) -> Option<ProbeSocket<'_>> {
        self.probe.as_ref().map(|socket| ProbeSocket(socket.as_fd()))
    }

    fn sent_up_to(&self) -> Option<u64> {
        let waits = self.grid.as_ref().is_some_and(|obscured| !obscured.grid.keys().is_empty());
        let is_known = self.mark.is_some() && !waits;
        self.shared.state().key_written.filter(|_| is_known)
    }

    fn opening(&self) -> Opening {
        self.shared.state().opening
    }

    fn login_parts(&self) -> LoginParts {
        self.shared.state().login
    }

    fn traffic(&self) -> Traffic {
        self.shared.state().traffic
    }
}

impl LineTerminal for Ssh {
    fn window(&self) -> Option<(u16, u16)> {
        Some(self.window)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if (columns, rows) != self.window {
            self.window = (columns, rows);
            // Lost if the queue to the protocol's task is full; the next resize sends it again.
            poll_once(self.channel.window_change(columns.into(), rows.into(), 0, 0));
        }
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        poll_once(self.handle.disconnect(Disconnect::ByApplication, "", ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_small() {
        assert!(size_of::<Ssh>() <= 320, "{}", size_of::<Ssh>());
    }
}
