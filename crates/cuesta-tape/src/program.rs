//! A script as it is played: flat operations, with every setting resolved where it stands.

use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution};

use crate::Pattern;
use crate::lowering::MOST_OPS;
use crate::script::{Echo, Keys};

/// A script, lowered. A clone has patterns with scratch memory of their own, so each thread plays its own clone.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // They do not depend on one another.
pub struct Program {
    /// What is done, in order.
    pub ops: Vec<Op>,
    /// Index of the operation with which the pass begins; those before it are done once in a session.
    pub pass: usize,
    /// What is waited for; [`Op::Wait`] and [`Op::Keys`] hold indices into it.
    pub conditions: Vec<WaitCondition>,
    /// Whether an operation looks at the text that came since the last key.
    pub reads_text: bool,
    /// Whether an operation looks at the screen.
    pub needs_screen: bool,
    /// Whether echoes are looked for in the stream of characters.
    pub times_echoes: bool,
    /// Whether a key depends on the modes that the host sets.
    pub needs_modes: bool,
    /// Pairs of (typed, shown). With a map, only echoes may come while one is awaited.
    pub echo_map: Vec<(u8, u8)>,
    /// The limit of waits that have none of their own: for echoes, at barriers, and for a line that takes no characters.
    pub patience: Duration,
    /// Names of barriers, by number.
    pub barriers: Vec<String>,
}

/// One operation. Adding one: a variant here, and its arm in the driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Types keys.
    Keys {
        /// What is typed.
        keys: Keys,
        /// How.
        settings: KeySettings,
        /// What will be waited for next, so that what comes is judged as it comes.
        next_wait: Option<usize>,
        /// Whether no other keys come before that wait.
        last: bool,
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

/// How keys are typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeySettings {
    /// Mean time before a key.
    pub gap: Duration,
    /// How that time varies.
    pub distribution: KeyDistribution,
    /// How the echo is awaited.
    pub echo: Echo,
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
    /// As it stands behind `Wait+`.
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

impl std::fmt::Display for WaitCondition {
    /// As it stands behind `Wait`, without the `+`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(pattern) => write!(f, "/{}/", pattern.as_str()),
            Self::Prompt(pattern) | Self::Screen(pattern) => write!(f, "{} /{}/", self.name(), pattern.as_str()),
            Self::Bytes(count) => write!(f, "Bytes {count}"),
            Self::Cursor { row, column } => write!(f, "Cursor {row} {column}"),
            Self::Echo | Self::Silence(_) | Self::Disconnect => f.write_str(self.name()),
        }
    }
}

/// What a plan says in place of a tape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// In place of every think time; between passes where the tape has none.
    pub think: Option<Distribution>,
    /// In place of the settings' key gap.
    pub key_gap: Option<Duration>,
    /// In place of the distribution with which the tape begins.
    pub key_distribution: Option<KeyDistribution>,
}

/// A script that is too long when its parts are put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLong {
    /// The script's name.
    pub script: String,
}

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { script } = self;
        write!(f, "{script}: more than {MOST_OPS} steps when its parts are put in; play fewer parts, or use Repeat")
    }
}

impl std::error::Error for TooLong {}

impl Program {
    /// The condition with an index.
    pub fn condition(&self, index: Option<usize>) -> Option<&WaitCondition> {
        self.conditions.get(index?)
    }
}
