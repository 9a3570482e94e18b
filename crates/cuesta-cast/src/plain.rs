//! The characters of output, without what steers the terminal. No screen: it knows no places.

/// How far we are in an escape sequence (ECMA-48 §5.4, §8.3), from one output to the next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain {
    #[default]
    Text,
    /// `ESC`.
    Begun,
    /// `ESC [`: until a final character.
    Control,
    /// `ESC ]` and the like: until BEL or `ESC \`.
    String,
}

impl Plain {
    /// What of `text` a person may read, with its line feeds.
    pub(crate) fn take(&mut self, text: &str) -> String {
        text.chars().filter(|c| self.shows(*c)).collect()
    }

    /// Whether what comes next is part of a string that nobody sees, such as a window's title.
    pub(crate) fn is_in_string(self) -> bool {
        self == Self::String
    }

    /// Whether a person may read this character, the next one of what came.
    pub(crate) fn shows(&mut self, c: char) -> bool {
        let was = *self;
        *self = match (was, c) {
            (Self::Begun, '[') => Self::Control,
            (Self::Begun, ']' | 'P' | 'X' | '^' | '_') => Self::String,
            (_, '\x1b') | (Self::Begun, ' '..='/') => Self::Begun,
            (Self::Begun, _) | (Self::Control, '@'..='~') | (Self::String, '\x07') => Self::Text,
            (still, _) => still,
        };
        was == Self::Text && (c == '\n' || !c.is_control())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_may_be_cut_anywhere() {
        let mut plain = Plain::default();
        let shown: String =
            ["a\x1b[1", ";31mb\x1b]0;tit", "le\x07c\x1b(", "Bd\r\n"].map(|text| plain.take(text)).concat();
        assert_eq!(shown, "abcd\n");
    }
}
