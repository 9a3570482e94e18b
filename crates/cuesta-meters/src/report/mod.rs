//! A report: everything that is printed of one interval. Each figure has its tier, or says why it is missing.
//!
//! Percentages are of the CPU time of the report's `cpus`, durations are seconds, sizes bytes.

mod by_cause;
mod closure;
mod distribution;
mod figure;
mod network;
mod own;
mod total_time;

use std::collections::BTreeMap;

use cuesta_record::Stamp;
use serde::{Deserialize, Serialize};

pub use by_cause::{ByCause, Cause};
pub use closure::Closure;
pub use distribution::Distribution;
pub use figure::{Figure, Tier};
pub use network::Network;
pub(crate) use network::unsampled;
pub use own::{Own, Source};
pub(crate) use total_time::NOT_ITS_OWN;

use crate::Subject;

/// What was metered of a subject between two snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeterReport {
    /// The end, on the machine's monotonic clock.
    pub at: Stamp,
    /// The end, in nanoseconds since 1970.
    pub wall: u64,
    /// Length of the interval.
    pub seconds: f64,
    /// What was metered.
    pub subject: Subject,
    /// The CPUs that percentages are of: those the subject may use and that were there throughout.
    pub cpus: Vec<usize>,
    /// What is missing and how to allow it; what else happened to the meters.
    pub notes: Vec<String>,
    /// Those CPUs' time.
    pub cpu: Cpu,
    /// The same of each CPU.
    pub per_cpu: BTreeMap<usize, Cpu>,
    /// CPUs of the machine that percentages are not of: where the host is kept to its own, the driver's are among them.
    #[serde(default)]
    pub beside: BTreeMap<usize, Cpu>,
    /// What the network's soft interrupts took of all CPUs.
    pub network: Network,
    /// The subject's own part of it.
    pub own: Own,
    /// What was counted.
    pub counts: Counts,
    /// Idle, by kind.
    pub idle: Idle,
    /// Stall by resource (PSI): percent of the interval.
    pub pressure: BTreeMap<String, Figure>,
    /// Where the time went, as `total_time_meters` showed it.
    pub total_time: Vec<TimeRow>,
    /// Queues for the CPU, as `traffic_control_meters` showed them.
    pub traffic: Traffic,
    /// Devices, as `device_meters` showed them.
    pub devices: BTreeMap<String, Device>,
    /// CPU time by cause.
    pub by_cause: Figure<ByCause>,
    /// Whether what was measured apart adds up to the capacity.
    pub closure: Closure,
    /// CPU seconds that snapshot the meters took.
    pub cost: Figure,
}

/// CPU time by use, as `sar` has it; percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// User time, niced and guests' included.
    pub usr: Figure,
    /// Kernel time, interrupts apart.
    pub sys: Figure,
    /// Hard and soft interrupts.
    pub irq: Figure,
    /// Idle with input or output outstanding.
    pub iowait: Figure,
    /// Taken by the hypervisor.
    pub steal: Figure,
    /// Idle with nothing outstanding.
    pub idle: Figure,
    /// Host load: 100 − idle.
    pub load: Figure,
}

impl Cpu {
    /// All that was not idle, nor taken by the hypervisor.
    pub(crate) fn busy(&self) -> Figure {
        self.usr.with(&self.sys, |usr, sys| usr + sys).with(&self.irq, |busy, irq| busy + irq)
    }
}

/// A number of events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// How many in the interval.
    pub count: u64,
    /// How many a second.
    pub per_s: f64,
}

impl Count {
    /// So many in so many seconds.
    pub(crate) fn over(count: u64, seconds: f64) -> Self {
        Self { count, per_s: count as f64 / seconds }
    }
}

/// What was counted, of the subject where the kernel counts it by task, else of the machine (`of_machine` names those).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Page faults that needed no device.
    pub minor_faults: Figure<Count>,
    /// Page faults that waited for a device.
    pub major_faults: Figure<Count>,
    /// Switches because a task waited.
    pub voluntary_switches: Figure<Count>,
    /// Switches because a task was turned out.
    pub involuntary_switches: Figure<Count>,
    /// Switches of both kinds.
    pub switches: Figure<Count>,
    /// Wake-ups of tasks.
    pub wakeups: Figure<Count>,
    /// Hard interrupts.
    pub interrupts: Figure<Count>,
    /// Soft interrupts.
    pub softirqs: Figure<Count>,
    /// Processes and threads made.
    pub forks: Figure<Count>,
    /// Programs loaded.
    pub execs: Figure<Count>,
    /// System calls.
    pub system_calls: Figure<Count>,
    /// Reads and writes of block devices.
    pub ios: Figure<Count>,
    /// The counts above that are of the whole machine although the subject is less.
    pub of_machine: Vec<String>,
}

/// Idle by kind; percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Idle {
    /// Nothing runnable and no input or output outstanding.
    pub zero: Figure,
    /// Nothing runnable, input or output outstanding.
    pub io_wait: Figure,
    /// CPU time in which the subject was ready and barred by its quota (`cpu.max`): idle may lie in it.
    pub throttled: Figure,
    /// The quota, in CPUs.
    pub quota: Figure,
    /// Idle while tasks waited for another CPU: at most this.
    pub queued_elsewhere: Figure,
    /// Idle while a task of the subject waited for a page, in a fault. Where it is traced, the kinds exclude each other.
    pub page_wait: Figure,
    /// Idle while a program of the subject was being loaded.
    pub loading: Figure,
    /// Idle while a task of the subject was ready and barred by its quota.
    pub quota_wait: Figure,
}

/// A row of `total_time_meters`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeRow {
    /// What the time went into.
    pub name: String,
    /// Percent of all CPU time.
    pub percent: Figure,
    /// Percent of non-idle CPU time; none for idle.
    pub of_non_idle: Figure,
    /// Seconds for each occurrence.
    pub average: Figure,
}

/// Queues for the CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// Mean number of tasks running: CPU time over elapsed time.
    pub running: Figure,
    /// Mean number of tasks ready and not running, by Little's law: run-queue delay over elapsed time.
    pub ready: Figure,
    /// Mean number of tasks waiting for a block device, likewise.
    pub in_io: Figure,
    /// Wait for a CPU, of each dispatch; seconds.
    pub ready_delay: Figure,
    /// Dispatches.
    pub dispatches: Figure<Count>,
    /// Seconds that all tasks together were ready and not running.
    pub run_delay: Figure,
    /// From ready to running, of each dispatch.
    pub run_queue_delay: Figure<Distribution>,
    /// From leaving a CPU to having one again, by why it was left.
    pub off_cpu: Figure<BTreeMap<String, Distribution>>,
    /// Seconds that all tasks together waited for block devices.
    pub io_delay: Figure,
    /// Page faults that waited.
    pub page_waits: Figure<Count>,
    /// Off the CPU within a page fault, of each that waited; seconds.
    pub page_wait: Figure,
    /// The kernel's load average over a minute: an exponential mean of running, ready and uninterruptible tasks.
    pub load_average: Figure,
}

/// A block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Reads completed.
    pub reads: Count,
    /// Writes completed.
    pub writes: Count,
    /// Bytes read a second.
    pub read_bytes_per_s: f64,
    /// Bytes written a second.
    pub written_bytes_per_s: f64,
    /// Average time between reads.
    pub atb_reads: Figure,
    /// Average time between writes.
    pub atb_writes: Figure,
    /// Average time between both.
    pub atb: Figure,
    /// Mean number of requests outstanding.
    pub queue: Figure,
    /// Time from request to completion, its wait in the queue included.
    pub response: Figure,
    /// Busy time of each request: of a device that does several at once, less than what each takes.
    pub service: Figure,
    /// Percent of the interval in which at least one request was outstanding; of this device, not a sum.
    pub busy: Figure,
    /// Requests that failed.
    pub errors: Figure,
}
