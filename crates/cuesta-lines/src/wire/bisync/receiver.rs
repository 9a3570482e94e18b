//! Bytes as units: finds control sequences and blocks in what comes, whole or byte by byte, and checks the blocks.

use super::blocks::{Control, Format};
use super::check::{Check, with_parity};
use super::code::Characters;

/// What a receiver found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Control(Control),
    /// A block whose checks are good.
    Block(Block),
    /// A block that has a bad check, is too long, or was broken off with ENQ.
    Bad,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Block {
    /// All records. A heading stands before the text with its SOH and the STX that followed it.
    pub(super) text: Vec<u8>,
    /// Where each record that ended with ITB ends.
    pub(super) records: Vec<usize>,
    /// Whether it ended with ETX: the end of the message.
    pub(super) last: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Receiver {
    format: Format,
    /// Most characters of a block's text, and most of its records.
    limit: usize,
    state: State,
    block: Block,
    /// Whether the block is good so far.
    good: bool,
    /// Whether a heading came and its STX did not yet.
    in_heading: bool,
    check: Check,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    /// On a line: no SYN yet, or one.
    Hunt,
    Syn,
    /// Before the first character of a unit.
    Start,
    StartDle,
    /// After DLE DLE: rje80 sends DLE DLE DLE ACK0 while it is idle, and that is no ACK0.
    Idle,
    IdleDle,
    Text,
    TextDle,
    Transparent,
    TransparentDle,
    /// Awaits the block check; the first byte of two, once it has come.
    Check(Ending, Option<u8>),
}

/// The control character before a block check, and whether the text was transparent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Ending {
    control: u8,
    transparent: bool,
}

impl Receiver {
    pub(super) fn new(format: Format, limit: usize) -> Self {
        let block = Block::default();
        let state = Self::state_between_units(format);
        Self { format, limit, state, block, good: true, in_heading: false, check: Check::default() }
    }

    pub(super) fn take(&mut self, byte: u8) -> Option<Unit> {
        if let State::Check(ending, first) = self.state {
            return self.checked(ending, first, byte);
        }
        let has_parity = self.format.has_parity();
        let character = if has_parity && self.state != State::Transparent { byte & 0x7f } else { byte };
        let in_parity = !has_parity || with_parity(byte) == byte;
        match self.state {
            State::Text | State::TextDle => {
                self.good &= in_parity;
                self.text(byte, character)
            }
            State::Transparent | State::TransparentDle => self.transparent(byte, character),
            _ if in_parity => self.start(character),
            _ => {
                self.state = Self::state_between_units(self.format);
                None
            }
        }
    }

    /// Whether a block has begun and its end is missing.
    pub(super) fn is_within_a_block(&self) -> bool {
        use State::{Check, Text, TextDle, Transparent, TransparentDle};
        matches!(self.state, Text | TextDle | Transparent | TransparentDle | Check(..))
    }

    /// Drops the unit that has begun.
    pub(super) fn abandon(&mut self) {
        *self = Self::new(self.format, self.limit);
    }

    fn state_between_units(format: Format) -> State {
        if format.is_line() { State::Hunt } else { State::Start }
    }

    /// A character between units, or of a unit without text.
    fn start(&mut self, character: u8) -> Option<Unit> {
        let Characters { soh, stx, enq, eot, nak, dle, syn, ack0, ack1, wack, rvi, .. } = *self.format.characters();
        let between = Self::state_between_units(self.format);
        let state = std::mem::replace(&mut self.state, between);
        let control = match state {
            State::StartDle if character == ack0 => Control::Ack(false),
            State::StartDle if character == ack1 => Control::Ack(true),
            State::StartDle if character == wack => Control::Wack,
            State::StartDle if character == rvi => Control::Rvi,
            State::StartDle if character == eot => Control::Disconnect,
            State::StartDle if character == stx => return self.begin(State::Transparent),
            State::StartDle if character == dle => return self.go(State::Idle),
            State::Idle if character == dle => return self.go(State::IdleDle),
            State::StartDle | State::IdleDle => return None,
            State::Hunt | State::Syn if character != syn => return None,
            State::Hunt => return self.go(State::Syn),
            State::Syn => return self.go(State::Start),
            _ if character == syn => return self.go(State::Start),
            _ if character == enq => Control::Enq,
            _ if character == eot => Control::Eot,
            _ if character == nak => Control::Nak,
            _ if character == dle => return self.go(State::StartDle),
            _ if character == stx => return self.begin(State::Text),
            _ if character == soh => {
                self.begin(State::Text);
                self.in_heading = true;
                return self.keep(soh);
            }
            _ => return None,
        };
        Some(Unit::Control(control))
    }

    fn go(&mut self, state: State) -> Option<Unit> {
        self.state = state;
        None
    }

    fn begin(&mut self, state: State) -> Option<Unit> {
        self.abandon();
        self.go(state)
    }

    /// A byte of text that is not transparent, or of a heading.
    fn text(&mut self, byte: u8, character: u8) -> Option<Unit> {
        let Characters { stx, etx, etb, itb, enq, eot, dle, syn, .. } = *self.format.characters();
        if self.state == State::TextDle {
            self.state = State::Text;
            if character == stx {
                self.check.add(byte);
                self.state = State::Transparent;
                return self.stx();
            }
            if character == eot {
                return Some(self.end(Unit::Control(Control::Disconnect)));
            }
            self.check.add(dle);
            self.keep(dle);
        }
        match character {
            _ if character == syn => return None,
            _ if character == dle => return self.go(State::TextDle),
            _ if character == enq => return Some(self.enq()),
            // The sender has given up a block whose end was lost.
            _ if character == eot => return Some(self.end(Unit::Control(Control::Eot))),
            _ => self.check.add(byte),
        }
        match character {
            _ if [etx, etb, itb].contains(&character) => self.ended(Ending { control: character, transparent: false }),
            _ if character == stx => self.stx(),
            _ => self.keep(character),
        }
    }

    /// A byte of transparent text.
    fn transparent(&mut self, byte: u8, character: u8) -> Option<Unit> {
        let Characters { etx, etb, itb, enq, dle, syn, .. } = *self.format.characters();
        let after_dle = self.state == State::TransparentDle;
        self.state = State::Transparent;
        match character {
            _ if !after_dle && byte == dle => return self.go(State::TransparentDle),
            _ if !after_dle || byte == dle => {}
            _ if character == syn => return None,
            _ if character == enq => return Some(self.enq()),
            _ if [etx, etb, itb].contains(&character) => {
                self.check.add(byte);
                return self.ended(Ending { control: character, transparent: true });
            }
            _ => self.good = false,
        }
        self.check.add(byte);
        self.keep(byte)
    }

    /// STX behind a heading is kept, STX at the start of a record is not, and STX elsewhere is text.
    fn stx(&mut self) -> Option<Unit> {
        let at_start = self.block.records.last() == Some(&self.block.text.len());
        if at_start && !self.in_heading {
            return None;
        }
        self.in_heading = false;
        self.keep(self.format.characters().stx)
    }

    fn keep(&mut self, character: u8) -> Option<Unit> {
        if self.block.text.len() < self.limit {
            self.block.text.push(character);
        } else {
            self.good = false;
        }
        None
    }

    /// ENQ within text: TTD if there is no text, otherwise the sender gives up the block.
    fn enq(&mut self) -> Unit {
        let empty = self.block.text.is_empty() && self.block.records.is_empty() && self.good;
        self.end(if empty { Unit::Control(Control::Ttd) } else { Unit::Bad })
    }

    /// The unit ends here.
    fn end(&mut self, unit: Unit) -> Unit {
        self.abandon();
        unit
    }

    fn ended(&mut self, ending: Ending) -> Option<Unit> {
        if self.format.is_line() {
            return self.go(State::Check(ending, None));
        }
        self.passed(ending)
    }

    /// A byte of the block check.
    fn checked(&mut self, ending: Ending, first: Option<u8>, byte: u8) -> Option<Unit> {
        if self.format.has_parity() && !ending.transparent {
            // The parity of the check character is not checked: the check itself says more.
            self.good &= byte & 0x7f == self.check.lrc;
        } else if let Some(low) = first {
            self.good &= u16::from_le_bytes([low, byte]) == self.check.crc;
        } else {
            return self.go(State::Check(ending, Some(byte)));
        }
        self.passed(ending)
    }

    /// A record or the block is complete. ITB ends transparency.
    fn passed(&mut self, ending: Ending) -> Option<Unit> {
        let Characters { etx, itb, .. } = *self.format.characters();
        if ending.control == itb {
            if self.block.records.len() < self.limit {
                self.block.records.push(self.block.text.len());
            } else {
                self.good = false;
            }
            self.check = Check::default();
            return self.go(State::Text);
        }
        let mut block = std::mem::take(&mut self.block);
        block.last = ending.control == etx;
        let unit = if self.good { Unit::Block(block) } else { Unit::Bad };
        Some(self.end(unit))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::bisync::code::Code;
    use crate::wire::bisync::{Framing, Profile};

    const FORMATS: [Format; 4] = [
        Format { code: Code::Ebcdic, framing: Framing::Line },
        Format { code: Code::Ascii, framing: Framing::Line },
        Format { code: Code::Ebcdic, framing: Framing::Hercules },
        Format { code: Code::Ascii, framing: Framing::Hercules },
    ];
    const LINE: Format = FORMATS[0];
    const ASCII_LINE: Format = FORMATS[1];

    fn units(format: Format, bytes: &[u8]) -> Vec<Unit> {
        let mut receiver = Receiver::new(format, 1000);
        bytes.iter().filter_map(|byte| receiver.take(*byte)).collect()
    }

    fn block(text: &[u8], records: &[usize]) -> Unit {
        Unit::Block(Block { text: text.to_vec(), records: records.to_vec(), last: true })
    }

    #[test]
    fn a_recorded_block_is_good_and_one_bit_makes_it_bad() {
        let mut unit = vec![0xaa, 0x32, 0x32, 0x01, 0x6c, 0xd9, 0x02, 0x40, 0xc8, 0x40, 0x50, 0x03, 0x0d, 0x28, 0xff];
        assert_eq!(units(LINE, &unit), [block(&[0x01, 0x6c, 0xd9, 0x02, 0x40, 0xc8, 0x40, 0x50], &[])]);
        unit[8] ^= 1;
        assert_eq!(units(LINE, &unit), [Unit::Bad]);
    }

    #[test]
    fn ascii_has_parity_and_a_longitudinal_check() {
        let mut unit = Vec::new();
        ASCII_LINE.block(b"AC", true, false, &Profile::default(), &mut unit);
        // A = 41, C = 43, ETX = 03: the exclusive or is 01.
        assert_eq!(unit, [0xaa, 0x16, 0x16, 0x02, 0xc1, 0x43, 0x83, 0x01, 0xff]);
        assert_eq!(units(ASCII_LINE, &unit), [block(b"AC", &[])]);
        unit[4] ^= 0x80;
        assert_eq!(units(ASCII_LINE, &unit), [Unit::Bad]);
        assert_eq!(units(ASCII_LINE, &[0x16, 0x16, 0x05]), [], "ENQ with even parity");
        assert_eq!(units(ASCII_LINE, &[0x16, 0x16, 0x85]), [Unit::Control(Control::Enq)]);
    }

    #[test]
    fn what_real_peers_send_over_tcp_is_understood() {
        let hercules = FORMATS[2];
        let mut receiver = Receiver::new(hercules, 1000);
        assert_eq!(receiver.take(0x02), None);
        let rest = [0xc3, 0xe4, 0xc5, 0xe2, 0xe3, 0xc1, 0xf1, 0x03];
        let complete: Vec<_> = rest.iter().filter_map(|byte| receiver.take(*byte)).collect();
        assert_eq!(complete, [block(&rest[..7], &[])]);
        let rje80 = [
            0x32, 0x32, 0x32, 0x2d, 0x10, 0x10, 0x10, 0x70, 0x10, 0x02, 0x26, 0x61, 0x32, 0x10, 0x10, 0x10, 0x03, 0x32,
            0x32, 0x37,
        ];
        let [enq, eot] = [Control::Enq, Control::Eot].map(Unit::Control);
        assert_eq!(units(hercules, &rje80), [enq, block(&[0x26, 0x61, 0x32, 0x10], &[]), eot]);
    }

    #[test]
    fn a_bad_record_makes_the_block_bad() {
        let profile = Profile { record_size: Some(2), ..Profile::default() };
        for (format, transparent) in [(LINE, false), (LINE, true), (ASCII_LINE, false), (ASCII_LINE, true)] {
            let mut unit = Vec::new();
            format.block(b"ABCDE", true, transparent, &profile, &mut unit);
            assert_eq!(units(format, &unit), [block(b"ABCDE", &[2, 4])]);
            let at = unit.iter().position(|byte| *byte & 0x7f == b'C').unwrap();
            unit[at] ^= 0x04;
            assert_eq!(units(format, &unit), [Unit::Bad]);
        }
    }

    #[test]
    fn a_block_that_is_too_long_is_bad_and_takes_no_more_room() {
        let mut receiver = Receiver::new(FORMATS[2], 10);
        let endless: Vec<u8> = [0x02].into_iter().chain([0xc1, 0x1f].repeat(1000)).collect();
        assert!(endless.iter().all(|byte| receiver.take(*byte).is_none()));
        assert_eq!((receiver.block.text.len(), receiver.block.records.len()), (10, 10));
        assert_eq!(receiver.take(0x03), Some(Unit::Bad));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400), format in 0_usize..4) {
            units(FORMATS[format], &bytes);
        }

        #[test]
        fn any_text_comes_back(
            text in proptest::collection::vec(any::<u8>(), 0..200),
            format in 0_usize..4,
            always in any::<bool>(),
            record_size in proptest::option::of(1_usize..50),
            fill_every in proptest::option::of(1_usize..50),
        ) {
            let format = FORMATS[format];
            let profile = Profile { record_size, fill_every, ..Profile::default() };
            let transparent = always || text.iter().any(|byte| format.needs_transparency(*byte));
            let mut bytes = Vec::new();
            format.block(&text, true, transparent, &profile, &mut bytes);
            format.control(Control::Rvi, &mut bytes);
            let size = record_size.unwrap_or(usize::MAX);
            let records: Vec<_> = (1..text.len()).filter(|at| at % size == 0).collect();
            prop_assert_eq!(units(format, &bytes), [block(&text, &records), Unit::Control(Control::Rvi)]);
        }
    }
}
