//! A script made ready for playing: flat, every setting resolved where it stands, patterns compiled.

use std::rc::Rc;
use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution};
use cuesta_tape as tape;
use cuesta_tape::{ExpectSource, Key, Keys, Modes, Piece, Script, Settings, Step};
use regex::bytes::{Regex, RegexBuilder};

use crate::response::WaitCondition;
use crate::spec::Load;

/// What VHS uses where a tape says nothing.
const KEY_GAP: Duration = Duration::from_millis(50);
const WAIT_TIMEOUT: Duration = Duration::from_secs(15);
const WAIT_PATTERN: &str = ">$";
/// The end of a row that ordinary prompts have; behind a digit `%` is a percentage.
const PROMPT: &str = r"(?:[$#>:?]|(?:^|[^0-9])%) ?$";

/// A script, ready for playing.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each is something that a user needs or does without.
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// Where the pass begins: what stands before it is done once in a session.
    pub(crate) pass: usize,
    /// Whether anything looks at the text that came.
    pub(crate) reads_text: bool,
    /// Whether anything looks at the screen.
    pub(crate) looks: bool,
    /// Whether echoes are looked for in the stream.
    pub(crate) follows_echoes: bool,
    /// Whether a key depends on the modes that the host sets.
    pub(crate) needs_modes: bool,
    /// What is shown for what is typed; nothing but echoes may then come while one is awaited.
    pub(crate) echo_map: Vec<(u8, u8)>,
    /// How long anything is awaited that names no time.
    pub(crate) patience: Duration,
    /// Names of the barriers, by number.
    pub(crate) barriers: Vec<String>,
}

/// One operation.
#[derive(Debug)]
pub(crate) enum Op {
    /// Keys. `rule`: what will be waited for next; `last`: whether that may be before any other keys.
    Keys { keys: Typing, stroke: KeySettings, rule: Option<Rc<WaitCondition>>, last: bool },
    /// A pause.
    Pause(Duration),
    /// A pause by a distribution.
    Think(Distribution),
    /// A wait.
    Wait { rule: Rc<WaitCondition>, timeout: Duration },
    /// What came, or what the screen shows, must match.
    Expect(Regex, ExpectSource),
    /// A named transaction begins.
    Begin(usize),
    /// It ends.
    Finish,
    /// What follows is done so many times.
    Loop(u32),
    /// Back to just behind the `Loop` at this place.
    Again(usize),
    /// All users wait here for one another.
    Barrier(usize),
}

/// What is typed.
#[derive(Debug)]
pub(crate) enum Typing {
    /// Characters, one after another.
    Text(Vec<Piece>),
    /// One key so many times.
    Press(Key, u32),
    /// All at once.
    Paste(Vec<Piece>),
}

/// How a key is typed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeySettings {
    /// How long it takes, on the average.
    pub(crate) gap: Duration,
    pub(crate) distribution: KeyDistribution,
    /// How its echo is awaited.
    pub(crate) echo: tape::Echo,
}

/// A distribution or a pattern of a plan or a tape that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A pattern that the script's author could write and the engine cannot compile.
    #[error("{tape}: the pattern /{pattern}/ is too large to use")]
    Pattern {
        /// The tape.
        tape: String,
        /// The pattern.
        pattern: String,
    },
    /// A distribution that the plan gives.
    #[error("the plan's distribution `{0}`: {1}")]
    Distribution(String, cuesta_distributions::DistributionError),
    /// A script that would be too long when its parts are put in.
    #[error("{0}: more than {1} steps when its parts are put in; play fewer parts, or use Repeat")]
    TooLong(String, usize),
}

/// A tape is read by people; a million steps are a mistake.
const MOST_OPS: usize = 1_000_000;

impl Program {
    /// Resolves a script under what the plan says for a step.
    pub(crate) fn new(script: &Script, load: &Load) -> Result<Self, ProgramError> {
        let distribution = |text: &String| {
            Distribution::parse(text, &|_| Err("a plan's distribution reads no file".into()))
                .map_err(|error| ProgramError::Distribution(text.clone(), error))
        };
        let key_distribution = |text: &String| {
            KeyDistribution::parse(text).map_err(|error| ProgramError::Distribution(text.clone(), error))
        };
        let mut settings = script.settings.clone();
        settings.key_distribution =
            load.key_distribution.as_ref().map(key_distribution).transpose()?.or(settings.key_distribution);
        let mut compiler = Compiler {
            script,
            think: load.think.as_ref().map(distribution).transpose()?,
            key_gap: load.key_rate.map(|rate| Duration::try_from_secs_f64(rate.recip()).unwrap_or(Duration::ZERO)),
            program: Self {
                ops: Vec::new(),
                pass: 0,
                reads_text: false,
                looks: false,
                follows_echoes: false,
                needs_modes: false,
                echo_map: settings.echo_map.clone(),
                patience: settings.wait_timeout.unwrap_or(WAIT_TIMEOUT),
                barriers: Vec::new(),
            },
            thinks: false,
            settings,
        };
        compiler.whole()?;
        let mut program = compiler.program;
        program.look_ahead();
        let is_timed = |op: &Op| matches!(op, Op::Keys { stroke, .. } if stroke.echo == tape::Echo::Timed);
        program.follows_echoes = program.ops.iter().any(is_timed);
        Ok(program)
    }

    /// Tells each key what will be waited for after it, so that an answer is judged as it comes.
    fn look_ahead(&mut self) {
        let waits: Vec<_> = self.ops.iter().map(Op::awaited).collect();
        let first_from = |at: usize| waits[at..].iter().flatten().next().cloned();
        let mut next = first_from(self.pass);
        let mut keys_follow = false;
        for op in self.ops.iter_mut().rev() {
            match op {
                Op::Wait { rule, .. } => {
                    next = Some(Rc::clone(rule));
                    keys_follow = false;
                }
                // A turn of a loop is mostly followed by another one.
                Op::Again(start) => {
                    next = first_from(*start).or(next);
                    keys_follow = false;
                }
                Op::Loop(_) => keys_follow = false,
                Op::Keys { stroke, rule, last, .. } => {
                    rule.clone_from(&next);
                    *last = !std::mem::replace(&mut keys_follow, true);
                    if stroke.echo == tape::Echo::Untimed && matches!(rule.as_deref(), Some(WaitCondition::Echo)) {
                        stroke.echo = tape::Echo::Timed;
                    }
                }
                _ => {}
            }
        }
    }
}

impl Op {
    fn awaited(&self) -> Option<Rc<WaitCondition>> {
        match self {
            Self::Wait { rule, .. } => Some(Rc::clone(rule)),
            _ => None,
        }
    }
}

/// A script on its way to a program.
struct Compiler<'a> {
    script: &'a Script,
    settings: Settings,
    /// The plan's, in place of the script's.
    think: Option<Distribution>,
    key_gap: Option<Duration>,
    /// Whether the script says where to think.
    thinks: bool,
    program: Program,
}

impl Compiler<'_> {
    fn whole(&mut self) -> Result<(), ProgramError> {
        let script = self.script;
        for step in &script.steps {
            match step {
                Step::Forever(body) => {
                    self.program.pass = self.program.ops.len();
                    self.steps(body)?;
                }
                step => self.step(step)?,
            }
        }
        // A plan may give a think time to a tape that has none: then it stands between passes.
        if let Some(think) = self.think.clone().filter(|_| !self.thinks) {
            self.push(Op::Think(think))?;
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), ProgramError> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn push(&mut self, op: Op) -> Result<(), ProgramError> {
        if self.program.ops.len() >= MOST_OPS {
            return Err(ProgramError::TooLong(self.script.name.clone(), MOST_OPS));
        }
        self.program.ops.push(op);
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), ProgramError> {
        match step {
            Step::Keys { keys, gap } => {
                let stroke = self.stroke(*gap);
                self.program.needs_modes |= match keys {
                    Keys::Text(_) => false,
                    Keys::Press { key, .. } => needs_modes(key),
                    Keys::Paste(_) => true,
                };
                self.program.looks |= stroke.echo == tape::Echo::Screen;
                self.push(Op::Keys { keys: typing(keys), stroke, rule: None, last: false })
            }
            Step::Sleep(pause) => self.push(Op::Pause(*pause)),
            Step::Think(distribution) => {
                self.thinks = true;
                let distribution = self.think.clone().unwrap_or_else(|| distribution.clone());
                self.push(Op::Think(distribution))
            }
            Step::Wait { rule, timeout } => {
                let timeout = timeout.or(self.settings.wait_timeout).unwrap_or(WAIT_TIMEOUT);
                let rule = Rc::new(self.rule(rule)?);
                self.program.looks |= rule.looks();
                self.push(Op::Wait { rule, timeout })
            }
            Step::Expect { pattern, of } => {
                self.program.looks |= *of == ExpectSource::Screen;
                self.program.reads_text |= *of == ExpectSource::Response;
                let pattern = self.pattern(pattern)?;
                self.push(Op::Expect(pattern, *of))
            }
            Step::Transaction { class, body } => {
                self.push(Op::Begin(*class))?;
                self.steps(body)?;
                self.push(Op::Finish)
            }
            Step::Repeat { count, body } => self.repeat(*count, body),
            // The parser lets `Forever` stand only last and at the top, where `whole` has seen it.
            Step::Forever(body) => self.steps(body),
            Step::Play(letters) => letters.iter().try_for_each(|letter| {
                let part = self.script.parts.get(letter).map_or(&[][..], Vec::as_slice);
                self.steps(part)
            }),
            Step::Barrier(name) => {
                let known = self.program.barriers.iter().position(|known| known == name);
                let number = known.unwrap_or_else(|| {
                    self.program.barriers.push(name.clone());
                    self.program.barriers.len() - 1
                });
                self.push(Op::Barrier(number))
            }
            Step::Set(changed) => {
                self.change(changed);
                Ok(())
            }
        }
    }

    fn repeat(&mut self, count: u32, body: &[Step]) -> Result<(), ProgramError> {
        let at = self.program.ops.len();
        self.push(Op::Loop(count))?;
        self.steps(body)?;
        self.push(Op::Again(at))
    }

    fn stroke(&self, own: Option<Duration>) -> KeySettings {
        let settings = &self.settings;
        KeySettings {
            gap: own.or(self.key_gap).or(settings.key_gap).unwrap_or(KEY_GAP),
            distribution: settings.key_distribution.unwrap_or(KeyDistribution::Fixed),
            echo: settings.echo.unwrap_or(if settings.echo_map.is_empty() {
                tape::Echo::Untimed
            } else {
                tape::Echo::Timed
            }),
        }
    }

    fn rule(&self, rule: &tape::WaitCondition) -> Result<WaitCondition, ProgramError> {
        let setting = self.settings.wait_pattern.clone();
        let wanted = |own: &Option<String>| own.clone().or(setting).unwrap_or_else(|| WAIT_PATTERN.into());
        Ok(match rule {
            tape::WaitCondition::Echo => WaitCondition::Echo,
            tape::WaitCondition::Bytes(count) => WaitCondition::Bytes(*count),
            tape::WaitCondition::Silence(length) => WaitCondition::Silence(*length),
            tape::WaitCondition::Disconnect => WaitCondition::Disconnect,
            tape::WaitCondition::Cursor { row, column } => WaitCondition::Cursor { row: *row, column: *column },
            tape::WaitCondition::Prompt => {
                let prompt = self.settings.prompt.clone().unwrap_or_else(|| PROMPT.into());
                WaitCondition::Prompt(self.pattern(&prompt)?)
            }
            tape::WaitCondition::Line(own) => WaitCondition::Line(self.pattern(&wanted(own))?),
            tape::WaitCondition::Screen(own) => WaitCondition::Screen(self.pattern(&wanted(own))?),
        })
    }

    fn pattern(&self, pattern: &str) -> Result<Regex, ProgramError> {
        // `$` is the end of any row, as on the screen that VHS matches.
        RegexBuilder::new(pattern)
            .multi_line(true)
            .build()
            .map_err(|_| ProgramError::Pattern { tape: self.script.name.clone(), pattern: pattern.to_owned() })
    }

    /// A `Set` on the way holds from there on.
    fn change(&mut self, changed: &Settings) {
        let now = &mut self.settings;
        now.key_gap = changed.key_gap.or(now.key_gap);
        now.key_distribution = changed.key_distribution.or(now.key_distribution);
        now.wait_timeout = changed.wait_timeout.or(now.wait_timeout);
        now.wait_pattern = changed.wait_pattern.clone().or(now.wait_pattern.take());
        now.prompt = changed.prompt.clone().or(now.prompt.take());
        now.echo = changed.echo.or(now.echo);
        if !changed.echo_map.is_empty() {
            now.echo_map.clone_from(&changed.echo_map);
            self.program.echo_map.clone_from(&changed.echo_map);
        }
    }
}

fn typing(keys: &Keys) -> Typing {
    match keys {
        Keys::Text(pieces) => Typing::Text(pieces.clone()),
        Keys::Press { key, count } => Typing::Press(key.clone(), *count),
        Keys::Paste(pieces) => Typing::Paste(pieces.clone()),
    }
}

/// Whether what a key sends depends on the modes that the host has set.
pub(crate) fn needs_modes(key: &Key) -> bool {
    key.bytes(Modes { application_cursor: false }) != key.bytes(Modes { application_cursor: true })
}
