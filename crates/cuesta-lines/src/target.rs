//! The target of a line, written as a URL.

use std::fmt;
use std::str::FromStr;

use crate::kinds::KINDS;
pub(crate) use crate::target_error::{TargetError, bad_setting};
use crate::terminal_settings::{self, TerminalSettings};
use crate::{BisyncTarget, SerialTarget, SshTarget, TelnetTarget, Tn3270Target, WebTarget};

pub(crate) const TELNET: u16 = 23;

/// The host to connect to, and by which kind of line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `host:`, the built-in host. The caller starts it and replaces this by its address.
    Host,
    /// `tcp://H:P`, bare characters.
    Tcp(Address),
    /// `telnet://H:P`, RFC 854, port 23 if none is given; `telnets://H:P`, the same over TLS, port 992.
    Telnet(TelnetTarget),
    /// `tn3270://H:P`, RFC 1576 and RFC 2355, port 23 if none is given; `tn3270s://H:P`, the same over TLS, port 992.
    Tn3270(Tn3270Target),
    /// `bsc://H:P?role=…`, binary synchronous communications over TCP.
    Bisync(BisyncTarget),
    /// `pty:COMMAND`, a program on a pseudo-terminal.
    Pty(String),
    /// `pipe:COMMAND`, a program with pipes in place of a terminal.
    Pipe(String),
    /// `serial:DEVICE?baud=…`, a device.
    Serial(SerialTarget),
    /// `ssh://USER@H:P`, RFC 4251 ff.; port 22 if nothing gives another.
    Ssh(SshTarget),
    /// `ttyd+ws://H:P/PATH` and its kin, `ws://H:P/PATH`, RFC 6455; over TLS `ttyd+wss:`, `wss:`.
    Web(WebTarget),
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    /// A name, an IPv4 address, or an IPv6 address without its brackets.
    pub host: String,
    /// The port; 0 only for listening: any free port.
    pub port: u16,
}

/// A target in its canonical spelling.
///
/// # Errors
/// When the text is no target.
pub fn canonical(text: &str) -> Result<String, TargetError> {
    let target: Target = text.parse()?;
    Ok(terminal_settings::add_to(&target.to_string(), &TerminalSettings::from_target(text)))
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        if text.is_empty() {
            return Err(TargetError::Empty);
        }
        let (text, _) = terminal_settings::split(text)?;
        let (scheme, rest) = text.split_once(':').ok_or_else(|| TargetError::NoScheme(text.clone().into_owned()))?;
        match KINDS.iter().find(|kind| kind.name == scheme) {
            Some(kind) => (kind.parse)(rest),
            None if scheme == "http" || scheme == "https" => Err(TargetError::Page),
            None if !rest.starts_with("//") => Err(TargetError::NoScheme(text.clone().into_owned())),
            None => Err(TargetError::UnknownScheme(scheme.to_owned())),
        }
    }
}

pub(crate) fn built_in_host(rest: &str) -> Result<Target, TargetError> {
    if rest.is_empty() { Ok(Target::Host) } else { Err(TargetError::HostTakesNothing(rest.to_owned())) }
}

/// The command after `pty:` or `pipe:`, for a shell to read.
pub(crate) fn command(scheme: &str, rest: &str) -> Result<String, TargetError> {
    let command = rest.trim();
    let after_slashes = command.strip_prefix("//").map(str::trim);
    // A NUL would silently cut the command.
    if command.is_empty() || after_slashes == Some("") || command.contains('\0') {
        return Err(TargetError::NoCommand(scheme.to_owned()));
    }
    after_slashes.map_or(Ok(command.to_owned()), |command| {
        Err(TargetError::Slashes { scheme: scheme.to_owned(), command: command.to_owned() })
    })
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => write!(f, "host:"),
            Self::Tcp(address) => write!(f, "tcp://{address}"),
            Self::Telnet(target) => target.fmt(f),
            Self::Tn3270(target) => target.fmt(f),
            Self::Bisync(target) => target.fmt(f),
            Self::Ssh(target) => target.fmt(f),
            Self::Pty(command) => write!(f, "pty:{command}"),
            Self::Pipe(command) => write!(f, "pipe:{command}"),
            Self::Serial(target) => target.fmt(f),
            Self::Web(target) => target.fmt(f),
        }
    }
}

impl Address {
    /// Parses what follows the scheme.
    pub(crate) fn parse(scheme: &str, rest: &str, usual_port: Option<u16>) -> Result<Self, TargetError> {
        let text = rest.strip_prefix("//").ok_or_else(|| TargetError::NoSlashes(scheme.to_owned()))?;
        let text = text.strip_suffix('/').unwrap_or(text);
        if text.contains('@') {
            return Err(TargetError::HasUser);
        }
        if let Some(excess) = excess(text) {
            return Err(TargetError::TooMuch { excess: excess.to_owned(), text: text.to_owned() });
        }
        let (host, port) = split(text)?;
        if host.is_empty() {
            return Err(TargetError::NoHost(text.to_owned()));
        }
        let port = match port {
            None => usual_port.ok_or_else(|| TargetError::NoPort(text.to_owned()))?,
            Some(digits) => parse_port(digits)?,
        };
        Ok(Self { host: host.to_owned(), port })
    }
}

/// The number of a port.
pub(crate) fn parse_port(digits: &str) -> Result<u16, TargetError> {
    // `parse` alone would take "+23".
    let port = if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None };
    port.ok_or_else(|| TargetError::BadPort(digits.to_owned()))
}

/// What follows a scheme, without its settings, and the settings by name and value.
pub(crate) fn settings(rest: &str) -> (&str, impl Iterator<Item = (&str, &str)>) {
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    (address, settings_in(query))
}

/// The settings in a query, by name and value.
pub(crate) fn settings_in(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let settings = query.split('&').filter(|setting| !setting.is_empty());
    settings.map(|setting| setting.split_once('=').unwrap_or((setting, "")))
}

/// The value that a table has under this name.
pub(crate) fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The name that a table has for this value.
pub(crate) fn name_in<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// The settings of a query, with their mark; nothing if there are none.
pub(crate) fn query(settings: &[String]) -> String {
    if settings.is_empty() { String::new() } else { format!("?{}", settings.join("&")) }
}

/// The first character that cannot be part of a host and a port, with what follows it.
fn excess(text: &str) -> Option<&str> {
    let odd = |c: char| matches!(c, '/' | '?' | '#') || c.is_whitespace() || c.is_control();
    text.find(odd).map(|at| &text[at..])
}

/// Host and port, if there is one.
pub(crate) fn split(text: &str) -> Result<(&str, Option<&str>), TargetError> {
    let unclear = || TargetError::NoBrackets(text.to_owned());
    if let Some(inner) = text.strip_prefix('[') {
        let (host, rest) = inner.split_once(']').filter(|(host, _)| !host.contains('[')).ok_or_else(unclear)?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(unclear()),
        };
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => Err(unclear()),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_reads_back_as_written() {
        for text in ["host:", "tcp://127.0.0.1:2323", "telnet://lines.example:23", "telnet://[::1]:65535", "tcp://h:0"]
        {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn telnet_has_a_usual_port_and_may_end_in_a_slash() {
        for text in ["telnet://lines.example", "telnet://lines.example/", "telnet://lines.example:23/"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), "telnet://lines.example:23");
        }
        assert_eq!("telnet://[fe80::1]".parse::<Target>().unwrap().to_string(), "telnet://[fe80::1]:23");
    }

    #[test]
    fn errors_give_a_correct_example() {
        let texts = [
            "",
            "lines.example",
            "127.0.0.1:23",
            "gopher://h:70",
            "pty:",
            "pipe: ",
            "pty://",
            "pty://bash",
            "pipe:///bin/cat",
            "bsc://h",
            "host:9",
            "tcp:h:23",
            "tcp://",
            "tcp://:23",
            "tcp://h",
            "tcp://h:",
            "tcp://h:http",
            "tcp://h:65536",
            "tcp://h:-1",
            "tcp://h:+1",
            "tcp://::1:23",
            "tcp://[::1:23",
            "tcp://[::1]23",
            "tcp://[[]:23",
            "tcp://joe@h:23",
            "tcp://h:23/x",
            "tcp://h h:23",
        ];
        let errors: Vec<String> =
            texts.iter().map(|text| format!("{text:14} {}", text.parse::<Target>().unwrap_err())).collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
