//! Telnet's commands among the bytes from the other end (RFC 854, RFC 855): single commands, options and subnegotiations.

use super::Replies;
use super::options::{Agreed, DO, DONT, IAC, Options, Outcome, SB, SE, WILL, WONT};

/// The parser of one end, its options, and its replies.
#[derive(Debug)]
pub(super) struct Commands {
    state: State,
    pub(super) options: Options,
    pub(super) replies: Replies,
    /// The longest subnegotiation that is parsed.
    longest: u8,
    /// The subnegotiation under way.
    inside: Vec<u8>,
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
    pub(super) fn new(agreed: &'static Agreed, longest: u8) -> Self {
        let (options, replies) = (Options::new(agreed), Replies::default());
        Self { state: State::Data, options, replies, longest, inside: Vec::new() }
    }

    /// Whether no command has begun that is not complete.
    pub(super) fn is_between(&self) -> bool {
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
            State::Inside if byte == IAC => self.go(State::InsideIac),
            State::InsideIac if byte != IAC => self.end_inside(byte),
            State::Inside | State::InsideIac => {
                // One byte more than the limit records that it was exceeded.
                if self.inside.len() <= usize::from(self.longest) {
                    self.inside.push(byte);
                }
                self.go(State::Inside)
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
            SB => self.go(State::Inside),
            command => Token::Command(command),
        }
    }

    /// A command has come within the subnegotiation, which ends it. After another command than SE the rest is missing.
    fn end_inside(&mut self, command: u8) -> Token {
        self.state = State::Data;
        self.replies.negotiated = self.replies.negotiated.wrapping_add(1);
        let inside = std::mem::take(&mut self.inside);
        let is_whole = command == SE && inside.len() <= usize::from(self.longest);
        self.replies.dropped += u64::from(!is_whole);
        match command {
            SE if is_whole => Token::Subnegotiation(inside),
            SE => Token::Nothing,
            command => self.command(command),
        }
    }
}
