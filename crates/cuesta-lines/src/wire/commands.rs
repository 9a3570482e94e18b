//! Telnet's commands among the bytes from the other end (RFC 854, RFC 855): single commands, options and subnegotiations.

use super::Replies;
use super::options::{AcceptedOptions, DO, DONT, IAC, Options, Outcome, SB, SE, WILL, WONT};

/// The parser of one end, its options, and its replies.
#[derive(Debug)]
pub(super) struct Commands {
    state: State,
    pub(super) options: Options,
    pub(super) replies: Replies,
    /// The longest subnegotiation that is parsed.
    longest: u8,
    /// The content of the subnegotiation that has begun.
    subnegotiation: Vec<u8>,
}

/// The parser's state in the stream from the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Data,
    Iac,
    /// After WILL, WONT, DO or DONT.
    Verb(u8),
    Subnegotiation,
    SubnegotiationIac,
}

/// What a byte completes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A byte of data.
    Data(u8),
    /// A command without an option.
    Command(u8),
    /// WILL, WONT, DO or DONT, the option, and its effect here.
    Option(u8, u8, Outcome),
    /// The content of a subnegotiation.
    Subnegotiation(Vec<u8>),
    /// Nothing yet, or a subnegotiation that is dropped.
    Nothing,
}

impl Commands {
    pub(super) fn new(agreed: &'static AcceptedOptions, longest: u8) -> Self {
        let (options, replies) = (Options::new(agreed), Replies::default());
        Self { state: State::Data, options, replies, longest, subnegotiation: Vec::new() }
    }

    /// Whether no command has begun that is not complete.
    pub(super) fn is_in_data(&self) -> bool {
        self.state == State::Data
    }

    pub(super) fn take(&mut self, byte: u8) -> Token {
        match self.state {
            State::Data if byte == IAC => self.go(State::Iac),
            State::Data => Token::Data(byte),
            State::Iac => self.command(byte),
            State::Verb(verb) => {
                self.state = State::Data;
                self.replies.negotiated = self.replies.negotiated.wrapping_add(1);
                Token::Option(verb, byte, self.options.negotiated(verb, byte))
            }
            State::Subnegotiation if byte == IAC => self.go(State::SubnegotiationIac),
            State::SubnegotiationIac if byte != IAC => self.end_subnegotiation(byte),
            State::Subnegotiation | State::SubnegotiationIac => {
                // One byte more than the limit records that it was exceeded.
                if self.subnegotiation.len() <= usize::from(self.longest) {
                    self.subnegotiation.push(byte);
                }
                self.go(State::Subnegotiation)
            }
        }
    }

    fn go(&mut self, state: State) -> Token {
        self.state = state;
        Token::Nothing
    }

    fn command(&mut self, byte: u8) -> Token {
        self.state = State::Data;
        match byte {
            IAC => Token::Data(IAC),
            WILL | WONT | DO | DONT => self.go(State::Verb(byte)),
            SB => self.go(State::Subnegotiation),
            command => Token::Command(command),
        }
    }

    /// A command has come within the subnegotiation, which ends it. After another command than SE the rest is missing.
    fn end_subnegotiation(&mut self, command: u8) -> Token {
        self.state = State::Data;
        self.replies.negotiated = self.replies.negotiated.wrapping_add(1);
        let subnegotiation = std::mem::take(&mut self.subnegotiation);
        let is_whole = command == SE && subnegotiation.len() <= usize::from(self.longest);
        self.replies.dropped += u64::from(!is_whole);
        match command {
            SE if is_whole => Token::Subnegotiation(subnegotiation),
            SE => Token::Nothing,
            command => self.command(command),
        }
    }
}
