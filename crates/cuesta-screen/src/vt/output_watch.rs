//! Follows the output of a host for a terminal without a screen. It remembers the modes on which keys depend, and replies to queries of the
//! terminal's kind (DA1, DECID), its status (DSR 5) and the position of its cursor (DSR 6). The cursor is followed roughly: each
//! character takes one column.

use memchr::{memchr, memrchr2};

use super::modes::Modes;
use super::sequence::{FunctionParser, Step};
use super::stream::count_bytes;
use crate::replies::Replies;

const ESC: u8 = b'\x1b';
/// "I am a VT102", as a [`Screen`](super::Screen) says.
const PRIMARY: &[u8] = b"\x1b[?6c";
const READY: &[u8] = b"\x1b[0n";
/// Most bytes of replies that wait.
const MOST_REPLIES: usize = 1024;

/// The modes that the host has set, and the replies that it gets.
///
/// Many hosts send no control functions: their parser is made when the first one comes.
#[derive(Debug)]
pub struct OutputWatch {
    parser: Option<Box<FunctionParser>>,
    /// Columns and rows.
    size: (u16, u16),
    /// Column and row of the cursor, from 0.
    cursor: (u16, u16),
    replies: Replies,
    modes: Modes,
    /// The modes that the host has saved (XTSAVE); those that it has not count as reset.
    saved: Modes,
}

impl OutputWatch {
    /// Of a terminal with this many columns and rows.
    pub fn new(size: (u16, u16)) -> Self {
        let saved = Modes { hidden_cursor: true, ..Modes::default() };
        Self { parser: None, size, cursor: (0, 0), replies: Replies::new(MOST_REPLIES), modes: Modes::default(), saved }
    }

    /// Takes output of the host, which may be cut anywhere.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.parser.as_ref().is_none_or(|parser| parser.is_in_text()) {
                let text = memchr(ESC, bytes).unwrap_or(bytes.len());
                self.text(&bytes[..text]);
                bytes = &bytes[text..];
            }
            let Some((byte, rest)) = bytes.split_first() else { return };
            match self.parser.get_or_insert_default().take_byte(*byte) {
                Step::Escape => self.escape(*byte),
                Step::ControlSequence => self.control_sequence(*byte),
                _ => {}
            }
            bytes = rest;
        }
    }

    /// The modes that are set now.
    pub fn modes(&self) -> Modes {
        self.modes
    }

    /// The replies that wait to be sent.
    pub fn replies(&self) -> &[u8] {
        self.replies.pending()
    }

    /// The first `len` bytes of the replies were sent.
    pub fn forget_replies(&mut self, len: usize) {
        self.replies.forget(len);
    }

    fn text(&mut self, text: &[u8]) {
        let rows = count_bytes(text, |byte| byte == b'\n');
        let (column, row) = &mut self.cursor;
        *row = row.saturating_add(u16::try_from(rows).unwrap_or(u16::MAX));
        let begin = memrchr2(b'\r', b'\n', text);
        let last = &text[begin.map_or(0, |at| at + 1)..];
        // A line feed alone leaves the column; hosts send it behind a carriage return.
        let before = if begin.is_some() { 0 } else { *column };
        let characters = count_bytes(last, |byte| !byte.is_ascii_control() && byte & 0xc0 != 0x80);
        *column = before.saturating_add(u16::try_from(characters).unwrap_or(u16::MAX));
        self.stay_inside();
    }

    fn stay_inside(&mut self) {
        let (columns, rows) = self.size;
        self.cursor = (self.cursor.0.min(columns.saturating_sub(1)), self.cursor.1.min(rows.saturating_sub(1)));
    }

    fn escape(&mut self, last: u8) {
        match (self.parser.as_ref().and_then(|parser| parser.intermediate), last) {
            (None, b'Z') => self.replies.push(PRIMARY),
            // RIS.
            (None, b'c') => (self.cursor, self.modes) = ((0, 0), Modes::default()),
            _ => {}
        }
    }

    fn control_sequence(&mut self, last: u8) {
        let Some(sequence) = self.parser.as_ref().map(|parser| parser.sequence) else { return };
        if sequence.has_subparameters() {
            return;
        }
        let (column, row) = self.cursor;
        let (to, by) = (sequence.count(0) - 1, sequence.count(0));
        match (sequence.private, sequence.intermediate, last) {
            (None, None, b'c') if sequence.number(0) == 0 => self.replies.push(PRIMARY),
            (None, None, b'n') if sequence.number(0) == 5 => self.replies.push(READY),
            (None, None, b'n') if sequence.number(0) == 6 => {
                self.replies.push(format!("\x1b[{};{}R", row + 1, column + 1));
            }
            (None, None, b'H' | b'f') => self.cursor = (sequence.count(1) - 1, to),
            (None, None, b'G' | b'`') => self.cursor.0 = to,
            (None, None, b'd') => self.cursor.1 = to,
            (None, None, b'A') => self.cursor.1 = row.saturating_sub(by),
            (None, None, b'B') => self.cursor.1 = row.saturating_add(by),
            (None, None, b'C') => self.cursor.0 = column.saturating_add(by),
            (None, None, b'D') => self.cursor.0 = column.saturating_sub(by),
            (Some('?'), None, b'h' | b'l') => self.modes.set(sequence.numbers(), last == b'h'),
            (Some('?'), None, b's') => self.saved.copy(self.modes, sequence.numbers()),
            (Some('?'), None, b'r') => self.modes.copy(self.saved, sequence.numbers()),
            (None, Some('!'), b'p') => self.modes.reset_softly(),
            _ => {}
        }
        self.stay_inside();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vt::Screen;

    /// What is answered to output that comes in pieces.
    fn answers(output: &str, size: usize) -> String {
        let mut watch = OutputWatch::new((80, 24));
        output.as_bytes().chunks(size).for_each(|piece| watch.feed(piece));
        String::from_utf8(watch.replies().to_vec()).unwrap()
    }

    #[test]
    fn answers_are_those_of_a_screen() {
        for output in [
            "\x1b[c",
            "\x1b[0c\x1b[5n\x1bZ",
            "login: \x1b[6n",
            "a\r\nbé│\x1b[6n",
            "\x1b7\x1b[r\x1b[999;999H\x1b[6n\x1b8",
            "\x1b[5;10Hx\x1b[2A\x1b[3C\x1b[6n\x1b[4G\x1b[9d\x1b[6n\x1b[99D\x1b[99A\x1b[6n",
            "\x1b[>c\x1b[?6n\x1b[1c\x1b]0;\x1b[c\x07\x1b[6 n",
            "\x1b[10;10H\x1bc\x1b[6n",
        ] {
            let mut screen = Screen::new(80, 24);
            screen.feed(output.as_bytes());
            let wanted = String::from_utf8(screen.replies().to_vec()).unwrap();
            for size in [1, 3, 99] {
                let own = ["\x1b[>0;10;0c", "\x1b[?1;1;1R"]
                    .iter()
                    .fold(wanted.clone(), |text, other| text.replace(other, ""));
                assert_eq!(answers(output, size), own, "{output:?} in pieces of {size}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_output_in_any_pieces_is_answered_alike(
            output in "(\\x1b\\[[0-9;?]{0,4}[cnHGdABCDR]|\\x1b[Zc]|[a-z\\r\\n\\x1b\\x9b├é]){0,40}", size in 1_usize..30,
        ) {
            proptest::prop_assert_eq!(answers(&output, size), answers(&output, 9999));
        }
    }

    #[test]
    fn a_host_that_asks_and_asks_gets_bounded_answers() {
        assert!(answers(&"\x1b[6n".repeat(9999), 4096).len() <= MOST_REPLIES);
    }
}
