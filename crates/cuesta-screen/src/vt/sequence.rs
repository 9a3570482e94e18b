//! Parses escape and control sequences byte by byte, without their meaning.

pub(crate) const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
/// Most parameters of a sequence; further ones are dropped.
const MOST: usize = 8;

/// The state of the parser.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SequenceState {
    #[default]
    Text,
    /// Behind `ESC`.
    Escape,
    /// Behind `ESC [`.
    ControlSequence(ControlSequence),
    /// In a malformed control sequence, up to its last byte.
    Malformed,
    /// Behind `ESC` and an intermediate character, as where a character set is chosen (`ESC ( B`).
    Intermediate,
    /// In an operating system command: up to BEL or the next `ESC`.
    Command,
    /// In a device control, privacy or application string, or a title in screen's own way (`ESC k`): up to the next `ESC`.
    String,
    /// Behind a single shift: one character of another set follows.
    Shifted,
}

/// A control sequence, as far as it has come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ControlSequence {
    /// The private mark, one of `<=>?`, that came before everything else.
    pub(crate) private: Option<u8>,
    /// The last intermediate character, from blank to `/`, behind the parameters.
    pub(crate) intermediate: Option<u8>,
    parameters: [u16; MOST],
    /// Index of the current parameter.
    before: u8,
    begun: bool,
}

impl SequenceState {
    /// Takes one byte and returns the sequence that it completes.
    pub(crate) fn step(&mut self, byte: u8) -> Option<SequenceState> {
        let (next, ended) = match (*self, byte) {
            (_, ESC) => (SequenceState::Escape, None),
            (_, 0x18 | 0x1a)
            | (SequenceState::Malformed, 0x40..=0x7e)
            | (SequenceState::Intermediate, 0x30..=0x7e)
            | (SequenceState::Command, BEL)
            | (SequenceState::Shifted, 0x20..) => (SequenceState::Text, None),
            (SequenceState::Escape, 0x20..=0x2f) => (SequenceState::Intermediate, None),
            (SequenceState::Escape, b'[') => (SequenceState::ControlSequence(ControlSequence::default()), None),
            (SequenceState::Escape, b']') => (SequenceState::Command, None),
            (SequenceState::Escape, b'P' | b'X' | b'^' | b'_' | b'k') => (SequenceState::String, None),
            (SequenceState::Escape, b'N' | b'O') => (SequenceState::Shifted, None),
            (SequenceState::Escape, 0x30..=0x7e) => (SequenceState::Text, Some(SequenceState::Escape)),
            (SequenceState::ControlSequence(control), 0x20..=0x3f) => {
                (control.with(byte).map_or(SequenceState::Malformed, SequenceState::ControlSequence), None)
            }
            (SequenceState::ControlSequence(control), 0x40..=0x7e) => {
                (SequenceState::Text, Some(SequenceState::ControlSequence(control)))
            }
            (state, _) => (state, None),
        };
        *self = next;
        ended
    }
}

impl ControlSequence {
    /// The first parameter; 0 if there is none.
    pub(crate) fn number(&self) -> u16 {
        self.parameters[0]
    }

    /// The parameters that are kept.
    pub(crate) fn numbers(&self) -> &[u16] {
        &self.parameters[..MOST.min(usize::from(self.before) + 1)]
    }

    /// Adds a byte; `None` if it is not allowed there (ECMA-48 §5.4).
    fn with(mut self, byte: u8) -> Option<Self> {
        let parameter = self.parameters.get_mut(usize::from(self.before));
        match (byte, self.intermediate) {
            (0x20..=0x2f, _) => self.intermediate = Some(byte),
            (_, Some(_)) => return None,
            (b'0'..=b'9', _) => {
                if let Some(number) = parameter {
                    *number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                }
            }
            (b';', _) => self.before = self.before.saturating_add(1),
            // No function that is handled here has parameters with parts.
            (b':', _) => {
                if let Some(number) = parameter {
                    *number = u16::MAX;
                }
            }
            _ if self.begun => return None,
            _ => self.private = Some(byte),
        }
        self.begun = true;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(sequence: &[u8]) -> Option<ControlSequence> {
        let mut state = SequenceState::default();
        let ended = sequence.iter().filter_map(|byte| state.step(*byte)).last();
        assert_eq!(state, SequenceState::Text, "{}", sequence.escape_ascii());
        match ended {
            Some(SequenceState::ControlSequence(control)) => Some(control),
            _ => None,
        }
    }

    #[test]
    fn a_control_sequence_has_a_prefix_and_parameters() {
        let read = |sequence| control(sequence).map(|it| (it.private, it.intermediate, it.numbers().to_vec()));
        assert_eq!(read(b"\x1b[H"), Some((None, None, vec![0])));
        assert_eq!(read(b"\x1b[;5H"), Some((None, None, vec![0, 5])));
        assert_eq!(read(b"\x1b[?1;25h"), Some((Some(b'?'), None, vec![1, 25])));
        assert_eq!(read(b"\x1b[!p"), Some((None, Some(b'!'), vec![0])));
        assert_eq!(read(b"\x1b[?1$p"), Some((Some(b'?'), Some(b'$'), vec![1])));
        assert_eq!(read(b"\x1b[4:3;1m"), Some((None, None, vec![u16::MAX, 1])));
    }

    #[test]
    fn strings_and_character_sets_end_where_terminals_end_them() {
        let text = |stream: &[u8]| {
            let mut state = SequenceState::default();
            let is_text = |byte: &&u8| {
                let was = state;
                state.step(**byte);
                was == SequenceState::Text && state == SequenceState::Text
            };
            String::from_utf8_lossy(&stream.iter().filter(is_text).copied().collect::<Vec<_>>()).into_owned()
        };
        assert_eq!(text(b"a\x1b]0;title\x07b\x1b]2;m\x1b\\c"), "abc");
        assert_eq!(text(b"a\x1bPq\x07m\x1b\\b\x1b_m\x18c"), "abc");
        assert_eq!(text(b"a\x1b(Bb\x1b#8c\x1bOmd\x1bNme"), "abcde");
        assert_eq!(text(b"a\x1b]0;cut\x1b[mb\x1bktitle\x1b\\c"), "abc");
    }

    #[test]
    fn malformed_control_sequences_are_rejected() {
        for sequence in [&b"\x1b[1?h"[..], b"\x1b[0?h", b"\x1b[;?h", b"\x1b[??h", b"\x1b[$1h", b"\x1b[$?h"] {
            assert_eq!(control(sequence), None, "{}", sequence.escape_ascii());
        }
    }
}
