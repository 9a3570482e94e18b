//! Why an ssh line could not be opened: each error has a name and a remedy.

use std::io;
use std::path::PathBuf;

use cuesta_record::Failure;
use thiserror::Error;

/// Why an ssh line could not be opened.
#[derive(Debug, Error)]
pub enum SshError {
    #[error(
        "{address} refused the connection before the login began{}: it takes no more logins at once (MaxStartups, or a \
        per-source penalty); let users start further apart (--stagger), or raise MaxStartups in its sshd_config",
        quote(output)
    )]
    MaxStartups { address: String, output: String },
    #[error("{address} does not speak ssh{}: check the port, or use telnet:// or tcp://", quote(output))]
    NotSsh { address: String, output: String },
    #[error("the key exchange with {address} failed ({cause}): see its sshd_config for the algorithms that it allows")]
    Kex { address: String, cause: String },
    #[error(
        "{address} is not a known host: its key is {fingerprint}. Compare that with the host's own (ssh-keygen -lf on it), then \
        log in once with ssh, or add ?known_hosts=accept-new to the target (looked in {})",
        list(files)
    )]
    UnknownHost { address: String, fingerprint: String, files: Vec<PathBuf> },
    #[error(
        "the key of {address} has changed ({fingerprint} is not the one in {}, row {row}): this may be a man in the middle. If \
        the host was reinstalled, remove its row with ssh-keygen -R",
        file.display()
    )]
    ChangedHost { address: String, fingerprint: String, file: PathBuf, row: usize },
    #[error("the key of {address} is revoked in {}, row {row}: do not log in there", file.display())]
    RevokedHost { address: String, file: PathBuf, row: usize },
    #[error("the key of {address} cannot be written to {}: {cause}", file.display())]
    NotWritten { address: String, file: PathBuf, cause: io::Error },
    #[error("{address} did not let {user} in: tried {tried}; it accepts {takes}. {remedy}")]
    Auth { address: String, user: String, tried: String, takes: String, remedy: &'static str },
    #[error("{address} asks {user}: \"{}\". {why}", make_printable(prompt))]
    Prompt { address: String, user: String, prompt: String, why: Unanswered },
    #[error("the one-time code for {user} at {address} cannot be had: {what}")]
    Code { address: String, user: String, what: String },
    #[error("{refusal} (not tried again: after a few wrong answers a host may lock the account)")]
    NotRepeated { refusal: String },
    #[error("the certificate of {address} is not valid: {what}")]
    Certificate { address: String, what: String },
    #[error(
        "{address} does not forward the connection to {to} ({cause}): see AllowTcpForwarding in its sshd_config, and check that {to} can be reached from it"
    )]
    Jump { address: String, to: String, cause: String },
    #[error(
        "the ProxyCommand `{command}` reached no ssh host{}: run it by hand; it should print the host's banner, SSH-2.0-…",
        quote(output)
    )]
    Command { command: String, output: String },
    #[error("{} has a passphrase: load it into the agent (ssh-add), or run Cuesta at a terminal, where it asks for it", file.display())]
    Locked { file: PathBuf },
    #[error("the key file {} cannot be used: {cause}", file.display())]
    Identity { file: PathBuf, cause: String },
    #[error("the ssh configuration of {host}: {what}")]
    Config { host: String, what: String },
    #[error("{address} opens no session ({cause}): see MaxSessions in its sshd_config, and what {user} may do there")]
    Channel { address: String, user: String, cause: String },
    #[error(
        "{address} gives {user} no terminal: see PermitTTY in its sshd_config, no-pty in authorized_keys, and kernel.pty.max"
    )]
    NoPty { address: String, user: String },
    #[error(
        "{address} starts no {what} for {user}: see how many processes the user may have there (ulimit -u, pids.max), and \
        ForceCommand in its sshd_config"
    )]
    NoShell { address: String, user: String, what: &'static str },
    #[error("{address} hung up while {user} logged in ({cause})")]
    HungUp { address: String, user: String, cause: String },
}

/// Why a prompt is not answered, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unanswered {
    #[error(
        "Cuesta answers prompts for a user's name, a password or a one-time code, and this is not clearly one of them: see the \
        host's PAM configuration"
    )]
    Unknown,
    #[error("Cuesta sets no password: log in once with ssh")]
    NewPassword,
    #[error("It asks again, so the first answer was wrong")]
    Again,
    #[error(
        "There is no password: put it into the users' table (--data, column password); record asks for it with --ask-password"
    )]
    NoPassword,
    #[error(
        "There is no one-time code: put the secret (column totp) or the code (column code) into the users' table (--data), or \
        name a command that prints it (?code=COMMAND)"
    )]
    NoCode,
}

impl SshError {
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

fn quote(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" (it said \"{text}\")") }
}

/// At most a row of a host's text, without control characters.
fn make_printable(text: &str) -> String {
    text.trim().chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}
