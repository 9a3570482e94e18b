//! Encodes sent characters: escapes IAC, and distinguishes a carriage return from the end of a row (network virtual terminal,
//! RFC 854).

use super::{CR, IAC, LF, NUL};
use crate::Enter;

/// The encoder of one end.
#[derive(Debug)]
pub(super) struct Escape {
    /// What the terminal's Enter sends. At the host's end, which has none, a carriage return is the end of a row or a bare one.
    enter: Option<Enter>,
    /// BINARY was agreed for our side: carriage returns are sent bare.
    pub(super) binary: bool,
    /// The last character sent was a carriage return, and it is not known yet whether a line feed follows.
    sent_cr: bool,
}

impl Escape {
    pub(super) fn terminal(enter: Enter) -> Self {
        Self { enter: Some(enter), ..Self::host() }
    }

    pub(super) fn host() -> Self {
        Self { enter: None, binary: false, sent_cr: false }
    }

    /// How many bytes at the head of `bytes` need no escape.
    pub(super) fn plain(&self, bytes: &[u8]) -> usize {
        if self.sent_cr && bytes.first().is_some_and(|byte| *byte != LF) {
            return 0;
        }
        let mut at = 0;
        while let Some(next) = memchr::memchr2(IAC, CR, &bytes[at..]) {
            let special = at + next;
            at = special + 1;
            let lone = self.leaves_cr_open(bytes[special]) && bytes.get(at).is_some_and(|byte| *byte != LF);
            if bytes[special] == IAC || self.completes_enter(bytes[special]).is_some() {
                return special;
            }
            if lone {
                return at;
            }
        }
        bytes.len()
    }

    /// Encodes the head of `bytes` into `room`. Returns the number of characters and of bytes.
    pub(super) fn write(&self, bytes: &[u8], room: &mut [u8]) -> (usize, usize) {
        let mut cr = self.sent_cr;
        let mut written = 0;
        for (characters, &byte) in bytes.iter().enumerate() {
            let (form, len) = self.form(cr, byte);
            let Some(slot) = room.get_mut(written..written + len) else {
                return (characters, written);
            };
            slot.copy_from_slice(&form[..len]);
            written += len;
            cr = self.leaves_cr_open(byte);
        }
        (bytes.len(), written)
    }

    /// How many characters begin in the first `len` encoded bytes, and where the last of them ends.
    pub(super) fn begun(&self, bytes: &[u8], len: usize) -> (usize, usize) {
        let mut cr = self.sent_cr;
        let (mut characters, mut end) = (0, 0);
        while end < len {
            end += self.form(cr, bytes[characters]).1;
            cr = self.leaves_cr_open(bytes[characters]);
            characters += 1;
        }
        (characters, end)
    }

    /// Characters were sent, of which this was the last.
    pub(super) fn sent(&mut self, last: u8) {
        self.sent_cr = self.leaves_cr_open(last);
    }

    /// Whether the next character decides what a carriage return was.
    pub(super) fn is_open(&self) -> bool {
        self.sent_cr
    }

    /// Something else comes before the next character. Whether a NUL must come first, because a carriage return was sent.
    pub(super) fn close(&mut self) -> bool {
        std::mem::take(&mut self.sent_cr)
    }

    /// Whether a NUL must follow `byte` unless a line feed does.
    fn leaves_cr_open(&self, byte: u8) -> bool {
        byte == CR && self.enter.is_none() && !self.binary
    }

    /// What follows `byte` at once if it is the terminal's Enter.
    fn completes_enter(&self, byte: u8) -> Option<u8> {
        match self.enter.filter(|_| byte == CR && !self.binary)? {
            Enter::CrNul => Some(NUL),
            Enter::CrLf => Some(LF),
            Enter::Cr => None,
        }
    }

    /// The encoded form of one character, and its length; `cr`: the one before was a bare carriage return.
    fn form(&self, cr: bool, byte: u8) -> ([u8; 3], usize) {
        let after = if byte == IAC { Some(IAC) } else { self.completes_enter(byte) };
        match (cr && byte != LF, after) {
            (true, Some(after)) => ([NUL, byte, after], 3),
            (true, None) => ([NUL, byte, 0], 2),
            (false, Some(after)) => ([byte, after, 0], 2),
            (false, None) => ([byte, 0, 0], 1),
        }
    }
}
