//! Replies to the host's queries (cursor position, device attributes, modes), each as of that point of the stream.
//!
//! Programs query the terminal before they draw, and some wait for seconds without a reply. The replies are those of a plain
//! terminal with xterm's sequences: its type, its status, the cursor's position, modes and colours. Queries that a plain xterm
//! ignores, such as kitty's keyboard protocol, are ignored. Sources: ECMA-48 §8.3.24 and §8.3.35,
//! DEC STD 070 §4.17, xterm's "Control Sequences" (DA1 to DA3, DECRQM, XTVERSION, OSC 10 to 12, window reports).

use vt100::{Callbacks, MouseProtocolMode, Screen, capture::RowContents};

/// Most bytes of replies that wait; a host that asks more without reading gets no reply to the rest.
const KEPT: usize = 1024;

/// "I am a VT102", which every program understands.
const PRIMARY: &[u8] = b"\x1b[?6c";
/// A VT100 of an early version, which programs do not query further.
const SECONDARY: &[u8] = b"\x1b[>0;10;0c";
const UNIT: &[u8] = b"\x1bP!|00000000\x1b\\";
const VERSION: &[u8] = b"\x1bP>|cuesta\x1b\\";

/// Waiting replies, and the count of scrolled rows.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    pending: Vec<u8>,
    /// Rows that went off the top of the screen.
    pub(crate) scrolled: u64,
}

impl Replies {
    pub(crate) fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// Removes the first `len` bytes.
    pub(crate) fn forget(&mut self, len: usize) {
        self.pending.drain(..len.min(self.pending.len()));
    }

    fn say(&mut self, answer: &[u8]) {
        if self.pending.len() + answer.len() <= KEPT {
            self.pending.extend_from_slice(answer);
        }
    }

    /// Device status report: 5 is "are you well", 6 "where is the cursor".
    fn status(&mut self, screen: &Screen, asked: u16, private: &str) {
        match asked {
            5 if private.is_empty() => self.say(b"\x1b[0n"),
            6 => {
                let (row, column) = screen.cursor_position();
                // A character in the last column leaves the cursor on it until the next one comes.
                let column = column.min(screen.size().1.get() - 1);
                self.say(format!("\x1b[{private}{};{}R", row + 1, column + 1).as_bytes());
            }
            _ => {}
        }
    }

    /// DECRQM: 1 is set, 2 reset, 0 not known.
    fn mode(&mut self, screen: &Screen, mode: u16) {
        let set = match mode {
            1 => Some(screen.application_cursor()),
            25 => Some(!screen.hide_cursor()),
            47 | 1049 => Some(screen.alternate_screen()),
            1000 => Some(screen.mouse_protocol_mode() == MouseProtocolMode::PressRelease),
            1002 => Some(screen.mouse_protocol_mode() == MouseProtocolMode::ButtonMotion),
            1003 => Some(screen.mouse_protocol_mode() == MouseProtocolMode::AnyMotion),
            2004 => Some(screen.bracketed_paste()),
            _ => None,
        };
        let state = set.map_or(0, |set| if set { 1 } else { 2 });
        self.say(format!("\x1b[?{mode};{state}$y").as_bytes());
    }

    fn size(&mut self, screen: &Screen) {
        let (rows, columns) = screen.size();
        self.say(format!("\x1b[8;{rows};{columns}t").as_bytes());
    }
}

impl Callbacks for Replies {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first: Option<u8>,
        second: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let asked = params.first().and_then(|param| param.first()).copied().unwrap_or(0);
        match (first, second, last, asked) {
            (None, None, 'c', 0) => self.say(PRIMARY),
            (Some(b'>'), None, 'c', 0) => self.say(SECONDARY),
            (Some(b'='), None, 'c', 0) => self.say(UNIT),
            (Some(b'>'), None, 'q', 0) => self.say(VERSION),
            (None, None, 'n', asked) => self.status(screen, asked, ""),
            (Some(b'?'), None, 'n', asked) => self.status(screen, asked, "?"),
            (Some(b'?'), Some(b'$'), 'p', mode) => self.mode(screen, mode),
            (None, None, 't', 18) => self.size(screen),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        match params {
            // White on black.
            [which @ (b"10" | b"12"), b"?"] => {
                self.say(&[b"\x1b]", *which, b";rgb:ffff/ffff/ffff\x1b\\"].concat());
            }
            [b"11", b"?"] => self.say(b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
            _ => {}
        }
    }

    fn on_scroll(&mut self, _: RowContents<'_>, _: bool) {
        self.scrolled += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::vt::Screen;

    fn answers(asked: &[u8]) -> String {
        let mut screen = Screen::new(80, 24);
        screen.feed(asked);
        String::from_utf8_lossy(screen.replies()).replace('\x1b', "ESC")
    }

    #[test]
    fn queries_are_answered() {
        assert_eq!(answers(b"\x1b[c\x1b[0c"), "ESC[?6cESC[?6c");
        assert_eq!(answers(b"\x1b[>c\x1b[>0c"), "ESC[>0;10;0cESC[>0;10;0c");
        assert_eq!(answers(b"\x1b[=c"), "ESCP!|00000000ESC\\");
        assert_eq!(answers(b"\x1b[>q"), "ESCP>|cuestaESC\\");
        assert_eq!(answers(b"\x1b[5n"), "ESC[0n");
        assert_eq!(answers(b"\x1b[18t"), "ESC[8;24;80t");
        assert_eq!(
            answers(b"\x1b]11;?\x07\x1b]10;?\x1b\\"),
            "ESC]11;rgb:0000/0000/0000ESC\\ESC]10;rgb:ffff/ffff/ffffESC\\"
        );
    }

    #[test]
    fn the_cursor_report_is_of_the_instant_of_the_query() {
        assert_eq!(answers(b"ab\x1b[6ncd\r\n\x1b[6n\x1b[?6n"), "ESC[1;3RESC[2;1RESC[?2;1R");
        assert_eq!(answers(&[&[b'x'; 80][..], b"\x1b[6n"].concat()), "ESC[1;80R");
    }

    #[test]
    fn modes_are_reported() {
        assert_eq!(answers(b"\x1b[?2004h\x1b[?2004$p\x1b[?1$p\x1b[?7777$p"), "ESC[?2004;1$yESC[?1;2$yESC[?7777;0$y");
    }

    #[test]
    fn unknown_queries_are_ignored_and_replies_are_bounded() {
        assert_eq!(answers(b"\x1b[?u\x1b[>1u\x1bP+q544e\x1b\\\x1b[1c\x1b[21t\x05"), "");
        assert!(answers(&b"\x1b[6n".repeat(10_000)).len() <= 2 * super::KEPT);
    }
}
