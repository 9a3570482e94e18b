//! 3270 data streams over telnet, both ends: RFC 1576 (TERMINAL-TYPE, BINARY and END-OF-RECORD both ways), and RFC 2355 (TN3270E) where
//! the host asks for it: functions RESPONSES and SYSREQ, a header before each record, a response to each that wants one.
//!
//! Characters are those of the data stream as telnet carries them: IAC doubled, IAC EOR behind each record. The header is the
//! framing's own. What is no record of a 3270 (text of a network virtual terminal, bind images) is dropped; commands of telnet
//! between records (interrupt process, abort output) pass from the terminal to the host.

mod negotiation;
#[cfg(test)]
mod tests;

use super::exchange::{Exchange, Negotiating};
use super::options::{Agreed, BINARY, DO, DONT, END_OF_RECORD, IAC, SB, SE, Side, TERMINAL_TYPE, TN3270E, WILL, WONT};

/// Which end of the line this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
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
const INSIDE_LIMIT: usize = 128;

static OF_TERMINAL: Agreed =
    Agreed { ours: &[BINARY, TERMINAL_TYPE, END_OF_RECORD, TN3270E], theirs: &[BINARY, END_OF_RECORD] };
static OF_PLAIN_TERMINAL: Agreed =
    Agreed { ours: &[BINARY, TERMINAL_TYPE, END_OF_RECORD], theirs: &[BINARY, END_OF_RECORD] };
static OF_HOST: Agreed = Agreed { ours: OF_TERMINAL.theirs, theirs: OF_TERMINAL.ours };

/// The state of one end.
#[derive(Debug)]
pub struct Framing {
    role: Role,
    state: State,
    exchange: Exchange,
    /// The terminal's device type; at the host what the terminal sent.
    device: Box<str>,
    /// The logical unit that the terminal asks for.
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

/// The parser's state in the stream from the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Data,
    Iac,
    /// After WILL, WONT, DO or DONT.
    Verb(u8),
    Inside,
    InsideIac,
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
        let agreed = if extended { &OF_TERMINAL } else { &OF_PLAIN_TERMINAL };
        Self { lu: lu.map(Box::from), ..Self::new(Role::Terminal, agreed, device) }
    }

    /// The host's end. It asks for TN3270E, and for the three options of RFC 1576 if the terminal does not want it.
    pub fn host() -> Self {
        let mut host = Self::new(Role::Host, &OF_HOST, "");
        host.propose(Side::Theirs, TN3270E);
        host
    }

    fn new(role: Role, agreed: &'static Agreed, device: &str) -> Self {
        Self {
            role,
            state: State::Data,
            exchange: Exchange::new(agreed, INSIDE_LIMIT),
            device: device.into(),
            lu: None,
            lu_answer: LuAnswer::Awaited,
            mode: Mode::Nothing,
            incoming: Incoming { header: [0; HEADER], len: 0 },
            outgoing: Outgoing::Between,
            next_number: 0,
        }
    }

    /// Decodes the first `len` bytes of `raw` in place; pieces may have any size. The data stream is then at the head of `raw`.
    /// Returns its length: at most `len + 1`, for which `raw` must have room, because an IAC may have come with the piece before.
    pub fn receive(&mut self, raw: &mut [u8], len: usize) -> usize {
        raw.copy_within(..len, 1);
        let mut kept = 0;
        for at in 1..=len {
            let taken = self.take(raw[at]);
            raw[kept..kept + taken.len].copy_from_slice(&taken.bytes[..taken.len]);
            kept += taken.len;
        }
        kept
    }

    /// How much of the data stream's head can be sent now, after the replies: up to the end of a record.
    pub fn encode(&mut self, bytes: &[u8]) -> usize {
        // No record begins with IAC.
        if self.outgoing == Outgoing::Between && bytes.first().is_some_and(|byte| *byte != IAC) {
            self.outgoing = Outgoing::Within;
            self.say_header();
        }
        let mut outgoing = self.outgoing;
        for (index, byte) in bytes.iter().enumerate() {
            outgoing = outgoing.after(*byte);
            if outgoing == Outgoing::Between {
                return index + 1;
            }
        }
        bytes.len()
    }

    /// The first `len` bytes of the data stream were sent.
    pub fn sent(&mut self, bytes: &[u8], len: usize) {
        for byte in &bytes[..len] {
            self.outgoing = self.outgoing.after(*byte);
        }
    }

    /// Bytes that must be sent before any more of the data stream.
    pub fn replies(&self) -> &[u8] {
        self.exchange.replies()
    }

    /// The first `len` bytes of [`Framing::replies`] were sent.
    pub fn replied(&mut self, len: usize) {
        self.exchange.replied(len);
    }

    /// Whether records can be sent.
    pub fn is_agreed(&self) -> bool {
        self.mode != Mode::Nothing
    }

    /// Whether the other end agreed to TN3270E.
    pub fn is_extended(&self) -> bool {
        matches!(self.mode, Mode::Extended { .. })
    }

    /// The terminal's device type, once known.
    pub fn device(&self) -> Option<&str> {
        Some(&*self.device).filter(|device| !device.is_empty())
    }

    /// The logical unit: at the terminal what it asks for, at the host what the terminal asked for.
    pub fn logical_unit(&self) -> Option<&str> {
        self.lu.as_deref()
    }

    /// What the host says of the terminal's logical unit.
    pub fn lu_answer(&self) -> LuAnswer {
        self.lu_answer
    }

    /// Subnegotiations that were too long or broken off, and replies that did not fit.
    pub fn dropped(&self) -> u64 {
        self.exchange.dropped()
    }

    fn take(&mut self, byte: u8) -> Taken {
        match self.state {
            State::Data if byte == IAC => {
                self.state = State::Iac;
                Taken::NOTHING
            }
            State::Data => self.data(byte),
            State::Iac => self.command(byte),
            State::Verb(verb) => {
                self.state = State::Data;
                self.negotiated(verb, byte);
                Taken::NOTHING
            }
            State::Inside if byte == IAC => {
                self.state = State::InsideIac;
                Taken::NOTHING
            }
            State::Inside => self.collect(byte),
            State::InsideIac => self.inside_command(byte),
        }
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
            (true, IAC) => Taken::of(&[IAC, IAC]),
            (true, byte) => Taken::of(&[byte]),
        }
    }

    fn command(&mut self, byte: u8) -> Taken {
        self.state = State::Data;
        match byte {
            IAC => return self.data(IAC),
            EOR => return self.end_of_record(),
            WILL | WONT | DO | DONT => self.state = State::Verb(byte),
            SB => self.state = State::Inside,
            // Attention and system request.
            other if self.role == Role::Host && self.is_agreed() => return Taken::of(&[IAC, other]),
            _ => {}
        }
        Taken::NOTHING
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
        if passes { Taken::of(&[IAC, EOR]) } else { Taken::NOTHING }
    }

    /// A positive response to a record that wanted one. The display carries out every record.
    fn respond(&mut self, [high, low]: [u8; 2]) {
        let mut response = Vec::new();
        for byte in [DATA_RESPONSE, 0, POSITIVE, high, low, DEVICE_END] {
            response.push(byte);
            if byte == IAC {
                response.push(IAC);
            }
        }
        response.extend([IAC, EOR]);
        self.reply(&response);
    }

    fn say_header(&mut self) {
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

    fn collect(&mut self, byte: u8) -> Taken {
        self.state = State::Inside;
        self.exchange.collect(byte);
        Taken::NOTHING
    }

    fn inside_command(&mut self, byte: u8) -> Taken {
        if byte == IAC {
            return self.collect(byte);
        }
        self.state = State::Data;
        if let Some(inside) = self.exchange.end_inside(byte) {
            self.subnegotiated(&inside);
        }
        // After another command than SE the rest is missing, and the byte is that command.
        if byte == SE { Taken::NOTHING } else { self.command(byte) }
    }

    fn reply(&mut self, bytes: &[u8]) {
        if self.exchange.admits(bytes.len()) {
            self.exchange.append(bytes);
        }
    }
}

impl Negotiating for Framing {
    /// An IAC may have come with the piece before.
    const GROWTH: usize = 1;

    fn exchange(&mut self) -> &mut Exchange {
        &mut self.exchange
    }

    fn decode(&mut self, raw: &mut [u8], len: usize) -> usize {
        self.receive(raw, len)
    }

    fn is_within_a_sequence(&self) -> bool {
        self.state != State::Data
    }
}

impl Outgoing {
    /// The state behind another byte.
    fn after(self, byte: u8) -> Self {
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

    fn of(bytes: &[u8]) -> Self {
        match *bytes {
            [one] => Self { bytes: [one, 0], len: 1 },
            [one, two] => Self { bytes: [one, two], len: 2 },
            _ => Self::NOTHING,
        }
    }
}
