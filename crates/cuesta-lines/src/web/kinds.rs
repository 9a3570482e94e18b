//! The kinds of web terminals: one row each. What their messages carry is in [`crate::wire::web`].

use crate::wire::web::{self, Place, WebHost, WebTerminal};
use crate::wire::websocket::MessageKind;

/// A kind of web terminal.
#[derive(Debug)]
pub(crate) struct WebKind {
    /// The scheme of its targets is `NAME+ws` and `NAME+wss`; of bare WebSockets, which have no name, `ws` and `wss`.
    pub name: &'static str,
    /// The settings that only it has.
    pub(super) settings: &'static [&'static str],
    /// These and the shared ones, for errors.
    pub(super) expected: &'static str,
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

impl PartialEq for WebKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for WebKind {}

/// A WebSocket that carries bare characters.
pub(crate) static BARE: WebKind = WebKind {
    name: "",
    settings: &["frames", "subprotocol"],
    expected: "frames=text, subprotocol=NAME, or origin, header, token, deflate, ping, pong, login",
    base: "/",
    deflates: false,
    only_text: false, // unless `frames=text`
    terminal: |place| Box::new(web::attach::Terminal::new(place)),
    host: || Box::new(web::attach::Host::new(MessageKind::Binary)),
};

pub(crate) static TTYD: WebKind = WebKind {
    name: "ttyd",
    settings: &["arg"],
    expected: "arg=ARGUMENT, or origin, header, token, deflate, ping, pong, login",
    base: "",
    deflates: true,
    only_text: false,
    terminal: |place| Box::new(web::ttyd::Terminal::new(place)),
    host: || Box::new(web::ttyd::Host::default()),
};

impl WebKind {
    /// What errors call it.
    pub(super) fn described(&self) -> &'static str {
        if self.is_bare() { "terminal of bare characters" } else { self.name }
    }

    /// What errors say of a setting that it does not have.
    pub(super) fn expected_settings(&self) -> &'static str {
        self.expected
    }

    /// Whether the query of a target is the server's: then the settings stand behind `#`.
    pub(super) fn is_bare(&self) -> bool {
        self.name.is_empty()
    }
}
