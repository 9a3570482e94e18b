//! How much a script does: keys, waits, transactions, pauses.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::script::Step;
use crate::{Keys, Op, Piece};

/// What steps do when they are played once. Counts saturate.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Totals {
    /// Keys typed. A `${column}` counts as one: only the driver knows its values.
    pub keys: u64,
    /// Waits.
    pub waits: u64,
    /// Named transactions.
    pub transactions: u64,
    /// Mean think time in all, in seconds.
    pub think_s: f64,
    /// `Sleep`, in seconds.
    pub sleep_s: f64,
    /// Steps of every kind.
    #[serde(skip)]
    pub(crate) steps: u64,
    /// Whether a wait comes after the last key. `None`: neither keys nor waits.
    #[serde(skip)]
    pub(crate) ends_waiting: Option<bool>,
    /// Outside of named transactions.
    #[serde(skip)]
    pub(crate) outside: Outside,
}

/// What stands outside of named transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Outside {
    has_keys: bool,
    has_waits: bool,
    /// Whether a wait follows a key.
    pub(crate) has_answers: bool,
}

impl Outside {
    fn then(self, next: Self) -> Self {
        Self {
            has_keys: self.has_keys || next.has_keys,
            has_waits: self.has_waits || next.has_waits,
            has_answers: self.has_answers || next.has_answers || self.has_keys && next.has_waits,
        }
    }
}

impl Totals {
    /// The totals of one step. `parts` holds the totals of those that `Play` may name.
    pub(crate) fn of_step(step: &Step, parts: &BTreeMap<char, Self>) -> Self {
        let one = Self { steps: 1, ..Self::default() };
        match step {
            Step::Keys { keys, .. } => {
                let outside = Outside { has_keys: true, ..Outside::default() };
                Self { keys: key_count(keys), ends_waiting: Some(false), outside, ..one }
            }
            Step::Wait { .. } => {
                let outside = Outside { has_waits: true, ..Outside::default() };
                Self { waits: 1, ends_waiting: Some(true), outside, ..one }
            }
            Step::Think(distribution) => Self { think_s: distribution.mean().as_secs_f64(), ..one },
            Step::Op(Op::Pause(pause)) => Self { sleep_s: pause.as_secs_f64(), ..one },
            Step::Op(_) | Step::Ready { .. } | Step::Barrier(_) | Step::Set(_) => one,
            Step::Transaction { body, .. } => {
                let body = Self::of_steps(body, parts);
                Self { transactions: body.transactions.saturating_add(1), outside: Outside::default(), ..body }
            }
            Step::Repeat { count, body } => Self::of_steps(body, parts).times(*count),
            Step::Forever(body) => Self::of_steps(body, parts).times(1),
            Step::Play(letters) => {
                let known = letters.iter().filter_map(|letter| parts.get(letter));
                known.fold(Self::default(), |sum, part| sum.then(*part))
            }
        }
    }

    /// The totals of steps one after another.
    pub(crate) fn of_steps(steps: &[Step], parts: &BTreeMap<char, Self>) -> Self {
        steps.iter().fold(Self::default(), |sum, step| sum.then(Self::of_step(step, parts)))
    }

    /// The totals of these steps and then of the next ones.
    pub(crate) fn then(self, next: Self) -> Self {
        Self {
            keys: self.keys.saturating_add(next.keys),
            waits: self.waits.saturating_add(next.waits),
            transactions: self.transactions.saturating_add(next.transactions),
            think_s: self.think_s + next.think_s,
            sleep_s: self.sleep_s + next.sleep_s,
            steps: self.steps.saturating_add(next.steps),
            ends_waiting: next.ends_waiting.or(self.ends_waiting),
            outside: self.outside.then(next.outside),
        }
    }

    /// The totals of turns of a loop.
    fn times(self, count: u32) -> Self {
        let many = u64::from(count);
        Self {
            keys: self.keys.saturating_mul(many),
            waits: self.waits.saturating_mul(many),
            transactions: self.transactions.saturating_mul(many),
            think_s: self.think_s * f64::from(count),
            sleep_s: self.sleep_s * f64::from(count),
            steps: self.steps.saturating_mul(many),
            ends_waiting: self.ends_waiting,
            outside: self.outside.then(self.outside),
        }
    }

    /// Mean think time in all.
    pub fn think(&self) -> Duration {
        seconds(self.think_s)
    }

    /// `Sleep` in all.
    pub fn sleep(&self) -> Duration {
        seconds(self.sleep_s)
    }
}

/// Rounds to the microsecond, which drops the rounding errors of sums.
fn seconds(seconds: f64) -> Duration {
    let exact = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Duration::try_from_secs_f64((exact.as_secs_f64() * 1e6).round() / 1e6).unwrap_or(exact)
}

fn key_count(keys: &Keys) -> u64 {
    match keys {
        Keys::Text(pieces) | Keys::Paste(pieces) => characters(pieces),
        Keys::Press { count, .. } => u64::from(*count),
    }
}

/// How many characters a text has; a column counts as one, since only the driver knows its values.
fn characters(pieces: &[Piece]) -> u64 {
    let one = |piece: &Piece| match piece {
        Piece::Literal(text) => text.chars().count() as u64,
        Piece::Column(_) => 1,
    };
    pieces.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(characters(&[Piece::Literal("héé".to_owned()), Piece::Column("user".to_owned())]), 4);
    }
}
