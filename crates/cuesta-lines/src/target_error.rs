//! Why a text is not a target: each error gives an example.

use thiserror::Error;

use crate::kinds::KINDS;

/// Why a text is not a target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    /// An empty text.
    #[error("a target is empty: expected {}", expected())]
    Empty,
    /// `lines.example:23`
    #[error("\"{0}\" names no kind of line: write telnet://{0}, tcp://{0} or ssh://{0}")]
    NoScheme(String),
    /// `gopher://…`
    #[error("\"{0}:\" is no kind of line: expected {list}", list = expected())]
    UnknownScheme(String),
    /// `host:9`
    #[error("host: stands alone: it is the built-in host, found \"{0}\" after it")]
    HostTakesNothing(String),
    /// `pty:`
    #[error("{0}: needs a command, as in {0}:bash or '{0}:emacs -nw -Q'")]
    NoCommand(String),
    /// `pty://bash`
    #[error("{scheme}: takes a command, and no slashes before it: write {scheme}:{command}")]
    Slashes { scheme: String, command: String },
    /// `https://lab.example/user/joe/lab`
    #[error(
        "a page's address: name the kind of web terminal that is there, as in ttyd+ws://HOST/ or \
        jupyter+wss://HOST/user/joe/ (docs/web.md: which of these is yours); cuesta run --target with this address says which it looks like"
    )]
    Page,
    /// `k8s+wss://h`
    #[error("{scheme}: names too little: expected {scheme}://HOST{names}")]
    NoPath { scheme: String, names: &'static str },
    /// `ws://h/x?token=geheim`
    #[error(
        "a secret never stands in a target: write {0}={{{0}}} and put it into the users' table (--data users.csv, column {0})"
    )]
    SecretInQuery(String),
    /// `serial:ttyS0`
    #[error("\"{0}\" is no device's path: expected serial:/dev/NAME, as in serial:/dev/ttyUSB0?baud=9600")]
    NoDevice(String),
    /// `tcp:lines.example:23`
    #[error("expected // after \"{0}:\", as in {0}://127.0.0.1:23")]
    NoSlashes(String),
    /// `tcp://:23`
    #[error("no host in \"{0}\": expected HOST:PORT, as in 127.0.0.1:23")]
    NoHost(String),
    /// `tcp://lines.example`
    #[error("no port in \"{0}\": this kind of line has no usual one, write HOST:PORT")]
    NoPort(String),
    /// `tcp://lines.example:http`
    #[error("\"{0}\" is no port: expected a number up to 65535")]
    BadPort(String),
    /// `tcp://::1:23`
    #[error("\"{0}\" is not clear: write an IPv6 address in brackets, as in [::1]:23")]
    NoBrackets(String),
    /// `tcp://joe:secret@lines.example:23`
    #[error("a target names no user: the tape logs in, with names and passwords from --data")]
    HasUser,
    /// `ssh://joe:secret@bastion`
    #[error(
        "a password never stands in a target: put it into the users' table (--data users.csv, columns user and password), or \
         use a key (?identity=FILE) or the agent"
    )]
    Password,
    /// `ssh://@bastion`
    #[error("\"{0}\" is no user's name: expected ssh://USER@HOST, with special characters as %XX")]
    BadUser(String),
    /// `ssh://bastion?obscure=yes`
    #[error("\"{setting}\" is no setting of this target: expected {expected}")]
    BadSetting { setting: String, expected: &'static str },
    /// `bsc://lines.example:2703?enq_limit=9`
    #[error("{0}")]
    Inconsistent(String),
    /// `tcp://lines.example:23/path`
    #[error("\"{excess}\" is too much in \"{text}\": expected HOST:PORT and no more")]
    TooMuch { excess: String, text: String },
}

/// The syntax of all kinds as a list for messages. Of web terminals it has the names: they are written alike.
fn expected() -> String {
    let plain = KINDS.iter().filter(|kind| !kind.name.contains('+')).map(|kind| kind.syntax);
    let web = KINDS.iter().filter_map(|kind| kind.name.strip_suffix("+ws"));
    let (plain, web): (Vec<_>, Vec<_>) = (plain.collect(), web.collect());
    format!("{}, or a web terminal as NAME+ws://HOST/PATH with a NAME of {}", plain.join(", "), web.join(", "))
}

/// The error for a setting that a target does not have.
pub(crate) fn bad_setting(key: &str, value: &str, expected: &'static str) -> TargetError {
    TargetError::BadSetting { setting: format!("{key}={value}"), expected }
}
