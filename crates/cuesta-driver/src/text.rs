//! The received text as rows, for `Expect`. Unlike a screen it knows no cursor movement, and keeps rows that scroll away.

use cuesta_screen::vt::{StreamByte, StreamParser};

/// Rows of text since the last key, without escape sequences. Bounded: the oldest text is dropped.
#[derive(Debug, Default)]
pub(crate) struct Text {
    all: Vec<u8>,
    /// Where the current row begins.
    row: usize,
    /// A carriage return came: what follows overwrites the row, unless it is a line feed.
    returned: bool,
    stream: StreamParser,
    /// What was typed since the last answer, as rows.
    typed: Vec<u8>,
    /// How many bytes of it had been echoed when the last key was sent.
    echoed_len: usize,
}

/// At most this much text is kept, in bytes.
const MOST_TEXT: usize = 16 * 1024;
/// At most this much typed text is compared.
const MOST_TYPED: usize = 1024;

impl Text {
    /// A key is sent: forgets the text before it. `begins_input`: it is the first key since the last response.
    pub(crate) fn restart(&mut self, typed: &[u8], begins_input: bool) {
        if begins_input {
            self.typed.clear();
            self.echoed_len = 0;
        } else if self.typed[self.echoed_len..].starts_with(&self.all) {
            self.echoed_len += self.all.len();
        }
        if self.typed.len() + typed.len() <= MOST_TYPED {
            self.typed.extend(typed.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }));
        }
        self.all.clear();
        self.row = 0;
        self.returned = false;
    }

    /// All rows, separated by LF.
    pub(crate) fn all(&self) -> &[u8] {
        &self.all
    }

    /// All rows without a late echo of what was typed.
    pub(crate) fn without_late_echo(&self) -> &[u8] {
        let late = &self.typed[self.echoed_len..];
        if late.starts_with(&self.all) { &[] } else { self.all.strip_prefix(late).unwrap_or(&self.all) }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let StreamByte::Character(character) = self.stream.take(*byte) {
                self.show(character);
            }
        }
        if self.all.len() > MOST_TEXT {
            self.forget();
        }
    }

    fn show(&mut self, character: char) {
        match character {
            '\n' => {
                self.all.push(b'\n');
                self.row = self.all.len();
                self.returned = false;
            }
            '\r' => self.returned = true,
            '\x08' if self.all.len() > self.row => self.erase_last(),
            '\t' | ' '.. if character != '\x7f' => {
                if std::mem::take(&mut self.returned) {
                    self.all.truncate(self.row);
                }
                self.all.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => {}
        }
    }

    fn erase_last(&mut self) {
        let last = self.all.iter().rposition(|byte| !matches!(byte, 0x80..=0xbf)).unwrap_or(0);
        self.all.truncate(last);
    }

    /// Keeps the later half, and the current row if it fits.
    fn forget(&mut self) {
        let cut = self.all.len() - MOST_TEXT / 2;
        self.all.drain(..cut);
        self.row = self.row.saturating_sub(cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8]) -> String {
        let mut all = Text::default();
        for byte in text {
            all.push(&[*byte]);
        }
        String::from_utf8_lossy(all.all()).into_owned()
    }

    #[test]
    fn rows_are_kept_and_sequences_are_not() {
        assert_eq!(rows(b"one\r\n\x1b[1;32mtwo\x1b[0m\x1b]0;title\x07 \x1b(B$ "), "one\ntwo $ ");
        assert_eq!(rows(b"50%\r100%"), "100%");
        assert_eq!(rows(b"ab\x08c\x07"), "ac");
    }

    #[test]
    fn a_late_echo_is_no_answer() {
        let shown = |echoed: &[u8], late: &[u8]| {
            let mut text = Text::default();
            text.restart(b"echo DONE", true);
            text.push(echoed);
            text.restart(b"\r", false);
            text.push(late);
            String::from_utf8_lossy(text.without_late_echo()).into_owned()
        };
        assert_eq!(shown(b"echo D", b"ONE"), "");
        assert_eq!(shown(b"echo D", b"ONE\r\n"), "");
        assert_eq!(shown(b"echo D", b"ONE\r\nDONE\r\n$ "), "DONE\n$ ");
        assert_eq!(shown(b"echo DONE", b"\r\nDONE\r\n$ "), "DONE\n$ ");
        assert_eq!(shown(b"", b"DONE\r\n"), "DONE\n");
    }

    #[test]
    fn memory_is_bounded() {
        let mut text = Text::default();
        for _ in 0..10_000 {
            text.push(b"0123456789abcdef\n");
        }
        text.push(b"end");
        assert!(text.all().len() <= MOST_TEXT);
        assert!(text.all().ends_with(b"\nend"));
    }
}
