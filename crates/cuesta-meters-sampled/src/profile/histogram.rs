//! Counts stacks while the sampler runs, in bounded memory. When there are too many stacks, the heaviest stay; the others keep
//! only their innermost location, as long as there is room for locations.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;

use super::stacks::{Location, Profile, Stack};
use crate::cause::{Cause, FileOffset, Function, Kallsyms, Modules};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ProfileSample<'a> {
    pub(crate) process: u32,
    pub(crate) cause: Cause,
    /// The innermost first, as in `user`.
    pub(crate) kernel: &'a [Option<Function>],
    pub(crate) user: &'a [FileOffset],
}

/// Stacks and their numbers of samples.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    counts: HashMap<StackPath, u64>,
    idle: u64,
    /// Samples whose stacks were dropped to make room.
    rare: u64,
    /// Names of processes.
    commands: HashMap<u32, String>,
}

/// A process's name and its frames, the innermost last.
type StackPath = (String, Box<[Frame]>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Frame {
    Kernel(Function),
    User(FileOffset),
    Unknown,
    Others,
}

/// Most stacks that are kept: some megabytes, or tens of megabytes if users' stacks are walked.
const MOST_STACKS: usize = 1 << 16;
/// Processes whose names are remembered.
const MOST_COMMANDS: usize = 1 << 16;

impl Histogram {
    pub(crate) fn name(&mut self, process: u32, name: String) {
        if self.commands.len() >= MOST_COMMANDS {
            self.commands.clear();
        }
        self.commands.insert(process, name);
    }

    /// A new process has its parent's name.
    pub(crate) fn fork(&mut self, process: u32, parent: u32) {
        let name = self.command(parent);
        self.name(process, name);
    }

    pub(crate) fn count(&mut self, moment: &ProfileSample<'_>) {
        if moment.cause == Cause::Idle {
            self.idle += 1;
            return;
        }
        let kernel = moment.kernel.iter().rev().map(|function| function.map_or(Frame::Unknown, Frame::Kernel));
        let user = moment.user.iter().rev().copied().map(Frame::User);
        let mut frames: Vec<_> = user.chain(kernel).collect();
        if frames.is_empty() {
            frames.push(Frame::Unknown);
        }
        let command = self.command(moment.process);
        *self.counts.entry((command, frames.into())).or_default() += 1;
        if self.counts.len() > MOST_STACKS {
            self.make_room();
        }
    }

    /// Keeps the heavier half, and only the last frames of the others, which take at most a quarter more.
    fn make_room(&mut self) {
        let mut all: Vec<_> = std::mem::take(&mut self.counts).into_iter().collect();
        all.sort_unstable_by_key(|(_, samples)| Reverse(*samples));
        let others = all.split_off(MOST_STACKS / 2);
        self.counts.extend(all);
        for ((command, frames), samples) in others {
            let is_location = command.is_empty() && frames.len() == 1;
            self.rare += if is_location { 0 } else { samples };
            let mut location: StackPath = (String::new(), frames.last().copied().into_iter().collect());
            if self.counts.len() >= MOST_STACKS / 4 * 3 && !self.counts.contains_key(&location) {
                location.1 = [Frame::Others].into();
            }
            *self.counts.entry(location).or_default() += samples;
        }
    }

    /// Returns the stacks and starts anew.
    pub(crate) fn take(&mut self, symbols: &Kallsyms, modules: &Modules) -> Profile {
        let mut numbers = HashMap::new();
        let (idle, rare) = (std::mem::take(&mut self.idle), std::mem::take(&mut self.rare));
        let mut profile = Profile { idle, rare, ..Profile::default() };
        for ((command, frames), samples) in std::mem::take(&mut self.counts) {
            let mut number = |frame: &Frame| {
                *numbers.entry(*frame).or_insert_with(|| {
                    profile.places.push(location(*frame, symbols, modules));
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

fn location(frame: Frame, symbols: &Kallsyms, modules: &Modules) -> Location {
    match frame {
        Frame::Kernel(function) => Location::Kernel {
            function: symbols.name(function).to_owned(),
            module: symbols.module(function).to_owned(),
        },
        Frame::User(spot) => Location::User { path: modules.path(spot.module).to_owned(), offset: spot.offset },
        Frame::Unknown => Location::Unknown,
        Frame::Others => Location::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(kernel: &[Option<Function>]) -> ProfileSample<'_> {
        ProfileSample { process: 0, cause: Cause::SystemCalls, kernel, user: &[] }
    }

    /// A stack that differs for each number, with one of a thousand innermost functions.
    fn stack(number: u32) -> [Option<Function>; 3] {
        [number % 1000, 1000 + number % 64, 2000 + number / 64].map(|name| Some(Function(name)))
    }

    #[test]
    fn endless_new_stacks_stay_bounded_and_every_sample_counts() {
        let mut histogram = Histogram::default();
        histogram.name(0, "host".to_owned());
        let heavy = [Some(Function(7))];
        let many = 4 * u32::try_from(MOST_STACKS).unwrap();
        for number in 0..many {
            histogram.count(&moment(&stack(number)));
            histogram.count(&moment(&heavy));
            assert!(histogram.counts.len() <= MOST_STACKS);
        }
        let heavies = histogram.counts[&("host".to_owned(), [Frame::Kernel(Function(7))].into())];
        assert_eq!(heavies, u64::from(many), "heavy stacks stay");
        let places: u64 = histogram.counts.iter().filter(|((command, _), _)| command.is_empty()).map(|(_, n)| n).sum();
        assert_eq!(histogram.rare, places, "dropped stacks are counted");
        let profile = histogram.take(&Kallsyms::default(), &Modules::default());
        assert_eq!(profile.busy(), 2 * u64::from(many));
        assert!(profile.rare > u64::from(many) / 2 && histogram.counts.is_empty());
    }

    #[test]
    fn too_many_locations_become_others() {
        let mut histogram = Histogram::default();
        for number in 0..2 * u32::try_from(MOST_STACKS).unwrap() {
            histogram.count(&moment(&[Some(Function(number))]));
        }
        assert!(histogram.counts[&(String::new(), [Frame::Others].into())] > 0);
        assert_eq!(histogram.counts.values().sum::<u64>(), 2 * MOST_STACKS as u64);
    }
}
