//! Telnet's framing, both ends: RFC 854 and 855; ECHO (857), SUPPRESS-GO-AHEAD (858), BINARY (856), TERMINAL-TYPE (1091)
//! and NAWS (1073). TIMING-MARK (860) is answered; LINEMODE (1184), NEW-ENVIRON (1572) and all others are refused.
//!
//! Four state machines: `commands` and `options` (also of other framings) parse the input and negotiate; this one knows the options'
//! meaning and carriage returns; `escape` encodes the output.

mod escape;
#[cfg(test)]
mod tests;

use escape::Escape;

use crate::{Enter, LineTerminal};

use super::commands::{Commands, Token};
use super::options::{
    AcceptedOptions, BINARY, ECHO, GO_AHEAD, IAC, Outcome, SB, SE, Side, TERMINAL_TYPE, WINDOW, doubled,
};
use super::{Codec, Replies};

/// Which end of the line this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The terminal: types, and shows the output.
    Terminal,
    /// The host: echoes and answers. It opens the negotiation.
    Host,
}

/// The state of one end: some 100 bytes, and on the heap only the terminal's name while no negotiation is under way.
#[derive(Debug)]
pub struct Framing {
    role: Role,
    commands: Commands,
    /// The last byte received was a carriage return.
    after_cr: bool,
    escape: Escape,
    /// Columns and rows: the terminal's own; at the host what the terminal sent, 0 = nothing yet.
    window: (u16, u16),
    /// The terminal's name; at the host what the terminal sent.
    terminal: Box<str>,
}

const ARE_YOU_THERE: u8 = 246;

const IS: u8 = 0;
const SEND: u8 = 1;

const NUL: u8 = 0;
const LF: u8 = b'\n';
const CR: u8 = b'\r';

/// The terminal says its name and its window, the host echoes.
static TERMINAL_OPTIONS: AcceptedOptions =
    AcceptedOptions { ours: &[BINARY, GO_AHEAD, TERMINAL_TYPE, WINDOW], theirs: &[BINARY, GO_AHEAD, ECHO] };
static HOST_OPTIONS: AcceptedOptions = AcceptedOptions { ours: TERMINAL_OPTIONS.theirs, theirs: TERMINAL_OPTIONS.ours };

/// The longest subnegotiation that is parsed. RFC 1091 allows a terminal's name 40 characters.
const LONGEST_SUBNEGOTIATION: u8 = 64;

impl Framing {
    /// The terminal's end, and what its Enter sends. It waits for the host to open the negotiation.
    pub fn terminal(columns: u16, rows: u16, name: &str, enter: Enter) -> Self {
        Self { escape: Escape::terminal(enter), ..Self::new(Role::Terminal, (columns, rows), name) }
    }

    /// The host's end. It offers ECHO and SUPPRESS-GO-AHEAD, and asks for the terminal's name and window.
    pub fn host() -> Self {
        let mut host = Self::new(Role::Host, (0, 0), "");
        for (side, option) in
            [(Side::Ours, ECHO), (Side::Ours, GO_AHEAD), (Side::Theirs, TERMINAL_TYPE), (Side::Theirs, WINDOW)]
        {
            let verb = host.commands.options.propose(side, option);
            host.reply(&[IAC, verb, option]);
        }
        host
    }

    fn new(role: Role, window: (u16, u16), terminal: &str) -> Self {
        Self {
            role,
            commands: Commands::new(
                if role == Role::Terminal { &TERMINAL_OPTIONS } else { &HOST_OPTIONS },
                LONGEST_SUBNEGOTIATION,
            ),
            after_cr: false,
            escape: Escape::host(),
            window,
            terminal: terminal.into(),
        }
    }

    /// Whether what was sent does not end with a carriage return whose next character decides what it is, and no reply waits.
    pub fn is_output_whole(&self) -> bool {
        self.commands.replies.bytes().is_empty() && !self.escape.is_open()
    }

    /// The character that a byte adds to the input.
    fn take(&mut self, byte: u8) -> Option<u8> {
        let after_cr = std::mem::take(&mut self.after_cr);
        match self.commands.take(byte) {
            Token::Data(byte) => return self.character(byte, after_cr),
            Token::Option(_, option, outcome) => self.negotiated(option, outcome),
            Token::Subnegotiation(subnegotiation) => self.subnegotiated(&subnegotiation),
            Token::Command(ARE_YOU_THERE) if self.role == Role::Host => self.reply(b"\r\n[Yes]\r\n"),
            Token::Command(_) | Token::Nothing => {}
        }
        None
    }

    fn character(&mut self, byte: u8, after_cr: bool) -> Option<u8> {
        match byte {
            NUL if after_cr => None,
            // CR LF is the end of a row from a client that sends rows. Our own terminal sends a bare CR as CR NUL.
            LF if after_cr && self.role == Role::Host => None,
            _ => {
                self.after_cr = byte == CR && !self.commands.options.is_on(Side::Theirs, BINARY);
                Some(byte)
            }
        }
    }

    /// The other end sent WILL, WONT, DO or DONT.
    fn negotiated(&mut self, option: u8, outcome: Outcome) {
        if let Some(answer) = outcome.answer {
            self.reply(&[IAC, answer, option]);
        }
        self.escape.binary = self.commands.options.is_on(Side::Ours, BINARY);
        match (outcome.switched_on, option) {
            (Some(Side::Ours), WINDOW) => self.send_window(),
            (Some(Side::Theirs), TERMINAL_TYPE) => self.reply(&[IAC, SB, TERMINAL_TYPE, SEND, IAC, SE]),
            _ => {}
        }
    }

    fn subnegotiated(&mut self, subnegotiation: &[u8]) {
        match (self.role, subnegotiation) {
            (Role::Terminal, [TERMINAL_TYPE, SEND, ..]) => {
                let name = [&[IAC, SB, TERMINAL_TYPE, IS], self.terminal.as_bytes(), &[IAC, SE]].concat();
                self.reply(&name);
            }
            (Role::Host, [TERMINAL_TYPE, IS, name @ ..]) if name.iter().all(u8::is_ascii_graphic) => {
                self.terminal = String::from_utf8_lossy(name).to_ascii_lowercase().into();
            }
            (Role::Host, &[WINDOW, c1, c0, r1, r0]) => {
                self.window = (u16::from_be_bytes([c1, c0]), u16::from_be_bytes([r1, r0]));
            }
            _ => {}
        }
    }

    fn send_window(&mut self) {
        let size = [self.window.0, self.window.1].map(u16::to_be_bytes).concat();
        self.reply(&[&[IAC, SB, WINDOW], &doubled(&size)[..], &[IAC, SE]].concat());
    }

    fn reply(&mut self, bytes: &[u8]) {
        if self.commands.replies.admits(bytes.len()) {
            // A NUL that came after the reply would no longer belong to the carriage return.
            if self.escape.close() {
                self.commands.replies.append(&[NUL]);
            }
            self.commands.replies.append(bytes);
        }
    }
}

impl Codec for Framing {
    const GROWTH: usize = 0;

    fn decode(&mut self, raw: &mut [u8], len: usize) -> usize {
        let raw = &mut raw[..len];
        let (mut kept, mut at) = (0, 0);
        while at < raw.len() {
            if self.commands.is_in_data() && !self.after_cr {
                let run = memchr::memchr2(IAC, CR, &raw[at..]).unwrap_or(raw.len() - at);
                if kept < at {
                    raw.copy_within(at..at + run, kept);
                }
                kept += run;
                at += run;
            }
            if let Some(&byte) = raw.get(at) {
                if let Some(character) = self.take(byte) {
                    raw[kept] = character;
                    kept += 1;
                }
                at += 1;
            }
        }
        kept
    }

    fn encode<'a>(&mut self, bytes: &'a [u8], room: &'a mut [u8]) -> (usize, &'a [u8]) {
        let plain = self.escape.plain(bytes);
        if plain == bytes.len() || plain >= room.len() {
            return (plain, &bytes[..plain]);
        }
        let (characters, written) = self.escape.write(bytes, room);
        (characters, &room[..written])
    }

    fn sent(&mut self, bytes: &[u8], (mut characters, raw): (usize, &[u8]), len: usize) -> usize {
        if raw.len() == characters {
            characters = len;
        } else if len < raw.len() {
            let end;
            (characters, end) = self.escape.begun(bytes, len);
            self.commands.replies.append(&raw[len..end]);
        }
        if let Some(last) = characters.checked_sub(1) {
            self.escape.sent(bytes[last]);
        }
        characters
    }

    fn replies(&mut self) -> &mut Replies {
        &mut self.commands.replies
    }

    fn dropped(&self) -> u64 {
        self.commands.replies.dropped
    }

    fn is_agreed(&self) -> bool {
        true
    }

    fn is_within_a_sequence(&self) -> bool {
        !self.commands.is_in_data()
    }

    fn as_telnet(&self) -> Option<&Framing> {
        Some(self)
    }
}

impl LineTerminal for Framing {
    fn window(&self) -> Option<(u16, u16)> {
        Some(self.window).filter(|(columns, rows)| *columns > 0 && *rows > 0)
    }

    /// At the host in lower case.
    fn name(&self) -> Option<&str> {
        Some(&*self.terminal).filter(|name| !name.is_empty())
    }

    /// Sends the size if the host has asked for it (RFC 1073).
    fn resize(&mut self, columns: u16, rows: u16) {
        self.window = (columns, rows);
        if self.commands.options.is_on(Side::Ours, WINDOW) {
            self.send_window();
        }
    }
}
