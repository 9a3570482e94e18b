//! A script as it is played: flat operations, with every setting resolved where it stands; and how a script becomes one.

use std::fmt;
use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution};

use crate::script::{Script, Settings, Step};
use crate::{Echo, ExpectSource, KeySettings, Op, Pattern, TapePlace, WaitCondition, command};

mod simulated;

/// Defaults of VHS.
const KEY_GAP: Duration = Duration::from_millis(50);
const WAIT_TIMEOUT: Duration = Duration::from_secs(15);
pub(crate) const WAIT_PATTERN: &str = ">$";
/// What the end of a row looks like where an ordinary prompt stands. A `%` behind a digit is a percentage.
const PROMPT: &str = r"(?:[$#>:?]|(?:^|[^0-9])%) ?$";
/// People write tapes; a million operations are a mistake.
pub(crate) const MOST_OPS: usize = 1_000_000;

/// A script, lowered. A clone has patterns with scratch memory of their own, so each thread plays its own clone.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // They do not depend on one another.
pub struct Program {
    /// What is done, in order.
    pub ops: Vec<Op>,
    /// Index of the operation with which the pass begins; those before it are done once in a session.
    pub pass: usize,
    /// What is waited for; [`Op::Wait`] and [`KeySettings`] hold indices into it.
    pub conditions: Vec<WaitCondition>,
    /// By condition, the end of those that are waited for from it on before another key.
    awaited_until: Vec<usize>,
    /// Whether an operation looks at the text that came since the last key.
    pub reads_text: bool,
    /// Whether an operation looks at the screen.
    pub needs_screen: bool,
    /// Whether echoes are looked for in the stream of characters.
    pub matches_stream: bool,
    /// Whether keys are timed to the first frame that differs.
    pub times_changes: bool,
    /// Keys are timed by what a screen shows.
    pub times_frames: bool,
    /// Pairs of (typed, shown). With a map, only echoes may come while one is awaited.
    pub echo_map: Vec<(u8, u8)>,
    /// The limit of waits that have none of their own: for echoes, at barriers, and for a line that takes no characters.
    pub patience: Duration,
    /// Names of barriers, by number.
    pub barriers: Vec<String>,
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

/// The error for a script that is too long when its parts are put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLong {
    /// The script's name.
    pub script: String,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script } = self;
        write!(f, "{script}: more than {MOST_OPS} steps when its parts are put in; play fewer parts, or use Repeat")
    }
}

impl std::error::Error for TooLong {}

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
            awaited_until: Vec::new(),
            reads_text: false,
            needs_screen: false,
            matches_stream: false,
            times_changes: false,
            times_frames: false,
            echo_map: settings.echo_map.clone(),
            patience: settings.wait_timeout.unwrap_or(WAIT_TIMEOUT),
            barriers: Vec::new(),
        };
        let mut lowering = Lowering { script, settings, overrides, thinks: false, program };
        lowering.lower_script()?;
        let mut program = lowering.program;
        program.look_ahead();
        program.group_waits();
        program.time_echoes_waited_for();
        program.find_needs();
        Ok(program)
    }

    /// The condition with an index.
    pub fn condition(&self, index: Option<usize>) -> Option<&WaitCondition> {
        self.conditions.get(index?)
    }

    /// The condition with an index, and those that are waited for behind it before another key.
    pub fn awaited(&self, index: Option<usize>) -> &[WaitCondition] {
        index.map_or(&[], |index| &self.conditions[index..self.awaited_until[index]])
    }

    /// What an operation waits for or checks, as a tape writes it, and where it stands there; `None` if it does neither.
    pub fn condition_of(&self, op: &Op) -> Option<(String, TapePlace)> {
        match op {
            Op::Wait { condition, place, .. } => Some((format!("Wait+{}", self.conditions[*condition]), place.clone())),
            Op::Expect { pattern, source, place } => {
                let on_screen = if *source == ExpectSource::Screen { "+Screen" } else { "" };
                Some((format!("Expect{on_screen} {}", command::pattern(pattern.as_str())), place.clone()))
            }
            Op::Ready { place, .. } => Some(("Wait+Ready".to_owned(), place.clone())),
            Op::Barrier(number) => Some((format!("Barrier \"{}\"", self.barriers[*number]), TapePlace::default())),
            _ => None,
        }
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
                // Most turns of a loop are followed by another one.
                Op::Again(start) => {
                    next = first_from(*start).or(next);
                    keys_follow = false;
                }
                Op::Loop(_) => keys_follow = false,
                Op::Keys { settings, .. } => {
                    settings.next_wait = next;
                    settings.ends_input = !std::mem::replace(&mut keys_follow, true);
                }
                _ => {}
            }
        }
    }

    /// Groups the waits between which there is no key. No group crosses the beginning of a transaction or the bounds of a loop.
    fn group_waits(&mut self) {
        self.awaited_until = vec![0; self.conditions.len()];
        let mut end = None;
        for op in self.ops.iter().rev() {
            match op {
                Op::Keys { .. } | Op::Ready { .. } | Op::Begin(_) | Op::Loop(_) | Op::Again(_) => end = None,
                Op::Wait { condition, .. } => self.awaited_until[*condition] = *end.get_or_insert(condition + 1),
                _ => {}
            }
        }
    }

    /// A key before a `Wait+Echo` has its echo timed, whatever the settings say: else the wait would never end.
    fn time_echoes_waited_for(&mut self) {
        for op in &mut self.ops {
            if let Op::Keys { settings, .. } = op
                && let Some(next) = settings.next_wait
                && self.conditions[next] == WaitCondition::Echo
                && settings.echo == Echo::Untimed
            {
                settings.echo = Echo::Timed;
            }
        }
    }

    /// Finds what the operations need of a session.
    fn find_needs(&mut self) {
        self.needs_screen = self.conditions.iter().any(WaitCondition::needs_screen);
        for op in &self.ops {
            match op {
                Op::Keys { settings, .. } => {
                    self.times_frames |= matches!(settings.echo, Echo::Screen | Echo::Change);
                    self.times_changes |= settings.echo == Echo::Change;
                    self.matches_stream |= settings.echo == Echo::Timed;
                }
                Op::Expect { source: ExpectSource::Screen, .. } | Op::Ready { .. } => self.needs_screen = true,
                Op::Expect { source: ExpectSource::Response, .. } => self.reads_text = true,
                _ => {}
            }
        }
        self.needs_screen |= self.times_frames;
    }
}

/// A script on its way to a program.
struct Lowering<'a> {
    script: &'a Script,
    /// The settings in force.
    settings: Settings,
    overrides: &'a Overrides,
    /// Whether the script says where to think.
    thinks: bool,
    program: Program,
}

impl Lowering<'_> {
    fn lower_script(&mut self) -> Result<(), TooLong> {
        for step in &self.script.steps {
            if matches!(step, Step::Forever(_)) {
                self.program.pass = self.program.ops.len();
            }
            self.lower_step(step)?;
        }
        // A plan may give a think time to a tape that has none: then it stands between passes.
        let think = self.overrides.think.as_ref().filter(|_| !self.thinks);
        think.map_or(Ok(()), |think| self.push(Op::Think(think.clone())))
    }

    fn lower_steps(&mut self, steps: &[Step]) -> Result<(), TooLong> {
        steps.iter().try_for_each(|step| self.lower_step(step))
    }

    fn push(&mut self, op: Op) -> Result<(), TooLong> {
        if self.program.ops.len() >= MOST_OPS {
            return Err(TooLong { script: self.script.name.clone() });
        }
        self.program.ops.push(op);
        Ok(())
    }

    fn lower_step(&mut self, step: &Step) -> Result<(), TooLong> {
        match step {
            Step::Op(op) => self.push(op.clone()),
            Step::Keys { keys, gap } => {
                let settings = self.key_settings(*gap);
                self.push(Op::Keys { keys: keys.clone(), settings })
            }
            Step::Think(distribution) => {
                self.thinks = true;
                self.push(Op::Think(self.overrides.think.as_ref().unwrap_or(distribution).clone()))
            }
            Step::Wait { condition, timeout, place } => {
                let timeout = timeout.or(self.settings.wait_timeout).unwrap_or(WAIT_TIMEOUT);
                let condition = self.condition(condition);
                self.push(Op::Wait { condition, timeout, place: place.clone() })
            }
            Step::Ready { probe, timeout, place } => {
                let timeout = timeout.or(self.settings.wait_timeout).unwrap_or(WAIT_TIMEOUT);
                self.push(Op::Ready { probe: probe.clone(), timeout, place: place.clone() })
            }
            Step::Transaction { class, body } => {
                self.push(Op::Begin(*class))?;
                self.lower_steps(body)?;
                self.push(Op::Finish)
            }
            Step::Repeat { count, body } => {
                let at = self.program.ops.len();
                self.push(Op::Loop(*count))?;
                self.lower_steps(body)?;
                self.push(Op::Again(at))
            }
            Step::Forever(body) => self.lower_steps(body),
            Step::Play(letters) => {
                let script = self.script;
                letters.iter().filter_map(|letter| script.parts.get(letter)).try_for_each(|part| self.lower_steps(part))
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
            // `look_ahead` sets these two.
            next_wait: None,
            ends_input: false,
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
            WaitCondition::Characters(count) => WaitCondition::Characters(*count),
            WaitCondition::Silence(length) => WaitCondition::Silence(*length),
            WaitCondition::Unlock => WaitCondition::Unlock,
            WaitCondition::Delivered => WaitCondition::Delivered,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn keys_that_are_timed_on_a_screen_need_one() {
        for (echo, is_on_screen) in [("screen", true), ("change", true), ("timed", false), ("off", false)] {
            let tape = format!("Set Echo {echo}\nType \"a\"\nWait+Silence 1s\n");
            let tape = parse(&tape, "keys.tape", &|_| Err("no file".to_owned())).expect("a sound tape");
            let program = Program::new(&tape.script, &Overrides::default()).expect("a short script");
            assert_eq!((program.needs_screen, program.times_frames), (is_on_screen, is_on_screen), "{echo}");
        }
    }
}
