//! A program for a simulated host, whose output means nothing.

use std::time::Duration;

use super::Program;
use crate::{Echo, ExpectSource, Op, Pattern, WaitCondition};

impl Program {
    /// The same program for a simulated host: a wait for text, a prompt or a place of the cursor ends with the first character of
    /// the response, echoes are timed in the stream, each `Expect` is met, and the host is ready. So its users need no screen.
    #[must_use]
    pub fn for_simulated_host(mut self) -> Self {
        for condition in &mut self.conditions {
            if condition.needs_screen() || *condition == WaitCondition::Delivered {
                *condition = WaitCondition::Bytes(1);
            }
        }
        for op in &mut self.ops {
            match op {
                Op::Keys { settings, .. } if matches!(settings.echo, Echo::Screen | Echo::Change) => {
                    settings.echo = Echo::Timed;
                }
                ready @ Op::Ready { .. } => *ready = Op::Pause(Duration::ZERO),
                Op::Expect { pattern, source, .. } => {
                    *pattern = Pattern::new("").expect("the empty pattern compiles");
                    *source = ExpectSource::Response;
                }
                _ => {}
            }
        }
        self.echo_map.clear();
        let times_echo = |op: &Op| matches!(op, Op::Keys { settings, .. } if settings.echo == Echo::Timed);
        self.matches_stream = self.ops.iter().any(times_echo);
        (self.reads_text, self.needs_screen) = (false, false);
        (self.times_changes, self.times_frames) = (false, false);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, parse};

    #[test]
    fn a_simulated_host_meets_every_wait() {
        let tape = "Set Echo screen\nWait+Screen /login/\nType \"ann\"\nEnter\nWait+Prompt\nExpect /welcome/\nExpect+Screen /$/\n\
                    Type \"x\"\nWait+Cursor 2,3\nType \"y\"\nWait+Bytes 40\nDown\nWait+Silence 1s\n";
        let tape = parse(tape, "session.tape", &|_| Err("no file".to_owned())).expect("a sound tape");
        let program = Program::new(&tape.script, &Overrides::default()).expect("a short script");
        assert!(program.needs_screen && program.reads_text);
        let ops = program.ops.len();
        let program = program.for_simulated_host();
        let conditions: Vec<_> = program.conditions.iter().map(ToString::to_string).collect();
        assert_eq!(conditions, ["Bytes 1", "Bytes 1", "Bytes 1", "Bytes 40", "Silence 1s"]);
        assert!(!program.needs_screen && !program.reads_text && program.matches_stream);
        let met = |op: &Op| match op {
            Op::Expect { pattern, source, .. } => *source == ExpectSource::Response && pattern.regex().is_match(b""),
            Op::Keys { settings, .. } => settings.echo == Echo::Timed,
            _ => true,
        };
        assert!(program.ops.len() == ops && program.ops.iter().all(met));
    }
}
