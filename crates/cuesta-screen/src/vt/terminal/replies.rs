//! Replies to the host's queries, each as of that point of the stream.
//!
//! Programs query the terminal before they draw, and some wait for seconds without a reply. The replies are those of a plain
//! terminal with xterm's sequences: its kind, its status, the cursor's position, modes, colours and style. What a plain xterm
//! does not answer, such as kitty's keyboard protocol, is not answered. Sources: ECMA-48 §8.3.24 and §8.3.35, DEC STD 070 §4.17,
//! xterm's "Control Sequences" (DA1 to DA3, DECRQM, DECRQSS, XTVERSION, OSC 4 and 10 to 12, window reports).

use super::settings::BLINK;
use super::{Settings, Terminal};
use crate::vt::Attributes;

/// Most bytes of replies that wait.
pub(super) const MAX_PENDING: usize = 16 * 1024;

/// "I am a VT102", which every program understands.
const PRIMARY: &str = "\x1b[?6c";
/// A VT100 of an early version, which programs do not query further.
const SECONDARY: &str = "\x1b[>0;10;0c";
const TERTIARY: &str = "\x1bP!|00000000\x1b\\";
const VERSION: &str = "\x1bP>|cuesta\x1b\\";

/// Reports about equipment that this terminal lacks (DECDSR): a printer, user-defined keys, keyboards of other languages, a locator,
/// memory for macros, several sessions.
const PERIPHERALS: [(u16, &str); 9] = [
    (15, "\x1b[?13n"),
    (25, "\x1b[?20n"),
    (26, "\x1b[?27;1;0;0n"),
    (53, "\x1b[?53n"),
    (55, "\x1b[?53n"),
    (56, "\x1b[?57;0n"),
    (62, "\x1b[0000*{"),
    (75, "\x1b[?70n"),
    (85, "\x1b[?83n"),
];

impl Terminal {
    pub(super) fn report_primary_attributes(&mut self) {
        self.replies.push(PRIMARY);
    }

    pub(super) fn report_secondary_attributes(&mut self) {
        self.replies.push(SECONDARY);
    }

    pub(super) fn report_tertiary_attributes(&mut self) {
        self.replies.push(TERTIARY);
    }

    pub(super) fn report_version(&mut self) {
        self.replies.push(VERSION);
    }

    /// Device status report: 5 asks for the operating status, 6 for the cursor's position.
    pub(super) fn report_status(&mut self, query: u16, private: &str) {
        match query {
            5 => self.replies.push(format!("\x1b[{private}0n")),
            query if private == "?" && query != 6 => {
                if let Some((_, reply)) = PERIPHERALS.iter().find(|(about, _)| *about == query) {
                    self.replies.push(reply);
                }
            }
            6 => {
                let top = if self.cursor.origin { self.region.start } else { 0 };
                // Above the region the number runs over, as in xterm.
                let row = (self.cursor.row as u16 + 1).wrapping_sub(top as u16);
                let column = self.cursor.column + 1;
                // The private report has the page too.
                let page = if private.is_empty() { "" } else { ";1" };
                self.replies.push(format!("\x1b[{private}{row};{column}{page}R"));
            }
            _ => {}
        }
    }

    pub(super) fn report_size(&mut self) {
        let (rows, columns) = (self.grid.rows(), self.grid.columns());
        self.replies.push(format!("\x1b[8;{rows};{columns}t"));
    }

    /// DECRQM of a private mode: 1 is set, 2 reset, 0 not known.
    pub(super) fn report_mode(&mut self, mode: u16) {
        let set = match mode {
            6 => Some(self.cursor.origin),
            47 | 1047 | 1049 => Some(self.is_alternate),
            // A cursor is always saved: the one of the last reset, if no other.
            1048 => Some(true),
            mode => self.settings.is_set(mode),
        };
        self.replies.push(format!("\x1b[?{mode};{}$y", state(set)));
    }

    /// DECRQM of a mode of ECMA-48; 4 is never set.
    pub(super) fn report_ansi_mode(&mut self, mode: u16) {
        let state = if Settings::is_never_set(mode) { 4 } else { state(self.settings.is_ansi_set(mode)) };
        self.replies.push(format!("\x1b[{mode};{state}$y"));
    }

    /// Operating system commands that ask for colours, or change them. The reply ends as the query.
    pub(super) fn command(&mut self, command: &str, end: char) {
        let end = if end == '\x07' { "\x07" } else { "\x1b\\" };
        for (name, [red, green, blue]) in self.colours.command(command) {
            self.replies
                .push(format!("\x1b]{name};rgb:{red:02x}{red:02x}/{green:02x}{green:02x}/{blue:02x}{blue:02x}{end}"));
        }
    }

    /// Device control strings that ask for a setting (DECRQSS).
    pub(super) fn device_control(&mut self, string: &str) {
        let Some(query) = string.strip_prefix("$q") else { return };
        let setting = match query {
            "m" => self.cursor.style.parameters(),
            "r" => format!("{};{}", self.region.start + 1, self.region.end),
            " q" => (self.shape - u16::from(self.settings.is_set(BLINK) == Some(true))).to_string(),
            "\"q" => u8::from(self.cursor.style.attributes.contains(Attributes::PROTECTED)).to_string(),
            _ => return self.replies.push("\x1bP0$r\x1b\\"),
        };
        self.replies.push(format!("\x1bP1$r{setting}{query}\x1b\\"));
    }
}

fn state(set: Option<bool>) -> u8 {
    set.map_or(0, |set| if set { 1 } else { 2 })
}

#[cfg(test)]
mod tests {
    use crate::vt::Screen;

    fn answers(query: &[u8]) -> String {
        let mut screen = Screen::new(80, 24);
        screen.feed(query);
        String::from_utf8_lossy(screen.replies()).replace('\x1b', "ESC").replace('\x07', "BEL")
    }

    #[test]
    fn queries_are_answered() {
        assert_eq!(answers(b"\x1b[c\x1b[0c\x1bZ"), "ESC[?6cESC[?6cESC[?6c");
        assert_eq!(answers(b"\x1b[>c\x1b[>0c"), "ESC[>0;10;0cESC[>0;10;0c");
        assert_eq!(answers(b"\x1b[=c"), "ESCP!|00000000ESC\\");
        assert_eq!(answers(b"\x1b[>q"), "ESCP>|cuestaESC\\");
        assert_eq!(answers(b"\x1b[5n"), "ESC[0n");
        assert_eq!(answers(b"\x1b[18t"), "ESC[8;24;80t");
    }

    #[test]
    fn a_colour_is_told_with_the_ending_of_the_query() {
        assert_eq!(
            answers(b"\x1b]11;?\x07\x1b]10;?\x1b\\"),
            "ESC]11;rgb:0000/0000/0000BELESC]10;rgb:ffff/ffff/ffffESC\\"
        );
        assert_eq!(
            answers(b"\x1b]4;1;?;231;?;256;?\x1b\\"),
            "ESC]4;1;rgb:cdcd/0000/0000ESC\\ESC]4;231;rgb:ffff/ffff/ffffESC\\"
        );
    }

    #[test]
    fn settings_are_told() {
        assert_eq!(
            answers(b"\x1bP$qm\x1b\\\x1b[1;31;48;5;200m\x1bP$qm\x1b\\"),
            "ESCP1$r0mESC\\ESCP1$r0;1;31;48:5:200mESC\\"
        );
        assert_eq!(answers(b"\x1b[2;5r\x1bP$qr\x1b\\\x1b[4 q\x1bP$q q\x1b\\"), "ESCP1$r2;5rESC\\ESCP1$r4 qESC\\");
        assert_eq!(answers(b"\x1bP$q{\x1b\\"), "ESCP0$rESC\\");
    }

    #[test]
    fn the_cursor_report_is_of_the_instant_of_the_query() {
        assert_eq!(answers(b"ab\x1b[6ncd\r\n\x1b[6n\x1b[?6n"), "ESC[1;3RESC[2;1RESC[?2;1;1R");
        assert_eq!(answers(&[&[b'x'; 80][..], b"\x1b[6n"].concat()), "ESC[1;80R");
        assert_eq!(answers(b"\x1b[5;9r\x1b[?6h\x1b[2;3H\x1b[6n"), "ESC[2;3R");
    }

    #[test]
    fn modes_are_reported() {
        assert_eq!(answers(b"\x1b[?2004h\x1b[?2004$p\x1b[?1$p\x1b[?7777$p"), "ESC[?2004;1$yESC[?1;2$yESC[?7777;0$y");
        assert_eq!(answers(b"\x1b[?2026$p\x1b[4h\x1b[4$p\x1b[20$p"), "ESC[?2026;2$yESC[4;1$yESC[20;2$y");
        assert_eq!(answers(b"\x1b[?1002h\x1b[?1000$p\x1b[?1002$p"), "ESC[?1000;2$yESC[?1002;1$y");
    }

    #[test]
    fn unknown_queries_are_ignored_and_replies_are_bounded() {
        assert_eq!(answers(b"\x1b[?u\x1b[>1u\x1bP+q544e\x1b\\\x1b[1c\x1b[21t\x05"), "");
        assert!(answers(&b"\x1b[6n".repeat(10_000)).len() <= 2 * super::MAX_PENDING);
    }
}
