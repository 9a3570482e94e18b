//! Decodes UTF-8 from pieces that may cut a character.

/// An incremental UTF-8 decoder. Invalid bytes become U+FFFD; the beginning of a character is held back until the rest comes.
#[derive(Debug, Default)]
pub struct Utf8Decoder {
    /// At most three bytes.
    held: Vec<u8>,
}

impl Utf8Decoder {
    /// The characters that are complete now.
    pub fn take(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut rest = &all[..];
        while let Err(error) = std::str::from_utf8(rest) {
            let (sound, broken) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(sound));
            let Some(length) = error.error_len() else {
                self.held = broken.to_vec();
                return text;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            rest = &broken[length..];
        }
        text.push_str(&String::from_utf8_lossy(rest));
        text
    }

    /// Ends the text: an incomplete character becomes U+FFFD.
    pub fn finish(&mut self) -> String {
        let held = !std::mem::take(&mut self.held).is_empty();
        if held { char::REPLACEMENT_CHARACTER.to_string() } else { String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn half_a_character_waits_for_the_rest() {
        let mut characters = Utf8Decoder::default();
        assert_eq!(characters.take(b"h\xc3"), "h");
        assert_eq!(characters.take(b"\xa9\xff\xf0\x9f"), "é\u{fffd}");
        assert_eq!(characters.finish(), "\u{fffd}");
        assert_eq!(characters.finish(), "");
    }

    proptest! {
        #[test]
        fn cuts_do_not_change_the_text(bytes in proptest::collection::vec(any::<u8>(), 0..40), cut in 0_usize..40) {
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let mut characters = Utf8Decoder::default();
            let text = characters.take(head) + &characters.take(tail) + &characters.finish();
            prop_assert_eq!(text.matches('\u{fffd}').count() > 0, std::str::from_utf8(&bytes).is_err() || String::from_utf8_lossy(&bytes).contains('\u{fffd}'));
            if let Ok(sound) = std::str::from_utf8(&bytes) {
                prop_assert_eq!(text, sound);
            }
        }
    }
}
