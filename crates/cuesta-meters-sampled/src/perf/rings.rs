//! One ring for each CPU, which may go on- and offline, and their records in order of time.
//!
//! A program may start on one CPU and be sampled on another: its mappings are in one ring and its samples in the other. Read
//! ring by ring, samples would come before their mappings.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use cuesta_meters_report::cpu_list;
use cuesta_record::Stamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::record::{Layout, Record, Stamped, records};
use super::{Event, EventConfig, Ring};

/// Which tasks the events watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RingTarget {
    /// All that runs.
    Machine,
    /// These tasks and those that they start later.
    Tasks(Vec<i32>),
}

/// The rings of all online CPUs.
#[derive(Debug)]
pub(crate) struct Rings {
    config: EventConfig,
    reach: RingTarget,
    by_cpu: BTreeMap<u32, CpuRing>,
    /// A buffer for the bytes of a ring, reused.
    bytes: Vec<u8>,
    /// Records that were drained, and may have to wait for earlier ones of another ring.
    waiting: Vec<Stamped>,
}

#[derive(Debug)]
struct CpuRing {
    ring: Ring,
    /// Events of more tasks that write into the same ring.
    others: Vec<Event>,
    /// The kernel closed the event: polling it would wake us for ever.
    hung_up: bool,
    /// Whether it samples at half rate.
    half_rate: bool,
}

impl CpuRing {
    fn events(&self) -> impl Iterator<Item = &Event> {
        std::iter::once(self.ring.event()).chain(&self.others)
    }
}

impl Rings {
    /// Opens an event on each CPU and begins to sample.
    pub(crate) fn open(mut config: EventConfig, reach: RingTarget) -> io::Result<Self> {
        if config.cgroup && Event::open(config, Some(0), None).is_err() {
            config.cgroup = false;
        }
        let mut rings = Self { config, reach, by_cpu: BTreeMap::new(), bytes: Vec::new(), waiting: Vec::new() };
        for cpu in online()? {
            let ring = rings.open_on(cpu)?;
            rings.by_cpu.insert(cpu, ring);
        }
        Ok(rings)
    }

    pub(crate) fn layout(&self) -> Layout {
        self.config.layout()
    }

    /// Takes all records out of the rings, so that the kernel has room.
    pub(crate) fn drain(&mut self) {
        let layout = self.layout();
        for cpu in self.by_cpu.values_mut() {
            self.bytes.clear();
            cpu.ring.drain(&mut self.bytes);
            for mut record in records(&self.bytes, layout) {
                if let (Record::Sample(sample), true) = (&mut record.record, cpu.half_rate) {
                    sample.period = 2 * self.config.period;
                    sample.half_rate = true;
                }
                self.waiting.push(record);
            }
        }
    }

    /// Removes and returns, in order of time, all drained records that were written before `floor`.
    pub(crate) fn take_before(&mut self, floor: Stamp) -> Vec<Stamped> {
        take_before(&mut self.waiting, floor)
    }

    /// Waits until a ring is half full, the bell rings, or `at_most` has passed.
    pub(crate) fn wait(&mut self, at_most: Duration, bell: &OwnedFd) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: at_most.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: at_most.subsec_nanos().into(),
        };
        let watched: Vec<u32> = self.by_cpu.iter().filter(|(_, cpu)| !cpu.hung_up).map(|(cpu, _)| *cpu).collect();
        let mut fds: Vec<_> =
            watched.iter().map(|cpu| PollFd::from_borrowed_fd(self.by_cpu[cpu].ring.as_fd(), PollFlags::IN)).collect();
        fds.push(PollFd::new(bell, PollFlags::IN));
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let flags: Vec<_> = fds.iter().map(PollFd::revents).collect();
        for (cpu, flags) in watched.iter().zip(flags) {
            if let Some(ring) = self.by_cpu.get_mut(cpu).filter(|_| flags.intersects(PollFlags::HUP | PollFlags::ERR)) {
                ring.hung_up = true;
            }
        }
        Ok(())
    }

    /// Samples a CPU at half or full rate. Its ring must be drained before.
    pub(crate) fn set_half_rate(&mut self, cpu: u32, half: bool) -> io::Result<()> {
        let period = self.config.period * if half { 2 } else { 1 };
        let Some(ring) = self.by_cpu.get_mut(&cpu) else { return Ok(()) };
        for event in ring.events() {
            event.set_period(period)?;
        }
        ring.half_rate = half;
        Ok(())
    }

    /// Stops or resumes sampling.
    pub(crate) fn set_sampling(&self, on: bool) -> io::Result<()> {
        for cpu in self.by_cpu.values() {
            for event in cpu.events() {
                if on { event.enable()? } else { event.disable()? }
            }
        }
        Ok(())
    }

    /// Opens rings on CPUs that came online, closes those of CPUs that went offline. Those must be drained before.
    pub(crate) fn follow_cpus(&mut self) -> io::Result<()> {
        self.follow(online()?);
        Ok(())
    }

    fn follow(&mut self, online: Vec<u32>) {
        let machine = self.reach == RingTarget::Machine;
        self.by_cpu.retain(|cpu, ring| online.contains(cpu) && !(machine && ring.hung_up));
        for cpu in online {
            if !self.by_cpu.contains_key(&cpu) {
                // The CPU may be offline again by now.
                if let Ok(ring) = self.open_on(cpu) {
                    self.by_cpu.insert(cpu, ring);
                }
            }
        }
    }

    fn open_on(&self, cpu: u32) -> io::Result<CpuRing> {
        let tasks = match &self.reach {
            RingTarget::Machine => vec![None],
            RingTarget::Tasks(tasks) => tasks.iter().copied().map(Some).collect(),
        };
        // A task may have ended since it was listed; one task that can be watched is enough.
        let (events, errors): (Vec<_>, Vec<_>) =
            tasks.into_iter().map(|task| Event::open(self.config, task, Some(cpu))).partition(Result::is_ok);
        let mut events = events.into_iter().flatten();
        let Some(first) = events.next() else {
            let error = errors.into_iter().find_map(Result::err);
            return Err(error.unwrap_or_else(|| io::Error::other("no task to sample")));
        };
        let ring = Ring::map(first)?;
        let others: Vec<_> = events.collect();
        for other in &others {
            other.write_into(ring.event())?;
            other.enable()?;
        }
        ring.event().enable()?;
        Ok(CpuRing { ring, others, hung_up: false, half_rate: false })
    }
}

fn online() -> io::Result<Vec<u32>> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online")?;
    let cpus = cpu_list::parse(&text).ok_or_else(|| io::Error::other("no list of CPUs"))?;
    Ok(cpus.into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// Removes the records before `floor`; a later one may still have to wait for an earlier one.
fn take_before(waiting: &mut Vec<Stamped>, floor: Stamp) -> Vec<Stamped> {
    // Stable, so records of one instant keep the order of their ring.
    waiting.sort_by_key(|record| record.at);
    let later = waiting.split_off(waiting.partition_point(|record| record.at < floor));
    std::mem::replace(waiting, later)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::Scope;

    #[test]
    fn rings_follow_cpus_that_go_offline_and_come_back() {
        let mut rings =
            Rings::open(EventConfig::machine(), RingTarget::Machine).expect("this test must be allowed to sample");
        let all: Vec<u32> = rings.by_cpu.keys().copied().collect();
        rings.follow(all[1..].to_vec());
        assert!(rings.by_cpu.keys().eq(&all[1..]));
        rings.follow([all.clone(), vec![4000]].concat());
        assert!(rings.by_cpu.keys().eq(&all), "a CPU that cannot be sampled is left out until it can");
    }

    #[test]
    fn records_that_a_full_ring_loses_are_counted() {
        let config = EventConfig { scope: Scope::Task, kernel: false, cgroup: false, ..EventConfig::machine() };
        let event = Event::open(config, Some(0), None).expect("this test needs to be allowed to sample");
        let mut ring = Ring::map(event).expect("mapped");
        ring.event().enable().expect("enabled");
        let mut name = |times: usize| {
            (0..times).for_each(|_| rustix::thread::set_name(c"renamed").expect("a short name"));
            let mut bytes = Vec::new();
            ring.drain(&mut bytes);
            let all: Vec<_> = records(&bytes, config.layout()).map(|record| record.record).collect();
            let lost = all.iter().map(|record| if let Record::Lost(count) = record { *count } else { 0 }).sum::<u64>();
            (all.iter().filter(|record| matches!(record, Record::Named { .. })).count() as u64, lost)
        };
        // The kernel reports lost records as soon as there is room again.
        let ((kept, before), (one, lost)) = (name(20_000), name(1));
        assert!(kept > 1000 && before == 0 && one == 1);
        assert!((20_000 - kept..=20_000).contains(&lost), "{kept} of 20,000 were kept, {lost} lost");
    }

    fn lost(at: u64) -> Stamped {
        Stamped { at: Stamp::from_nanos(at), record: Record::Lost(at) }
    }

    #[test]
    fn records_of_two_rings_come_in_order() {
        let mut waiting = [1, 4, 6, 2, 3, 9].map(lost).to_vec();
        assert_eq!(take_before(&mut waiting, Stamp::from_nanos(6)), [1, 2, 3, 4].map(lost));
        waiting.extend([5, 7].map(lost));
        assert_eq!(take_before(&mut waiting, Stamp::FAR), [5, 6, 7, 9].map(lost));
    }
}
