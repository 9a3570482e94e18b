//! The kinds of lines: the table that parsing, messages, preflight and Python's `cuesta.line_kinds` read.

use serde::Serialize;

use crate::target::{Address, TELNET, Target, TargetError, built_in_host, command};
use crate::tls::TELNETS;
use crate::web::{self, WebKind, WebTarget};
use crate::{BisyncTarget, TelnetTarget, Tn3270Target};

/// A kind of line: one row of [`KINDS`]. Python has all columns but the parser.
#[allow(clippy::struct_excessive_bools)] // They do not depend on one another.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Kind {
    /// The scheme of its targets.
    pub name: &'static str,
    /// How its targets are written.
    pub syntax: &'static str,
    /// The port of an address without one.
    pub port: Option<u16>,
    /// The target is a command, which the driver starts for each line.
    pub starts_program: bool,
    /// What its users sit at.
    pub terminal: TerminalKind,
    /// Whether the host can echo what is typed.
    pub can_echo: bool,
    /// Whether the other end acknowledges messages.
    pub acknowledges: bool,
    /// Whether opening a line logs its user in.
    pub logs_in: bool,
    /// The last phase of opening a line (docs/folder.md): `connect`, `login` or `session`.
    pub last_phase: &'static str,
    /// The flag without which its servers drop all keys, silently.
    pub writable_by: Option<&'static str>,
    /// What sessions leave at the host if the driver is killed, and how it is removed.
    pub left_behind: Option<&'static str>,
    /// Whether a login shell usually answers, which keeps a history of what is typed.
    pub has_shell: bool,
    /// Whether nothing but a connection need be tried to know that users can work there.
    pub only_connects: bool,
    /// Whether a person can sit at it and be recorded: its output is a video terminal's.
    pub recordable: bool,
    /// Descriptors that the driver needs for each line: a connection; the ends and the pidfd of a program; a device and its lock.
    pub descriptors: u32,
    /// The mark before the settings of its targets: `?`, or `#` where the query is the host's.
    pub settings_mark: char,
    /// Parses the text after `SCHEME:`.
    #[serde(skip)]
    pub(crate) parse: fn(&str) -> Result<Target, TargetError>,
}

/// A display and its keyboard, as a host sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TerminalKind {
    /// A video terminal: a stream of characters each way.
    Vt,
    /// A 3270: the host writes screens of fields, the user fills them and sends them whole.
    Block,
}

const CONNECTION: Kind = Kind {
    name: "",
    syntax: "",
    port: None,
    starts_program: false,
    terminal: TerminalKind::Vt,
    can_echo: true,
    acknowledges: false,
    logs_in: false,
    last_phase: "connect",
    writable_by: None,
    left_behind: None,
    has_shell: false,
    only_connects: false,
    recordable: true,
    descriptors: 1,
    settings_mark: '?',
    parse: |_| Err(TargetError::Empty),
};
const PROGRAM: Kind = Kind { starts_program: true, ..CONNECTION };

/// All kinds of lines. Parsing, the lists in error messages and Python's `cuesta.target` are made from this table.
pub const KINDS: [Kind; 31] = [
    Kind { name: "host", syntax: "host:", parse: built_in_host, ..CONNECTION },
    Kind {
        name: "pty",
        syntax: "pty:COMMAND",
        has_shell: true,
        descriptors: 2,
        parse: |text| command("pty", text).map(Target::Pty),
        ..PROGRAM
    },
    Kind {
        name: "pipe",
        syntax: "pipe:COMMAND",
        can_echo: false,
        descriptors: 3,
        parse: |text| command("pipe", text).map(Target::Pipe),
        ..PROGRAM
    },
    Kind {
        name: "tcp",
        syntax: "tcp://HOST:PORT",
        only_connects: true,
        parse: |text| Address::parse("tcp", text, None).map(Target::Tcp),
        ..CONNECTION
    },
    Kind {
        name: "telnet",
        syntax: "telnet://HOST:PORT",
        port: Some(TELNET),
        has_shell: true,
        only_connects: true,
        parse: |text| TelnetTarget::parse("telnet", text).map(Target::Telnet),
        ..CONNECTION
    },
    Kind {
        name: "telnets",
        syntax: "telnets://HOST:PORT",
        port: Some(TELNETS),
        has_shell: true,
        parse: |text| TelnetTarget::parse("telnets", text).map(Target::Telnet),
        ..CONNECTION
    },
    Kind {
        name: "tn3270",
        syntax: "tn3270://HOST:PORT",
        port: Some(TELNET),
        terminal: TerminalKind::Block,
        can_echo: false,
        recordable: false,
        parse: |text| Tn3270Target::parse("tn3270", text).map(Target::Tn3270),
        ..CONNECTION
    },
    Kind {
        name: "tn3270s",
        syntax: "tn3270s://HOST:PORT",
        port: Some(TELNETS),
        terminal: TerminalKind::Block,
        can_echo: false,
        recordable: false,
        parse: |text| Tn3270Target::parse("tn3270s", text).map(Target::Tn3270),
        ..CONNECTION
    },
    Kind {
        name: "bsc",
        syntax: "bsc://HOST:PORT",
        can_echo: false,
        acknowledges: true,
        recordable: false,
        parse: |text| BisyncTarget::parse(text).map(Target::Bisync),
        ..CONNECTION
    },
    Kind {
        name: "ssh",
        syntax: "ssh://USER@HOST",
        port: Some(22),
        logs_in: true,
        last_phase: "login",
        has_shell: true,
        parse: |text| text.parse().map(Target::Ssh),
        ..CONNECTION
    },
    Kind {
        name: "serial",
        syntax: "serial:DEVICE",
        descriptors: 2,
        parse: |text| text.parse().map(Target::Serial),
        ..CONNECTION
    },
    Kind {
        writable_by: Some("-W"),
        ..web("ttyd+ws", "ttyd+ws://HOST/PATH", |text| parse_web(&web::TTYD, false, text))
    },
    Kind {
        writable_by: Some("-W"),
        ..web_secure("ttyd+wss", "ttyd+wss://HOST/PATH", |text| parse_web(&web::TTYD, true, text))
    },
    Kind {
        writable_by: Some("-w"),
        ..web("gotty+ws", "gotty+ws://HOST/PATH", |text| parse_web(&web::GOTTY, false, text))
    },
    Kind {
        writable_by: Some("-w"),
        ..web_secure("gotty+wss", "gotty+wss://HOST/PATH", |text| parse_web(&web::GOTTY, true, text))
    },
    Kind {
        left_behind: Some(JUPYTER_LEFT),
        ..web("jupyter+ws", "jupyter+ws://HOST/PATH", |text| parse_web(&web::JUPYTER, false, text))
    },
    Kind {
        left_behind: Some(JUPYTER_LEFT),
        ..web_secure("jupyter+wss", "jupyter+wss://HOST/PATH", |text| parse_web(&web::JUPYTER, true, text))
    },
    web("wetty+ws", "wetty+ws://HOST/PATH", |text| parse_web(&web::WETTY, false, text)),
    web_secure("wetty+wss", "wetty+wss://HOST/PATH", |text| parse_web(&web::WETTY, true, text)),
    Kind {
        left_behind: Some(KUBERNETES_LEFT),
        ..web("k8s+ws", "k8s+ws://HOST/NAMESPACE/POD", |text| parse_web(&web::KUBERNETES, false, text))
    },
    Kind {
        left_behind: Some(KUBERNETES_LEFT),
        ..web_secure("k8s+wss", "k8s+wss://HOST/NAMESPACE/POD", |text| parse_web(&web::KUBERNETES, true, text))
    },
    Kind {
        left_behind: Some(CODER_LEFT),
        ..web("coder+ws", "coder+ws://HOST/AGENT-UUID", |text| parse_web(&web::CODER, false, text))
    },
    Kind {
        left_behind: Some(CODER_LEFT),
        ..web_secure("coder+wss", "coder+wss://HOST/AGENT-UUID", |text| parse_web(&web::CODER, true, text))
    },
    web("cockpit+ws", "cockpit+ws://HOST", |text| parse_web(&web::COCKPIT, false, text)),
    web_secure("cockpit+wss", "cockpit+wss://HOST", |text| parse_web(&web::COCKPIT, true, text)),
    Kind {
        left_behind: Some(CODE_SERVER_LEFT),
        ..web("code-server+ws", "code-server+ws://HOST/PATH", |text| parse_web(&web::CODE_SERVER, false, text))
    },
    Kind {
        left_behind: Some(CODE_SERVER_LEFT),
        ..web_secure("code-server+wss", "code-server+wss://HOST/PATH", |text| parse_web(&web::CODE_SERVER, true, text))
    },
    web("teleport+ws", "teleport+ws://HOST/CLUSTER/SERVER", |text| parse_web(&web::TELEPORT, false, text)),
    web_secure("teleport+wss", "teleport+wss://HOST/CLUSTER/SERVER", |text| parse_web(&web::TELEPORT, true, text)),
    Kind {
        logs_in: false,
        settings_mark: '#',
        ..web("ws", "ws://HOST/PATH", |text| parse_web(&web::BARE, false, text))
    },
    Kind {
        logs_in: false,
        settings_mark: '#',
        ..web_secure("wss", "wss://HOST/PATH", |text| parse_web(&web::BARE, true, text))
    },
];

const JUPYTER_LEFT: &str =
    "terminals named cuesta_…: JupyterLab lists them among what is running, and can shut them down";
const KUBERNETES_LEFT: &str =
    "shells in its pods: `kubectl exec POD -- ps` lists them, `kubectl exec POD -- kill -HUP PID` ends one";
const CODER_LEFT: &str = "sessions, which the agent ends 5 minutes after their line";
const CODE_SERVER_LEFT: &str = "terminals, which it keeps for hours: restart it";

/// A kind of web terminal without TLS.
const fn web(name: &'static str, syntax: &'static str, parse: fn(&str) -> Result<Target, TargetError>) -> Kind {
    Kind { name, syntax, port: Some(80), logs_in: true, last_phase: "session", has_shell: true, parse, ..CONNECTION }
}

/// A kind of web terminal over TLS.
const fn web_secure(name: &'static str, syntax: &'static str, parse: fn(&str) -> Result<Target, TargetError>) -> Kind {
    Kind { port: Some(443), ..web(name, syntax, parse) }
}

fn parse_web(kind: &'static WebKind, is_secure: bool, text: &str) -> Result<Target, TargetError> {
    WebTarget::parse(kind, is_secure, text).map(Target::Web)
}

/// The kind of a target's line; `None` if there is no such kind.
pub fn kind_of(target: &str) -> Option<&'static Kind> {
    let (scheme, _) = target.split_once(':')?;
    KINDS.iter().find(|kind| kind.name == scheme)
}
