//! Translates control functions that the screen model (`vt100`) lacks into those that it has.
//!
//! The stream passes through unchanged up to the last character of such a function, which is replaced. So the result does not
//! depend on where the stream is cut. A character that is cut in two is kept until it is complete, because the model's parser
//! would lose the text after it (vte 0.15). Not supported by either: insert mode, custom tab stops, line-drawing character sets,
//! double-height rows.

use memchr::memchr;
use vt100::Parser;

use super::replies::Replies;
use super::sequence::{ControlSequence, ESC, SequenceState};

/// Cancels a sequence.
const CANCEL: &[u8] = b"\x18";
/// The soft reset, as far as keys and the cursor depend on it.
const SOFT_RESET: &[u8] = b"\x18\x1b[?1l\x1b[?25h\x1b[?6l\x1b[m\x1b>";
/// Largest repeat count.
const MOST: u16 = 1000;

/// Passes the stream on to the model.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    state: SequenceState,
    /// DECAWM is reset: characters that do not fit into a row overwrite its last column.
    stays_in_row: bool,
    /// The beginning of an incomplete character.
    partial: PartialCharacter,
    /// How often the whole screen was cleared.
    pub(crate) cleared: u64,
}

impl Gaps {
    pub(crate) fn feed(&mut self, bytes: &[u8], model: &mut Parser<Replies>) {
        let (mut from, mut at) = (0, 0);
        while at < bytes.len() {
            if self.state == SequenceState::Text && !self.stays_in_row {
                let Some(escape) = memchr(ESC, &bytes[at..]) else { break };
                at += escape;
            }
            if let Some(last) = self.state.step(bytes[at]) {
                self.partial.pass(&bytes[from..at], model);
                from = at + usize::from(self.replace(last, bytes[at], model));
            }
            at += 1;
            if self.stays_in_row && self.state == SequenceState::Text {
                self.partial.pass(&bytes[from..at], model);
                from = at;
                into_row(model);
            }
        }
        self.partial.pass(&bytes[from..], model);
    }

    /// Replaces a sequence that the model lacks; true if its last byte needs no further handling.
    fn replace(&mut self, sequence: SequenceState, last: u8, model: &mut Parser<Replies>) -> bool {
        let SequenceState::ControlSequence(control) = sequence else { return self.replace_escape(last, model) };
        let count = usize::from(control.number().clamp(1, MOST));
        match (control.private, control.intermediate, last) {
            (None, None, b'J') => {
                let home = model.screen().cursor_position() == (0, 0);
                self.cleared += u64::from(control.number() >= 2 || (control.number() == 0 && home));
                return false;
            }
            (None, None, b'Z') => {
                let column = usize::from(model.screen().cursor_position().1);
                let stop = (column.div_ceil(8)).saturating_sub(count) * 8;
                model.process(format!("\x18\x1b[{}G", stop + 1).as_bytes());
            }
            (None, None, b'I') => model.process(&[CANCEL, &b"\t".repeat(count)].concat()),
            (None, None, b'a') => model.process(b"C"),
            (None, None, b'e') => model.process(b"B"),
            (None, None, b's') if control == ControlSequence::default() => model.process(b"\x18\x1b7"),
            (None, None, b'u') if control == ControlSequence::default() => model.process(b"\x18\x1b8"),
            (Some(b'?'), None, b'h' | b'l') if control.numbers().contains(&7) => {
                self.stays_in_row = last == b'l';
                return false;
            }
            // A new scrolling region sends the cursor home, not to the region's own top.
            (None, None, b'r') => model.process(b"r\x1b[H"),
            (None, Some(b'!'), b'p') => model.process(SOFT_RESET),
            // Not a function, but the model would ignore the intermediate character.
            (Some(b'?'), Some(_), b'h' | b'l' | b'J' | b'K') => model.process(CANCEL),
            _ => return false,
        }
        true
    }

    fn replace_escape(&mut self, last: u8, model: &mut Parser<Replies>) -> bool {
        // After the ESC that was passed on, a backslash ends an open string.
        match last {
            b'D' => model.process(b"\\\n"),
            b'E' => model.process(b"\\\r\n"),
            b'c' => {
                self.cleared += 1;
                self.stays_in_row = false;
                return false;
            }
            _ => return false,
        }
        true
    }
}

/// The beginning of a character in UTF-8.
#[derive(Debug, Default)]
struct PartialCharacter {
    bytes: [u8; 4],
    len: usize,
}

impl PartialCharacter {
    /// Passes on complete characters, and keeps the rest.
    fn pass(&mut self, mut bytes: &[u8], model: &mut Parser<Replies>) {
        while let [next, rest @ ..] = bytes
            && self.len > 0
        {
            if !is_continuation(*next) {
                // The character stays incomplete and would show nothing.
                self.len = 0;
                break;
            }
            self.bytes[self.len] = *next;
            self.len += 1;
            bytes = rest;
            if self.len == length(self.bytes[0]) {
                model.process(&self.bytes[..self.len]);
                self.len = 0;
            }
        }
        let tail = bytes.iter().rev().take(4).take_while(|byte| is_continuation(**byte)).count() + 1;
        let begin = bytes.len().saturating_sub(tail);
        let is_cut = bytes.get(begin).is_some_and(|first| length(*first) > tail);
        let (whole, partial) = bytes.split_at(if is_cut { begin } else { bytes.len() });
        model.process(whole);
        if is_cut {
            self.bytes[..partial.len()].copy_from_slice(partial);
            self.len = partial.len();
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    matches!(byte, 0x80..=0xbf)
}

/// Length of the UTF-8 character that begins with this byte.
fn length(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    }
}

/// Moves a cursor behind the last column back onto it.
fn into_row(model: &mut Parser<Replies>) {
    let screen = model.screen();
    let columns = screen.size().1.get();
    if screen.cursor_position().1 >= columns {
        model.process(format!("\x1b[{columns}G").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use crate::vt::Screen;

    fn shown(bytes: &[u8]) -> (String, (u16, u16)) {
        let mut screen = Screen::new(40, 5);
        screen.feed(bytes);
        let mut partial = Screen::new(40, 5);
        bytes.chunks(1).for_each(|byte| partial.feed(byte));
        assert_eq!((screen.text(), screen.cursor()), (partial.text(), partial.cursor()));
        (screen.text().trim_end().to_owned(), screen.cursor())
    }

    #[test]
    fn functions_that_the_model_lacks_are_translated() {
        assert_eq!(shown(b"ab\x1bDc\x1bEd"), ("ab\n  c\nd".into(), (2, 1)));
        assert_eq!(shown(b"0123456789\x1b[Zx"), ("01234567x9".into(), (0, 9)));
        assert_eq!(shown(b"0123456789\x1b[2Zx").1, (0, 1));
        assert_eq!(shown(b"01234567\x1b[Zx").1, (0, 1));
        assert_eq!(shown(b"\x1b[2Ix").1, (0, 17));
        assert_eq!(shown(b"\x1b[3a\x1b[2ex").1, (2, 4));
        assert_eq!(shown(b"\x1b[3;4r\x1b[4;1Ha\nb\x1b[rx").0, "x\n\na\n b");
        assert_eq!(shown(b"ab\x1b[s\x1b[3;9Hc\x1b[ud").1, (0, 3));
    }

    #[test]
    fn without_autowrap_the_last_column_is_overwritten() {
        let last = "a".repeat(39);
        assert_eq!(shown(format!("\x1b[?7l{last}bcd").as_bytes()), (format!("{last}d"), (0, 39)));
        assert_eq!(shown(format!("\x1b[?7l{last}\u{e9}\x1b[?7hf\x1b[mg").as_bytes()), (format!("{last}f\ng"), (1, 1)));
        assert_eq!(shown(format!("{last}b\x1b[?7lc").as_bytes()), (format!("{last}c"), (0, 39)));
    }

    #[test]
    fn a_string_that_is_cut_off_shows_nothing() {
        assert_eq!(shown(b"\x1b]0;title\x1bDx"), ("\nx".into(), (1, 1)));
        assert_eq!(shown(b"\x1b[12\x18Dx"), ("Dx".into(), (0, 2)));
        assert_eq!(shown(b"\x1b(Dx"), ("x".into(), (0, 1)));
    }

    #[test]
    fn a_soft_reset_resets_the_modes_of_keys() {
        let mut screen = Screen::new(40, 5);
        screen.feed(b"\x1b[?1h\x1b[!p");
        assert!(!screen.modes().application_cursor);
    }
}
