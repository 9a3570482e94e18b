//! Records → tallies: the cause and the subject of each sample.

use std::collections::HashMap;
use std::sync::Arc;

use cuesta_record::Stamp;

use super::classify::{CodeOwner, StackBase, UserCode, classify};
use super::kallsyms::{Function, Kallsyms};
use super::kind::Cause;
use super::maps::{FileOffset, Maps};
use super::pace::Pace;
use super::subject_filter::SubjectFilter;
use super::symbol_classes::{SymbolClass, SymbolClasses};
use super::syscall_return::SyscallReturns;
use super::tally::{ClassifiedSample, SampleTally};
use crate::sampled::perf::record::{Mode, Record, Sample, Stamped};
use crate::sampled::profile::{Histogram, Profile, ProfileSample};

/// Counts samples in order of time.
#[derive(Debug)]
pub(crate) struct Reader {
    symbols: Arc<Kallsyms>,
    marks: SymbolClasses,
    maps: Maps,
    syscall_returns: SyscallReturns,
    /// Subjects and their tallies since the last window.
    watched: Vec<(SubjectFilter, SampleTally)>,
    /// The stacks of the first subject, if wanted.
    histogram: Option<Histogram>,
    /// Cache of functions by address: a few thousand addresses make up most samples.
    functions: HashMap<u64, Option<Function>>,
    /// The sampling rate of each CPU.
    pub(crate) pace: Pace,
    /// Records or samples that had no room in a ring.
    pub(crate) lost: u64,
    /// Ticks for whose rest the kernel stopped sampling a CPU.
    pub(crate) throttled: u64,
}

impl Reader {
    pub(crate) fn new(symbols: Arc<Kallsyms>, filters: Vec<SubjectFilter>, profile: bool) -> Self {
        Self {
            marks: SymbolClasses::of(&symbols),
            symbols,
            maps: Maps::default(),
            syscall_returns: SyscallReturns::default(),
            watched: filters.into_iter().map(|filter| (filter, SampleTally::default())).collect(),
            histogram: profile.then(Histogram::default),
            functions: HashMap::new(),
            pace: Pace::default(),
            lost: 0,
            throttled: 0,
        }
    }

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
                self.watched.iter_mut().for_each(|(filter, _)| filter.born(process, parent));
                if let Some(histogram) = &mut self.histogram {
                    histogram.fork(process, parent);
                }
            }
            Record::Ended { process, task } if process == task => {
                self.maps.end(process, at);
                self.watched.iter_mut().for_each(|(filter, _)| filter.ended(process, at));
            }
            Record::Born { .. } | Record::Ended { .. } => {}
            Record::Lost(count) => self.lost += count,
            Record::Throttled => self.throttled += 1,
            Record::Cgroup { id, path } => {
                self.watched.iter_mut().for_each(|(filter, _)| filter.grouped(id, path.as_ref()));
            }
        }
    }

    /// Forgets processes that ended before `floor`.
    pub(crate) fn forget(&mut self, floor: Stamp) {
        self.maps.forget(floor);
        self.watched.iter_mut().for_each(|(filter, _)| filter.forget(floor));
    }

    /// Returns the tallies and starts anew.
    pub(crate) fn take(&mut self) -> Vec<SampleTally> {
        self.watched.iter_mut().map(|(_, tally)| std::mem::take(tally)).collect()
    }

    /// Returns the stacks and starts anew.
    pub(crate) fn take_profile(&mut self) -> Profile {
        let profile = self.histogram.as_mut().map(|histogram| histogram.take(&self.symbols, &self.maps.modules));
        profile.unwrap_or_default()
    }

    fn sample(&mut self, sample: &Sample) {
        if !self.watched.iter().any(|(filter, _)| filter.has(sample)) {
            return;
        }
        let functions: Vec<_> = sample.kernel.iter().enumerate().map(|(depth, at)| self.function(depth, *at)).collect();
        let offset = sample.user.and_then(|address| self.maps.find(sample.process, address));
        let (counted, base) = self.judge(sample, &functions, offset);
        let cause = counted.class.cause;
        if cause != Cause::Idle {
            self.pace.met(sample.cpu, cause == Cause::PageFaults);
        }
        for (filter, tally) in &mut self.watched {
            if filter.has(sample) {
                tally.count(counted);
            }
        }
        let first = self.watched.first().is_some_and(|(filter, _)| filter.has(sample));
        if let Some(histogram) = self.histogram.as_mut().filter(|_| first) {
            let mut user: Vec<FileOffset> = offset.filter(|_| base != StackBase::Kernel).into_iter().collect();
            let callers = sample.callers.iter().filter(|_| !user.is_empty());
            // A return address is after its call. An address without code is no caller: some function on the stack keeps no
            // frame pointer.
            let callers = callers.map_while(|address| self.maps.find(sample.process, address.checked_sub(1)?));
            user.extend(callers.collect::<Vec<_>>());
            histogram.count(&ProfileSample {
                process: sample.process,
                cause: counted.class.cause,
                kernel: &functions,
                user: &user,
            });
        }
    }

    fn judge(
        &mut self,
        sample: &Sample,
        functions: &[Option<Function>],
        offset: Option<FileOffset>,
    ) -> (ClassifiedSample, StackBase) {
        let (base, number) = match (sample.process, offset) {
            (0, _) => (StackBase::Idle, None),
            (_, None) if sample.user.is_none() => (StackBase::Kernel, None),
            (_, None) => (StackBase::User(UserCode::Unknown), None),
            (_, Some(offset)) => {
                let place = self.place(offset);
                let number = if let UserCode::SyscallReturn(call, _) = place { Some(call) } else { None };
                (StackBase::User(place), number.filter(|call| *call != super::classify::CallKind::Unnamed))
            }
        };
        let marks =
            functions.iter().map(|function| function.map_or(SymbolClass::None, |function| self.marks.get(function)));
        let mut class = classify(marks, base, number);
        // Without symbols the kernel's part cannot be split.
        if sample.mode == Mode::Kernel && class.cause == Cause::Unclassified && self.marks.are_none() {
            class.cause = if base == StackBase::Idle { Cause::Idle } else { Cause::Kernel };
        }
        let (for_linker, syscall_return) = match base {
            StackBase::User(place) => {
                (place.is_linker(), matches!(place, UserCode::SyscallReturn(..)) && functions.is_empty())
            }
            _ => (false, false),
        };
        let counted =
            ClassifiedSample { class, for_linker, syscall_return, nanos: sample.period, half_rate: sample.half_rate };
        (counted, base)
    }

    fn place(&mut self, offset: FileOffset) -> UserCode {
        let linker = self.maps.modules.is_linker(offset.module);
        match self.syscall_returns.behind(&self.maps.modules, offset) {
            Some(call) => UserCode::SyscallReturn(call, if linker { CodeOwner::Linker } else { CodeOwner::Program }),
            None if linker => UserCode::Linker,
            None => UserCode::Program,
        }
    }

    fn function(&mut self, depth: usize, address: u64) -> Option<Function> {
        if self.functions.len() >= MOST_ADDRESSES {
            self.functions.clear();
        }
        // All but the innermost are return addresses, which may lie after the end of a function that never returns.
        let address = address - u64::from(depth > 0);
        *self.functions.entry(address).or_insert_with(|| self.symbols.find(address))
    }
}

/// Most kernel addresses in the cache.
const MOST_ADDRESSES: usize = 1 << 17;
