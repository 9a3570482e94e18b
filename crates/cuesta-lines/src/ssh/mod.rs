//! Lines over ssh, the terminal's end, with `russh`, which only this folder uses.
//!
//! - `target` is the URL; `destination` adds OpenSSH's configuration (`config`, `tokens`) and the users' table.
//! - `known_hosts` and `certificate` decide which host keys to trust; `keys` reads key files and certificates.
//! - `transport` carries the bytes: a TCP connection, a channel of a jump host, or a command.
//! - `stream` is the connection as `russh` reads it, `client` its handler, `login` authenticates, `grid` obscures key timing.
//! - A line has two tasks on its thread: the protocol's task reads, decrypts, encrypts and writes; the user's task types.
//!   `shared` is between them. Received characters are stamped when they are read, before they are decrypted. A key counts as
//!   sent when it is handed to the protocol's task, which encrypts and writes it in its next turn; that is part of the response.

mod certificate;
mod client;
mod config;
mod destination;
mod error;
mod grid;
mod keys;
mod known_hosts;
mod login;
mod pattern;
mod shared;
mod stream;
mod target;
mod tokens;
mod transport;

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};
use russh::client::{Config, Handle, Msg, connect_stream};
use russh::{Channel, ChannelMsg, ChannelWriteHalf, Disconnect, Error, Limits, Preferred, SshId};
use tokio::io::AsyncWrite;

pub use error::{Login, SshError};
pub use keys::unlock;
pub use target::{SshTarget, Trust};

use crate::program::ProxyCommand;
use crate::{Address, Line, OpenError, Opening, Options, Received, Traffic, tcp};
use client::Client;
use destination::{Destination, Route};
use grid::{Grid, GridSend};
use keys::KeyFileError;
use login::{AgentKeys, LoginAttempt, LoginFailure};
use shared::Shared;
use stream::StampedStream;
use transport::{JumpChannel, Transport};

/// Bytes that may wait for the user on a line without a speed; with more, the connection is not read.
const INBOX: usize = 64 * 1024;
/// The channel's window, on a line without a speed.
const WINDOW: u32 = 64 * 1024;
/// Idle time before a keep-alive is sent; after three without an answer the line is broken.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// No re-keying by time, only by data: thousands of sessions would all do it at once.
const REKEY: Duration = Duration::from_secs(365 * 24 * 3600);

/// A shell or a command on a host, with a pseudo-terminal.
pub(crate) struct Ssh {
    shared: Arc<Shared>,
    handle: Handle<Client>,
    /// The write half of the ssh channel.
    channel: ChannelWriteHalf<Msg>,
    /// Writes keys to the channel.
    keys: Pin<Box<dyn AsyncWrite>>,
    grid: Option<Box<ObscuredKeys>>,
    opening: Opening,
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
pub(crate) async fn open(target: &SshTarget, options: &Options) -> Result<Ssh, OpenError> {
    let place = Destination::new(target, &options.login)?;
    let due = clock::now() + options.connect_timeout;
    let opened = tcp::before(due, opened(&place, target, options)).await;
    let waited = options.connect_timeout;
    opened.unwrap_or_else(|| Err(OpenError::Timeout { place: place.address.to_string(), waited }))
}

/// An authenticated connection and its protocol task, which ends with it.
struct SshSession {
    handle: Handle<Client>,
    shared: Arc<Shared>,
    opening: Opening,
    /// Last, so that the protocol's task ends after everything else was sent.
    guard: TaskGuard,
}

async fn opened(place: &Destination, target: &SshTarget, options: &Options) -> Result<Ssh, OpenError> {
    let session = Box::pin(logged_in(place, options, false)).await?;
    let SshSession { handle, shared, opening, guard } = session;
    let channel = start(&handle, place, target, options, &shared).await?;
    // `Client` takes the output: an unread receiver would fill and block the session.
    let (_, channel) = channel.split();
    let opening = Opening { logged_in: Some(clock::now()), ..opening };
    let grid = target.obscure.map(|width| {
        let grid = Grid::new(width, clock::now().as_nanos());
        Box::new(ObscuredKeys { grid, wait: clock::sleep_until(Stamp::ZERO) })
    });
    let window = (options.columns, options.rows);
    let keys = Box::pin(channel.make_writer());
    Ok(Ssh { channel, keys, shared, handle, grid, opening, window, _guard: guard })
}

/// Connects and logs in. `leads_on`: this is a jump host.
async fn logged_in(place: &Destination, options: &Options, leads_on: bool) -> Result<SshSession, OpenError> {
    let way = transport(place, options).await?;
    let opening = way.opening();
    let shared = Arc::new(Shared::new(inbox(options.line_speed)));
    let guard = TaskGuard(Arc::clone(&shared));
    let wire = StampedStream::new(way, Arc::clone(&shared));
    let client = Client::new(Arc::clone(&shared), place, leads_on);
    let connected = connect_stream(Arc::new(config(place, options)), wire, client).await;
    let mut handle = connected.map_err(|error| not_connected(place, &shared, &error))?;
    let negotiated = shared.state().negotiated;
    let at_login = |failure| match failure {
        LoginFailure::Ours(error) => error,
        LoginFailure::Broken(error) => hung_up(place, &shared, &error),
    };
    LoginAttempt::new(&mut handle, place).log_in().await.map_err(at_login)?;
    Ok(SshSession { handle, shared, opening: Opening { negotiated, ..opening }, guard })
}

/// Opens the transport to a host; logs in to each jump host on the way.
async fn transport(place: &Destination, options: &Options) -> Result<Transport, OpenError> {
    match &place.way {
        // No kernel stamps: they would be of packets, some of which carry no character.
        Route::Direct => {
            let options = Options { stamped: false, ..options.clone() };
            Ok(Transport::Tcp(tcp::connect(&place.address, &options).await?))
        }
        Route::Command(command) => Ok(Transport::Command(Box::new(ProxyCommand::start(command)?))),
        Route::Jump(before) => {
            let session = Box::pin(logged_in(before, &Options { line_speed: 0, ..options.clone() }, true)).await?;
            let Address { host, port } = &place.address;
            let channel = session.handle.channel_open_direct_tcpip(host, (*port).into(), "127.0.0.1", 0).await;
            let channel = channel.map_err(|error| leads_nowhere(before, place, &session.shared, &error))?;
            Ok(Transport::JumpChannel(Box::new(JumpChannel::new(channel.into_stream(), session))))
        }
    }
}

/// Why a jump host does not forward the connection.
fn leads_nowhere(before: &Destination, place: &Destination, shared: &Shared, error: &Error) -> SshError {
    let cause = match error {
        Error::ChannelOpenFailure(reason) => format!("{reason:?}"),
        error => return hung_up(before, shared, error),
    };
    SshError::Jump { place: before.address.to_string(), to: place.address.to_string(), cause }
}

/// Reads the configuration for a login and its jump hosts; the process keeps it.
///
/// # Errors
/// When the configuration has a setting that Cuesta cannot honour.
pub fn configure(target: &SshTarget, login: &Login) -> Result<(), SshError> {
    Destination::new(target, login).map(drop)
}

/// What a login needs, found before anything is opened.
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
/// When the configuration asks for what cannot be.
pub async fn preflight(target: &SshTarget, login: &Login) -> Result<SshPreflight, SshError> {
    let place = Destination::new(target, login)?;
    let mut preflight = SshPreflight::default();
    for place in place.all() {
        preflight.unused.extend(place.unused.iter().cloned());
        if place.batch || !place.methods.keys || (place.password.is_some() && !place.only_these) {
            continue;
        }
        let keys = AgentKeys::new(place).await?;
        let is_locked = |file: &&PathBuf| keys::load(file) == Err(KeyFileError::Locked) && !keys.holds_key_of(file);
        preflight.locked.extend(place.identities.iter().filter(is_locked).cloned());
    }
    preflight.locked.sort();
    preflight.locked.dedup();
    Ok(preflight)
}

/// Bytes that may wait for the user.
fn inbox(line_speed: u32) -> usize {
    // At most a second's worth, so that an answer to a keep-alive never waits long behind it.
    if line_speed == 0 { INBOX } else { (line_speed as usize / 10).clamp(256, INBOX) }
}

fn config(place: &Destination, options: &Options) -> Config {
    let known = known_hosts::algorithms(&place.known_hosts, &place.known_as);
    let mut preferred = Preferred::DEFAULT;
    if !known.is_empty() {
        // Prefer the types of the host's known keys, or it might present a key that is not known.
        let kinds = |algorithm: &russh::keys::Algorithm| {
            known.iter().any(|kind| std::mem::discriminant(kind) == std::mem::discriminant(algorithm))
        };
        let (mut first, mut then): (Vec<_>, Vec<_>) = preferred.key.iter().cloned().partition(kinds);
        first.append(&mut then);
        preferred.key = Cow::Owned(first);
    }
    if certificate::has_authority(&place.known_hosts, &[&place.known_as, &place.principal]) {
        preferred.host_key_certificates.clone_from(&preferred.key);
    }
    let (interval, times) = place.keep_alive.unwrap_or((KEEP_ALIVE.as_secs(), 3));
    Config {
        client_id: SshId::Standard(Cow::Borrowed(concat!("SSH-2.0-Cuesta_", env!("CARGO_PKG_VERSION")))),
        limits: Limits { rekey_time_limit: REKEY, ..Limits::default() },
        window_size: if options.line_speed == 0 { WINDOW } else { (options.line_speed / 10).clamp(1024, WINDOW) },
        keepalive_interval: Some(Duration::from_secs(interval)),
        keepalive_max: times,
        preferred,
        ..Config::default()
    }
}

/// Opens a session with a pseudo-terminal and starts a program on it.
async fn start(
    handle: &Handle<Client>,
    place: &Destination,
    target: &SshTarget,
    options: &Options,
    shared: &Shared,
) -> Result<Channel<Msg>, SshError> {
    let whom = || (place.address.to_string(), place.user.clone());
    let mut channel = handle.channel_open_session().await.map_err(|error| match error {
        Error::ChannelOpenFailure(reason) => {
            let (place, user) = whom();
            SshError::Channel { place, user, cause: format!("{reason:?}") }
        }
        error => hung_up(place, shared, &error),
    })?;
    let broken = |error: Error| hung_up(place, shared, &error);
    let (columns, rows) = (options.columns.into(), options.rows.into());
    channel.request_pty(true, &options.terminal, columns, rows, 0, 0, &[]).await.map_err(broken)?;
    if !granted(&mut channel).await.ok_or_else(|| broken(Error::Disconnect))? {
        let (place, user) = whom();
        return Err(SshError::NoPty { place, user });
    }
    for (name, value) in &place.environment {
        channel.set_env(false, name, value).await.map_err(broken)?;
    }
    let what = match target.command.as_ref().or(place.command.as_ref()) {
        Some(command) => channel.exec(true, command.as_str()).await.map(|()| "command"),
        None => channel.request_shell(true).await.map(|()| "shell"),
    };
    let what = what.map_err(broken)?;
    if !granted(&mut channel).await.ok_or_else(|| broken(Error::Disconnect))? {
        let (place, user) = whom();
        return Err(SshError::NoShell { place, user, what });
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

/// Why the key exchange failed.
fn not_connected(place: &Destination, shared: &Shared, error: &Error) -> SshError {
    if let Some(distrust) = shared.state().distrust.take() {
        return distrust;
    }
    let said = shared.first_words();
    let speaks_ssh = shared.state().speaks_ssh();
    let complaint = shared.state().complaint.take();
    if let (Route::Command(command), false) = (&place.way, speaks_ssh) {
        return SshError::Command { command: command.clone(), said: complaint.unwrap_or(said) };
    }
    let place = place.address.to_string();
    let is_full = ["Exceeded MaxStartups", "Not allowed at this time"].iter().any(|words| said.contains(words));
    let hung_up = matches!(error, Error::Disconnect | Error::HUP | Error::IO(_));
    match error {
        // A host that is full hangs up after our banner, or before it.
        _ if hung_up && (said.is_empty() || is_full) => SshError::MaxStartups { place, said },
        _ if hung_up && speaks_ssh => SshError::MaxStartups { place, said: String::new() },
        _ if hung_up || matches!(error, Error::Version) => SshError::NotSsh { place, said },
        error => SshError::Kex { place, cause: error.to_string() },
    }
}

/// The line broke while a user logged in: the host's last message, or the error.
fn hung_up(place: &Destination, shared: &Shared, error: &Error) -> SshError {
    let cause = shared.broken().map_or_else(|| error.to_string(), |error| error.to_string());
    SshError::HungUp { place: place.address.to_string(), user: place.user.clone(), cause }
}

impl Ssh {
    /// Sends what is due on the grid, and schedules a wake-up for its next instant.
    fn keep_grid(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
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
                    grid.went(sent?);
                    if !grid.keys().is_empty() {
                        continue;
                    }
                }
                // Chaff is dropped if the queue to the protocol's task is full.
                GridSend::Chaff => at_once(self.handle.send_keepalive(true)),
                GridSend::Nothing => {}
            }
            grid.move_on(now);
        }
        Ok(())
    }

    /// The error that broke the line, rather than that the channel is closed.
    fn reason(&self, error: io::Error) -> io::Error {
        self.shared.broken().unwrap_or(error)
    }
}

/// Polls a future once.
fn at_once<T>(doing: impl Future<Output = T>) {
    let _ = pin!(doing).poll(&mut Context::from_waker(Waker::noop()));
}

impl Line for Ssh {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        // An error in sending is reported by receiving, after the remaining output.
        let _ = self.keep_grid(cx);
        self.shared.poll_take(cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(obscured) = &mut self.grid {
            let len = obscured.grid.type_keys(clock::now(), bytes);
            self.keep_grid(cx).map_err(|error| self.reason(error))?;
            return if len > 0 { Poll::Ready(Ok(len)) } else { Poll::Pending };
        }
        let sent = ready!(self.keys.as_mut().poll_write(cx, bytes));
        Poll::Ready(sent.map_err(|error| self.reason(error)))
    }

    fn window(&self) -> Option<(u16, u16)> {
        Some(self.window)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if (columns, rows) != self.window {
            self.window = (columns, rows);
            // Lost if the queue to the protocol's task is full; the next resize sends it again.
            at_once(self.channel.window_change(columns.into(), rows.into(), 0, 0));
        }
    }

    fn opening(&self) -> Opening {
        self.opening
    }

    fn traffic(&self) -> Traffic {
        self.shared.state().traffic
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        at_once(self.handle.disconnect(Disconnect::ByApplication, "", ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;
    use tokio::net::TcpListener;

    #[test]
    fn keys_are_not_held_back_on_the_connection_that_russh_is_given() {
        clock::run(clock::Time::Real, async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = Address { host: "127.0.0.1".to_owned(), port: listener.local_addr().unwrap().port() };
            let tcp = tcp::connect(&address, &Options::default()).await.unwrap();
            let wire = StampedStream::new(Transport::Tcp(tcp), Arc::new(Shared::new(INBOX)));
            assert!(wire.is_without_delay());
        })
        .unwrap();
    }

    #[test]
    fn a_line_is_small() {
        assert!(size_of::<Ssh>() <= 320, "{}", size_of::<Ssh>());
    }
}
