//! Queues for the CPU, by Little's law: mean number waiting = time waited ÷ time elapsed; block devices and network interfaces.

use std::collections::BTreeMap;

use cuesta_meters_report::{Count, Device, Figure, Interface, Subject, Traffic};

use super::tasks::TaskDelta;
use super::{Delta, UNTRACED};
use crate::kernel::diskstats::{DeviceCounters, SECTOR};
use crate::kernel::grown;
use crate::kernel::net_dev::InterfaceCounters;

const NO_QUEUES: &str = "only a kernel with CONFIG_SCHEDSTATS has queues by CPU: name a process or a control group";

impl Delta<'_> {
    pub(super) fn traffic(&self) -> Traffic {
        let (run_delay, dispatches, io_delay) = (self.run_delay(), self.dispatches(), self.io_delay());
        let both = run_delay.with(&dispatches, |delay, dispatches| (*delay, dispatches.count as f64));
        Traffic {
            running: self.own().seconds.map(|seconds| seconds / self.seconds),
            ready: run_delay.map(|delay| delay / self.seconds),
            in_io: io_delay.map(|delay| delay / self.seconds),
            ready_delay: both.and_then(|(delay, count)| Figure::quotient(*delay, *count, "there was no dispatch")),
            dispatches,
            run_delay,
            run_queue_delay: self.missing(UNTRACED),
            off_cpu: self.missing(UNTRACED),
            io_delay,
            page_waits: self.missing(UNTRACED),
            page_wait: self.missing(UNTRACED),
            load_average: self.later.load.clone(),
        }
    }

    /// Seconds that tasks were ready without a CPU, without tasks that began and ended between the snapshots.
    pub(super) fn run_delay(&self) -> Figure {
        match self.of_queues() {
            Some(queues) => queues.map(|(wait, _)| *wait as f64 / 1e9),
            None => self.own_tasks.and_then(|tasks| {
                tasks.thread_totals().map(|threads| threads.wait as f64 / 1e9 / tasks.seconds * self.seconds)
            }),
        }
    }

    fn dispatches(&self) -> Figure<Count> {
        match self.of_queues() {
            Some(queues) => queues.map(|(_, slices)| Count::new(*slices, self.seconds)),
            None => self
                .own_tasks
                .and_then(TaskDelta::thread_totals)
                .map(|threads| Count::new(threads.dispatches, self.seconds)),
        }
    }

    /// Wait and dispatches of the CPUs' run queues; none if the subject's tasks have them, or the kernel has no queues.
    fn of_queues(&self) -> Option<Figure<(u64, u64)>> {
        let queues = self.earlier.queues.with(&self.later.queues, |a, b| {
            self.cpus.keys().fold((0_u64, 0_u64), |(waits, dispatches), cpu| {
                let (a, b) = (a.get(cpu).copied().unwrap_or_default(), b.get(cpu).copied().unwrap_or_default());
                let (wait, slices) = (grown(a.wait, b.wait).unwrap_or(0), grown(a.slices, b.slices).unwrap_or(0));
                (waits.saturating_add(wait), dispatches.saturating_add(slices))
            })
        });
        match self.later.subject {
            Subject::Process(_) | Subject::Children(_) | Subject::Cgroup(_) => None,
            Subject::Machine => Some(queues).filter(|queues| queues.value().is_some()),
            Subject::Cpus(_) => Some(if queues.value().is_some() { queues } else { Figure::absent(NO_QUEUES) }),
        }
    }

    fn io_delay(&self) -> Figure {
        if !self.later.counts_delays {
            return self.missing("the kernel does not count it: `sysctl kernel.task_delayacct=1` allows it");
        }
        self.own_tasks.map(|tasks| tasks.block_delay as f64 / 1e9)
    }
}

const NOTHING: &str = "it did nothing in the interval";

impl Delta<'_> {
    pub(super) fn devices(&self) -> BTreeMap<String, Device> {
        let Some(later) = self.later.devices.value() else { return BTreeMap::new() };
        let before = |name| self.earlier.devices.value().and_then(|devices| devices.get(name)).copied();
        // A device that was never used before the earlier snapshot is not in it.
        let pairs = later.iter().map(|(name, device)| (name, before(name).unwrap_or_default(), *device));
        pairs.map(|(name, a, b)| (name.clone(), self.device(name, a, b))).collect()
    }

    fn device(&self, name: &str, a: DeviceCounters, b: DeviceCounters) -> Device {
        let by = |counter: fn(DeviceCounters) -> u64| grown(counter(a), counter(b)).unwrap_or(0);
        let (reads, writes) = (by(|device| device.reads), by(|device| device.writes));
        let all = reads.saturating_add(writes) as f64;
        let seconds = |millis: fn(DeviceCounters) -> u64| by(millis) as f64 / 1e3;
        let atb = |count: f64| Figure::quotient(self.seconds, count, NOTHING);
        let busy = seconds(|device| device.busy_ms);
        Device {
            reads: Count::new(reads, self.seconds),
            writes: Count::new(writes, self.seconds),
            read_bytes_per_s: by(|device| device.sectors_read) as f64 * SECTOR as f64 / self.seconds,
            written_bytes_per_s: by(|device| device.sectors_written) as f64 * SECTOR as f64 / self.seconds,
            atb_reads: atb(reads as f64),
            atb_writes: atb(writes as f64),
            atb: atb(all),
            queue: Figure::plain(seconds(|device| device.queue_ms) / self.seconds),
            response: Figure::quotient(
                seconds(|device| device.read_ms) + seconds(|device| device.write_ms),
                all,
                NOTHING,
            ),
            service: Figure::quotient(busy, all, NOTHING),
            busy: Figure::plain(100.0 * busy / self.seconds),
            errors: self.errors(name),
        }
    }

    fn errors(&self, name: &str) -> Figure {
        let (earlier, later) = (self.earlier.device_errors.get(name), self.later.device_errors.get(name));
        match (earlier, later) {
            (Some(a), Some(b)) => Figure::plain(grown(*a, *b).unwrap_or(0) as f64),
            _ => self.missing("this kind of device does not count failed requests"),
        }
    }
}

impl Delta<'_> {
    pub(super) fn interfaces(&self) -> BTreeMap<String, Interface> {
        let Some(later) = self.later.interfaces.value() else { return BTreeMap::new() };
        let before = |name| self.earlier.interfaces.value().and_then(|interfaces| interfaces.get(name)).copied();
        let pairs = later.iter().map(|(name, interface)| (name, before(name).unwrap_or(*interface), *interface));
        pairs.map(|(name, a, b)| (name.clone(), self.interface(name, a, b))).collect()
    }

    fn interface(&self, name: &str, a: InterfaceCounters, b: InterfaceCounters) -> Interface {
        let by = |counter: fn(InterfaceCounters) -> u64| grown(counter(a), counter(b)).unwrap_or(0);
        let rate = |counter| by(counter) as f64 / self.seconds;
        let (received, sent) = (rate(|interface| interface.received_bytes), rate(|interface| interface.sent_bytes));
        let speed = match self.later.interface_speeds.get(name) {
            Some(speed) => Figure::plain(*speed as f64),
            None => self.missing("this interface has no speed of its own, as virtual ones"),
        };
        Interface {
            received: Count::new(by(|interface| interface.received), self.seconds),
            sent: Count::new(by(|interface| interface.sent), self.seconds),
            received_bytes_per_s: received,
            sent_bytes_per_s: sent,
            dropped: Count::new(by(|interface| interface.dropped), self.seconds),
            busy: speed.map(|speed| 100.0 * received.max(sent) / speed),
            speed,
        }
    }
}
