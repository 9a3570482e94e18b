//! The sampled stacks. A profile is small enough to send from a remote host.

use serde::{Deserialize, Serialize};

/// The sampled stacks of one subject in an interval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Locations of instructions, each once.
    pub places: Vec<Location>,
    /// Stacks that lead to them, with numbers of samples.
    pub stacks: Vec<Stack>,
    /// Samples of idle CPUs. The CPU clocks, not these, measure idle.
    pub idle: u64,
    /// Busy samples whose stacks were too rare to be kept: they have only their last location, or none.
    pub rare: u64,
}

/// The location of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// A function of the kernel.
    Kernel {
        /// Its name.
        function: String,
        /// Its kernel module; empty for the kernel itself.
        module: String,
    },
    /// An address in a user's file.
    User {
        /// The file, or a name in brackets.
        path: String,
        /// Bytes from its start.
        offset: u64,
    },
    /// A function in a user's file, after the look-up of its name.
    Function {
        /// The file.
        path: String,
        function: String,
    },
    /// Not known.
    Unknown,
    /// Locations that were too rare to be kept apart.
    Others,
}

/// A stack and its number of samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The name of the process.
    pub command: String,
    /// Indices into [`Profile::places`], the innermost last: the user's functions, as far as its stack is walked, then the
    /// kernel's.
    pub frames: Vec<u32>,
    pub samples: u64,
}

impl Profile {
    /// Samples that were not idle.
    pub fn busy(&self) -> u64 {
        self.stacks.iter().map(|stack| stack.samples).sum()
    }
}
