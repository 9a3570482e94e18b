//! The row that is typed at a station.

use crate::wire::bisync::Code;

/// A longer row is offered to the station in parts of this length, in characters, so that it takes little memory.
const PART: usize = 2000;

/// A row, or the part of it that was not offered yet.
#[derive(Debug)]
pub(super) struct TypedRow {
    code: Code,
    /// In the line's code.
    text: Vec<u8>,
    after_return: bool,
    /// The station may refuse text, so that a row must be known whole before any of it is offered.
    may_refuse: bool,
    /// The row is longer than such a row may be.
    is_too_long: bool,
}

/// What is to be offered before the next character is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// A part of a row, which goes on.
    Part,
    /// The whole row, or its last part.
    Row,
    /// Nothing: the row ends, and was too long.
    Refused,
}

impl TypedRow {
    pub(super) fn new(code: Code, may_refuse: bool) -> Self {
        Self { code, text: Vec::new(), after_return: false, may_refuse, is_too_long: false }
    }

    /// What was typed and not offered.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// What is to be offered before a character is taken.
    pub(super) fn due_before(&self, character: u8) -> Option<Typed> {
        match character {
            b'\r' if self.is_too_long => Some(Typed::Refused),
            b'\r' => Some(Typed::Row),
            b'\n' | b'\0' if self.after_return => None,
            _ => (self.text.len() >= PART && !self.may_refuse).then_some(Typed::Part),
        }
    }

    pub(super) fn offered(&mut self) {
        self.text.clear();
        self.is_too_long = false;
    }

    pub(super) fn take(&mut self, character: u8) {
        match (std::mem::replace(&mut self.after_return, character == b'\r'), character) {
            (_, b'\r') | (true, b'\n' | b'\0') => {}
            _ if self.text.len() >= PART => self.is_too_long = true,
            _ => self.text.push(encoded(self.code, character)),
        }
    }
}

/// The byte that carries a character of Latin-1.
fn encoded(code: Code, character: u8) -> u8 {
    match code {
        Code::Ebcdic => cuesta_ebcdic::byte(character.into()).expect("the code page has all of Latin-1"),
        Code::Ascii => character,
    }
}

/// The character of Latin-1 that a byte carries.
pub(super) fn decoded(code: Code, byte: u8) -> u8 {
    match code {
        Code::Ebcdic => cuesta_ebcdic::character(byte) as u8,
        Code::Ascii => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that are offered while a text is typed.
    fn rows(typed: &[u8]) -> Vec<String> {
        let (mut row, mut offered) = (TypedRow::new(Code::Ascii, false), Vec::new());
        for character in typed {
            if row.due_before(*character).is_some() {
                offered.push(String::from_utf8(row.text().to_vec()).unwrap());
                row.offered();
            }
            row.take(*character);
        }
        offered
    }

    #[test]
    fn a_row_ends_with_return_whatever_follows_it_on_a_terminals_line() {
        assert_eq!(rows(b"a\rb\r\nc\r\0d\r"), ["a", "b", "c", "d"]);
        assert_eq!(rows(b"a\n\0\r"), ["a\n\0"]);
    }

    #[test]
    fn a_long_row_is_offered_in_parts() {
        let long = [b'x'; 2 * PART + 1];
        assert_eq!(rows(&[&long[..], b"\r"].concat()).iter().map(String::len).collect::<Vec<_>>(), [PART, PART, 1]);
    }
}
