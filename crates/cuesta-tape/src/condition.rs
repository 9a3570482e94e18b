//! What a tape waits for and checks: when a response is complete, and where a pattern is looked for.

use std::fmt;
use std::time::Duration;

use cuesta_distributions::duration;

use crate::{Pattern, command};

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
    /// This many bytes have come, timed echoes not counted.
    Bytes(u64),
    /// This many characters have come, timed echoes, control functions and control characters not counted.
    Characters(u64),
    /// Nothing has come for this long; the response was complete at its last character.
    Silence(Duration),
    /// The pattern matches the cursor's row, and the match ends at the cursor or before it.
    Prompt(P),
    /// The host has unlocked the keyboard, which the last key locked (3270).
    Unlock,
    /// The other station has acknowledged all messages (bisync).
    Delivered,
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
    /// How many bytes or characters it waits for, if it counts any.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Bytes(count) | Self::Characters(count) => Some(*count),
            _ => None,
        }
    }

    /// Its word after `Wait+`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Echo => "Echo",
            Self::Bytes(_) => "Bytes",
            Self::Characters(_) => "Characters",
            Self::Silence(_) => "Silence",
            Self::Prompt(_) => "Prompt",
            Self::Unlock => "Unlock",
            Self::Delivered => "Delivered",
            Self::Disconnect => "Disconnect",
            Self::Line(_) => "Line",
            Self::Screen(_) => "Screen",
            Self::Cursor { .. } => "Cursor",
        }
    }

    /// Whether more of the answer may follow what meets it: a text may stand anywhere in it.
    pub fn may_end_early(&self) -> bool {
        matches!(self, Self::Line(_) | Self::Screen(_) | Self::Cursor { .. } | Self::Echo)
    }

    /// Whether it looks at the screen.
    pub fn needs_screen(&self) -> bool {
        matches!(self, Self::Line(_) | Self::Prompt(_) | Self::Screen(_) | Self::Cursor { .. } | Self::Unlock)
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
            Self::Bytes(count) | Self::Characters(count) => write!(f, "{} {count}", self.name()),
            Self::Silence(length) => write!(f, "{} {}", self.name(), duration::show(*length)),
            Self::Cursor { row, column } => write!(f, "{} {row},{column}", self.name()),
            Self::Echo | Self::Unlock | Self::Delivered | Self::Disconnect => f.write_str(self.name()),
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
        let shown = [
            "Echo",
            "Bytes 150",
            "Characters 150",
            "Silence 200ms",
            "Unlock",
            "Delivered",
            "Disconnect",
            "Line /a b/",
            "Screen /ready/",
            "Cursor 12,40",
        ];
        for condition in shown {
            assert_eq!(only_condition(&format!("Wait+{condition}")), condition);
        }
        assert_eq!(only_condition("Wait@2s /ready/"), "Line /ready/");
        assert_eq!(only_condition("Set Prompt /\\$ /\nWait+Prompt"), "Prompt /\\$ /");
    }
}
