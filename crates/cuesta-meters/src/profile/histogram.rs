//! Counts stacks while the sampler runs. What it holds is bounded: beyond that, stacks are cut down to their last frame.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;

use super::stacks::{Place, Profile, Stack};
use crate::cause::{Cause, Function, Kallsyms, Modules, Spot};

/// A sample, as the histogram needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    pub(crate) process: u32,
    pub(crate) cause: Cause,
    /// The innermost first.
    pub(crate) kernel: &'a [Option<Function>],
    pub(crate) user: Option<Spot>,
}

/// Stacks and how often each came.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    counts: HashMap<(String, Box<[Frame]>), u64>,
    idle: u64,
    /// Names of processes.
    commands: HashMap<u32, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Frame {
    Kernel(Function),
    User(Spot),
    Unknown,
}

/// Stacks that are told apart.
const MOST_STACKS: usize = 1 << 16;
/// Processes whose names are remembered.
const MOST_COMMANDS: usize = 1 << 16;

impl Histogram {
    /// A process has a new name.
    pub(crate) fn name(&mut self, process: u32, name: String) {
        if self.commands.len() >= MOST_COMMANDS {
            self.commands.clear();
        }
        self.commands.insert(process, name);
    }

    /// A process was born with its parent's name.
    pub(crate) fn fork(&mut self, process: u32, parent: u32) {
        let name = self.command(parent);
        self.name(process, name);
    }

    /// Counts a sample.
    pub(crate) fn count(&mut self, moment: &Moment<'_>) {
        if moment.cause == Cause::Idle {
            self.idle += 1;
            return;
        }
        let kernel = moment.kernel.iter().rev().map(|function| function.map_or(Frame::Unknown, Frame::Kernel));
        let mut frames: Vec<_> = moment.user.map(Frame::User).into_iter().chain(kernel).collect();
        if frames.is_empty() {
            frames.push(Frame::Unknown);
        }
        let mut command = self.command(moment.process);
        if self.counts.len() >= MOST_STACKS {
            frames.drain(..frames.len() - 1);
            command.clear();
        }
        let full = self.counts.len() >= 2 * MOST_STACKS;
        match self.counts.entry((command, frames.into())) {
            Entry::Occupied(mut count) => *count.get_mut() += 1,
            Entry::Vacant(_) if full => *self.counts.entry((String::new(), [Frame::Unknown].into())).or_default() += 1,
            Entry::Vacant(count) => drop(count.insert(1)),
        }
    }

    /// Gives away what was counted.
    pub(crate) fn take(&mut self, symbols: &Kallsyms, modules: &Modules) -> Profile {
        let mut numbers = HashMap::new();
        let mut profile = Profile { idle: std::mem::take(&mut self.idle), ..Profile::default() };
        for ((command, frames), samples) in std::mem::take(&mut self.counts) {
            let mut number = |frame: &Frame| {
                *numbers.entry(*frame).or_insert_with(|| {
                    profile.places.push(place(*frame, symbols, modules));
                    u32::try_from(profile.places.len() - 1).unwrap_or(u32::MAX)
                })
            };
            let frames = frames.iter().map(&mut number).collect();
            profile.stacks.push(Stack { command, frames, samples });
        }
        profile
    }

    fn command(&mut self, process: u32) -> String {
        let read = || {
            let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
            name.trim_end().to_owned()
        };
        self.commands.entry(process).or_insert_with(read).clone()
    }
}

fn place(frame: Frame, symbols: &Kallsyms, modules: &Modules) -> Place {
    match frame {
        Frame::Kernel(function) => {
            Place::Kernel { function: symbols.name(function).to_owned(), module: symbols.module(function).to_owned() }
        }
        Frame::User(spot) => Place::User { path: modules.path(spot.module).to_owned(), offset: spot.offset },
        Frame::Unknown => Place::Unknown,
    }
}
