//! Decodes UTF-8 that may be cut anywhere. What is no UTF-8 becomes U+FFFD: one for each sequence that its first byte announces, as
//! far as it goes, as in xterm.

/// Decodes bytes one by one.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Decoder {
    /// The value of the character so far.
    value: u32,
    /// How many bytes are to come.
    left: u8,
    /// The least value that this many bytes may stand for.
    least: u32,
}

/// What a byte completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoded {
    Character(char),
    /// Nothing yet.
    Part,
    /// It does not go on with the character before, which stays incomplete; the byte is to be taken again.
    CutOff,
}

impl Decoder {
    /// Whether no character has begun.
    pub(super) fn is_idle(&self) -> bool {
        self.left == 0
    }

    pub(super) fn take(&mut self, byte: u8) -> Decoded {
        match (self.left, byte) {
            (0, 0..=0x7f) => Decoded::Character(char::from(byte)),
            (0, 0xc0..=0xdf) => self.begin(byte & 0x1f, 1, 0x80),
            (0, 0xe0..=0xef) => self.begin(byte & 0x0f, 2, 0x800),
            (0, 0xf0..=0xf7) => self.begin(byte & 0x07, 3, 0x1_0000),
            // Longer sequences were once allowed.
            (0, 0xf8..=0xfb) => self.begin(byte & 0x03, 4, 0x20_0000),
            (0, 0xfc..=0xfd) => self.begin(byte & 0x01, 5, 0x400_0000),
            (0, _) => Decoded::Character(char::REPLACEMENT_CHARACTER),
            (_, 0x80..=0xbf) => {
                self.left -= 1;
                self.value = self.value << 6 | u32::from(byte & 0x3f);
                if self.left > 0 { Decoded::Part } else { Decoded::Character(self.character()) }
            }
            _ => {
                self.left = 0;
                Decoded::CutOff
            }
        }
    }

    fn begin(&mut self, bits: u8, left: u8, least: u32) -> Decoded {
        *self = Self { value: bits.into(), left, least };
        Decoded::Part
    }

    fn character(self) -> char {
        let character = char::from_u32(self.value).filter(|_| self.value >= self.least);
        // The noncharacters at the end of the plane are not shown either.
        character
            .filter(|character| !matches!(character, '\u{fffe}' | '\u{ffff}'))
            .unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Screen;

    fn decoded(bytes: &[u8]) -> String {
        let mut screen = Screen::new(20, 1);
        screen.feed(bytes);
        screen.row(0)
    }

    #[test]
    fn characters_are_decoded_and_what_is_none_is_replaced_once() {
        let text = "aé\u{7ff}\u{800}漢\u{fffd}\u{10000}🦀\u{10ffff}";
        assert_eq!(decoded(text.as_bytes()), text);
        for bytes in [
            &b"\xff"[..],
            b"\x80",
            b"\xc0\x80",
            b"\xe0\x80\x80",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xf8\x88\x80\x80\x80",
            b"\xef\xbf\xbf",
            b"\xe6\xbc",
        ] {
            assert_eq!(decoded(&[bytes, b"a"].concat()), "\u{fffd}a", "{}", bytes.escape_ascii());
        }
        assert_eq!(decoded(b"\xe6\xbc\xe6\xbc\xa2"), "\u{fffd}漢");
    }
}
