//! The stacks that were sampled. Small enough to be sent from a remote host.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

/// What was sampled of one subject in an interval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Where instructions were, each place once.
    pub places: Vec<Place>,
    /// How often which way there.
    pub stacks: Vec<Stack>,
    /// Samples of idle CPUs. They say little: see the exact idle.
    pub idle: u64,
}

/// Where an instruction was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A function of the kernel.
    Kernel {
        /// Its name.
        function: String,
        /// The kernel's module that it is in; empty for the kernel itself.
        module: String,
    },
    /// In a user's file.
    User {
        /// The file, or a name in brackets.
        path: String,
        /// Bytes from its start.
        offset: u64,
    },
    /// A function of a user's file, when its name was looked up.
    Function {
        /// The file.
        path: String,
        /// The function.
        function: String,
    },
    /// Nobody knows.
    Unknown,
}

/// A way to a place, and how often it was sampled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The name of the process.
    pub command: String,
    /// Numbers of places, the innermost last: the user's address, then the kernel's functions.
    pub frames: Vec<u32>,
    /// How often.
    pub samples: u64,
}

impl Profile {
    /// Adds what was sampled in another interval.
    pub fn add(&mut self, other: Self) {
        let mut numbers: HashMap<Place, u32> = (0..).zip(&self.places).map(|(n, place)| (place.clone(), n)).collect();
        let mut new = Vec::with_capacity(other.places.len());
        for place in other.places {
            let next = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(place.clone()).or_insert(next);
            if number == next {
                self.places.push(place);
            }
            new.push(number);
        }
        let mut counts: HashMap<_, usize> = self
            .stacks
            .iter()
            .enumerate()
            .map(|(n, stack)| ((stack.command.clone(), stack.frames.clone()), n))
            .collect();
        for mut stack in other.stacks {
            stack.frames = stack.frames.iter().filter_map(|frame| new.get(*frame as usize).copied()).collect();
            match counts.entry((stack.command.clone(), stack.frames.clone())) {
                Entry::Occupied(known) => self.stacks[*known.get()].samples += stack.samples,
                Entry::Vacant(unknown) => {
                    unknown.insert(self.stacks.len());
                    self.stacks.push(stack);
                }
            }
        }
        self.idle += other.idle;
    }

    /// Samples that were not idle.
    pub fn busy(&self) -> u64 {
        self.stacks.iter().map(|stack| stack.samples).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_each_place_and_each_stack_once() {
        let user = |offset| Place::User { path: "/a".to_owned(), offset };
        let stack = |frames: &[u32], samples| Stack { command: "x".to_owned(), frames: frames.to_vec(), samples };
        let mut sum = Profile { places: vec![user(1), user(2)], stacks: vec![stack(&[0], 1), stack(&[1], 2)], idle: 1 };
        sum.add(Profile { places: vec![user(2), user(3)], stacks: vec![stack(&[0], 4), stack(&[1], 8)], idle: 2 });
        assert_eq!(sum.places, [user(1), user(2), user(3)]);
        assert_eq!(sum.stacks, [stack(&[0], 1), stack(&[1], 6), stack(&[2], 8)]);
        assert_eq!((sum.idle, sum.busy()), (3, 15));
    }
}
