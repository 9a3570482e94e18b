//! Records → tallies: what each sample was, and whose.

use std::collections::HashMap;
use std::sync::Arc;

use cuesta_record::Stamp;

use super::classify::{Ground, Place, Whose, classify};
use super::crossing::Crossings;
use super::kallsyms::{Function, Kallsyms};
use super::kind::Cause;
use super::maps::{Maps, Spot};
use super::marks::{Mark, Marks};
use super::pace::Pace;
use super::tally::{Counted, Tally};
use super::watch::Watch;
use crate::perf::record::{Mode, Record, Sample, Stamped};
use crate::profile::{Histogram, Moment, Profile};

/// Counts samples as they come, in order of time.
#[derive(Debug)]
pub(crate) struct Reader {
    symbols: Arc<Kallsyms>,
    marks: Marks,
    maps: Maps,
    crossings: Crossings,
    /// Subjects and what was counted of them since the last cut.
    watched: Vec<(Watch, Tally)>,
    /// Of the first subject, if it is wanted.
    histogram: Option<Histogram>,
    /// Functions by address: the same few thousand come again and again.
    functions: HashMap<u64, Option<Function>>,
    /// How often each CPU is to be sampled.
    pub(crate) pace: Pace,
    /// Records or samples that had no room in a ring.
    pub(crate) lost: u64,
    /// Ticks in which the kernel ceased to sample a CPU.
    pub(crate) throttled: u64,
}

impl Reader {
    /// Begins with nothing counted.
    pub(crate) fn new(symbols: Arc<Kallsyms>, watches: Vec<Watch>, profile: bool) -> Self {
        Self {
            marks: Marks::of(&symbols),
            symbols,
            maps: Maps::default(),
            crossings: Crossings::default(),
            watched: watches.into_iter().map(|watch| (watch, Tally::default())).collect(),
            histogram: profile.then(Histogram::default),
            functions: HashMap::new(),
            pace: Pace::default(),
            lost: 0,
            throttled: 0,
        }
    }

    /// Takes a record in.
    pub(crate) fn read(&mut self, record: Stamped) {
        let at = record.at;
        match record.record {
            Record::Sample(sample) => self.sample(&sample),
            Record::Mapped { process, map } => self.maps.map(process, &map),
            Record::Named { process, task, name, exec } => {
                if exec {
                    self.maps.exec(process);
                }
                if let Some(histogram) = self.histogram.as_mut().filter(|_| process == task) {
                    histogram.name(process, name);
                }
            }
            Record::Born { process, parent } if process != parent => {
                self.maps.fork(process, parent);
                self.watched.iter_mut().for_each(|(watch, _)| watch.born(process, parent));
                if let Some(histogram) = &mut self.histogram {
                    histogram.fork(process, parent);
                }
            }
            Record::Ended { process, task } if process == task => {
                self.maps.end(process, at);
                self.watched.iter_mut().for_each(|(watch, _)| watch.ended(process, at));
            }
            Record::Born { .. } | Record::Ended { .. } => {}
            Record::Lost(count) => self.lost += count,
            Record::Throttled => self.throttled += 1,
            Record::Cgroup { id, path } => {
                self.watched.iter_mut().for_each(|(watch, _)| watch.grouped(id, path.as_ref()));
            }
        }
    }

    /// Forgets processes that ended before `floor`.
    pub(crate) fn forget(&mut self, floor: Stamp) {
        self.maps.forget(floor);
        self.watched.iter_mut().for_each(|(watch, _)| watch.forget(floor));
    }

    /// Gives away what was counted, and begins anew.
    pub(crate) fn take(&mut self) -> Vec<Tally> {
        self.watched.iter_mut().map(|(_, tally)| std::mem::take(tally)).collect()
    }

    /// Gives away the stacks, and begins anew.
    pub(crate) fn take_profile(&mut self) -> Profile {
        let profile = self.histogram.as_mut().map(|histogram| histogram.take(&self.symbols, &self.maps.modules));
        profile.unwrap_or_default()
    }

    fn sample(&mut self, sample: &Sample) {
        if !self.watched.iter().any(|(watch, _)| watch.has(sample)) {
            return;
        }
        let functions: Vec<_> = sample.kernel.iter().enumerate().map(|(depth, at)| self.function(depth, *at)).collect();
        let spot = sample.user.and_then(|address| self.maps.find(sample.process, address));
        let (counted, ground) = self.judge(sample, &functions, spot);
        let cause = counted.verdict.cause;
        if cause != Cause::Idle {
            self.pace.met(sample.cpu, cause == Cause::PageFaults);
        }
        for (watch, tally) in &mut self.watched {
            if watch.has(sample) {
                tally.count(counted);
            }
        }
        let first = self.watched.first().is_some_and(|(watch, _)| watch.has(sample));
        if let Some(histogram) = self.histogram.as_mut().filter(|_| first) {
            let mut user: Vec<Spot> = spot.filter(|_| ground != Ground::Kernel).into_iter().collect();
            let callers = sample.callers.iter().filter(|_| !user.is_empty());
            // A call returns to behind itself. What is no code is no caller: a function on the way keeps no frame pointer.
            let callers = callers.map_while(|address| self.maps.find(sample.process, address.checked_sub(1)?));
            user.extend(callers.collect::<Vec<_>>());
            histogram.count(&Moment {
                process: sample.process,
                cause: counted.verdict.cause,
                kernel: &functions,
                user: &user,
            });
        }
    }

    fn judge(&mut self, sample: &Sample, functions: &[Option<Function>], spot: Option<Spot>) -> (Counted, Ground) {
        let (ground, number) = match (sample.process, spot) {
            (0, _) => (Ground::Idle, None),
            (_, None) if sample.user.is_none() => (Ground::Kernel, None),
            (_, None) => (Ground::User(Place::Unknown), None),
            (_, Some(spot)) => {
                let place = self.place(spot);
                let number = if let Place::Crossing(call, _) = place { Some(call) } else { None };
                (Ground::User(place), number.filter(|call| *call != super::classify::Call::Unnamed))
            }
        };
        let marks = functions.iter().map(|function| function.map_or(Mark::None, |function| self.marks.get(function)));
        let mut verdict = classify(marks, ground, number);
        // Without symbols the kernel's part cannot be split.
        if sample.mode == Mode::Kernel && verdict.cause == Cause::Unclassified && self.marks.are_none() {
            verdict.cause = if ground == Ground::Idle { Cause::Idle } else { Cause::Kernel };
        }
        let (for_linker, crossing) = match ground {
            Ground::User(place) => (place.is_linker(), matches!(place, Place::Crossing(..)) && functions.is_empty()),
            _ => (false, false),
        };
        let counted = Counted { verdict, for_linker, crossing, nanos: sample.period, half_rate: sample.half_rate };
        (counted, ground)
    }

    fn place(&mut self, spot: Spot) -> Place {
        let linker = self.maps.modules.is_linker(spot.module);
        match self.crossings.behind(&self.maps.modules, spot) {
            Some(call) => Place::Crossing(call, if linker { Whose::Linker } else { Whose::Program }),
            None if linker => Place::Linker,
            None => Place::Program,
        }
    }

    fn function(&mut self, depth: usize, address: u64) -> Option<Function> {
        if self.functions.len() >= MOST_ADDRESSES {
            self.functions.clear();
        }
        // All but the innermost are where a call returns to, which may lie behind the end of a function that never returns.
        let address = address - u64::from(depth > 0);
        *self.functions.entry(address).or_insert_with(|| self.symbols.find(address))
    }
}

/// Kernel addresses that are remembered.
const MOST_ADDRESSES: usize = 1 << 17;
