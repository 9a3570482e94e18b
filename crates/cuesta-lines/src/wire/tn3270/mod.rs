//! 3270 data streams over telnet, both ends: RFC 1576 (TERMINAL-TYPE, BINARY and END-OF-RECORD both ways), and RFC 2355 (TN3270E) where
//! the host asks for it: functions RESPONSES and SYSREQ, a header before each record, a response to each that wants one.
//!
//! Characters are those of the data stream as telnet carries them: IAC doubled, IAC EOR behind each record. The header is the
//! framing's own. What is no record of a 3270 (text of a network virtual terminal, bind images) is dropped; commands of telnet
//! between records (interrupt process, abort output) pass from the terminal to the host.

mod negotiation;
#[cfg(test)]
mod tests;

use super::commands::{Commands, Token};
use super::options::{AcceptedOptions, BINARY, END_OF_RECORD, IAC, Side, TERMINAL_TYPE, TN3270E, doubled};
use super::{Codec, Replies};
use crate::LineTerminal;

/// Which end of the line this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The display and its keyboard.
    Terminal,
    /// The host. It opens the negotiation.
    Host,
}

const EOR: u8 = 239;

/// The header of a record: data type, request flag, response flag, sequence number (RFC 2355 §8).
const HEADER: usize = 5;
const DATA_3270: u8 = 0;
const DATA_RESPONSE: u8 = 2;
const ALWAYS_RESPOND: u8 = 2;
const POSITIVE: u8 = 0;
const DEVICE_END: u8 = 0;

/// The longest subnegotiation that is parsed.
const LONGEST_SUBNEGOTIATION: u8 = 128;

static TERMINAL_OPTIONS: AcceptedOptions =
    AcceptedOptions { ours: &[BINARY, TERMINAL_TYPE, END_OF_RECORD, TN3270E], theirs: &[BINARY, END_OF_RECORD] };
static PLAIN_TERMINAL_OPTIONS: AcceptedOptions =
    AcceptedOptions { ours: &[BINARY, TERMINAL_TYPE, END_OF_RECORD], theirs: &[BINARY, END_OF_RECORD] };
static HOST_OPTIONS: AcceptedOptions = AcceptedOptions { ours: TERMINAL_OPTIONS.theirs, theirs: TERMINAL_OPTIONS.ours };

/// The state of one end.
#[derive(Debug)]
pub struct Framing {
    role: Role,
    commands: Commands,
    /// The terminal's device type; at the host what the terminal sent.
    device: Box<str>,
    /// The logical unit that the terminal asks for; at the host what the terminal sent.
    lu: Option<Box<str>>,
    /// What the host says of it.
    lu_answer: LuAnswer,
    /// How the records are framed, once it is agreed.
    mode: Mode,
    incoming: Incoming,
    outgoing: Outgoing,
    /// The number of the next record sent under TN3270E.
    next_number: u16,
}

/// What a host says of the logical unit that a terminal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LuAnswer {
    /// Nothing yet.
    Awaited,
    /// The terminal has it. By RFC 1576 a host only goes on: then it was named, and the host did not close the line at once.
    Given,
    /// The host refuses it, for a reason of RFC 2355 §7.1.6.
    Refused(u8),
}

/// How records are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nothing is agreed: there are no records.
    Nothing,
    /// RFC 1576.
    Plain,
    /// RFC 2355; with RESPONSES or without.
    Extended { responses: bool },
}

/// The record that is coming.
#[derive(Debug, Clone, Copy)]
struct Incoming {
    header: [u8; HEADER],
    /// How much of the header has come.
    len: usize,
}

/// The record that is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outgoing {
    /// Between records.
    Between,
    /// Between records, behind the IAC of a command.
    BetweenIac,
    Within,
    WithinIac,
}

impl Framing {
    /// The terminal's end, with a device type such as `IBM-3278-2-E`, and the logical unit that it asks for, if any. It waits for the
    /// host to open the negotiation. `extended`: whether it agrees to TN3270E.
    pub fn terminal(device: &str, extended: bool, lu: Option<&str>) -> Self {
        let agreed = if extended { &TERMINAL_OPTIONS } else { &PLAIN_TERMINAL_OPTIONS };
        Self { lu: lu.map(Box::from), ..Self::new(Role::Terminal, agreed, device) }
    }

    /// The host's end. It asks for TN3270E, and for the three options of RFC 1576 if the terminal does not want it.
    pub fn host() -> Self {
        let mut host = Self::new(Role::Host, &HOST_OPTIONS, "");
        host.propose(Side::Theirs, TN3270E);
        host
    }

    fn new(role: Role, agreed: &'static AcceptedOptions, device: &str) -> Self {
        Self {
            role,
            commands: Commands::new(agreed, LONGEST_SUBNEGOTIATION),
            device: device.into(),
            lu: None,
            lu_answer: LuAnswer::Awaited,
            mode: Mode::Nothing,
            incoming: Incoming { header: [0; HEADER], len: 0 },
            outgoing: Outgoing::Between,
            next_number: 0,
        }
    }

    /// Whether the other end agreed to TN3270E.
    pub fn is_extended(&self) -> bool {
        matches!(self.mode, Mode::Extended { .. })
    }

    /// The terminal's device type, once known.
    pub fn device(&self) -> Option<&str> {
        Some(&*self.device).filter(|device| !device.is_empty())
    }

    /// What the host says of the terminal's logical unit.
    pub fn lu_answer(&self) -> LuAnswer {
        self.lu_answer
    }

    fn take(&mut self, byte: u8) -> Taken {
        match self.commands.take(byte) {
            Token::Data(byte) => return self.data(byte),
            Token::Command(EOR) => return self.end_of_record(),
            // Attention and system request.
            Token::Command(other) if self.role == Role::Host && self.is_agreed() => return Taken::new(&[IAC, other]),
            Token::Option(verb, option, outcome) => self.negotiated(verb, option, outcome),
            Token::Subnegotiation(subnegotiation) => self.subnegotiated(&subnegotiation),
            Token::Command(_) | Token::Nothing => {}
        }
        Taken::NOTHING
    }

    /// A byte of a record, or of text before there are records.
    fn data(&mut self, byte: u8) -> Taken {
        let passes = match self.mode {
            Mode::Nothing => false,
            Mode::Plain => true,
            Mode::Extended { .. } if self.incoming.len < HEADER => {
                self.incoming.header[self.incoming.len] = byte;
                self.incoming.len += 1;
                false
            }
            Mode::Extended { .. } => self.incoming.header[0] == DATA_3270,
        };
        match (passes, byte) {
            (false, _) => Taken::NOTHING,
            (true, IAC) => Taken::new(&[IAC, IAC]),
            (true, byte) => Taken::new(&[byte]),
        }
    }

    fn end_of_record(&mut self) -> Taken {
        let Incoming { header, len } = std::mem::replace(&mut self.incoming, Incoming { header: [0; HEADER], len: 0 });
        let passes = match self.mode {
            Mode::Nothing => false,
            Mode::Plain => true,
            Mode::Extended { responses } => {
                let is_data = len == HEADER && header[0] == DATA_3270;
                if is_data && responses && header[2] == ALWAYS_RESPOND {
                    self.respond([header[3], header[4]]);
                }
                is_data
            }
        };
        if passes { Taken::new(&[IAC, EOR]) } else { Taken::NOTHING }
    }

    /// A positive response to a record that wanted one. The display carries out every record.
    fn respond(&mut self, [high, low]: [u8; 2]) {
        let response = doubled(&[DATA_RESPONSE, 0, POSITIVE, high, low, DEVICE_END]);
        self.reply(&[&response[..], &[IAC, EOR]].concat());
    }

    fn send_header(&mut self) {
        let Mode::Extended { responses } = self.mode else { return };
        let number = self.next_number;
        if responses {
            // RFC 2355 §8.1.4: from 0 to 32,767.
            self.next_number = (number + 1) & 0x7fff;
        }
        let [high, low] = number.to_be_bytes();
        let escaped = [DATA_3270, 0, 0, high, low, IAC];
        self.reply(&escaped[..if low == IAC { HEADER + 1 } else { HEADER }]);
    }

    fn reply(&mut self, bytes: &[u8]) {
        self.commands.replies.push(bytes);
    }
}

impl Codec for Framing {
    /// An IAC may have come with the piece before.
    const GROWTH: usize = 1;

    fn decode(&mut self, raw: &mut [u8], len: usize) -> usize {
        raw.copy_within(..len, 1);
        let mut kept = 0;
        for at in 1..=len {
            let taken = self.take(raw[at]);
            raw[kept..kept + taken.len].copy_from_slice(&taken.bytes[..taken.len]);
            kept += taken.len;
        }
        kept
    }

    /// The bytes up to the end of a record.
    fn encode<'a>(&mut self, bytes: &'a [u8], _: &'a mut [u8]) -> (usize, &'a [u8]) {
        // No record begins with IAC.
        if self.outgoing == Outgoing::Between && bytes.first().is_some_and(|byte| *byte != IAC) {
            self.outgoing = Outgoing::Within;
            self.send_header();
        }
        let mut outgoing = self.outgoing;
        let ends = |byte: &u8| {
            outgoing = outgoing.next(*byte);
            outgoing == Outgoing::Between
        };
        let most = bytes.iter().position(ends).map_or(bytes.len(), |end| end + 1);
        (most, &bytes[..most])
    }

    fn sent(&mut self, bytes: &[u8], _: (usize, &[u8]), len: usize) -> usize {
        self.outgoing = bytes[..len].iter().fold(self.outgoing, |outgoing, byte| outgoing.next(*byte));
        len
    }

    fn replies(&mut self) -> &mut Replies {
        &mut self.commands.replies
    }

    fn dropped(&self) -> u64 {
        self.commands.replies.dropped
    }

    fn is_agreed(&self) -> bool {
        self.mode != Mode::Nothing
    }

    fn is_within_a_sequence(&self) -> bool {
        !self.commands.is_in_data()
    }
}

impl LineTerminal for Framing {
    /// Known when records are agreed on.
    fn name(&self) -> Option<&str> {
        self.device().filter(|_| self.is_agreed())
    }
}

impl Outgoing {
    /// The state behind another byte.
    fn next(self, byte: u8) -> Self {
        match self {
            Self::Between if byte == IAC => Self::BetweenIac,
            Self::BetweenIac => Self::Between,
            Self::WithinIac if byte == EOR => Self::Between,
            Self::Within if byte == IAC => Self::WithinIac,
            _ => Self::Within,
        }
    }
}

/// What a received byte adds to the data stream.
struct Taken {
    bytes: [u8; 2],
    len: usize,
}

impl Taken {
    const NOTHING: Self = Self { bytes: [0; 2], len: 0 };

    fn new(bytes: &[u8]) -> Self {
        match *bytes {
            [one] => Self { bytes: [one, 0], len: 1 },
            [one, two] => Self { bytes: [one, two], len: 2 },
            _ => Self::NOTHING,
        }
    }
}
