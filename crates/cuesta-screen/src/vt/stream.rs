//! Separates the characters of a stream from its control functions, for users without a screen.

use memchr::memchr;

use super::sequence::{SequenceState, Step};

const ESC: u8 = b'\x1b';

/// Finds the characters in the host's output. The stream may be cut anywhere, also within a character.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamParser {
    state: SequenceState,
    /// The beginning of a character of several bytes.
    bytes: [u8; 4],
    len: u8,
}

/// The kind of a byte of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamByte {
    /// It ends a character, or is one: printable, or a control character such as CR.
    Character(char),
    /// It belongs to a character that is not complete yet. These are its first bytes.
    Part([u8; 4], usize),
    /// It belongs to a control function.
    Control,
    /// It is the last byte of a control sequence, which says what that does.
    ControlSequence(u8),
}

/// How many bytes satisfy a predicate. Each piece is counted in a byte, so that the compiler vectorizes the loop.
pub(super) fn count_bytes(bytes: &[u8], predicate: impl Fn(u8) -> bool) -> usize {
    let count = |piece: &[u8]| piece.iter().fold(0u8, |count, byte| count.wrapping_add(u8::from(predicate(*byte))));
    bytes.chunks(u8::MAX.into()).map(|piece| usize::from(count(piece))).sum()
}

impl StreamByte {
    /// Whether it ends a control sequence that moves the cursor, or text on the screen.
    pub fn moves_cursor(self) -> bool {
        matches!(
            self,
            Self::ControlSequence(
                b'@'..=b'J' | b'L' | b'M' | b'P' | b'S' | b'T' | b'`' | b'a' | b'd'..=b'f' | b's' | b'u',
            )
        )
    }
}

impl StreamParser {
    /// Takes one byte.
    pub fn take(&mut self, byte: u8) -> StreamByte {
        if self.state != SequenceState::Text || byte == ESC {
            self.len = 0;
            let ends_sequence = self.state.step_byte(byte) == Step::ControlSequence;
            return if ends_sequence { StreamByte::ControlSequence(byte) } else { StreamByte::Control };
        }
        if byte.is_ascii() {
            self.len = 0;
            return StreamByte::Character(char::from(byte));
        }
        self.take_part(byte)
    }

    /// Takes bytes, and returns how many characters they end, control characters aside.
    pub fn count(&mut self, bytes: &[u8]) -> usize {
        let is_plain = self.state == SequenceState::Text && bytes.is_ascii() && memchr(ESC, bytes).is_none();
        if is_plain {
            self.len = 0;
            return count_bytes(bytes, |byte| !byte.is_ascii_control());
        }
        let is_printable =
            |byte: &&u8| matches!(self.take(**byte), StreamByte::Character(character) if !character.is_control());
        bytes.iter().filter(is_printable).count()
    }

    /// Takes bytes without looking for characters.
    pub fn skip(&mut self, mut bytes: &[u8]) {
        self.len = 0;
        while let Some(first) = bytes.first() {
            if self.state == SequenceState::Text {
                let Some(escape) = memchr(ESC, bytes) else { return };
                bytes = &bytes[escape..];
                self.state.step_byte(ESC);
            } else {
                self.state.step_byte(*first);
            }
            bytes = &bytes[1..];
        }
    }

    /// Takes one character; true if it is readable: a printable character or a line feed outside of control functions.
    pub fn is_readable(&mut self, character: char) -> bool {
        let bytes = character.encode_utf8(&mut [0; 4]).bytes().map(|byte| self.take(byte)).last();
        bytes == Some(StreamByte::Character(character)) && (character == '\n' || !character.is_control())
    }

    /// Takes a text, and returns its readable characters.
    pub fn readable(&mut self, text: &str) -> String {
        text.chars().filter(|character| self.is_readable(*character)).collect()
    }

    /// Whether the next character belongs to a string that is not shown, such as a window's title.
    pub fn is_in_string(&self) -> bool {
        self.state.is_in_string()
    }

    /// Takes a byte beyond ASCII. A byte that belongs to no character in UTF-8 is one of Latin-1.
    fn take_part(&mut self, byte: u8) -> StreamByte {
        if !matches!(byte, 0x80..=0xbf) {
            self.len = 0;
        }
        self.bytes[usize::from(self.len)] = byte;
        self.len += 1;
        let bytes = &self.bytes[..usize::from(self.len)];
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let character = text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
                self.len = 0;
                StreamByte::Character(character)
            }
            Err(error) if error.error_len().is_none() => StreamByte::Part(self.bytes, usize::from(self.len)),
            Err(_) => {
                self.len = 0;
                StreamByte::Character(char::from(byte))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &[u8]) -> String {
        let mut characters = StreamParser::default();
        let character = |byte: &u8| match characters.take(*byte) {
            StreamByte::Character(character) => Some(character),
            StreamByte::Part(..) | StreamByte::Control | StreamByte::ControlSequence(_) => None,
        };
        stream.iter().filter_map(character).collect()
    }

    #[test]
    fn characters_of_several_bytes_are_decoded() {
        assert_eq!(read("déjà 漢🦀".as_bytes()), "déjà 漢🦀");
        // Invalid UTF-8: Latin-1, an incomplete character, and an extra byte.
        assert_eq!(read(b"d\xe9j\xc3\xc3\xa9\xa9"), "djé\u{a9}");
    }

    #[test]
    fn readable_text_has_no_control_functions_wherever_they_are_cut() {
        let mut parser = StreamParser::default();
        let pieces = ["a\x1b[1", ";31mb\x1b]0;tit", "le\x07c\x1b(", "Bd\u{e9}\r\n"];
        assert_eq!(pieces.map(|text| parser.readable(text)).concat(), "abcd\u{e9}\n");
    }

    #[test]
    fn skipping_may_end_within_a_control_function() {
        let mut characters = StreamParser::default();
        characters.skip(b"text \x1b[1;3");
        assert_eq!(characters.take(b'2'), StreamByte::Control);
        characters.skip(b"m\x1b]0;");
        assert_eq!(characters.take(b'm'), StreamByte::Control);
        characters.skip(b"\x07");
        assert_eq!(characters.take(b'm'), StreamByte::Character('m'));
    }
}
