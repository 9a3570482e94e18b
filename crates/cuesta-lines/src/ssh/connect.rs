//! Connects to a host: the transport, the key exchange and the login.

use std::borrow::Cow;
use std::mem::discriminant;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use cuesta_record::clock;
use russh::client::{Config, Handle, connect_stream};
use russh::keys::Algorithm;
use russh::{Error, Limits, Preferred, SshId};

use super::client::Client;
use super::destination::{Destination, Route};
use super::login::{LoginAttempt, LoginFailure};
use super::shared::Shared;
use super::stream::StampedStream;
use super::transport::{JumpChannel, Transport};
use super::{INBOX, TaskGuard, attempts, certificate, known_hosts};
use crate::program::ProxyCommand;
use crate::{Address, LineMark, OpenError, Options, SshError, tcp};

/// The channel's window, on a line without a speed.
const WINDOW: u32 = 64 * 1024;

/// Idle time before a keep-alive is sent, unless the configuration says otherwise. It keeps routers from forgetting the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Long enough that sessions re-key by data only: by time, thousands of them would re-key at once.
const REKEY: Duration = Duration::from_secs(365 * 24 * 3600);

/// An authenticated connection and its protocol task, which ends with it.
pub(super) struct SshSession {
    pub(super) handle: Handle<Client>,
    pub(super) shared: Arc<Shared>,
    pub(super) mark: Option<LineMark>,
    /// Its socket, if the line is followed: the protocol's task has the connection.
    pub(super) probe: Option<OwnedFd>,
    /// Last, so that the protocol's task ends after everything else was sent.
    pub(super) guard: TaskGuard,
}

/// Connects and logs in; `shared` is told which phases have ended. `is_jump_host`: this is a jump host.
pub(super) async fn log_in(
    destination: &Destination,
    options: &Options,
    shared: Arc<Shared>,
    is_jump_host: bool,
) -> Result<SshSession, OpenError> {
    attempts::check(destination)?;
    let transport = open_transport(destination, options).await?;
    let (mark, probe) = (transport.mark(), transport.probe());
    shared.state().opening = transport.opening();
    let guard = TaskGuard(Arc::clone(&shared));
    let wire = StampedStream::new(transport, Arc::clone(&shared));
    let client = Client::new(Arc::clone(&shared), destination, is_jump_host);
    let connected = connect_stream(Arc::new(config(destination, options)), wire, client).await;
    let mut handle = connected.map_err(|error| not_connected(destination, &shared, &error))?;
    let at_login = |failure| match failure {
        LoginFailure::Ours(error) => error,
        LoginFailure::Broken(error) => hung_up(destination, &shared, &error),
    };
    let login = LoginAttempt::new(&mut handle, destination, &shared).run().await.map_err(at_login);
    match &login {
        Ok(()) => attempts::note_login(destination),
        Err(error) => attempts::note_failure(destination, error),
    }
    login?;
    shared.state().login.authenticated = Some(clock::now());
    Ok(SshSession { handle, shared, mark, probe, guard })
}

/// Opens the transport to a host; logs in to each jump host on the way.
async fn open_transport(destination: &Destination, options: &Options) -> Result<Transport, OpenError> {
    match &destination.route {
        // No kernel stamps: they would be of packets, some of which carry no character.
        Route::Direct => {
            let options = Options { stamped: false, ..options.clone() };
            Ok(Transport::Tcp(tcp::connect(&destination.address, &options).await?))
        }
        Route::Command(command) => Ok(Transport::Command(Box::new(ProxyCommand::start(command)?))),
        Route::Jump(before) => {
            let options = Options { line_speed: 0, followed: false, ..options.clone() };
            let shared = Arc::new(Shared::new(INBOX));
            let session = Box::pin(log_in(before, &options, shared, true)).await?;
            let Address { host, port } = &destination.address;
            let channel = session.handle.channel_open_direct_tcpip(host, (*port).into(), "127.0.0.1", 0).await;
            let channel = channel.map_err(|error| not_forwarded(before, destination, &session.shared, &error))?;
            Ok(Transport::JumpChannel(Box::new(JumpChannel::new(channel.into_stream(), session))))
        }
    }
}

/// Why a jump host does not forward the connection.
fn not_forwarded(before: &Destination, destination: &Destination, shared: &Shared, error: &Error) -> SshError {
    let cause = match error {
        Error::ChannelOpenFailure(reason) => format!("{reason:?}"),
        error => return hung_up(before, shared, error),
    };
    SshError::Jump { address: before.address.to_string(), to: destination.address.to_string(), cause }
}

/// Most received bytes that may wait for the user.
pub(super) fn inbox(line_speed: u32) -> usize {
    // At most a second's worth, so that an answer to a keep-alive never waits long behind it.
    if line_speed == 0 { INBOX } else { (line_speed as usize / 10).clamp(256, INBOX) }
}

fn config(destination: &Destination, options: &Options) -> Config {
    Config {
        client_id: SshId::Standard(Cow::Borrowed(concat!("SSH-2.0-Cuesta_", env!("CARGO_PKG_VERSION")))),
        limits: Limits { rekey_time_limit: REKEY, ..Limits::default() },
        window_size: if options.line_speed == 0 { WINDOW } else { (options.line_speed / 10).clamp(1024, WINDOW) },
        keepalive_interval: Some(destination.keep_alive.map_or(KEEP_ALIVE, |(interval, _)| interval)),
        // 0: a host that answers none is left alone.
        keepalive_max: destination.keep_alive.map_or(0, |(_, unanswered)| unanswered),
        preferred: preferred(destination),
        ..Config::default()
    }
}

/// The algorithms for this host. The types of its known keys come first, or it might present a key that is not known.
fn preferred(destination: &Destination) -> Preferred {
    let mut preferred = destination.algorithms.preferred.clone();
    if !destination.algorithms.are_host_keys_ordered {
        let known = known_hosts::algorithms(&destination.known_hosts, &destination.known_as);
        let is_known = |algorithm: &Algorithm| known.iter().any(|kind| discriminant(kind) == discriminant(algorithm));
        let (mut first, mut then): (Vec<_>, Vec<_>) = preferred.key.iter().cloned().partition(is_known);
        first.append(&mut then);
        preferred.host_key_certificates = Cow::Owned(first.clone());
        preferred.key = Cow::Owned(first);
    }
    if !certificate::has_authority(&destination.known_hosts, &[&destination.known_as, &destination.principal]) {
        preferred.host_key_certificates = Cow::Borrowed(&[]);
    }
    preferred
}

/// Why the key exchange failed.
fn not_connected(destination: &Destination, shared: &Shared, error: &Error) -> SshError {
    if let Some(distrust) = shared.state().distrust.take() {
        return distrust;
    }
    let output = shared.first_output();
    let speaks_ssh = shared.state().speaks_ssh;
    let command_error = shared.state().command_error.take();
    if let (Route::Command(command), false) = (&destination.route, speaks_ssh) {
        return SshError::Command { command: command.clone(), output: command_error.unwrap_or(output) };
    }
    let address = destination.address.to_string();
    let is_full =
        ["Exceeded MaxStartups", "Not allowed at this time"].iter().any(|words| shared.last_output_has(words));
    let hung_up = matches!(error, Error::Disconnect | Error::HUP | Error::IO(_));
    match error {
        // A host that is full hangs up after our banner, or before it.
        _ if hung_up && (output.is_empty() || is_full) => SshError::MaxStartups { address, output },
        _ if hung_up && speaks_ssh => SshError::MaxStartups { address, output: String::new() },
        _ if hung_up || matches!(error, Error::Version) => SshError::NotSsh { address, output },
        error => SshError::Kex { address, cause: error.to_string() },
    }
}

/// The line broke while a user logged in: the host's last message, or the error.
pub(super) fn hung_up(destination: &Destination, shared: &Shared, error: &Error) -> SshError {
    let cause = shared.broken().map_or_else(|| error.to_string(), |error| error.to_string());
    SshError::HungUp { address: destination.address.to_string(), user: destination.user.clone(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Login, Target};

    fn config_with(file: &str) -> Config {
        let Target::Ssh(target) = format!("ssh://h?agent=off&config={file}").parse().unwrap() else { unreachable!() };
        config(&Destination::new(&target, &Login::default()).unwrap(), &Options::default())
    }

    #[test]
    fn unanswered_keep_alives_end_a_line_only_where_the_configuration_says_so() {
        let usual = config_with("none");
        assert_eq!((usual.keepalive_interval, usual.keepalive_max), (Some(KEEP_ALIVE), 0));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "ServerAliveInterval 5\nServerAliveCountMax 2\n").unwrap();
        let configured = config_with(&file.path().display().to_string());
        assert_eq!((configured.keepalive_interval, configured.keepalive_max), (Some(Duration::from_secs(5)), 2));
    }
}
