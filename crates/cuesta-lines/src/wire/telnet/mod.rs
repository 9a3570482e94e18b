//! Telnet's framing, both ends: RFC 854 and 855; ECHO (857), SUPPRESS-GO-AHEAD (858), BINARY (856), TERMINAL-TYPE (1091)
//! and NAWS (1073). TIMING-MARK (860) is answered; LINEMODE (1184), NEW-ENVIRON (1572) and all others are refused.
//!
//! Three state machines: this one parses the input and its subnegotiations; `options` (also of other framings) negotiates;
//! `escape` encodes the output.

mod escape;

use escape::Escape;

use crate::Enter;

use super::exchange::{Exchange, Negotiating};
use super::options::{Agreed, BINARY, DO, DONT, ECHO, GO_AHEAD, IAC, SB, SE, Side, TERMINAL_TYPE, WILL, WINDOW, WONT};

/// Which end of the line this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The terminal: types, and shows the output.
    Terminal,
    /// The host: echoes and answers. It opens the negotiation.
    Host,
}

/// The state of one end: some 100 bytes, and on the heap only the terminal's name while no negotiation is under way.
#[derive(Debug)]
pub struct Framing {
    role: Role,
    state: State,
    exchange: Exchange,
    escape: Escape,
    /// Columns and rows: the terminal's own; at the host what the terminal sent, 0 = nothing yet.
    window: (u16, u16),
    /// The terminal's name; at the host what the terminal sent.
    terminal: Box<str>,
}

/// The parser's state in the stream from the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Data,
    /// After a carriage return.
    Cr,
    Iac,
    /// After WILL, WONT, DO or DONT.
    Verb(u8),
    Inside,
    InsideIac,
}

const ARE_YOU_THERE: u8 = 246;

const IS: u8 = 0;
const SEND: u8 = 1;

const NUL: u8 = 0;
const LF: u8 = b'\n';
const CR: u8 = b'\r';

/// The terminal says its name and its window, the host echoes.
static OF_TERMINAL: Agreed =
    Agreed { ours: &[BINARY, GO_AHEAD, TERMINAL_TYPE, WINDOW], theirs: &[BINARY, GO_AHEAD, ECHO] };
static OF_HOST: Agreed = Agreed { ours: OF_TERMINAL.theirs, theirs: OF_TERMINAL.ours };

/// The longest subnegotiation that is parsed. RFC 1091 allows a terminal's name 40 characters.
const INSIDE_LIMIT: usize = 64;

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
            let verb = host.exchange.options.propose(side, option);
            host.reply(&[IAC, verb, option]);
        }
        host
    }

    fn new(role: Role, window: (u16, u16), terminal: &str) -> Self {
        Self {
            role,
            state: State::Data,
            exchange: Exchange::new(if role == Role::Terminal { &OF_TERMINAL } else { &OF_HOST }, INSIDE_LIMIT),
            escape: Escape::host(),
            window,
            terminal: terminal.into(),
        }
    }

    /// Decodes received bytes in place; pieces may have any size. The characters are then at the head of `raw`. Returns their
    /// number.
    pub fn receive(&mut self, raw: &mut [u8]) -> usize {
        let (mut kept, mut at) = (0, 0);
        while at < raw.len() {
            if self.state == State::Data {
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

    /// Encodes the head of `bytes`. Returns the number of its characters and the bytes to send for them: a part of `bytes` itself
    /// if nothing needs an escape, otherwise a part of `room`, which must hold at least three bytes.
    ///
    /// Call [`Framing::sent`] with the number of bytes that were sent.
    pub fn encode<'a>(&self, bytes: &'a [u8], room: &'a mut [u8]) -> (usize, &'a [u8]) {
        let plain = self.escape.plain(bytes);
        if plain == bytes.len() || plain >= room.len() {
            return (plain, &bytes[..plain]);
        }
        let (characters, written) = self.escape.write(bytes, room);
        (characters, &room[..written])
    }

    /// Notes that the first `len` bytes of the result of [`Framing::encode`] were sent. Returns the number of characters. The rest
    /// of a partly sent character is added to the replies.
    pub fn sent(&mut self, bytes: &[u8], (mut characters, raw): (usize, &[u8]), len: usize) -> usize {
        if raw.len() == characters {
            characters = len;
        } else if len < raw.len() {
            let end;
            (characters, end) = self.escape.begun(bytes, len);
            self.exchange.append(&raw[len..end]);
        }
        if let Some(last) = characters.checked_sub(1) {
            self.escape.sent(bytes[last]);
        }
        characters
    }

    /// Bytes that must be sent before any more characters.
    pub fn replies(&self) -> &[u8] {
        self.exchange.replies()
    }

    /// The first `len` bytes of [`Framing::replies`] were sent.
    pub fn replied(&mut self, len: usize) {
        self.exchange.replied(len);
    }

    /// Columns and rows of the terminal, once known.
    pub fn window(&self) -> Option<(u16, u16)> {
        Some(self.window).filter(|(columns, rows)| *columns > 0 && *rows > 0)
    }

    /// Resizes the terminal's window and sends the size if the host has asked for it (RFC 1073).
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.window = (columns, rows);
        if self.exchange.options.is_on(Side::Ours, WINDOW) {
            self.say_window();
        }
    }

    /// The terminal's name, once known; at the host in lower case.
    pub fn name(&self) -> Option<&str> {
        Some(&*self.terminal).filter(|name| !name.is_empty())
    }

    /// Whether what was sent does not end with a carriage return whose next character decides what it is, and no reply waits.
    pub fn is_output_whole(&self) -> bool {
        self.exchange.replies().is_empty() && !self.escape.is_open()
    }

    /// Subnegotiations that were too long or broken off, and replies that did not fit.
    pub fn dropped(&self) -> u64 {
        self.exchange.dropped()
    }

    fn take(&mut self, byte: u8) -> Option<u8> {
        match self.state {
            State::Data | State::Cr => self.character(byte),
            State::Iac => self.command(byte),
            State::Verb(verb) => {
                self.state = State::Data;
                self.negotiated(verb, byte);
                None
            }
            State::Inside if byte == IAC => {
                self.state = State::InsideIac;
                None
            }
            State::Inside => self.collect(byte),
            State::InsideIac => self.inside_command(byte),
        }
    }

    fn character(&mut self, byte: u8) -> Option<u8> {
        let after_cr = self.state == State::Cr;
        self.state = State::Data;
        match byte {
            IAC => {
                self.state = State::Iac;
                None
            }
            NUL if after_cr => None,
            // CR LF is the end of a row from a client that sends rows. Our own terminal sends a bare CR as CR NUL.
            LF if after_cr && self.role == Role::Host => None,
            CR if !self.exchange.options.is_on(Side::Theirs, BINARY) => {
                self.state = State::Cr;
                Some(CR)
            }
            _ => Some(byte),
        }
    }

    fn command(&mut self, byte: u8) -> Option<u8> {
        self.state = State::Data;
        match byte {
            IAC => return Some(IAC),
            WILL | WONT | DO | DONT => self.state = State::Verb(byte),
            SB => self.state = State::Inside,
            ARE_YOU_THERE if self.role == Role::Host => self.reply(b"\r\n[Yes]\r\n"),
            _ => {}
        }
        None
    }

    fn collect(&mut self, byte: u8) -> Option<u8> {
        self.state = State::Inside;
        self.exchange.collect(byte);
        None
    }

    fn inside_command(&mut self, byte: u8) -> Option<u8> {
        if byte == IAC {
            return self.collect(byte);
        }
        self.state = State::Data;
        if let Some(inside) = self.exchange.end_inside(byte) {
            self.subnegotiated(&inside);
        }
        // After another command than SE the rest is missing, and the byte is that command.
        if byte == SE { None } else { self.command(byte) }
    }

    /// The other end sent WILL, WONT, DO or DONT.
    fn negotiated(&mut self, verb: u8, option: u8) {
        let outcome = self.exchange.negotiated(verb, option);
        if let Some(answer) = outcome.answer {
            self.reply(&[IAC, answer, option]);
        }
        self.escape.binary = self.exchange.options.is_on(Side::Ours, BINARY);
        match (outcome.switched_on, option) {
            (Some(Side::Ours), WINDOW) => self.say_window(),
            (Some(Side::Theirs), TERMINAL_TYPE) => self.reply(&[IAC, SB, TERMINAL_TYPE, SEND, IAC, SE]),
            _ => {}
        }
    }

    fn subnegotiated(&mut self, inside: &[u8]) {
        match (self.role, inside) {
            (Role::Terminal, [TERMINAL_TYPE, SEND, ..]) => self.say_name(),
            (Role::Host, [TERMINAL_TYPE, IS, name @ ..]) if name.iter().all(u8::is_ascii_graphic) => {
                self.terminal = String::from_utf8_lossy(name).to_ascii_lowercase().into();
            }
            (Role::Host, &[WINDOW, c1, c0, r1, r0]) => {
                self.window = (u16::from_be_bytes([c1, c0]), u16::from_be_bytes([r1, r0]));
            }
            _ => {}
        }
    }

    fn say_name(&mut self) {
        let name = std::mem::take(&mut self.terminal);
        self.reply(&[&[IAC, SB, TERMINAL_TYPE, IS], name.as_bytes(), &[IAC, SE]].concat());
        self.terminal = name;
    }

    fn say_window(&mut self) {
        let mut said = vec![IAC, SB, WINDOW];
        for byte in [self.window.0, self.window.1].into_iter().flat_map(u16::to_be_bytes) {
            said.push(byte);
            if byte == IAC {
                said.push(IAC);
            }
        }
        said.extend([IAC, SE]);
        self.reply(&said);
    }

    fn reply(&mut self, bytes: &[u8]) {
        if self.exchange.admits(bytes.len()) {
            // A NUL that came after the reply would no longer belong to the carriage return.
            if self.escape.close() {
                self.exchange.append(&[NUL]);
            }
            self.exchange.append(bytes);
        }
    }
}

impl Negotiating for Framing {
    const GROWTH: usize = 0;

    fn exchange(&mut self) -> &mut Exchange {
        &mut self.exchange
    }

    fn decode(&mut self, raw: &mut [u8], len: usize) -> usize {
        self.receive(&mut raw[..len])
    }

    fn is_within_a_sequence(&self) -> bool {
        !matches!(self.state, State::Data | State::Cr)
    }
}
