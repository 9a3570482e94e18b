//! What a tape means, as a tree of steps, and the operations that a [`Program`](crate::Program) is made of. Nothing here knows
//! the text that it came from.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution};

use crate::{ExpectSource, Key, Pattern, TapePlace, WaitCondition};

/// A parsed tape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// The tape's name, for messages and for the transactions that the tape does not name.
    pub name: String,
    /// What stands before the first command that types or waits.
    pub settings: Settings,
    /// The steps of one session, in order. A top-level [`Step::Forever`] can only be last: what stands before it is
    /// done once in a session, and each turn of it is a *pass*. Without one, the whole tape is the pass.
    pub steps: Vec<Step>,
    /// `Part A … End`: what each letter of a `Play` means.
    pub parts: BTreeMap<char, Vec<Step>>,
    /// Names of transactions, in order of first appearance. [`Step::Transaction`] holds an index into it.
    pub transactions: Vec<String>,
}

/// Settings that hold for the whole tape; each may also be changed on the way by [`Step::Set`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// Time before each key of `Type` and before each key press, from `Set TypingSpeed` or `Set KeyRate`.
    pub key_gap: Option<Duration>,
    /// How gaps vary about `key_gap`, from `Set KeyLaw`.
    pub key_distribution: Option<KeyDistribution>,
    /// Bits per second of the line, 10 bits a character, from `Set LineSpeed`; 0 = as fast as the line goes.
    pub line_speed: Option<u32>,
    /// From `Set WaitTimeout`.
    pub wait_timeout: Option<Duration>,
    /// From `Set WaitPattern`: what a bare `Wait` or `Wait+Line`, `Wait+Screen` looks for.
    pub wait_pattern: Option<Pattern>,
    /// From `Set Prompt`: what `Wait+Prompt` looks for.
    pub prompt: Option<Pattern>,
    /// From `Set Echo`.
    pub echo: Option<Echo>,
    /// From `Set EchoMap "a0"`: pairs of (typed, shown). With a map the echo is checked byte for byte.
    pub echo_map: Vec<(u8, u8)>,
    /// From `Set Columns`, `Set Rows`: the terminal's size.
    pub columns: Option<u16>,
    /// See `columns`.
    pub rows: Option<u16>,
    /// From `Env TERM`: the terminal's name.
    pub terminal: Option<String>,
}

impl Script {
    /// The same script with users who never give up: on an answer, or on an echo.
    #[must_use]
    pub fn with_patience(mut self) -> Self {
        self.settings.wait_timeout = Some(FOR_EVER);
        self.steps.iter_mut().chain(self.parts.values_mut().flatten()).for_each(Step::forget_timeouts);
        self
    }

    /// The columns of users that the script types, in alphabetical order.
    pub fn columns(&self) -> Vec<String> {
        let mut columns = BTreeSet::new();
        self.parts.values().chain([&self.steps]).for_each(|steps| collect_columns(steps, &mut columns));
        columns.into_iter().collect()
    }

    /// Whether a pass of the script takes no time at all: no key in it, no pause, nothing waited for.
    pub fn is_idle(&self) -> bool {
        let pass = self.steps.iter().find_map(|step| match step {
            Step::Forever(body) => Some(body),
            _ => None,
        });
        pass.unwrap_or(&self.steps).iter().all(|step| self.is_idle_step(step))
    }

    fn is_idle_step(&self, step: &Step) -> bool {
        match step {
            Step::Keys { keys: Keys::Text(pieces) | Keys::Paste(pieces), .. } => {
                pieces.iter().all(|piece| matches!(piece, Piece::Literal(text) if text.is_empty()))
            }
            Step::Transaction { body, .. } | Step::Repeat { body, .. } | Step::Forever(body) => {
                body.iter().all(|step| self.is_idle_step(step))
            }
            Step::Play(letters) => {
                letters.iter().flat_map(|letter| &self.parts[letter]).all(|step| self.is_idle_step(step))
            }
            Step::Op(Op::Pause(pause)) => pause.is_zero(),
            Step::Keys { keys: Keys::Press { .. }, .. }
            | Step::Think(_)
            | Step::Wait { .. }
            | Step::Ready { .. }
            | Step::Barrier(_) => false,
            Step::Op(_) | Step::Set(_) => true,
        }
    }
}

fn collect_columns(steps: &[Step], columns: &mut BTreeSet<String>) {
    for step in steps {
        match step {
            Step::Keys { keys: Keys::Text(pieces) | Keys::Paste(pieces), .. } => {
                columns.extend(pieces.iter().filter_map(|piece| match piece {
                    Piece::Column(name) => Some(name.clone()),
                    Piece::Literal(_) => None,
                }));
            }
            Step::Transaction { body, .. } | Step::Repeat { body, .. } | Step::Forever(body) => {
                collect_columns(body, columns);
            }
            _ => {}
        }
    }
}

impl Settings {
    /// Replaces what `newer` says.
    pub(crate) fn merge(&mut self, newer: &Self) {
        self.key_gap = newer.key_gap.or(self.key_gap);
        self.key_distribution = newer.key_distribution.or(self.key_distribution);
        self.line_speed = newer.line_speed.or(self.line_speed);
        self.wait_timeout = newer.wait_timeout.or(self.wait_timeout);
        self.wait_pattern = newer.wait_pattern.clone().or(self.wait_pattern.take());
        self.prompt = newer.prompt.clone().or(self.prompt.take());
        self.echo = newer.echo.or(self.echo);
        self.columns = newer.columns.or(self.columns);
        self.rows = newer.rows.or(self.rows);
        self.terminal = newer.terminal.clone().or(self.terminal.take());
        if !newer.echo_map.is_empty() {
            self.echo_map.clone_from(&newer.echo_map);
        }
    }
}

/// One step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Keys pressed one after another, with time before each: `gap` if the step names one, else the setting's.
    Keys {
        /// What is typed.
        keys: Keys,
        /// `Type@100ms`, `Enter@1s`.
        gap: Option<Duration>,
    },
    /// A think time, unless the plan has another one.
    Think(Distribution),
    /// Wait for the host.
    Wait {
        /// What completes the response; `None` stands for the pattern of the settings in force.
        condition: WaitCondition<Option<Pattern>>,
        /// `@timeout`, else the setting's.
        timeout: Option<Duration>,
        /// Where it stands.
        place: TapePlace,
    },
    /// Wait until the program is seen to take keys. It is no wait for a response, and its keys enter no figure.
    Ready {
        /// What shows it.
        probe: Probe,
        /// `@timeout`, else the setting's.
        timeout: Option<Duration>,
        /// Where it stands.
        place: TapePlace,
    },
    /// A named transaction: from its last key to the end of its last wait.
    Transaction {
        /// Index into [`Script::transactions`].
        class: usize,
        /// What it consists of.
        body: Vec<Step>,
    },
    /// The body, repeated.
    Repeat {
        /// How many times; at least 1.
        count: u32,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// The body until the run ends.
    Forever(Vec<Step>),
    /// Lettered parts, one after another.
    Play(Vec<char>),
    /// All users of the group wait here for one another.
    Barrier(String),
    /// An operation that needs no setting.
    Op(Op),
    /// A setting changed on the way. The fields that are `Some` (and a non-empty map) replace the ones in force.
    Set(Box<Settings>),
}

/// Longer than any run.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Step {
    /// Leaves out the timeouts of its own, so that the settings of the script hold.
    fn forget_timeouts(&mut self) {
        match self {
            Self::Wait { timeout, .. } | Self::Ready { timeout, .. } => *timeout = None,
            Self::Set(settings) => settings.wait_timeout = None,
            Self::Transaction { body, .. } | Self::Repeat { body, .. } | Self::Forever(body) => {
                body.iter_mut().for_each(Self::forget_timeouts);
            }
            _ => {}
        }
    }
}

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
        /// Where it stands.
        place: TapePlace,
    },
    /// Waits until the program is seen to take keys.
    Ready {
        /// What shows it.
        probe: Probe,
        /// After how long it is given up.
        timeout: Duration,
        /// Where it stands.
        place: TapePlace,
    },
    /// Checks that a pattern matches, and counts an error if not. Waits for nothing.
    Expect {
        /// What is looked for.
        pattern: Pattern,
        /// Where it is looked for.
        source: ExpectSource,
        /// Where it stands.
        place: TapePlace,
    },
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

/// What shows that a program takes keys: a key that can be seen on its screen, and the key that takes it back.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// A character that the program is to show where one types. Backspace deletes it.
    Character(char),
    /// A key that is to change the screen, and the key that changes it back.
    Keys {
        /// Pressed first.
        key: Key,
        /// Takes it back.
        undo: Key,
    },
}

impl Probe {
    /// The default. In programs where letters are commands, `j` moves a selection or the cursor down at most.
    pub const DEFAULT: Self = Self::Character('j');
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
    /// To the moment at which the screen shows the text that is typed with the key.
    Screen,
    /// To the first frame that differs because of the key.
    Change,
}
