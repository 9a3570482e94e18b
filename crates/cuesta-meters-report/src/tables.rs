//! The tables of a report: the one place where a figure is declared.

use std::collections::BTreeMap;

use cuesta_record::Stamp;

use super::schema::{OrEmpty, table};
use super::{Figure, Source};
use crate::Subject;

table! {
    /// Everything that was metered of a subject between two snapshots.
    ///
    /// Percentages are of the CPU time of `cpus`.
    MeterReport {
        /// when the interval ended, on the machine's monotonic clock
        at: Stamp = "until", Nanoseconds, Plain, "";
        /// when the interval ended, since 1970
        wall: u64 = "until", Nanoseconds, Plain, "";
        /// length of the interval
        seconds: f64 = "interval", Seconds, Plain, "";
        /// what was metered
        subject: Subject = "subject", Unitless, Plain, "";
        /// the CPUs that percentages are of: those that the subject may use and that were online throughout
        cpus: Vec<usize> = "CPUs", Unitless, Plain, "`/proc/stat`, the subject's affinity";
        /// what is missing and how to get it, and what disturbed the meters
        notes: Vec<String> = "notes", Unitless, Plain, "";
        /// time of those CPUs by use
        cpu: Cpu = "CPU", Unitless, Plain, "";
        /// time of each of those CPUs by use
        per_cpu: BTreeMap<usize, Cpu> = "each CPU", Unitless, Plain, "";
        /// time of the machine's other CPUs by use; if the host is pinned, the driver's CPUs are among them
        beside: BTreeMap<usize, Cpu> = "other CPUs", Unitless, Plain, "";
        /// CPU time of the network's soft interrupts
        network: Network = "network", Unitless, Plain, "";
        /// CPU time of the subject's own tasks
        own: Own = "subject's own", Unitless, Plain, "";
        /// numbers of events
        counts: Counts = "counts", Unitless, Plain, "";
        /// idle time by kind
        idle: Idle = "idle", Unitless, Plain, "";
        /// what may run out, and how often it was refused
        limits: Limits = "limits", Unitless, Plain, "";
        /// share of the interval in which some or all tasks stalled because a resource was short (PSI)
        pressure: BTreeMap<String, Figure> = "stall", Percent, Plain, "`/proc/pressure`, `*.pressure` of a control group";
        /// where the time went, as `total_time_meters` showed it
        total_time: Vec<TimeRow> = "total time", Unitless, Plain, "";
        /// queues for the CPU, as `traffic_control_meters` showed them
        traffic: Traffic = "traffic", Unitless, Plain, "";
        /// block devices, as `device_meters` showed them
        devices: BTreeMap<String, Device> = "devices", Unitless, Plain, "";
        /// network interfaces but `lo`, of the machine
        interfaces: BTreeMap<String, Interface> = "interfaces", Unitless, Plain, "";
        /// CPU time of the subject by cause
        by_cause: Figure<ByCause> = "CPU by cause", Unitless, Sampled, "samples × exact CPU time";
        /// whether the separately measured parts add up to the CPUs' time
        closure: Closure = "closure", Unitless, Plain, "";
        /// CPU time that the last snapshot took
        cost: Figure = "reading took", Seconds, Plain, "";
        /// time from `at` until the last counter of the last snapshot was read
        lasted: Figure = "reading lasted", Seconds, Plain, "";
    }
}

table! {
    /// CPU time by use, as `sar` has it.
    Cpu {
        /// user mode, including niced tasks and guests
        usr: Figure = "%usr", Percent, Plain, "`/proc/stat`";
        /// the kernel, without interrupts
        sys: Figure = "%sys", Percent, Plain, "`/proc/stat`";
        /// hard and soft interrupts; most kernels estimate soft ones by clock ticks and do not time hard ones
        irq: Figure = "%irq", Percent, Plain, "`/proc/stat`";
        /// idle while a task that last ran there waits for a device
        iowait: Figure = "%iowait", Percent, Plain, "`/proc/stat`";
        /// taken by the hypervisor
        steal: Figure = "%steal", Percent, Plain, "`/proc/stat`";
        /// idle, and no task that last ran there waits for a device
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
    /// Numbers of events: of the subject if the kernel counts them by task, else of the machine (`of_machine` names those).
    Counts {
        /// page faults that did not wait for a device
        minor_faults: Figure<Count> = "page faults, minor", Events, Plain, "`/proc/vmstat`; `/proc/PID/stat`; `memory.stat` (version 2)";
        /// page faults that waited for a device
        major_faults: Figure<Count> = "page faults, major", Events, Plain, "`/proc/vmstat`; `/proc/PID/stat`; `memory.stat` (version 2)";
        /// context switches of both kinds
        switches: Figure<Count> = "context switches", Events, Plain, "`ctxt` of `/proc/stat`; threads' `status`";
        /// switches because the task waited
        voluntary_switches: Figure<Count> = "  because it waited", Events, Plain, "threads' `status`";
        /// switches because another task was given the CPU
        involuntary_switches: Figure<Count> = "  because it was preempted", Events, Plain, "threads' `status`";
        /// wake-ups of tasks
        wakeups: Figure<Count> = "wake-ups", Events, Plain, "`/proc/schedstat`, only with `CONFIG_SCHEDSTATS` and `kernel.sched_schedstats=1`";
        /// hard interrupts of the machine; for a CPU set, those of its CPUs
        interrupts: Figure<Count> = "interrupts, hard", Events, Plain, "`/proc/stat`, `/proc/interrupts`";
        /// soft interrupts of the machine; for a CPU set, those of its CPUs
        softirqs: Figure<Count> = "interrupts, soft", Events, Plain, "`/proc/stat`, `/proc/softirqs`";
        /// processes and threads started, on the whole machine unless traced
        forks: Figure<Count> = "forks and threads", Events, Plain, "`/proc/stat`";
        /// programs loaded by `execve`
        execs: Figure<Count> = "programs loaded", Events, Traced, "traced";
        /// system calls of the subject; without tracing, `by_cause` estimates them
        system_calls: Figure<Count> = "system calls", Events, Traced, "the full tracer";
        /// reads and writes of the machine's block devices; devices on top of others (LVM, RAID, LUKS, loops) are left out, since the device below counts the same requests
        ios: Figure<Count> = "block-device I/Os", Events, Plain, "`/proc/diskstats`, `/sys/block`";
        /// names of the counts above that cover the whole machine although the subject is only a part of it
        of_machine: Vec<String> = "of the machine", Unitless, Plain, "";
    }
}

table! {
    /// Idle time by kind.
    Idle {
        /// no task is ready, none that ran there waits for a device
        zero: Figure = "zero idle", Percent, Plain, "`/proc/stat`; traced";
        /// no task is ready, one that ran there waits for a device
        io_wait: Figure = "I/O-wait idle", Percent, Plain, "`/proc/stat`; traced";
        /// kept from running by its quota; may also count as idle
        throttled: Figure = "throttled", Percent, Plain, "`cpu.stat` of a control group";
        /// the quota (`cpu.max`), in CPUs
        quota: Figure = "quota", Number, Plain, "`cpu.max`, `cfs_quota_us`";
        /// idle while tasks waited for another CPU; an upper bound
        queued_elsewhere: Figure = "queued elsewhere", Percent, Plain, "the smaller of idle and run-queue delay";
        /// idle while a task of the subject waited for a page
        page_wait: Figure = "page-wait idle", Percent, Traced, "traced";
        /// idle while a program of the subject was being loaded
        loading: Figure = "loading idle", Percent, Traced, "traced";
        /// idle while the subject's quota kept it from running
        quota_wait: Figure = "throttled idle", Percent, Traced, "traced";
    }
}

table! {
    /// What the subject may run out of: levels at the end of the interval, and how often something was refused in it. Network figures are
    /// of the subject's network namespace.
    Limits {
        /// pseudo-terminals in use, of a devpts with `max=` those in it
        ptys: Figure = "pseudo-terminals", Number, Plain, "`/proc/sys/kernel/pty/nr`, `/dev/pts`";
        /// how many there may be
        pty_limit: Figure = "  at most", Number, Plain, "`/proc/sys/kernel/pty/max`, `max=` of its devpts";
        /// open files of the machine
        files: Figure = "open files", Number, Plain, "`/proc/sys/fs/file-nr`";
        /// how many there may be
        file_limit: Figure = "  at most", Number, Plain, "`/proc/sys/fs/file-nr`";
        /// bits of entropy; 256 once the kernel's generator is seeded (Linux 5.18)
        entropy: Figure = "entropy", Number, Plain, "`/proc/sys/kernel/random/entropy_avail`";
        /// times that an accept queue was full
        listen_overflows: Figure<Count> = "accept queue full", Events, Plain, "`ListenOverflows` of `/proc/net/netstat`";
        /// connections dropped by listeners for that or another reason
        listen_drops: Figure<Count> = "connections dropped", Events, Plain, "`ListenDrops` of `/proc/net/netstat`";
        /// times that a queue of half-open connections was full, and a SYN cookie was sent
        syn_cookies: Figure<Count> = "SYN queue full", Events, Plain, "`TCPReqQFullDoCookies` of `/proc/net/netstat`";
        /// look-ups of names under way: sockets that are connected to a name server
        name_lookups: Figure = "name look-ups under way", Number, Plain, "`/proc/net/udp`, `udp6`";
        /// connections that are tracked
        conntrack: Figure = "tracked connections", Number, Plain, "`nf_conntrack_count`";
        /// how many there may be
        conntrack_limit: Figure = "  at most", Number, Plain, "`nf_conntrack_max`";
        /// packets dropped because they could not be tracked
        conntrack_drops: Figure<Count> = "untracked, dropped", Events, Plain, "`drop` of `/proc/net/stat/nf_conntrack`";
        /// processes killed for want of memory: of the control group, or of the machine
        oom_kills: Figure<Count> = "killed for memory", Events, Plain, "`oom_kill` of `memory.events`, `memory.oom_control` or `/proc/vmstat`";
        /// times that the group was slowed down because it was over `memory.high`
        memory_high: Figure<Count> = "over memory.high", Events, Plain, "`high` of `memory.events`";
        /// processes and threads that the group's `pids.max` refused
        pids_refused: Figure<Count> = "processes refused", Events, Plain, "`max` of `pids.events`";
        /// connections to sshd that have not logged in yet
        startups: Figure = "logins under way", Number, Plain, "the title of the listening sshd";
        /// from how many on sshd drops connections at random (`MaxStartups`)
        startups_start: Figure = "  dropped from", Number, Plain, "the title of the listening sshd";
        /// how many of them it drops then
        startups_rate: Figure = "  at a rate of", Percent, Plain, "its sshd_config, where that agrees with the title";
        /// at how many it drops all
        startups_full: Figure = "  all from", Number, Plain, "the title of the listening sshd";
        /// how long a login may take (`LoginGraceTime`)
        login_grace: Figure = "  a login at most", Seconds, Plain, "its sshd_config";
    }
}

table! {
    /// A row of `total_time_meters`.
    TimeRow {
        /// what the time went into
        name: String = "what", Unitless, Plain, "";
        /// share of all CPU time
        percent: Figure = "%", Percent, Plain, "";
        /// share of the CPU time that is not idle; missing for idle rows
        of_non_idle: Figure = "%NI", Percent, Plain, "";
        /// mean time of one occurrence
        average: Figure = "AVE", Seconds, Sampled, "";
    }
}

table! {
    /// Queues for the CPU and for devices. Mean numbers are by Little's law: time waited over time elapsed.
    Traffic {
        /// mean number of tasks
        running: Figure = "running", Number, Plain, "CPU time ÷ elapsed";
        /// mean number of tasks (run-queue delay ÷ elapsed)
        ready: Figure = "ready, not running", Number, Plain, "threads' `schedstat`; `/proc/schedstat`";
        /// mean number of tasks (block-I/O delay ÷ elapsed)
        in_io: Figure = "waiting for a device", Number, Plain, "`/proc/PID/stat`, only with `sysctl kernel.task_delayacct=1`";
        /// mean wait for a CPU before a dispatch
        ready_delay: Figure = "ready delay", Seconds, Plain, "threads' `schedstat`; `/proc/schedstat`";
        /// dispatches of tasks to CPUs
        dispatches: Figure<Count> = "dispatches", Events, Plain, "threads' `schedstat`; `/proc/schedstat`";
        /// time that all tasks together were ready and not running
        run_delay: Figure = "run-queue delay", Seconds, Plain, "threads' `schedstat`; `/proc/schedstat`";
        /// time from ready to running, of each dispatch
        run_queue_delay: Figure<Quantiles> = "run queue", Seconds, Traced, "traced";
        /// time from leaving a CPU to getting one again, by [why the task left it](#off-the-cpu)
        off_cpu: Figure<BTreeMap<String, Quantiles>> = "off-CPU times", Seconds, Traced, "traced";
        /// time that all tasks together waited for block devices (fsync included)
        io_delay: Figure = "device wait", Seconds, Plain, "`/proc/PID/stat`, only with `sysctl kernel.task_delayacct=1`";
        /// page faults in which the task left its CPU
        page_waits: Figure<Count> = "page waits", Events, Traced, "traced";
        /// mean time off the CPU in such a page fault; its CPU time is in `by_cause`
        page_wait: Figure = "page wait", Seconds, Traced, "traced";
        /// the kernel's exponential mean of tasks
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
        /// bytes read per second
        read_bytes_per_s: f64 = "read", BytesPerSecond, Plain, "`/proc/diskstats`";
        /// bytes written per second
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
        /// busy time ÷ I/Os; less than one I/O takes if the device serves several at once
        service: Figure = "service", Seconds, Plain, "`/proc/diskstats`";
        /// share of the time with at least one I/O outstanding, of this device alone
        busy: Figure = "% busy", Percent, Plain, "`/proc/diskstats`";
        /// failed requests, of devices that count them (SCSI)
        errors: Figure = "errors", Number, Plain, "`ioerr_cnt` in `/sys/block`";
    }
}

table! {
    /// A network interface.
    Interface {
        /// packets received
        received: Count = "received", Events, Plain, "`/proc/net/dev`";
        /// packets sent
        sent: Count = "sent", Events, Plain, "`/proc/net/dev`";
        /// bytes received per second
        received_bytes_per_s: f64 = "received", BytesPerSecond, Plain, "`/proc/net/dev`";
        /// bytes sent per second
        sent_bytes_per_s: f64 = "sent", BytesPerSecond, Plain, "`/proc/net/dev`";
        /// packets dropped by the kernel, of both directions
        dropped: Count = "dropped", Events, Plain, "`/proc/net/dev`";
        /// what it carries in each direction at most
        speed: Figure = "speed", BytesPerSecond, Plain, "`speed` in `/sys/class/net`";
        /// share of its speed that was used, of the busier direction
        busy: Figure = "% busy", Percent, Plain, "`/proc/net/dev`, `speed` in `/sys/class/net`";
    }
}

table! {
    /// Durations: their number, their sum and percentiles. Percentiles and the longest are known within 6 %.
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
    /// CPU time of the subject's own tasks, and of everything else that ran on the report's CPUs.
    Own {
        /// how the CPU time was taken, and therefore [what it may lack](#what-is-metered-the-subject)
        source: Source = "its CPU time", Unitless, Plain, "";
        /// exact CPU time between two readings of its tasks; those of consecutive intervals add up
        seconds: Figure = "CPU", Seconds, Plain, "threads' `schedstat`, `/proc/PID/stat`; `cpu.stat` or `cpuacct.usage` of a control group";
        /// its share of the CPUs' time, scaled to the interval between the readings of the CPUs
        percent: Figure = "CPU", Percent, Plain, "threads' `schedstat`, `/proc/PID/stat`; `cpu.stat` or `cpuacct.usage` of a control group";
        /// its share in user mode, by clock ticks; if no tick met it in the interval, by those of its whole life
        usr: Figure = "%usr", Percent, Plain, "threads' `schedstat`, `/proc/PID/stat`; `cpu.stat` or `cpuacct.usage` of a control group";
        /// its share in the kernel, by the same ticks
        sys: Figure = "%sys", Percent, Plain, "threads' `schedstat`, `/proc/PID/stat`; `cpu.stat` or `cpuacct.usage` of a control group";
        /// other tasks on its CPUs, and interrupts if `irq` is missing
        others: Figure = "others", Percent, Plain, "the clocks of all other tasks";
        /// `others` is not measured: it is what the subject leaves of the CPUs' use, since the subject may use only some CPUs or the tasks' clocks are missing
        others_are_rest: bool = "others are the rest", Unitless, Plain, "";
        /// interrupts that are in neither its time nor the others'
        irq: Figure = "interrupts beside both", Percent, Plain, "what the CPUs did − `percent` − `others`";
        /// why its CPU time cannot be trusted: samples show much more or much less of it than its clocks
        doubt: Option<String> = "doubtful", Unitless, Sampled, "";
        /// threads at the end of the interval
        tasks: Figure = "threads", Number, Plain, "`/proc/PID/stat`";
        /// processes at the end of the interval
        processes: Figure = "processes", Number, Plain, "`/proc/PID/stat`";
    }
}

table! {
    /// CPU time of the network's soft interrupts, on any CPU and in any task's time. Over loopback the sender's own time includes
    /// the receipt of what it sends, so this figure belongs to neither the host nor the driver alone.
    Network {
        /// CPU time; in the plain tier that of all soft interrupts, by clock ticks
        seconds: Figure = "network", Seconds, Plain, "samples × busy time; ticks of all soft interrupts";
        /// share of the time of all CPUs of the machine
        percent: Figure = "network", Percent, Plain, "samples × busy time; ticks of all soft interrupts";
        /// the 95 % interval of `percent`
        interval: Figure<[f64; 2]> = "95 % interval", Percent, Sampled, "";
        /// the part of it that is in the subject's CPU time
        in_subject: Figure = "network in the subject", Seconds, Sampled, "samples × exact CPU time";
    }
}

table! {
    /// CPU time of the interval by cause: sampled, traced, or both.
    ByCause {
        /// each cause by its name
        causes: BTreeMap<String, CauseRow> = "causes", Unitless, Sampled, "";
        /// causes that sampling could have seen but no sample met: each had at most `bound`
        unmet: Vec<String> = "no sample met", Unitless, Sampled, "";
        /// the upper end of the 95 % interval of a cause that no sample met
        bound: Figure = "bound", Percent, Sampled, "";
        /// share of the samples without a known cause
        unclassified: f64 = "not classified", Percent, Sampled, "";
        /// samples taken and lost, constants, the sampler's own cost
        about: OrEmpty<Sampling> = "sampling", Unitless, Sampled, "";
    }
}

table! {
    /// Samples taken and lost, constants, the sampler's own cost.
    Sampling {
        /// estimated number of system calls
        calls_estimated: Figure = "calls estimated", Number, Sampled, "samples at the returns of calls";
        /// number of samples that the estimate rests on
        calls_estimated_from: Figure = "from samples of returns", Number, Sampled, "";
        /// CPU time of returns from system calls, and of their effect on the instructions after them, moved from the user's part to system calls
        corrected_calls_seconds: Figure = "moved to system calls", Seconds, Sampled, "";
        /// CPU time of returns from page faults, moved from the user's part to page faults
        corrected_faults_seconds: Figure = "moved to page faults", Seconds, Sampled, "";
        /// CPU time that the samples stand for ÷ that of the clocks
        coverage: Figure = "coverage", Ratio, Sampled, "";
        /// CPU time that the dynamic linker used or asked for, whatever its cause
        for_linker_seconds: Figure = "for the linker", Seconds, Sampled, "";
        /// CPU time that was sampled at half rate because of dense page faults
        half_rate_seconds: Figure = "sampled at half rate", Seconds, Sampled, "";
        /// CPU time of the sampler's interrupts
        interrupts_seconds: Figure = "interrupts", Seconds, Sampled, "samples of the subject × the measured cost of one";
        /// samples and other records for which there was no room
        lost: Figure = "samples lost", Number, Sampled, "`PERF_RECORD_LOST`";
        /// share of the samples in system calls whose number is known
        named_calls_percent: Figure = "calls with a name", Percent, Sampled, "";
        /// CPU time of the thread that reads the samples
        reader_seconds: Figure = "reader", Seconds, Plain, "";
        /// busy samples
        samples: Figure = "samples", Number, Sampled, "";
        /// how often the kernel stopped sampling for the rest of a tick
        throttled: Figure = "times throttled", Number, Sampled, "`PERF_RECORD_THROTTLE`";
    }
}

table! {
    /// One cause.
    CauseRow {
        /// share of the CPUs
        percent: Figure = "%", Percent, Sampled, "";
        /// one standard error of `percent`, from the number of samples and the error of the constants
        standard_error: Figure = "standard error", Percent, Sampled, "";
        /// the part of it that comes from the constants of the calibration; it is the same in every interval
        calibration_error: Figure = "calibration error", Percent, Sampled, "";
        /// the 95 % interval of `percent`
        interval: Figure<[f64; 2]> = "95 % interval", Percent, Sampled, "";
        /// samples of this cause
        samples: Figure = "samples", Number, Sampled, "";
        /// CPU time
        seconds: Figure = "seconds", Seconds, Sampled, "";
        /// number of faults, calls or interrupts
        count: Figure = "count", Number, Sampled, "";
        /// mean CPU time of one; of page faults, minor and major ones together, without waiting
        average: Figure = "each", Seconds, Sampled, "";
    }
}

table! {
    /// Whether the parts of the report add up to the time of all CPUs, number × elapsed time by our own clock.
    Closure {
        /// what the parts add up to
        accounted: Figure = "accounted", Percent, Plain, "";
        /// each part; none is a remainder, since the subject, others and idle each have a clock of their own
        parts: BTreeMap<String, f64> = "parts", Percent, Plain, "the clocks of tasks, of idle CPUs, of the hypervisor";
        /// upper bound of the interrupts of idle CPUs, which are in no part
        interrupts: f64 = "interrupts", Percent, Plain, "`/proc/stat`";
        /// how far the sum may miss 100, besides those interrupts
        tolerance: f64 = "tolerance", Percent, Plain, "";
        /// whether the sum is within that
        closes: bool = "closes", Unitless, Plain, "";
    }
}
