//! Units as bytes: how a station sends a control sequence or a block.

use super::check::{Check, with_parity};
use super::code::{Characters, Code};
use super::profile::Profile;

/// What is sent around the units of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// As on a synchronous line: each unit begins with PAD SYN SYN and ends with PAD, blocks have a block check, ASCII has parity.
    Line,
    /// As Hercules passes the bytes of a 2703 over TCP: no PAD, SYN, block check or parity.
    Hercules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Control {
    /// A bid for the line, or a question for the last answer.
    Enq,
    Eot,
    Nak,
    /// ACK1 if set, otherwise ACK0.
    Ack(bool),
    /// Good, but there is no room yet for more.
    Wack,
    /// Good, and the receiver wants to send.
    Rvi,
    /// The sender has no text yet.
    Ttd,
    /// DLE EOT.
    Disconnect,
}

/// The bytes of units in one code and framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Format {
    pub(super) code: Code,
    pub(super) framing: Framing,
}

/// Before a unit; only alternating bits, for the clock of a modem.
const LEADING_PAD: u8 = 0xaa;
const TRAILING_PAD: u8 = 0xff;

impl Format {
    pub(super) fn characters(self) -> &'static Characters {
        self.code.characters()
    }

    /// Whether units begin with SYN and blocks have a check.
    pub(super) fn is_line(self) -> bool {
        self.framing == Framing::Line
    }

    /// Whether characters have parity, except within transparent text.
    pub(super) fn has_parity(self) -> bool {
        self.is_line() && self.code == Code::Ascii
    }

    /// Whether text that is not transparent cannot hold this byte.
    pub(super) fn needs_transparency(self, byte: u8) -> bool {
        self.characters().is_control(byte) || self.has_parity() && byte > 0x7f
    }

    /// Appends a control sequence to `out`.
    pub(super) fn control(self, control: Control, out: &mut Vec<u8>) {
        let Characters { stx, enq, eot, nak, dle, ack0, ack1, wack, rvi, .. } = *self.characters();
        let sequence: &[u8] = match control {
            Control::Enq => &[enq],
            Control::Eot => &[eot],
            Control::Nak => &[nak],
            Control::Ack(false) => &[dle, ack0],
            Control::Ack(true) => &[dle, ack1],
            Control::Wack => &[dle, wack],
            Control::Rvi => &[dle, rvi],
            Control::Ttd => &[stx, enq],
            Control::Disconnect => &[dle, eot],
        };
        self.begin(out);
        out.extend(sequence.iter().map(|character| self.on_the_line(*character)));
        self.end(out);
    }

    /// Appends a block to `out`, with `text` cut into records as the profile says. `last`: whether it ends with ETX.
    pub(super) fn block(self, text: &[u8], last: bool, transparent: bool, profile: &Profile, out: &mut Vec<u8>) {
        let characters = self.characters();
        self.begin(out);
        let mut block = Block { format: self, transparent, check: Check::default(), out };
        block.control(characters.stx);
        // Accumulation starts after the first STX.
        block.check = Check::default();
        for (at, byte) in text.iter().enumerate() {
            if at > 0 && profile.record_size.is_some_and(|size| at % size == 0) {
                block.control(characters.itb);
                block.end();
                if transparent {
                    block.resume();
                }
            }
            if at > 0 && self.is_line() && profile.fill_every.is_some_and(|every| at % every == 0) {
                block.fill();
            }
            block.text(*byte);
        }
        block.control(if last { characters.etx } else { characters.etb });
        block.end();
        self.end(out);
    }

    fn begin(self, out: &mut Vec<u8>) {
        if self.is_line() {
            let syn = self.on_the_line(self.characters().syn);
            out.extend([LEADING_PAD, syn, syn]);
        }
    }

    fn end(self, out: &mut Vec<u8>) {
        if self.is_line() {
            out.push(TRAILING_PAD);
        }
    }

    fn on_the_line(self, character: u8) -> u8 {
        if self.has_parity() { with_parity(character) } else { character }
    }
}

struct Block<'a> {
    format: Format,
    transparent: bool,
    check: Check,
    out: &'a mut Vec<u8>,
}

impl Block<'_> {
    /// A control character, which the check includes; in transparent text behind a DLE, which it does not.
    fn control(&mut self, character: u8) {
        if self.transparent {
            self.out.push(self.format.characters().dle);
        }
        let byte = self.format.on_the_line(character);
        self.out.push(byte);
        self.check.add(byte);
    }

    fn text(&mut self, byte: u8) {
        let dle = self.format.characters().dle;
        let byte = if self.transparent { byte } else { self.format.on_the_line(byte) };
        if self.transparent && byte == dle {
            self.out.push(dle);
        }
        self.out.push(byte);
        self.check.add(byte);
    }

    /// The block check, which begins anew.
    fn end(&mut self) {
        let Check { crc, lrc } = std::mem::take(&mut self.check);
        match self.format {
            format if !format.is_line() => {}
            format if format.has_parity() && !self.transparent => self.out.push(with_parity(lrc)),
            _ => self.out.extend(crc.to_le_bytes()),
        }
    }

    /// Makes text transparent again after ITB, which ended that.
    fn resume(&mut self) {
        if self.format.is_line() {
            let syn = self.format.on_the_line(self.format.characters().syn);
            self.out.extend([syn, syn]);
        }
        self.control(self.format.characters().stx);
    }

    fn fill(&mut self) {
        let Characters { dle, syn, .. } = *self.format.characters();
        let syn = self.format.on_the_line(syn);
        self.out.extend([if self.transparent { dle } else { syn }, syn]);
    }
}
