//! Which character that came is the echo of which key.
//!
//! On the stream, an echo is the first character like the one expected after those before it have come; output of the
//! host may stand between. With a map of what is shown for what is typed, nothing but echoes may come, and each is checked.

use std::collections::VecDeque;

use cuesta_record::Stamp;

/// Keys that wait for their echo.
#[derive(Debug, Default)]
pub(crate) struct Echoes {
    awaited: VecDeque<Awaited>,
    /// How many keys that is.
    keys: usize,
    /// A return was shown as CR: an LF right after it belongs to the same echo.
    line_feed: bool,
}

/// One character that waits for its echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// When its key should have gone.
    pub(crate) due: Stamp,
    /// When it went.
    pub(crate) sent: Stamp,
    want: u8,
    /// The key is echoed when this one is: a character may take several bytes.
    last: bool,
}

/// What a character turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The echo of a whole key.
    Echo(Awaited),
    /// Part of an echo.
    Part,
    /// The echo of a later key than some that were never echoed: how many.
    Overtook(Awaited, u64),
    /// Not what the map says it must be; the key counts as answered wrongly.
    Wrong,
    /// No echo.
    Other,
}

const CR: u8 = b'\r';
const LF: u8 = b'\n';

impl Echoes {
    /// Whether any character may still be an echo.
    pub(crate) fn are_awaited(&self) -> bool {
        self.line_feed || !self.awaited.is_empty()
    }

    /// How many keys still wait.
    pub(crate) fn pending(&self) -> usize {
        self.keys
    }

    /// When the key that waits longest was due.
    pub(crate) fn oldest(&self) -> Option<Stamp> {
        self.awaited.front().map(|key| key.due)
    }

    /// A key was sent. Keys that are not shown as themselves (controls, sequences) are not awaited.
    pub(crate) fn await_key(&mut self, key: &[u8], map: &[(u8, u8)], due: Stamp, sent: Stamp) {
        if key != [CR] && key.iter().any(u8::is_ascii_control) {
            return;
        }
        self.keys += usize::from(!key.is_empty());
        for (index, typed) in key.iter().enumerate() {
            let want = map.iter().find(|(from, _)| from == typed).map_or(*typed, |(_, to)| *to);
            self.awaited.push_back(Awaited { due, sent, want, last: index + 1 == key.len() });
        }
    }

    /// A character came. `strict`: it can only be an echo.
    pub(crate) fn take(&mut self, byte: u8, strict: bool) -> Seen {
        if std::mem::take(&mut self.line_feed) && byte == LF {
            return Seen::Part;
        }
        let Some(front) = self.awaited.front() else { return Seen::Other };
        if shows(front.want, byte) {
            return self.matched(byte).map_or(Seen::Part, Seen::Echo);
        }
        if strict {
            self.give_up_front();
            return Seen::Wrong;
        }
        // A return shown before what was typed ahead of it: that was not echoed (a password) and never will be.
        let returned = self.awaited.iter().position(|key| key.want == CR).filter(|_| byte == CR);
        match returned {
            Some(unechoed) => {
                let lost = self.awaited.drain(..unechoed).filter(|key| key.last).count();
                self.keys -= lost;
                self.matched(byte).map_or(Seen::Part, |key| Seen::Overtook(key, lost as u64))
            }
            None => Seen::Other,
        }
    }

    /// Gives up all keys sent before an instant; says how many.
    pub(crate) fn give_up_before(&mut self, sent: Stamp) -> u64 {
        let mut lost = 0;
        while self.awaited.front().is_some_and(|key| key.sent < sent) {
            lost += u64::from(self.pop().is_some_and(|key| key.last));
        }
        lost
    }

    fn matched(&mut self, byte: u8) -> Option<Awaited> {
        self.line_feed = byte == CR;
        self.pop().filter(|key| key.last)
    }

    fn give_up_front(&mut self) {
        while self.pop().is_some_and(|key| !key.last) {}
    }

    fn pop(&mut self) -> Option<Awaited> {
        let first = self.awaited.pop_front();
        self.keys -= usize::from(first.is_some_and(|key| key.last));
        first
    }
}

fn shows(want: u8, byte: u8) -> bool {
    want == byte || (want == CR && byte == LF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[&str], map: &[(u8, u8)]) -> Echoes {
        let mut echoes = Echoes::default();
        for (n, key) in keys.iter().enumerate() {
            let stamp = Stamp::from_nanos(n as u64);
            echoes.await_key(key.as_bytes(), map, stamp, stamp);
        }
        echoes
    }

    fn shown(echoes: &mut Echoes, text: &str, strict: bool) -> String {
        let name = |seen| match seen {
            Seen::Echo(key) => char::from_digit(key.sent.as_nanos() as u32, 10).unwrap_or('?'),
            Seen::Overtook(..) => '>',
            Seen::Part => '_',
            Seen::Wrong => '!',
            Seen::Other => '.',
        };
        text.bytes().map(|byte| name(echoes.take(byte, strict))).collect()
    }

    #[test]
    fn echoes_are_found_among_other_output() {
        let mut echoes = typed(&["a", "b", "\r"], &[]);
        assert_eq!(shown(&mut echoes, "mail! b\r\n15", false), ".0....12_..");
    }

    #[test]
    fn a_character_of_several_bytes_is_one_key() {
        let mut echoes = typed(&["é", "x"], &[]);
        assert_eq!(shown(&mut echoes, "éx", false), "_01");
    }

    #[test]
    fn a_map_is_strict() {
        let mut echoes = typed(&["a", "a", "a"], &[(b'a', b'0')]);
        assert_eq!(shown(&mut echoes, "0a0", true), "0!2");
        assert!(!echoes.are_awaited());
    }

    #[test]
    fn a_password_is_given_up_at_the_return() {
        let mut echoes = typed(&["p", "w", "\r", "l"], &[]);
        assert_eq!(shown(&mut echoes, "\r\nl", false), ">_3");
    }

    #[test]
    fn control_keys_are_not_awaited_and_old_keys_are_given_up() {
        let mut echoes = typed(&["\x1b[A", "\x03", "a", "b"], &[]);
        assert_eq!(echoes.pending(), 2);
        assert_eq!(echoes.give_up_before(Stamp::from_nanos(3)), 1);
        assert_eq!(echoes.pending(), 1);
        assert_eq!(shown(&mut echoes, "b", false), "3");
    }
}
