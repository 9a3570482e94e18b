//! What both ends agree on before records pass, and later.

use super::super::options::{
    BINARY, DONT, END_OF_RECORD, IAC, Outcome, SB, SE, Side, TERMINAL_TYPE, TN3270E, WILL, WONT,
};
use super::{Framing, LuAnswer, Mode, Role};

/// Of TERMINAL-TYPE (RFC 1091).
const IS: u8 = 0;
const SEND: u8 = 1;

/// Words of TN3270E's subnegotiation (RFC 2355 §6).
const E_CONNECT: u8 = 1;
const E_DEVICE_TYPE: u8 = 2;
const E_FUNCTIONS: u8 = 3;
const E_IS: u8 = 4;
const E_REASON: u8 = 5;
const E_REJECT: u8 = 6;
const E_REQUEST: u8 = 7;
const E_SEND: u8 = 8;
/// The reason that concerns the device type and not the logical unit (RFC 2355 §7.1.6).
const INVALID_DEVICE_TYPE: u8 = 4;
/// Between a device type and a logical unit where there is no TN3270E (RFC 1646 §5).
const AT: u8 = b'@';
/// Functions (RFC 2355 §7.2.3).
const RESPONSES: u8 = 2;
const SYSREQ: u8 = 4;
const FUNCTIONS: [u8; 2] = [RESPONSES, SYSREQ];

impl Framing {
    /// The other end sent WILL, WONT, DO or DONT.
    pub(super) fn negotiated(&mut self, verb: u8, option: u8, outcome: Outcome) {
        if let Some(answer) = outcome.answer {
            self.reply(&[IAC, answer, option]);
        }
        let host = self.role == Role::Host;
        match (verb, option) {
            (WILL, TN3270E) if host => self.reply(&[IAC, SB, TN3270E, E_SEND, E_DEVICE_TYPE, IAC, SE]),
            (WONT, TN3270E) if host => self.propose_plain(),
            (WILL, TERMINAL_TYPE) if host => self.reply(&[IAC, SB, TERMINAL_TYPE, SEND, IAC, SE]),
            (DONT, TN3270E) => self.mode = Mode::Nothing,
            _ => {}
        }
        if !self.is_extended() {
            let both = |option| {
                self.commands.options.is_on(Side::Ours, option) && self.commands.options.is_on(Side::Theirs, option)
            };
            self.mode = if both(BINARY) && both(END_OF_RECORD) { Mode::Plain } else { Mode::Nothing };
        }
    }

    pub(super) fn propose(&mut self, side: Side, option: u8) {
        let verb = self.commands.options.propose(side, option);
        self.reply(&[IAC, verb, option]);
    }

    /// The host knows TN3270E and not this terminal: RFC 1576 is left (RFC 2355 §7.1.1).
    fn withdraw(&mut self) {
        if let Some(verb) = self.commands.options.withdraw(Side::Ours, TN3270E) {
            self.reply(&[IAC, verb, TN3270E]);
        }
    }

    fn propose_plain(&mut self) {
        self.propose(Side::Theirs, TERMINAL_TYPE);
        for option in [END_OF_RECORD, BINARY] {
            self.propose(Side::Theirs, option);
            self.propose(Side::Ours, option);
        }
    }

    pub(super) fn subnegotiated(&mut self, subnegotiation: &[u8]) {
        match (self.role, subnegotiation) {
            (Role::Terminal, [TERMINAL_TYPE, SEND, ..]) => {
                let name = self.with_logical_unit(AT);
                self.reply(&[&[IAC, SB, TERMINAL_TYPE, IS], &name[..], &[IAC, SE]].concat());
                self.lu_answer = LuAnswer::Given;
            }
            (Role::Terminal, [TN3270E, E_SEND, E_DEVICE_TYPE, ..]) => {
                let request = [IAC, SB, TN3270E, E_DEVICE_TYPE, E_REQUEST];
                let name = self.with_logical_unit(E_CONNECT);
                self.reply(&[&request, &name[..], &[IAC, SE]].concat());
            }
            (Role::Terminal, [TN3270E, E_DEVICE_TYPE, E_IS, ..]) => {
                self.lu_answer = LuAnswer::Given;
                self.send_functions(E_REQUEST, &FUNCTIONS);
            }
            (Role::Terminal, [TN3270E, E_DEVICE_TYPE, E_REJECT, E_REASON, reason, ..])
                if self.lu.is_some() && *reason != INVALID_DEVICE_TYPE =>
            {
                self.lu_answer = LuAnswer::Refused(*reason);
            }
            (Role::Terminal, [TN3270E, E_DEVICE_TYPE, E_REJECT, ..]) => self.withdraw(),
            (_, [TN3270E, E_FUNCTIONS, E_IS, functions @ ..]) => self.extend(functions),
            (_, [TN3270E, E_FUNCTIONS, E_REQUEST, wanted @ ..]) => self.functions_requested(wanted),
            (Role::Host, [TERMINAL_TYPE, IS, name @ ..]) => self.named(name, AT),
            (Role::Host, [TN3270E, E_DEVICE_TYPE, E_REQUEST, name @ ..]) => {
                self.named(name, E_CONNECT);
                let is = [IAC, SB, TN3270E, E_DEVICE_TYPE, E_IS];
                let lu = self.lu.as_deref().unwrap_or("CUESTA");
                self.reply(&[&is, self.device.as_bytes(), &[E_CONNECT], lu.as_bytes(), &[IAC, SE]].concat());
            }
            _ => {}
        }
    }

    /// The device type and, behind `mark`, the logical unit, if there is one.
    fn with_logical_unit(&self, mark: u8) -> Vec<u8> {
        let lu = self.lu.iter().flat_map(|lu| [mark].into_iter().chain(lu.bytes()));
        self.device.bytes().chain(lu).collect()
    }

    /// The terminal has told its device type and, perhaps, a logical unit.
    fn named(&mut self, name: &[u8], mark: u8) {
        let mut parts = name.splitn(2, |byte| *byte == mark);
        let mut part =
            || parts.next().filter(|part| part.iter().all(u8::is_ascii_graphic)).map(String::from_utf8_lossy);
        if let Some(device) = part() {
            self.device = device.to_ascii_uppercase().into();
            self.lu = part().filter(|lu| !lu.is_empty()).map(Into::into);
        }
    }

    /// The other end wants functions: agrees if this end has all of them, else names those that it has.
    fn functions_requested(&mut self, wanted: &[u8]) {
        let have: Vec<u8> = wanted.iter().copied().filter(|function| FUNCTIONS.contains(function)).collect();
        if have.len() == wanted.len() {
            self.send_functions(E_IS, &have);
            self.extend(&have);
        } else {
            self.send_functions(E_REQUEST, &have);
        }
    }

    fn send_functions(&mut self, word: u8, functions: &[u8]) {
        self.reply(&[&[IAC, SB, TN3270E, E_FUNCTIONS, word], functions, &[IAC, SE]].concat());
    }

    /// TN3270E is agreed with these functions.
    fn extend(&mut self, functions: &[u8]) {
        if self.commands.options.is_on(if self.role == Role::Host { Side::Theirs } else { Side::Ours }, TN3270E) {
            self.mode = Mode::Extended { responses: functions.contains(&RESPONSES) };
        }
    }
}
