//! Opens the terminal's end of a line to a target.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use cuesta_record::{Failure, clock};
use rustix::io::Errno;
use thiserror::Error;

use crate::decoded::Decoded;
use crate::tcp::Tcp;
use crate::tls::{Tls, TlsClient};
use crate::wire::bisync::Role;
use crate::{
    Address, Bisync, Charset, Line, Login, LoginParts, Opening, Pipe, ProgramError, Pty, RateLimited, SerialError,
    SshError, Target, Telnet, TelnetTarget, TerminalSettings, TlsSettings, Tn3270, Tn3270Target, WebError, serial, ssh,
    tcp, web,
};

/// Settings of a line.
#[derive(Debug, Clone)]
pub struct Options {
    /// Line speed in bits a second, ten to a character, each way; 0 = unlimited.
    pub line_speed: u32,
    /// Whether the kernel stamps packets (`SO_TIMESTAMPING`), which costs a system call a key.
    pub stamped: bool,
    /// Whether a tracer at the host is to follow the line: it is then marked, see [`LineMark`](crate::LineMark).
    pub followed: bool,
    pub columns: u16,
    pub rows: u16,
    /// The terminal's name (`TERM`).
    pub terminal: String,
    /// The host's character set of eight bits; none = UTF-8.
    pub charset: Option<Charset>,
    /// How long connecting may take; on a line that logs in by itself, until a program has started.
    pub connect_timeout: Duration,
    /// User and password, for lines that log in by themselves.
    pub login: Login,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            line_speed: 0,
            stamped: false,
            followed: false,
            columns: 80,
            rows: 24,
            terminal: "xterm-256color".to_owned(),
            charset: None,
            connect_timeout: Duration::from_secs(10),
            login: Login::default(),
        }
    }
}

impl Options {
    /// What a target says of the terminal, and else the defaults.
    pub fn for_target(target: &str) -> Self {
        let TerminalSettings { charset, name, .. } = TerminalSettings::from_target(target);
        let usual = Self::default();
        Self { terminal: name.unwrap_or_else(|| usual.terminal.clone()), charset, ..usual }
    }
}

/// Why a line could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("nothing listens at {address} (refused): start the host, or check the address")]
    Refused { address: String },
    #[error("{address} cannot be reached ({cause}): check the network and the address")]
    Unreachable { address: String, cause: io::Error },
    #[error("\"{host}\" has no address ({cause}): check the name")]
    Unresolved { host: String, cause: io::Error },
    #[error("{address} did not answer within {} s: it is down, overloaded, or behind a firewall", waited.as_secs_f64())]
    Timeout { address: String, waited: Duration },
    #[error("too few file descriptors for a line to {address}: raise the limit with `ulimit -n` (each line takes one)")]
    OutOfFiles { address: String },
    #[error(
        "no local port is left for a line to {address}: widen /proc/sys/net/ipv4/ip_local_port_range, or wait a minute \
         for closed lines to be forgotten"
    )]
    OutOfPorts { address: String },
    #[error("{address} hung up while the line was opened (reset): it takes no more lines, or is no such host")]
    Reset { address: String },
    /// `host:` names no address; it must be resolved before opening.
    #[error("host: has no address of its own: start the built-in host and open the address that it prints")]
    NoAddress,
    #[error(
        "no TLS with {address}: {cause}. If the host has a certificate of its own, name it with ?certificate=FILE; ?verify=no \
        trusts any"
    )]
    Tls { address: String, cause: String },
    #[error("{address} does not give the logical unit {lu}: {why}")]
    LogicalUnit { address: String, lu: String, why: String },
    /// It failed after the line was connected.
    #[error("{error}")]
    Unfinished { error: Box<OpenError>, progress: Box<(Opening, LoginParts)> },
    #[error(transparent)]
    Ssh(#[from] SshError),
    #[error(transparent)]
    Web(#[from] WebError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Serial(#[from] SerialError),
    #[error("no line to {address}: {cause}")]
    Failed { address: String, cause: io::Error },
}

impl OpenError {
    /// What it is counted as.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Refused { .. } => Failure::Refused,
            Self::Unreachable { .. } => Failure::Unreachable,
            Self::Unresolved { .. } => Failure::Unresolved,
            Self::Timeout { .. } => Failure::Timeout,
            Self::OutOfFiles { .. } => Failure::OutOfFiles,
            Self::OutOfPorts { .. } => Failure::OutOfPorts,
            Self::Reset { .. } => Failure::Reset,
            Self::NoAddress => Failure::NoAddress,
            Self::Tls { .. } => Failure::Tls,
            Self::LogicalUnit { .. } => Failure::LogicalUnit,
            Self::Unfinished { error, .. } => error.failure(),
            Self::Ssh(error) => error.failure(),
            Self::Web(error) => error.failure(),
            Self::Program(error) => error.failure(),
            Self::Serial(error) => error.failure(),
            Self::Failed { .. } => Failure::Failed,
        }
    }

    /// The phases of the opening that ended before it failed, if they are known.
    pub fn progress(&self) -> (Opening, LoginParts) {
        match self {
            Self::Unfinished { progress, .. } => **progress,
            _ => Default::default(),
        }
    }

    pub(crate) fn unresolved(address: &Address, cause: io::Error) -> Self {
        match Errno::from_io_error(&cause) {
            Some(Errno::MFILE | Errno::NFILE) => Self::OutOfFiles { address: address.to_string() },
            _ => Self::Unresolved { host: address.host.clone(), cause },
        }
    }

    pub(crate) fn not_connected(address: SocketAddr, cause: io::Error) -> Self {
        let address = address.to_string();
        match Errno::from_io_error(&cause) {
            Some(Errno::CONNREFUSED) => Self::Refused { address },
            Some(Errno::CONNRESET) => Self::Reset { address },
            Some(Errno::MFILE | Errno::NFILE) => Self::OutOfFiles { address },
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Self::OutOfPorts { address },
            Some(Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::NETDOWN | Errno::HOSTDOWN | Errno::TIMEDOUT) => {
                Self::Unreachable { address, cause }
            }
            _ => Self::Failed { address, cause },
        }
    }
}

/// Opens the terminal's end of a line to `target`. Only under [`cuesta_record::clock::run`], in real time. What is rarely opened has a
/// box of its own, so that the others take less memory.
pub async fn open(target: &Target, options: &Options) -> Result<Box<dyn Line>, OpenError> {
    match target {
        Target::Host => Err(OpenError::NoAddress),
        Target::Tcp(address) => Ok(text_line(tcp::connect(address, options).await?, options)),
        Target::Telnet(TelnetTarget { address, enter, tls: None }) => {
            let line = tcp::connect(address, options).await?;
            Ok(text_line(Telnet::terminal(line, options, *enter), options))
        }
        Target::Telnet(TelnetTarget { address, enter, tls: Some(settings) }) => {
            let line = Box::pin(connect_tls(address, settings, options)).await?;
            Ok(text_line(Telnet::terminal(line, options, *enter), options))
        }
        Target::Tn3270(target) => Box::pin(open_3270(target, options)).await,
        Target::Bisync(target) => {
            // What a station sends is no key. And while the kernel's stamp of it is not read, the kernel acknowledges nothing at once.
            let unstamped = Options { stamped: false, followed: false, ..options.clone() };
            let line = tcp::connect(&target.address, &unstamped).await?;
            Ok(Box::new(Bisync::new(line, target, Role::Primary, options.line_speed)))
        }
        Target::Pty(command) => {
            let window = (options.columns, options.rows);
            let mut pty = Pty::start(command, &options.terminal, window)?;
            if options.followed {
                pty.have_followed();
            }
            Ok(text_line(pty, options))
        }
        Target::Pipe(command) => Ok(text_line(Pipe::start(command, &options.terminal)?, options)),
        Target::Serial(target) => Ok(text_line(serial::open(target)?, options)),
        Target::Ssh(target) => Ok(text_line(ssh::open(target, options).await?, options)),
        Target::Web(target) => Ok(text_line(web::open(target, options).await?, options)),
    }
}

/// Opens a line and closes it, to learn whether a user could. As [`open`].
pub async fn probe(target: &Target, options: &Options) -> Result<(), OpenError> {
    match target {
        Target::Web(target) => web::probe(target, options).await,
        _ => open(target, options).await.map(drop),
    }
}

/// A line of text, with its speed and its character set.
fn text_line(line: impl Line + 'static, options: &Options) -> Box<dyn Line> {
    let charset = options.charset.clone();
    match options.line_speed {
        0 => Box::new(Decoded::new(line, charset)),
        speed => Box::new(Decoded::new(RateLimited::new(line, speed), charset)),
    }
}

/// A connection with TLS, within the connect timeout.
async fn connect_tls(address: &Address, settings: &TlsSettings, options: &Options) -> Result<Tls<Tcp>, OpenError> {
    // No kernel stamps: they would be of packets, some of which carry no character.
    let line = tcp::connect(address, &Options { stamped: false, ..options.clone() }).await?;
    let client = TlsClient::new(address, settings)?;
    within_timeout(address, options, client.connect(line)).await
}

async fn open_3270(target: &Tn3270Target, options: &Options) -> Result<Box<dyn Line>, OpenError> {
    match &target.tls {
        None => negotiate_3270(tcp::connect(&target.address, options).await?, target, options).await,
        Some(settings) => negotiate_3270(connect_tls(&target.address, settings, options).await?, target, options).await,
    }
}

/// A 3270's line, whose logical unit the host has accepted.
async fn negotiate_3270(
    line: impl Line + 'static,
    target: &Tn3270Target,
    options: &Options,
) -> Result<Box<dyn Line>, OpenError> {
    let lu = options.login.lu.as_ref().or(target.lu.as_ref());
    let mut line = Tn3270::terminal(line, options, target.extended, lu.map(String::as_str));
    if let Some(lu) = lu {
        within_timeout(&target.address, options, async {
            let refused = |why| OpenError::LogicalUnit { address: target.address.to_string(), lu: lu.clone(), why };
            line.logical_unit().await.map_err(refused)
        })
        .await?;
    }
    Ok(at_speed(line, options))
}

async fn within_timeout<T>(
    address: &Address,
    options: &Options,
    opening: impl Future<Output = Result<T, OpenError>>,
) -> Result<T, OpenError> {
    let waited = options.connect_timeout;
    let opened = tcp::with_deadline(clock::now() + waited, opening).await;
    opened.unwrap_or_else(|| Err(OpenError::Timeout { address: address.to_string(), waited }))
}

fn at_speed(line: impl Line + 'static, options: &Options) -> Box<dyn Line> {
    match options.line_speed {
        0 => Box::new(line),
        speed => Box::new(RateLimited::new(line, speed)),
    }
}
