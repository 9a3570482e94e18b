//! Finds where control functions begin and end, character by character, without their meaning (ECMA-48 §5.2 to §5.6, DEC STD 070
//! §3.5): [`SequenceState`] the places, [`FunctionParser`] also what the functions hold.

pub(crate) const ESC: char = '\x1b';
/// Most parameters of a control sequence, as in xterm.
const MAX_PARAMETERS: usize = 30;
const BEL: char = '\x07';

/// Where the stream stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SequenceState {
    #[default]
    Text,
    /// Behind `ESC`.
    Escape,
    /// Behind `ESC` and an intermediate character, as where a character set is chosen (`ESC ( B`).
    EscapeIntermediate,
    /// Right behind `ESC [`.
    ControlSequence,
    /// In the parameters of a control sequence.
    Parameters,
    /// Behind its parameters.
    Intermediate,
    /// In a malformed control sequence, up to its last character.
    Malformed,
    String(StringKind),
    /// Behind `ESC` in a string, which ends there if a backslash follows.
    StringEscape(StringKind),
}

/// The kinds of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringKind {
    /// An operating system command, which also BEL ends.
    Command,
    DeviceControl,
    /// One that no terminal obeys: SOS, PM or APC.
    Other,
}

/// What a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A graphic character.
    Text,
    /// A control character, which acts at once, also within a control sequence.
    Control,
    /// The beginning of an escape sequence, whatever came before.
    EscapeBegin,
    /// An intermediate character of an escape sequence.
    EscapeIntermediate,
    /// The last character of an escape sequence.
    Escape,
    /// The beginning of a control sequence.
    ControlSequenceBegin,
    /// A private mark, a character of a parameter, or an intermediate one.
    Parameter,
    /// The last character of a control sequence.
    ControlSequence,
    StringBegin,
    StringPart,
    /// The end of a string that is complete.
    String(StringKind),
    /// It means nothing here.
    Nothing,
}

use SequenceState as State;

impl SequenceState {
    /// Takes the next character. The controls from U+0080 to U+009F mean nothing, as in xterm with UTF-8.
    pub(crate) fn step(&mut self, character: char) -> Step {
        let step;
        (*self, step) = match (*self, character) {
            (State::String(kind) | State::StringEscape(kind), ESC) => (State::StringEscape(kind), Step::Nothing),
            (_, ESC) => (State::Escape, Step::EscapeBegin),
            (_, '\x18' | '\x1a') => (State::Text, Step::Control),
            (State::StringEscape(kind), '\\') | (State::String(kind @ StringKind::Command), BEL) => {
                (State::Text, Step::String(kind))
            }
            (State::String(_), _) => (*self, Step::StringPart),
            (_, '\x00'..'\x20') => (*self, Step::Control),
            (_, '\x7f'..='\u{9f}') => (*self, Step::Nothing),
            (State::Text, _) => (State::Text, Step::Text),
            (State::Escape | State::StringEscape(_), _) => State::escape(character),
            (State::EscapeIntermediate, ' '..='/') => (*self, Step::EscapeIntermediate),
            (State::EscapeIntermediate, '0'..='~') => (State::Text, Step::Escape),
            (State::ControlSequence, '0'..='?') | (State::Parameters, '0'..=';') => {
                (State::Parameters, Step::Parameter)
            }
            (State::ControlSequence | State::Parameters | State::Intermediate, ' '..='/') => {
                (State::Intermediate, Step::Parameter)
            }
            (State::Malformed, '@'..='~') => (State::Text, Step::Nothing),
            (_, '@'..='~') => (State::Text, Step::ControlSequence),
            (_, ' '..='?') => (State::Malformed, Step::Nothing),
            _ => (State::Text, Step::Nothing),
        };
        step
    }

    /// Takes a byte of a stream that is not decoded: all beyond ASCII are graphic.
    pub(crate) fn step_byte(&mut self, byte: u8) -> Step {
        self.step(graphic(byte))
    }

    /// Whether the next character belongs to a string.
    pub(crate) fn is_in_string(self) -> bool {
        matches!(self, State::String(_) | State::StringEscape(_))
    }

    /// The character behind `ESC`.
    fn escape(character: char) -> (Self, Step) {
        match character {
            ' '..='/' => (State::EscapeIntermediate, Step::EscapeIntermediate),
            '[' => (State::ControlSequence, Step::ControlSequenceBegin),
            ']' => (State::String(StringKind::Command), Step::StringBegin),
            'P' => (State::String(StringKind::DeviceControl), Step::StringBegin),
            'X' | '^' | '_' => (State::String(StringKind::Other), Step::StringBegin),
            '0'..='~' => (State::Text, Step::Escape),
            _ => (State::Text, Step::Nothing),
        }
    }
}

/// Finds the functions of a stream of characters, and keeps what the one that comes holds.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct FunctionParser {
    state: SequenceState,
    /// What the last control sequence holds.
    pub(crate) sequence: ControlSequence,
    /// The intermediate character of an escape sequence.
    pub(crate) intermediate: Option<char>,
}

impl FunctionParser {
    /// Takes the next character, and keeps what it adds to a function.
    pub(crate) fn take(&mut self, character: char) -> Step {
        let step = self.state.step(character);
        match step {
            Step::EscapeBegin => self.intermediate = None,
            Step::EscapeIntermediate => add(&mut self.intermediate, character),
            Step::ControlSequenceBegin => self.sequence = ControlSequence::default(),
            Step::Parameter => self.sequence.push(character),
            _ => {}
        }
        step
    }

    /// Takes a byte of a stream that is not decoded: all beyond ASCII are graphic.
    pub(crate) fn take_byte(&mut self, byte: u8) -> Step {
        self.take(graphic(byte))
    }

    /// Whether the next character is text, or begins a function.
    pub(crate) fn is_in_text(&self) -> bool {
        self.state == SequenceState::Text
    }
}

/// Stands for several intermediate characters, with which no function is known.
const SEVERAL: char = '\0';

fn add(intermediate: &mut Option<char>, character: char) {
    *intermediate = Some(if intermediate.is_none() { character } else { SEVERAL });
}

/// A byte as a character: one beyond ASCII is some graphic character.
fn graphic(byte: u8) -> char {
    if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER }
}

/// What a control sequence holds. Parameters after the thirtieth are dropped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ControlSequence {
    /// The private mark, one of `<=>?`, before everything else.
    pub(crate) private: Option<char>,
    /// The intermediate character, behind the parameters.
    pub(crate) intermediate: Option<char>,
    parameters: [u16; MAX_PARAMETERS],
    /// Bit n: parameter n is a subparameter of the one before it.
    subparameters: u32,
    /// The number of parameters before the current one.
    before: u8,
    /// A parameter is written, and not only left out.
    is_numbered: bool,
}

impl ControlSequence {
    /// Adds a [`Step::Parameter`].
    fn push(&mut self, character: char) {
        let index = usize::from(self.before);
        match character {
            '0'..='9' => {
                self.is_numbered = true;
                if let Some(number) = self.parameters.get_mut(index) {
                    *number = number.saturating_mul(10).saturating_add(character as u16 - '0' as u16);
                }
            }
            ';' => self.before = self.before.saturating_add(1),
            ':' => {
                self.before = self.before.saturating_add(1);
                self.subparameters |= 1u32.checked_shl(self.before.into()).unwrap_or(0);
            }
            '<'..='?' => self.private = Some(character),
            _ => add(&mut self.intermediate, character),
        }
    }

    /// A parameter, from 0; 0 where none is given.
    pub(crate) fn number(&self, index: usize) -> u16 {
        self.parameters.get(index).copied().unwrap_or(0)
    }

    /// A parameter, from 0; 1 where none or 0 is given.
    pub(crate) fn count(&self, index: usize) -> u16 {
        self.number(index).max(1)
    }

    /// Whether the only parameter is a zero that was written.
    pub(crate) fn is_zero(&self) -> bool {
        self.is_numbered && self.numbers() == [0]
    }

    /// The parameters that are kept.
    pub(crate) fn numbers(&self) -> &[u16] {
        &self.parameters[..MAX_PARAMETERS.min(usize::from(self.before) + 1)]
    }

    /// The parameters that are kept, each with its subparameters.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[u16]> {
        let numbers = self.numbers();
        let is_part = |index: usize| self.subparameters >> index & 1 == 1;
        let begins = (0..numbers.len()).filter(move |index| !is_part(*index));
        begins.map(move |begin| {
            let end = (begin + 1..numbers.len()).find(|index| !is_part(*index)).unwrap_or(numbers.len());
            &numbers[begin..end]
        })
    }

    pub(crate) fn has_subparameters(&self) -> bool {
        self.subparameters != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(sequence: &str) -> Option<ControlSequence> {
        let (mut parser, mut ended) = (FunctionParser::default(), None);
        for character in sequence.chars() {
            if parser.take(character) == Step::ControlSequence {
                ended = Some(parser.sequence);
            }
        }
        assert!(parser.is_in_text(), "{}", sequence.escape_debug());
        ended
    }

    #[test]
    fn a_control_sequence_has_a_private_mark_and_parameters() {
        let read = |sequence: &str| control(sequence).map(|it| (it.private, it.intermediate, it.numbers().to_vec()));
        assert_eq!(read("\x1b[H"), Some((None, None, vec![0])));
        assert_eq!(read("\x1b[;5H"), Some((None, None, vec![0, 5])));
        assert_eq!(read("\x1b[?1;25h"), Some((Some('?'), None, vec![1, 25])));
        assert_eq!(read("\x1b[!p"), Some((None, Some('!'), vec![0])));
        assert_eq!(read("\x1b[?1$p"), Some((Some('?'), Some('$'), vec![1])));
        let many: Vec<u16> = (1..40).collect();
        let sequence = format!("\x1b[{}m", many.iter().map(u16::to_string).collect::<Vec<_>>().join(";"));
        assert_eq!(read(&sequence), Some((None, None, many[..MAX_PARAMETERS].to_vec())));
    }

    #[test]
    fn parameters_may_have_subparameters() {
        let read = |sequence| control(sequence).map(|it| it.groups().map(<[u16]>::to_vec).collect::<Vec<_>>());
        assert_eq!(read("\x1b[4:3;1m"), Some(vec![vec![4, 3], vec![1]]));
        assert_eq!(read("\x1b[38:2::1:2:3m"), Some(vec![vec![38, 2, 0, 1, 2, 3]]));
        assert_eq!(read("\x1b[;1m"), Some(vec![vec![0], vec![1]]));
    }
}
