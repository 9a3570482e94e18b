//! Lowering: a script becomes a program.

use std::time::Duration;

use cuesta_distributions::KeyDistribution;

use crate::program::{ExpectSource, KeySettings, Op, Overrides, Program, TooLong, WaitCondition};
use crate::script::{Echo, Key, Keys, Script, Settings, Step};
use crate::{Modes, Pattern};

/// Defaults of VHS.
const KEY_GAP: Duration = Duration::from_millis(50);
const WAIT_TIMEOUT: Duration = Duration::from_secs(15);
pub(crate) const WAIT_PATTERN: &str = ">$";
/// What the end of a row looks like where an ordinary prompt stands. A `%` behind a digit is a percentage.
const PROMPT: &str = r"(?:[$#>:?]|(?:^|[^0-9])%) ?$";
/// People write tapes; a million operations are a mistake.
pub(crate) const MOST_OPS: usize = 1_000_000;

impl Program {
    /// Lowers a script.
    ///
    /// # Errors
    /// When it has too many operations.
    pub fn new(script: &Script, overrides: &Overrides) -> Result<Self, TooLong> {
        let mut settings = script.settings.clone();
        settings.key_distribution = overrides.key_distribution.or(settings.key_distribution);
        let program = Self {
            ops: Vec::new(),
            pass: 0,
            conditions: Vec::new(),
            reads_text: false,
            needs_screen: false,
            times_echoes: false,
            needs_modes: false,
            echo_map: settings.echo_map.clone(),
            patience: settings.wait_timeout.unwrap_or(WAIT_TIMEOUT),
            barriers: Vec::new(),
        };
        let mut lowering = Lowering { script, settings, overrides, thinks: false, program };
        lowering.whole()?;
        let mut program = lowering.program;
        program.look_ahead();
        program.note_needs();
        Ok(program)
    }

    /// Tells each key what will be waited for after it.
    fn look_ahead(&mut self) {
        let waits: Vec<_> = self.ops.iter().map(Op::condition).collect();
        let first_from = |at: usize| waits[at..].iter().flatten().next().copied();
        let mut next = first_from(self.pass);
        let mut keys_follow = false;
        for op in self.ops.iter_mut().rev() {
            match op {
                Op::Wait { condition, .. } => {
                    next = Some(*condition);
                    keys_follow = false;
                }
                // A turn of a loop is mostly followed by another one.
                Op::Again(start) => {
                    next = first_from(*start).or(next);
                    keys_follow = false;
                }
                Op::Loop(_) => keys_follow = false,
                Op::Keys { settings, next_wait, last, .. } => {
                    *next_wait = next;
                    *last = !std::mem::replace(&mut keys_follow, true);
                    let for_echo = next.is_some_and(|next| self.conditions[next] == WaitCondition::Echo);
                    if settings.echo == Echo::Untimed && for_echo {
                        settings.echo = Echo::Timed;
                    }
                }
                _ => {}
            }
        }
    }

    fn note_needs(&mut self) {
        self.needs_screen = self.conditions.iter().any(WaitCondition::needs_screen);
        for op in &self.ops {
            match op {
                Op::Keys { keys, settings, .. } => {
                    self.needs_screen |= settings.echo == Echo::Screen;
                    self.times_echoes |= settings.echo == Echo::Timed;
                    self.needs_modes |= keys.need_modes();
                }
                Op::Expect(_, ExpectSource::Screen) => self.needs_screen = true,
                Op::Expect(_, ExpectSource::Response) => self.reads_text = true,
                _ => {}
            }
        }
    }
}

impl Op {
    fn condition(&self) -> Option<usize> {
        match self {
            Self::Wait { condition, .. } => Some(*condition),
            _ => None,
        }
    }
}

impl Keys {
    /// Whether what is sent depends on the modes that the host has set.
    fn need_modes(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Press { key, .. } => key.needs_modes(),
            Self::Paste(_) => true,
        }
    }
}

impl Key {
    /// Whether what is sent depends on the modes that the host has set.
    pub fn needs_modes(&self) -> bool {
        self.bytes(Modes { application_cursor: false }) != self.bytes(Modes { application_cursor: true })
    }
}

/// A script on its way to a program.
struct Lowering<'a> {
    script: &'a Script,
    /// Those in force.
    settings: Settings,
    overrides: &'a Overrides,
    /// Whether the script says where to think.
    thinks: bool,
    program: Program,
}

impl Lowering<'_> {
    fn whole(&mut self) -> Result<(), TooLong> {
        for step in &self.script.steps {
            if matches!(step, Step::Forever(_)) {
                self.program.pass = self.program.ops.len();
            }
            self.step(step)?;
        }
        // A plan may give a think time to a tape that has none: then it stands between passes.
        let think = self.overrides.think.as_ref().filter(|_| !self.thinks);
        think.map_or(Ok(()), |think| self.push(Op::Think(think.clone())))
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), TooLong> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn push(&mut self, op: Op) -> Result<(), TooLong> {
        if self.program.ops.len() >= MOST_OPS {
            return Err(TooLong { script: self.script.name.clone() });
        }
        self.program.ops.push(op);
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), TooLong> {
        match step {
            Step::Op(op) => self.push(op.clone()),
            Step::Keys { keys, gap } => {
                let settings = self.key_settings(*gap);
                self.push(Op::Keys { keys: keys.clone(), settings, next_wait: None, last: false })
            }
            Step::Think(distribution) => {
                self.thinks = true;
                self.push(Op::Think(self.overrides.think.as_ref().unwrap_or(distribution).clone()))
            }
            Step::Wait { condition, timeout } => {
                let timeout = timeout.or(self.settings.wait_timeout).unwrap_or(WAIT_TIMEOUT);
                let condition = self.condition(condition);
                self.push(Op::Wait { condition, timeout })
            }
            Step::Transaction { class, body } => {
                self.push(Op::Begin(*class))?;
                self.steps(body)?;
                self.push(Op::Finish)
            }
            Step::Repeat { count, body } => {
                let at = self.program.ops.len();
                self.push(Op::Loop(*count))?;
                self.steps(body)?;
                self.push(Op::Again(at))
            }
            Step::Forever(body) => self.steps(body),
            Step::Play(letters) => {
                let script = self.script;
                letters.iter().filter_map(|letter| script.parts.get(letter)).try_for_each(|part| self.steps(part))
            }
            Step::Barrier(name) => {
                let number = index_of(&mut self.program.barriers, name.clone());
                self.push(Op::Barrier(number))
            }
            Step::Set(changed) => {
                self.settings.merge(changed);
                self.program.echo_map.clone_from(&self.settings.echo_map);
                Ok(())
            }
        }
    }

    fn key_settings(&self, own_gap: Option<Duration>) -> KeySettings {
        let settings = &self.settings;
        let unset = if settings.echo_map.is_empty() { Echo::Untimed } else { Echo::Timed };
        KeySettings {
            gap: own_gap.or(self.overrides.key_gap).or(settings.key_gap).unwrap_or(KEY_GAP),
            distribution: settings.key_distribution.unwrap_or(KeyDistribution::Fixed),
            echo: settings.echo.unwrap_or(unset),
        }
    }

    /// The index of a condition, with its pattern from the settings where it has none of its own.
    fn condition(&mut self, condition: &WaitCondition<Option<Pattern>>) -> usize {
        let settings = &self.settings;
        let pattern = |own: &Option<Pattern>, setting: &Option<Pattern>, default: &str| {
            own.clone().or(setting.clone()).unwrap_or_else(|| Pattern::new(default).expect("defaults compile"))
        };
        let wanted = |own| pattern(own, &settings.wait_pattern, WAIT_PATTERN);
        let resolved = match condition {
            WaitCondition::Line(own) => WaitCondition::Line(wanted(own)),
            WaitCondition::Screen(own) => WaitCondition::Screen(wanted(own)),
            WaitCondition::Prompt(own) => WaitCondition::Prompt(pattern(own, &settings.prompt, PROMPT)),
            WaitCondition::Echo => WaitCondition::Echo,
            WaitCondition::Bytes(count) => WaitCondition::Bytes(*count),
            WaitCondition::Silence(length) => WaitCondition::Silence(*length),
            WaitCondition::Disconnect => WaitCondition::Disconnect,
            WaitCondition::Cursor { row, column } => WaitCondition::Cursor { row: *row, column: *column },
        };
        self.program.conditions.push(resolved);
        self.program.conditions.len() - 1
    }
}

/// The index of a value, which is added if it is new.
fn index_of(values: &mut Vec<String>, wanted: String) -> usize {
    values.iter().position(|value| *value == wanted).unwrap_or_else(|| {
        values.push(wanted);
        values.len() - 1
    })
}
