//! The tables of a report: the one place where a figure is declared.

use std::collections::BTreeMap;

use cuesta_record::Stamp;

use super::schema::table;
use super::{Figure, Source};
use crate::Subject;

table! {
    /// Everything that was metered of a subject between two snapshots.
    ///
    /// Percentages are of the CPU time of `cpus`.
    MeterReport {
        /// the end, on the machine's monotonic clock
        at: Stamp = "until", Nanoseconds, Plain, "";
        /// the end, since 1970
        wall: u64 = "until", Nanoseconds, Plain, "";
        /// length of the interval
        seconds: f64 = "interval", Seconds, Plain, "";
        /// what was metered
        subject: Subject = "subject", None, Plain, "";
        /// the CPUs that percentages are of: those that the subject may use and that were there throughout
        cpus: Vec<usize> = "CPUs", None, Plain, "`/proc/stat`, the subject's affinity";
        /// what is missing and how to allow it; what else happened to the meters
        notes: Vec<String> = "notes", None, Plain, "";
        /// time of those CPUs by use
        cpu: Cpu = "CPU", None, Plain, "";
        /// the same of each CPU
        per_cpu: BTreeMap<usize, Cpu> = "each CPU", None, Plain, "";
        /// the same of the machine's other CPUs: for a pinned host, the driver's are among them
        beside: BTreeMap<usize, Cpu> = "other CPUs", None, Plain, "";
        /// CPU time of the network's soft interrupts
        network: Network = "network", None, Plain, "";
        /// CPU time of the subject's own tasks
        own: Own = "subject's own", None, Plain, "";
        /// numbers of events
        counts: Counts = "counts", None, Plain, "";
        /// idle time by kind
        idle: Idle = "idle", None, Plain, "";
        /// share of the interval in which some or all tasks stalled for want of a resource (PSI)
        pressure: BTreeMap<String, Figure> = "stall", Percent, Plain, "`/proc/pressure`, `*.pressure` of a control group";
        /// where the time went, as `total_time_meters` showed it
        total_time: Vec<TimeRow> = "total time", None, Plain, "";
        /// queues for the CPU, as `traffic_control_meters` showed them
        traffic: Traffic = "traffic", None, Plain, "";
        /// block devices, as `device_meters` showed them
        devices: BTreeMap<String, Device> = "devices", None, Plain, "";
        /// CPU time of the subject by cause
        by_cause: Figure<ByCause> = "CPU by cause", None, Sampled, "samples × exact CPU time";
        /// whether parts that were each measured by a clock of their own add up to the CPUs' time
        closure: Closure = "closure", None, Plain, "";
        /// CPU time that taking the last snapshot took
        cost: Figure = "reading took", Seconds, Plain, "";
    }
}

table! {
    /// CPU time by use, as `sar` has it.
    Cpu {
        /// user mode, niced and guests' included
        usr: Figure = "%usr", Percent, Plain, "`/proc/stat`";
        /// kernel, interrupts apart
        sys: Figure = "%sys", Percent, Plain, "`/proc/stat`";
        /// hard and soft interrupts; most kernels time soft ones by ticks and hard ones not at all
        irq: Figure = "%irq", Percent, Plain, "`/proc/stat`";
        /// idle while a task that last ran there waits for a device
        iowait: Figure = "%iowait", Percent, Plain, "`/proc/stat`";
        /// taken by the hypervisor
        steal: Figure = "%steal", Percent, Plain, "`/proc/stat`";
        /// idle, no input or output outstanding
        idle: Figure = "%idle", Percent, Plain, "`/proc/stat`";
        /// host load: 100 − idle
        load: Figure = "%load", Percent, Plain, "";
    }
}

table! {
    /// A number of events.
    Count: Copy {
        /// how many in the interval
        count: u64 = "count", Number, Plain, "";
        /// how many a second
        per_s: f64 = "a second", Number, Plain, "";
    }
}

table! {
    /// Numbers of events: of the subject where the kernel counts them by task, else of the machine (`of_machine` names those).
    Counts {
        /// page faults that waited for no device
        minor_faults: Figure<Count> = "page faults, minor", Events, Plain, "`/proc/vmstat`; `/proc/PID/stat`; `memory.stat` (version 2)";
        /// page faults that waited for a device
        major_faults: Figure<Count> = "page faults, major", Events, Plain, "likewise";
        /// context switches of both kinds
        switches: Figure<Count> = "context switches", Events, Plain, "`ctxt` of `/proc/stat`; threads' `status`";
        /// switches because the task waited
        voluntary_switches: Figure<Count> = "  because it waited", Events, Plain, "threads' `status`";
        /// switches because another task was given the CPU
        involuntary_switches: Figure<Count> = "  because it was preempted", Events, Plain, "threads' `status`";
        /// wake-ups of tasks
        wakeups: Figure<Count> = "wake-ups", Events, Plain, "`/proc/schedstat`, only with `CONFIG_SCHEDSTATS` and `kernel.sched_schedstats=1`";
        /// hard interrupts, of the machine; of a CPU set by CPU
        interrupts: Figure<Count> = "interrupts, hard", Events, Plain, "`/proc/stat`, `/proc/interrupts`";
        /// soft interrupts, likewise
        softirqs: Figure<Count> = "interrupts, soft", Events, Plain, "`/proc/stat`, `/proc/softirqs`";
        /// processes and threads made, of the machine
        forks: Figure<Count> = "forks and threads", Events, Plain, "`/proc/stat`";
        /// programs loaded by `execve`
        execs: Figure<Count> = "programs loaded", Events, Traced, "traced";
        /// system calls of the subject; where they are not traced, causes estimate them
        system_calls: Figure<Count> = "system calls", Events, Traced, "the full tracer";
        /// reads and writes of block devices, of the machine; those that stand on others (LVM, RAID, LUKS, loops) are left out, the device below has them
        ios: Figure<Count> = "block-device I/Os", Events, Plain, "`/proc/diskstats`, `/sys/block`";
        /// names of the counts above that are of the whole machine although the subject is less
        of_machine: Vec<String> = "of the machine", None, Plain, "";
    }
}

table! {
    /// Idle time by kind.
    Idle {
        /// no task to run, none that ran there waits for a device
        zero: Figure = "zero idle", Percent, Plain, "`/proc/stat`; traced";
        /// no task to run, one that ran there waits for a device
        io_wait: Figure = "I/O-wait idle", Percent, Plain, "`/proc/stat`; traced";
        /// the subject was barred by its quota; may lie in idle
        throttled: Figure = "throttled", Percent, Plain, "`cpu.stat` of a control group";
        /// the quota (`cpu.max`), in CPUs
        quota: Figure = "quota", Number, Plain, "`cpu.max`, `cfs_quota_us`";
        /// idle while tasks waited for another CPU: at most this
        queued_elsewhere: Figure = "queued elsewhere", Percent, Plain, "the smaller of idle and run-queue delay";
        /// idle while a task of the subject waited for a page
        page_wait: Figure = "page-wait idle", Percent, Traced, "traced";
        /// idle while a program of the subject was being loaded
        loading: Figure = "loading idle", Percent, Traced, "traced";
        /// idle while the subject was barred by its quota
        quota_wait: Figure = "throttled idle", Percent, Traced, "traced";
    }
}

table! {
    /// A row of `total_time_meters`.
    TimeRow {
        /// what the time went into
        name: String = "what", None, Plain, "";
        /// share of all CPU time
        percent: Figure = "%", Percent, Plain, "";
        /// share of non-idle CPU time; none for idle
        of_non_idle: Figure = "%NI", Percent, Plain, "";
        /// time of each occurrence
        average: Figure = "AVE", Seconds, Sampled, "";
    }
}

table! {
    /// Queues for the CPU and for devices. Mean numbers are by Little's law: time waited over time elapsed.
    Traffic {
        /// tasks, mean
        running: Figure = "running", Number, Plain, "CPU time ÷ elapsed";
        /// tasks, mean (run-queue delay ÷ elapsed)
        ready: Figure = "ready, not running", Number, Plain, "threads' `schedstat`; `/proc/schedstat`";
        /// tasks, mean (block-I/O delay ÷ elapsed)
        in_io: Figure = "waiting for a device", Number, Plain, "`/proc/PID/stat`, only with `sysctl kernel.task_delayacct=1`";
        /// wait for a CPU, of each dispatch
        ready_delay: Figure = "ready delay", Seconds, Plain, "threads' `schedstat`; `/proc/schedstat`";
        /// dispatches of tasks to CPUs
        dispatches: Figure<Count> = "dispatches", Events, Plain, "likewise";
        /// time that all tasks together were ready and not running
        run_delay: Figure = "run-queue delay", Seconds, Plain, "likewise";
        /// from ready to running, of each dispatch
        run_queue_delay: Figure<Quantiles> = "run queue", Seconds, Traced, "traced";
        /// from leaving a CPU to having one again, by [why it was left](#off-the-cpu)
        off_cpu: Figure<BTreeMap<String, Quantiles>> = "off-CPU times", Seconds, Traced, "traced";
        /// time that all tasks together waited for block devices (fsync included)
        io_delay: Figure = "device wait", Seconds, Plain, "`/proc/PID/stat`, only with `sysctl kernel.task_delayacct=1`";
        /// page faults in which the task left its CPU
        page_waits: Figure<Count> = "page waits", Events, Traced, "traced";
        /// time off the CPU in each of these
        page_wait: Figure = "page wait", Seconds, Traced, "traced";
        /// the kernel's exponential mean
        load_average: Figure = "load average, 1 min", Number, Plain, "`/proc/loadavg`";
    }
}

table! {
    /// A block device.
    Device {
        /// reads completed
        reads: Count = "reads", Events, Plain, "`/proc/diskstats`";
        /// writes completed
        writes: Count = "writes", Events, Plain, "`/proc/diskstats`";
        /// read a second
        read_bytes_per_s: f64 = "read", BytesPerSecond, Plain, "`/proc/diskstats`";
        /// written a second
        written_bytes_per_s: f64 = "written", BytesPerSecond, Plain, "`/proc/diskstats`";
        /// average time between reads
        atb_reads: Figure = "ATB of reads", Seconds, Plain, "`/proc/diskstats`";
        /// average time between writes
        atb_writes: Figure = "ATB of writes", Seconds, Plain, "`/proc/diskstats`";
        /// average time between I/Os
        atb: Figure = "ATB", Seconds, Plain, "`/proc/diskstats`";
        /// mean number of requests outstanding
        queue: Figure = "queue", Number, Plain, "`/proc/diskstats`";
        /// from request to completion, queueing included
        response: Figure = "response", Seconds, Plain, "`/proc/diskstats`";
        /// busy time ÷ I/Os: for a device that does several at once, less than each takes
        service: Figure = "service", Seconds, Plain, "`/proc/diskstats`";
        /// at least one I/O outstanding; of that device, never a sum
        busy: Figure = "% busy", Percent, Plain, "`/proc/diskstats`";
        /// failed requests, of devices that count them (SCSI)
        errors: Figure = "errors", Number, Plain, "`ioerr_cnt` in `/sys/block`";
    }
}

table! {
    /// A distribution of durations. Percentiles and the largest are known within 6 %.
    Quantiles: Copy {
        /// how many
        count: u64 = "count", Number, Traced, "traced";
        /// all together, exactly
        sum: f64 = "sum", Seconds, Traced, "traced";
        /// half took at most this
        p50: f64 = "p50", Seconds, Traced, "traced";
        /// nine in ten took at most this
        p90: f64 = "p90", Seconds, Traced, "traced";
        /// ninety-nine in a hundred took at most this
        p99: f64 = "p99", Seconds, Traced, "traced";
        /// the longest
        max: f64 = "max", Seconds, Traced, "traced";
    }
}

table! {
    /// CPU time of the subject's own tasks, and of what ran beside them on the report's CPUs.
    Own {
        /// how it was taken, and so [what it may lack](#what-is-metered-the-subject)
        source: Source = "its CPU time", None, Plain, "";
        /// exact CPU time between two looks at its tasks: it adds up over intervals that follow each other
        seconds: Figure = "CPU", Seconds, Plain, "threads' `schedstat`, `/proc/PID/stat`; `cpu.stat` or `cpuacct.usage` of a control group";
        /// the same as a share of the CPUs, in the interval in which those were read
        percent: Figure = "CPU", Percent, Plain, "likewise";
        /// in user mode, as the kernel's ticks met it; where none did in the interval, as in its life so far
        usr: Figure = "%usr", Percent, Plain, "likewise";
        /// in the kernel, likewise
        sys: Figure = "%sys", Percent, Plain, "likewise";
        /// other tasks on its CPUs; with interrupts where `irq` is missing
        others: Figure = "others", Percent, Plain, "the clocks of all other tasks";
        /// `others` is not measured but what is left of the CPUs' use: on CPUs of its own, where others' clocks are not
        others_are_rest: bool = "others are the rest", None, Plain, "";
        /// interrupts in neither its time nor others'
        irq: Figure = "interrupts beside both", Percent, Plain, "what the CPUs did − `percent` − `others`";
        /// why its CPU time is not to be trusted: samples met it for much more or much less than its clocks have
        doubt: Option<String> = "doubtful", None, Sampled, "";
        /// threads at the end
        tasks: Figure = "threads", Number, Plain, "`/proc/PID/stat`";
        /// processes at the end
        processes: Figure = "processes", Number, Plain, "`/proc/PID/stat`";
    }
}

table! {
    /// CPU time of the network's soft interrupts, on whichever CPU and in whoever's context: over loopback what one side sends
    /// is received in its own context, so that this is neither the host's nor the driver's alone.
    Network {
        /// CPU time; in the plain tier of all soft interrupts, as ticks met them
        seconds: Figure = "network", Seconds, Plain, "samples × busy time; ticks of all soft interrupts";
        /// the same, as a share of all CPUs of the machine
        percent: Figure = "network", Percent, Plain, "likewise";
        /// the 95 % interval of `percent`
        interval: Figure<[f64; 2]> = "95 % interval", Percent, Sampled, "";
        /// the part of it in the CPU time of the subject
        in_subject: Figure = "network in the subject", Seconds, Sampled, "samples × exact CPU time";
    }
}

table! {
    /// CPU time of the interval by cause: sampled, traced, or both.
    ByCause {
        /// each cause by its name
        causes: BTreeMap<String, CauseRow> = "causes", None, Sampled, "";
        /// causes that sampling would have seen and that no sample met: each had at most `bound`
        unmet: Vec<String> = "no sample met", None, Sampled, "";
        /// the upper end of the 95 % interval of a cause that no sample met
        bound: Figure = "bound", Percent, Sampled, "";
        /// share of the samples that no class was found for
        unclassified: f64 = "not classified", Percent, Sampled, "";
        /// samples taken and lost, constants, the sampler's own cost
        about: BTreeMap<String, Figure> = "sampling", None, Sampled, "";
    }
}

table! {
    /// One cause.
    CauseRow {
        /// share of the CPUs
        percent: Figure = "%", Percent, Sampled, "";
        /// one standard error of `percent`, by what so many samples can tell
        standard_error: Figure = "standard error", Percent, Sampled, "";
        /// the part of it that is there because the constants of the calibration are not better known: the same in every interval
        calibration_error: Figure = "calibration error", Percent, Sampled, "";
        /// the 95 % interval of `percent`
        interval: Figure<[f64; 2]> = "95 % interval", Percent, Sampled, "";
        /// samples that met it
        samples: Figure = "samples", Number, Sampled, "";
        /// CPU time
        seconds: Figure = "seconds", Seconds, Sampled, "";
        /// number of faults, calls, interrupts
        count: Figure = "count", Number, Sampled, "";
        /// CPU time of each
        average: Figure = "each", Seconds, Sampled, "";
    }
}

table! {
    /// Whether the report closes: the parts against all CPUs × elapsed time by our own clock.
    Closure {
        /// what the parts add up to
        accounted: Figure = "accounted", Percent, Plain, "";
        /// each part; none is a remainder: the subject, others and idle have clocks of their own
        parts: BTreeMap<String, f64> = "parts", Percent, Plain, "the clocks of tasks, of idle CPUs, of the hypervisor";
        /// interrupts of idle CPUs, which are in no part, at most
        interrupts: f64 = "interrupts", Percent, Plain, "`/proc/stat`";
        /// how far beside those the sum may miss 100
        tolerance: f64 = "tolerance", Percent, Plain, "";
        /// the sum misses 100 by no more
        closes: bool = "closes", None, Plain, "";
    }
}
