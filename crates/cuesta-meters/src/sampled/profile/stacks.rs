//! The stacks that were sampled. Small enough to be sent from a remote host.

use serde::{Deserialize, Serialize};

/// What was sampled of one subject in an interval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Where instructions were, each place once.
    pub places: Vec<Location>,
    /// How often which way there.
    pub stacks: Vec<Stack>,
    /// Samples of idle CPUs. They say little: see the exact idle.
    pub idle: u64,
    /// Of the busy samples, those whose ways were too rare to be kept: they have their last place alone, or none.
    pub rare: u64,
}

/// Where an instruction was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
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
    /// Places that were too rare to be kept apart.
    Others,
}

/// A way to a place, and how often it was sampled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The name of the process.
    pub command: String,
    /// Numbers of places, the innermost last: the user's functions, as far as its stack is walked, then the kernel's.
    pub frames: Vec<u32>,
    /// How often.
    pub samples: u64,
}

impl Profile {
    /// Samples that were not idle.
    pub fn busy(&self) -> u64 {
        self.stacks.iter().map(|stack| stack.samples).sum()
    }
}
