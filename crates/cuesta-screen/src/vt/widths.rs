//! How many columns a character takes, as xterm counts (its `wcwidth.c`, after Markus Kuhn's).
//!
//! Where Unicode has changed since, the newer width counts: programs are built with newer tables, too.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns a character takes where programs differ.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Widths {
    /// As in xterm, tmux and vim: a variation selector changes no width.
    #[default]
    Xterm,
    /// As in Python's wcwidth and JavaScript's string-width: a character that is drawn as an emoji (U+FE0F) takes two.
    Wcwidth,
}

/// Asks that the character before it be drawn as an emoji.
pub(super) const EMOJI: char = '\u{fe0f}';

/// Columns of a character: 2, 1, or 0 if it joins the one before or steers how text is laid out.
pub fn width(character: char) -> usize {
    match character {
        // All before the combining characters, soft hyphen included, and a Khmer vowel of two parts.
        '\0'..'\u{300}' | '\u{17a4}' => 1,
        // Vowels and final consonants that join a Korean syllable.
        '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7c6}' | '\u{d7cb}'..='\u{d7fb}' => 0,
        // Korean and Chinese tone marks, a filler, and numbers in black squares.
        '\u{302e}' | '\u{302f}' | '\u{3164}' | '\u{3248}'..='\u{324f}' | '\u{16ff0}' | '\u{16ff1}' => 2,
        _ if is_format(character) || is_mark(character) => 0,
        // No character takes more, and one that is not drawn takes one.
        _ if character.width() == Some(2) => 2,
        _ => 1,
    }
}

/// Whether it steers how text is laid out, and shows nothing itself.
pub(super) fn is_format(character: char) -> bool {
    // Arabic and other signs below numbers are of this category, and shown.
    let is_shown = matches!(
        character,
        '\u{ad}' | '\u{600}'
            ..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{110bd}' | '\u{110cd}'
    );
    !is_shown && character.general_category() == GeneralCategory::Format
}

fn is_mark(character: char) -> bool {
    matches!(character.general_category(), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}

/// Whether a character of one column takes two once it is drawn as an emoji.
pub(super) fn is_widened_as_emoji(character: char) -> bool {
    width(character) == 1 && [character, EMOJI].iter().collect::<String>().width() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_emoji_are_widened() {
        let widened: Vec<char> =
            "a\u{e9}\u{6f22}\u{1f600}\u{2764}1\u{2600}".chars().filter(|it| is_widened_as_emoji(*it)).collect();
        assert_eq!(widened, ['\u{2764}', '1', '\u{2600}']);
    }
}
