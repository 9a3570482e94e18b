//! The operations of a program, and what they type and wait for. A script consists of the same words, in a tree.

use std::fmt;
use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution, duration};

use crate::{Key, Pattern, command};

/// One operation of a [`Program`](crate::Program). A new one is a variant here, and its arm in the driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Types keys.
    Keys {
        /// What is typed.
        keys: Keys,
        /// How.
        settings: KeySettings,
    },
    /// Pauses for a fixed time.
    Pause(Duration),
    /// Pauses for a time drawn from a distribution.
    Think(Distribution),
    /// Waits.
    Wait {
        /// Which condition ends it.
        condition: usize,
        /// After how long it is given up.
        timeout: Duration,
    },
    /// Checks that a pattern matches, and counts an error if not. Waits for nothing.
    Expect(Pattern, ExpectSource),
    /// Begins a named transaction.
    Begin(usize),
    /// Ends it.
    Finish,
    /// Begins a loop with this number of turns.
    Loop(u32),
    /// Ends a turn of the loop whose `Loop` has this index.
    Again(usize),
    /// Waits for all users of the group at the barrier of this number.
    Barrier(usize),
}

impl Op {
    /// The index of the condition that it waits for, if it waits.
    pub(crate) fn condition(&self) -> Option<usize> {
        match self {
            Self::Wait { condition, .. } => Some(*condition),
            _ => None,
        }
    }
}

/// Keys to press.
#[derive(Debug, Clone, PartialEq)]
pub enum Keys {
    /// Text with `${column}` places; one key per character (UTF-8 encoded).
    Text(Vec<Piece>),
    /// A named key or chord, pressed `count` times.
    Press {
        /// Which.
        key: Key,
        /// How often; at least 1.
        count: u32,
    },
    /// Text sent in one go, without pauses: `Paste`.
    Paste(Vec<Piece>),
}

impl Keys {
    /// Whether what is sent depends on the modes that the host has set.
    pub(crate) fn need_modes(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Press { key, .. } => key.needs_modes(),
            Self::Paste(_) => true,
        }
    }
}

/// A piece of typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Literal(String),
    /// `${column}` of the users' table; typed as it stands where there is no such column.
    Column(String),
}

/// How keys are typed, and which wait comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeySettings {
    /// Mean time before a key.
    pub gap: Duration,
    /// How that time varies.
    pub distribution: KeyDistribution,
    /// How the echo is awaited.
    pub echo: Echo,
    /// The condition that will be waited for next, so that what comes is judged as it comes.
    pub next_wait: Option<usize>,
    /// Whether that wait follows them, with no other keys between.
    pub ends_input: bool,
}

/// How the echo of a key is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Echo {
    /// Not at all: an echo is output like any other.
    #[default]
    Untimed,
    /// To the key's own echo in the stream of characters.
    Timed,
    /// To the moment at which the screen shows the key where the cursor was.
    Screen,
}

/// Where a pattern is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExpectSource {
    /// In the text that came since the last key.
    #[default]
    Response,
    /// In what the screen shows now, whenever it came.
    Screen,
}

/// When a response is complete. Only what comes after the last key counts. `P` is a [`Pattern`], optional in a
/// [`Script`](crate::Script).
#[derive(Debug, Clone, PartialEq)]
pub enum WaitCondition<P = Pattern> {
    /// The echo of the last key has come.
    Echo,
    /// This many characters have come, timed echoes not counted.
    Bytes(u64),
    /// Nothing has come for this long; the response was complete at its last character.
    Silence(Duration),
    /// The pattern matches the cursor's row, and the match ends at the cursor or before it.
    Prompt(P),
    /// The host has closed the line.
    Disconnect,
    /// The pattern matches the cursor's row.
    Line(P),
    /// The pattern matches what the screen shows.
    Screen(P),
    /// The screen's cursor stands there.
    Cursor {
        /// From 1, at the top.
        row: u16,
        /// From 1, at the left.
        column: u16,
    },
}

impl<P> WaitCondition<P> {
    /// Its word after `Wait+`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Echo => "Echo",
            Self::Bytes(_) => "Bytes",
            Self::Silence(_) => "Silence",
            Self::Prompt(_) => "Prompt",
            Self::Disconnect => "Disconnect",
            Self::Line(_) => "Line",
            Self::Screen(_) => "Screen",
            Self::Cursor { .. } => "Cursor",
        }
    }

    /// Whether it looks at the screen.
    pub fn needs_screen(&self) -> bool {
        matches!(self, Self::Line(_) | Self::Prompt(_) | Self::Screen(_) | Self::Cursor { .. })
    }
}

impl fmt::Display for WaitCondition {
    /// As a tape writes it after `Wait+`: `Line /ready/`, `Silence 200ms`, `Cursor 12,40`. A prompt is shown with its pattern,
    /// which a tape sets by `Set Prompt`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(pattern) | Self::Prompt(pattern) | Self::Screen(pattern) => {
                write!(f, "{} {}", self.name(), command::pattern(pattern.as_str()))
            }
            Self::Bytes(count) => write!(f, "{} {count}", self.name()),
            Self::Silence(length) => write!(f, "{} {}", self.name(), duration::show(*length)),
            Self::Cursor { row, column } => write!(f, "{} {row},{column}", self.name()),
            Self::Echo | Self::Disconnect => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, Program, parse};

    fn only_condition(tape: &str) -> String {
        let tape = parse(tape, "session.tape", &|_| Err("no file".to_owned())).expect("a sound tape");
        Program::new(&tape.script, &Overrides::default()).expect("a short script").conditions[0].to_string()
    }

    #[test]
    fn a_condition_is_shown_as_a_tape_writes_it() {
        let shown =
            ["Echo", "Bytes 150", "Silence 200ms", "Disconnect", "Line /a b/", "Screen /ready/", "Cursor 12,40"];
        for condition in shown {
            assert_eq!(only_condition(&format!("Wait+{condition}")), condition);
        }
        assert_eq!(only_condition("Wait@2s /ready/"), "Line /ready/");
        assert_eq!(only_condition("Set Prompt /\\$ /\nWait+Prompt"), "Prompt /\\$ /");
    }
}
