//! Why an ssh line could not be opened: each error has a name and a remedy.

use std::io;
use std::path::PathBuf;

use cuesta_record::Failure;
use thiserror::Error;

/// Why an ssh line could not be opened.
#[derive(Debug, Error)]
pub enum SshError {
    /// The host hung up, or reported that it is full, before the login began.
    #[error(
        "{address} refused the connection before the login began{}: it takes no more logins at once (MaxStartups, or a \
        per-source penalty); let users start further apart (--stagger), or raise MaxStartups in its sshd_config",
        in_its_words(said)
    )]
    MaxStartups { address: String, said: String },
    /// Something else listens there.
    #[error("{address} does not speak ssh{}: check the port, or use telnet:// or tcp://", in_its_words(said))]
    NotSsh { address: String, said: String },
    /// The two ends have no algorithm in common, or the key exchange failed.
    #[error("the key exchange with {address} failed ({cause}): see its sshd_config for the algorithms that it allows")]
    Kex { address: String, cause: String },
    /// The host is in no known hosts file.
    #[error(
        "{address} is not a known host: its key is {fingerprint}. Compare that with the host's own (ssh-keygen -lf on it), then \
        log in once with ssh, or add ?known_hosts=accept-new to the target (looked in {})",
        list(files)
    )]
    UnknownHost { address: String, fingerprint: String, files: Vec<PathBuf> },
    /// The host's key is not the known one.
    #[error(
        "the key of {address} has changed ({fingerprint} is not the one in {}, row {row}): this may be a man in the middle. If \
        the host was reinstalled, remove its row with ssh-keygen -R",
        file.display()
    )]
    ChangedHost { address: String, fingerprint: String, file: PathBuf, row: usize },
    /// The host's key is marked as revoked.
    #[error("the key of {address} is revoked in {}, row {row}: do not log in there", file.display())]
    RevokedHost { address: String, file: PathBuf, row: usize },
    /// A new host's key could not be stored.
    #[error("the key of {address} cannot be written to {}: {cause}", file.display())]
    NotWritten { address: String, file: PathBuf, cause: io::Error },
    /// The host accepted none of the credentials.
    #[error("{address} did not let {user} in: tried {tried}; it accepts {takes}. {remedy}")]
    Auth { address: String, user: String, tried: String, takes: String, remedy: &'static str },
    /// The host asks what Cuesta cannot or must not answer.
    #[error("{address} asks {user}: \"{}\". {why}", shown(prompt))]
    Prompt { address: String, user: String, prompt: String, why: Unanswered },
    /// A one-time code cannot be had.
    #[error("the one-time code for {user} at {address} cannot be had: {what}")]
    Code { address: String, user: String, what: String },
    /// The host has refused this user before.
    #[error("{refusal} (not tried again: after a few wrong answers a host may lock the account)")]
    NotRepeated { refusal: String },
    /// A host's certificate is not valid.
    #[error("the certificate of {address} is not valid: {what}")]
    Certificate { address: String, what: String },
    /// A jump host does not forward the connection.
    #[error(
        "{address} does not forward the connection to {to} ({cause}): see AllowTcpForwarding in its sshd_config, and check that {to} can be reached from it"
    )]
    Jump { address: String, to: String, cause: String },
    /// The `ProxyCommand` ended without reaching a host.
    #[error(
        "the ProxyCommand `{command}` reached no ssh host{}: run it by hand; it should print the host's banner, SSH-2.0-…",
        in_its_words(said)
    )]
    Command { command: String, said: String },
    /// A key file has a passphrase that was not given.
    #[error("{} has a passphrase: load it into the agent (ssh-add), or run Cuesta at a terminal, where it asks for it", file.display())]
    Locked { file: PathBuf },
    /// A key file cannot be used.
    #[error("the key file {} cannot be used: {cause}", file.display())]
    Identity { file: PathBuf, cause: String },
    /// OpenSSH's configuration has a setting that Cuesta cannot honour.
    #[error("the ssh configuration of {host}: {what}")]
    Config { host: String, what: String },
    /// The host opens no session.
    #[error("{address} opens no session ({cause}): see MaxSessions in its sshd_config, and what {user} may do there")]
    Channel { address: String, user: String, cause: String },
    /// The host refuses a terminal.
    #[error(
        "{address} gives {user} no terminal: see PermitTTY in its sshd_config, no-pty in authorized_keys, and kernel.pty.max"
    )]
    NoPty { address: String, user: String },
    /// The host starts no program.
    #[error("{address} starts no {what} for {user}: see the user's shell and ForceCommand in its sshd_config")]
    NoShell { address: String, user: String, what: &'static str },
    /// The line broke while the user logged in.
    #[error("{address} hung up while {user} logged in ({cause})")]
    HungUp { address: String, user: String, cause: String },
}

/// Why a prompt is not answered, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unanswered {
    /// Its words do not say what it asks for.
    #[error(
        "Cuesta answers prompts for a user's name, a password or a one-time code, and this is not clearly one of them: see the \
        host's PAM configuration"
    )]
    Unknown,
    /// It asks for a password that is to be set.
    #[error("Cuesta sets no password: log in once with ssh")]
    NewPassword,
    /// It was answered before.
    #[error("It asks again, so the first answer was wrong")]
    Again,
    /// The user has no password.
    #[error(
        "There is no password: put it into the users' table (--data, column password); record asks for it with --ask-password"
    )]
    NoPassword,
    /// The user has no one-time code.
    #[error(
        "There is no one-time code: put the secret (column totp) or the code (column code) into the users' table (--data), or \
        name a command that prints it (?code=COMMAND)"
    )]
    NoCode,
}

impl SshError {
    /// What it is counted as.
    pub fn failure(&self) -> Failure {
        match self {
            Self::MaxStartups { .. } => Failure::MaxStartups,
            Self::NotSsh { .. } => Failure::NotSsh,
            Self::Kex { .. } => Failure::Kex,
            Self::UnknownHost { .. }
            | Self::ChangedHost { .. }
            | Self::RevokedHost { .. }
            | Self::NotWritten { .. } => Failure::HostKey,
            Self::Certificate { .. } => Failure::HostCertificate,
            Self::Jump { .. } => Failure::Jump,
            Self::Command { .. } => Failure::ProxyCommand,
            Self::Auth { .. } | Self::Prompt { .. } | Self::Code { .. } | Self::NotRepeated { .. } => Failure::Auth,
            Self::Identity { .. } | Self::Locked { .. } => Failure::Identity,
            Self::Config { .. } => Failure::SshConfig,
            Self::Channel { .. } => Failure::Channel,
            Self::NoPty { .. } => Failure::NoPty,
            Self::NoShell { .. } => Failure::NoShell,
            Self::HungUp { .. } => Failure::HungUp,
        }
    }
}

fn in_its_words(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" (it said \"{text}\")") }
}

/// At most a row of a host's text, without control characters.
fn shown(text: &str) -> String {
    text.trim().chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}
