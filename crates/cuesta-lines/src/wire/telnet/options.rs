//! What either end of the line does and was asked to do: options, negotiated as RFC 1143 says, so that no two ends can talk
//! in circles. Neither end here ever takes back what it wanted, so an option needs three of that method's six states.
//!
//! It says which verbs are to be sent; it sends nothing, and knows nothing of what an option is for.

use super::Role;

pub(super) const DONT: u8 = 254;
pub(super) const DO: u8 = 253;
pub(super) const WONT: u8 = 252;
pub(super) const WILL: u8 = 251;

pub(super) const BINARY: u8 = 0;
pub(super) const ECHO: u8 = 1;
pub(super) const GO_AHEAD: u8 = 3;
const TIMING_MARK: u8 = 6;
pub(super) const TERMINAL_TYPE: u8 = 24;
pub(super) const WINDOW: u8 = 31;
const KNOWN: [u8; 5] = [BINARY, ECHO, GO_AHEAD, TERMINAL_TYPE, WINDOW];

/// The options of both ends, as this one sees them.
#[derive(Debug)]
pub(super) struct Options {
    role: Role,
    ours: [Switch; KNOWN.len()],
    theirs: [Switch; KNOWN.len()],
}

/// An option on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    Off,
    /// We proposed it and have no answer yet.
    Asked,
    On,
}

/// Whose doing an option is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

/// What follows from a verb of the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The verb to answer with, if there is to be an answer.
    pub(super) answer: Option<u8>,
    /// Who does from now on what was not done before.
    pub(super) switched_on: Option<Side>,
}

impl Options {
    /// Nobody does anything yet.
    pub(super) fn new(role: Role) -> Self {
        Self { role, ours: [Switch::Off; KNOWN.len()], theirs: [Switch::Off; KNOWN.len()] }
    }

    /// An option that we want on one side: the verb that says so.
    pub(super) fn propose(&mut self, side: Side, option: u8) -> u8 {
        if let Some(switch) = self.switch(side, option) {
            *switch = Switch::Asked;
        }
        verb(side, true)
    }

    /// The other end said that it will or wants us to, or not (RFC 1143 §7).
    pub(super) fn negotiated(&mut self, said: u8, option: u8) -> Outcome {
        // A question that is answered each time (RFC 860).
        if (said, option) == (DO, TIMING_MARK) {
            return Outcome { answer: Some(WILL), switched_on: None };
        }
        let side = if matches!(said, WILL | WONT) { Side::Theirs } else { Side::Ours };
        let wanted = matches!(said, WILL | DO);
        let on = wanted && self.agrees(side, option);
        let Some(switch) = self.switch(side, option) else {
            return Outcome { answer: wanted.then_some(verb(side, false)), switched_on: None };
        };
        let before = std::mem::replace(switch, if on { Switch::On } else { Switch::Off });
        let answers = matches!((before, wanted), (Switch::Off, true) | (Switch::On, false));
        Outcome { answer: answers.then_some(verb(side, on)), switched_on: (on && before != Switch::On).then_some(side) }
    }

    pub(super) fn is_on(&self, side: Side, option: u8) -> bool {
        let switches = if side == Side::Ours { &self.ours } else { &self.theirs };
        KNOWN.iter().zip(switches).any(|(known, switch)| *known == option && *switch == Switch::On)
    }

    fn agrees(&self, side: Side, option: u8) -> bool {
        // Either end may be the one that talks to the other; echo is the host's part, name and window the terminal's.
        let terminals = (side == Side::Ours) == (self.role == Role::Terminal);
        match option {
            BINARY | GO_AHEAD => true,
            ECHO => !terminals,
            TERMINAL_TYPE | WINDOW => terminals,
            _ => false,
        }
    }

    fn switch(&mut self, side: Side, option: u8) -> Option<&mut Switch> {
        let index = KNOWN.iter().position(|known| *known == option)?;
        Some(match side {
            Side::Ours => &mut self.ours[index],
            Side::Theirs => &mut self.theirs[index],
        })
    }
}

/// How it is said that a side does an option, or does not.
fn verb(side: Side, on: bool) -> u8 {
    match (side, on) {
        (Side::Ours, true) => WILL,
        (Side::Ours, false) => WONT,
        (Side::Theirs, true) => DO,
        (Side::Theirs, false) => DONT,
    }
}
