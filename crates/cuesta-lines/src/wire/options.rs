//! Telnet's option negotiation by RFC 1143, which prevents negotiation loops. Neither end here withdraws a request before it is
//! answered, so an option needs three of that method's six states.
//!
//! It decides which verbs to send; it sends nothing and does not know what an option means.

pub(super) const IAC: u8 = 255;
pub(super) const DONT: u8 = 254;
pub(super) const DO: u8 = 253;
pub(super) const WONT: u8 = 252;
pub(super) const WILL: u8 = 251;
pub(super) const SB: u8 = 250;
pub(super) const SE: u8 = 240;

pub(super) const BINARY: u8 = 0;
pub(super) const ECHO: u8 = 1;
pub(super) const GO_AHEAD: u8 = 3;
const TIMING_MARK: u8 = 6;
pub(super) const TERMINAL_TYPE: u8 = 24;
pub(super) const END_OF_RECORD: u8 = 25;
pub(super) const WINDOW: u8 = 31;
pub(super) const TN3270E: u8 = 40;
const KNOWN: [u8; 7] = [BINARY, ECHO, GO_AHEAD, TERMINAL_TYPE, END_OF_RECORD, WINDOW, TN3270E];

/// The options that an end agrees to.
#[derive(Debug)]
pub(super) struct AcceptedOptions {
    /// Options that it performs itself.
    pub(super) ours: &'static [u8],
    /// Options that the other end may perform.
    pub(super) theirs: &'static [u8],
}

/// The options of both ends, as this one sees them.
#[derive(Debug)]
pub(super) struct Options {
    agreed: &'static AcceptedOptions,
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

/// The end that performs an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

/// The effect of a verb from the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The verb to answer with, if an answer is due.
    pub(super) answer: Option<u8>,
    /// The side on which the option was switched on by this verb.
    pub(super) switched_on: Option<Side>,
}

impl Options {
    /// All options are off.
    pub(super) fn new(agreed: &'static AcceptedOptions) -> Self {
        Self { agreed, ours: [Switch::Off; KNOWN.len()], theirs: [Switch::Off; KNOWN.len()] }
    }

    /// Requests an option on one side. Returns the verb to send.
    pub(super) fn propose(&mut self, side: Side, option: u8) -> u8 {
        if let Some(switch) = self.switch(side, option) {
            *switch = Switch::Asked;
        }
        verb(side, true)
    }

    /// Switches off an option that is on. Returns the verb to send.
    pub(super) fn withdraw(&mut self, side: Side, option: u8) -> Option<u8> {
        let switch = self.switch(side, option).filter(|switch| **switch == Switch::On)?;
        *switch = Switch::Off;
        Some(verb(side, false))
    }

    /// Handles WILL, WONT, DO or DONT from the other end (RFC 1143 §7).
    pub(super) fn negotiated(&mut self, request: u8, option: u8) -> Outcome {
        // TIMING-MARK is answered each time (RFC 860).
        if (request, option) == (DO, TIMING_MARK) {
            return Outcome { answer: Some(WILL), switched_on: None };
        }
        let side = if matches!(request, WILL | WONT) { Side::Theirs } else { Side::Ours };
        let wanted = matches!(request, WILL | DO);
        let agreed = if side == Side::Ours { self.agreed.ours } else { self.agreed.theirs };
        let on = wanted && agreed.contains(&option);
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

    fn switch(&mut self, side: Side, option: u8) -> Option<&mut Switch> {
        let index = KNOWN.iter().position(|known| *known == option)?;
        Some(match side {
            Side::Ours => &mut self.ours[index],
            Side::Theirs => &mut self.theirs[index],
        })
    }
}

/// Bytes of data as they are sent: each IAC twice.
pub(super) fn doubled(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == IAC))).collect()
}

/// The verb that switches an option of a side on or off.
fn verb(side: Side, on: bool) -> u8 {
    match (side, on) {
        (Side::Ours, true) => WILL,
        (Side::Ours, false) => WONT,
        (Side::Theirs, true) => DO,
        (Side::Theirs, false) => DONT,
    }
}
