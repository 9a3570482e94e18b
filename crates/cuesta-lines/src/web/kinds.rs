//! The kinds of web terminals: one row each. What their messages carry is in [`crate::wire::web`].

use crate::wire::web::{self, Place, WebHost, WebTerminal};

/// A kind of web terminal.
#[derive(Debug)]
pub(crate) struct WebKind {
    /// The scheme of its targets is `NAME+ws` and `NAME+wss`; of bare ones, which have no name, `ws` and `wss`.
    pub name: &'static str,
    /// The settings that only it has.
    pub(super) settings: &'static [&'static str],
    /// These and the shared ones, for errors.
    pub(super) expected: &'static str,
    /// What the path of a target names, if it must name something.
    pub(super) names: &'static str,
    /// The path of a target without one.
    pub(super) base: &'static str,
    /// Whether its browsers offer compression and its servers accept it.
    pub(super) deflates: bool,
    /// Whether what is typed must be text (UTF-8), as in JSON.
    pub(super) only_text: bool,
    /// Makes the terminal's end of a session.
    pub(super) terminal: fn(Place) -> Box<dyn WebTerminal>,
    /// Makes the host's end.
    pub(crate) host: fn() -> Box<dyn WebHost>,
}

impl WebKind {
    /// Whether a setting of its own may have this value.
    pub(super) fn is_choice(&self, setting: &str, value: &str) -> bool {
        match setting {
            "ack" => ["on", "off"].contains(&value),
            "frames" => ["binary", "text"].contains(&value),
            "protocol" => ["v5", "v4", "base64"].contains(&value),
            "keep" => value.is_empty(),
            // A container has one program to join, a host of Jupyter many terminals.
            "attach" => value.is_empty() == (self.name == KUBERNETES.name),
            _ => true,
        }
    }
}

impl PartialEq for WebKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for WebKind {}

/// What errors add to the settings that only one kind has.
macro_rules! expected {
    ($own:literal) => {
        concat!(
            $own,
            "origin, header, token, deflate, ping, pong, login; with wss ca, insecure, cert, key, sni, resume"
        )
    };
}

/// A WebSocket that carries bare characters.
pub(crate) static BARE: WebKind = WebKind {
    name: "",
    settings: &["frames", "subprotocol"],
    expected: expected!("frames=text, subprotocol=NAME, "),
    names: "",
    base: "/",
    deflates: false,
    only_text: false, // unless `frames=text`
    terminal: |place| Box::new(web::attach::Bare::new(place)),
    host: || Box::new(web::attach::Bare::new(Place::default())),
};

pub(crate) static TTYD: WebKind = WebKind {
    name: "ttyd",
    settings: &["arg"],
    expected: expected!("arg=ARGUMENT, "),
    names: "",
    base: "",
    deflates: true,
    only_text: false,
    terminal: |place| Box::new(web::ttyd::Terminal::new(place)),
    host: || Box::new(web::ttyd::Host::default()),
};

pub(crate) static GOTTY: WebKind = WebKind {
    name: "gotty",
    settings: &["arg"],
    expected: expected!("arg=ARGUMENT, "),
    names: "",
    base: "",
    only_text: false,
    deflates: false,
    terminal: |place| Box::new(web::gotty::Terminal::new(place)),
    host: || Box::new(web::gotty::Host::default()),
};

pub(crate) static JUPYTER: WebKind = WebKind {
    name: "jupyter",
    settings: &["attach", "keep"],
    expected: expected!("attach=TERMINAL, keep, "),
    names: "",
    base: "",
    only_text: true,
    deflates: false,
    terminal: |place| Box::new(web::jupyter::Terminal::new(place)),
    host: || Box::new(web::jupyter::Host::with_all()),
};

pub(crate) static WETTY: WebKind = WebKind {
    name: "wetty",
    settings: &["ssh", "ack"],
    expected: expected!("ssh=USER, ack=off, "),
    names: "",
    base: "/wetty",
    only_text: true,
    deflates: false,
    terminal: |place| Box::new(web::wetty::Terminal::new(place)),
    host: || Box::new(web::wetty::Host::default()),
};

pub(crate) static KUBERNETES: WebKind = WebKind {
    name: "k8s",
    settings: &["command", "attach", "protocol"],
    expected: expected!("command=WORD, attach, protocol=v5|v4|base64, "),
    names: "/NAMESPACE/POD",
    base: "",
    only_text: false,
    deflates: false,
    terminal: |place| Box::new(web::kubernetes::Terminal::new(place)),
    host: || Box::new(web::kubernetes::Host::default()),
};

pub(crate) static CODER: WebKind = WebKind {
    name: "coder",
    settings: &["command", "reconnect", "keep"],
    expected: expected!("command=COMMAND, reconnect=UUID, keep, "),
    names: "/AGENT-UUID",
    base: "",
    only_text: true,
    deflates: false,
    terminal: |place| Box::new(web::coder::Terminal::new(place)),
    host: || Box::new(web::coder::Host::default()),
};

pub(crate) static COCKPIT: WebKind = WebKind {
    name: "cockpit",
    settings: &["spawn", "directory", "ack"],
    expected: expected!("spawn=PROGRAM, directory=FOLDER, ack=off, "),
    names: "",
    base: "",
    only_text: false,
    deflates: false,
    terminal: |place| Box::new(web::cockpit::Terminal::new(place)),
    host: || Box::new(web::cockpit::Host::default()),
};

pub(crate) static CODE_SERVER: WebKind = WebKind {
    name: "code-server",
    settings: &["shell", "arg", "directory", "ack"],
    expected: expected!("shell=PROGRAM, arg=ARGUMENT, directory=FOLDER, ack=off, "),
    names: "",
    base: "",
    only_text: true,
    deflates: true,
    terminal: |place| Box::new(web::code_server::Terminal::new(place)),
    host: || Box::new(web::code_server::Host::default()),
};

pub(crate) static TELEPORT: WebKind = WebKind {
    name: "teleport",
    settings: &["user"],
    expected: expected!("user=LOGIN, "),
    names: "/CLUSTER/SERVER",
    base: "",
    only_text: true,
    deflates: false,
    terminal: |place| Box::new(web::teleport::Terminal::new(place)),
    host: || Box::new(web::teleport::Host::default()),
};

impl WebKind {
    /// What errors call it.
    pub(super) fn name_in_errors(&self) -> &'static str {
        if self.is_bare() { "terminal of bare characters" } else { self.name }
    }

    /// Whether the query of a target is the server's: then the settings stand behind `#`.
    pub(super) fn is_bare(&self) -> bool {
        self.name.is_empty()
    }
}
