//! The rows of a run folder that the engine writes, in Python. They are declared here as all others are: types, schema and documents come
//! from one place.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Stamp, record};

record! {
    /// A row of `agents.jsonl`: a reading of an agent's clock, a silence of the agent, or its death. Instants are on the engine's clock.
    AgentNote {
        /// when it was written
        at: Stamp = Nanoseconds;
        /// number of the agent
        agent: u32 = Unitless;
        /// the name of its clock; two clocks of one name are one clock
        clock: Option<String> = Unitless | none;
        /// how far its clock is ahead of the engine's
        offset: Option<i64> = Nanoseconds | none;
        /// the most by which that may be wrong: half the time from the request to the answer
        error: Option<i64> = Nanoseconds | none;
        /// in an agent's first row: the start
        start_at: Option<Stamp> = Nanoseconds | none;
        /// in an agent's first row: the name of its node, such as `10.77.0.2` or `driver2`; missing on the engine's own machine
        node: Option<String> = Unitless | none;
        /// how long the agent had said nothing, written when it spoke again
        silent: Option<u64> = Nanoseconds | none;
        /// how an agent died that did not end by itself, such as `was killed by signal 9`
        died: Option<String> = Unitless | none;
    }
}

record! {
    /// A row of `wire.jsonl`: what crossed the wire between driver and host in a step.
    WireRow {
        /// the step, from 0 within the segment
        step: usize = Unitless;
        /// the reading when the measurement interval began
        begin: WireReading = Unitless;
        /// the reading when it ended
        end: WireReading = Unitless;
    }
}

record! {
    /// A row of `beside.jsonl`: the neighbour that ran beside a step's measurement interval (the plan's `beside`).
    NeighbourRow {
        /// the step, from 0 within the segment
        step: usize = Unitless;
        /// its reading when the measurement interval began
        begin: CpuReading = Unitless;
        /// its reading when the interval ended, or the run was stopped
        end: CpuReading = Unitless;
        /// each time that the command ran, in order
        runs: Vec<NeighbourRun> = Unitless;
    }
}

record! {
    /// The CPU time that something has used by an instant.
    CpuReading {
        /// on the engine's clock
        at: Stamp = Nanoseconds;
        /// CPU time so far, of all its threads and processes
        cpu: f64 = Seconds;
    }
}

record! {
    /// One time that a neighbour's command ran: until the last process of its group had ended.
    NeighbourRun {
        /// when it was started, on the engine's clock
        begin: Stamp = Nanoseconds;
        /// when it had ended
        end: Stamp = Nanoseconds;
        /// how it ended, such as `ended with code 2`; null if it was stopped, because the interval was over
        ended: Option<String> = Unitless | none;
    }
}

record! {
    /// The counters of both ends of the wire at an instant.
    WireReading {
        /// on the engine's clock
        at: Stamp = Nanoseconds;
        /// the driver's end; null if that side's process had ended
        driver: Option<WireCounters> = Unitless;
        /// the host's end; null if that side's process had ended
        host: Option<WireCounters> = Unitless;
        /// the agents of TMux; null without TMux
        tmux: Option<TmuxReadings> = Unitless | none;
    }
}

record! {
    /// What one end of the wire has counted. Bytes include Ethernet headers.
    WireCounters {
        /// bytes received
        received_bytes: u64 = Bytes;
        /// packets received
        received_packets: u64 = Number;
        /// packets that were lost on their way in
        received_dropped: u64 = Number;
        /// bytes sent
        sent_bytes: u64 = Bytes;
        /// packets sent
        sent_packets: u64 = Number;
        /// packets that were lost on their way out
        sent_dropped: u64 = Number;
    }
}

record! {
    /// The agents of `TMux` at an instant. Their counters begin anew when the measurement interval begins.
    TmuxReadings {
        /// the driver's; null if it had ended
        driver: Option<TmuxReading> = Unitless;
        /// the host's; null if it had ended
        host: Option<TmuxReading> = Unitless;
    }
}

record! {
    /// An agent of `TMux` at an instant.
    TmuxReading {
        /// CPU time of its process since its start
        cpu: u64 = Nanoseconds;
        /// [its status](tmux.md#the-status)
        status: BTreeMap<String, Value> = Unitless;
    }
}

record! {
    /// A row of `meters.jsonl`: beside `at` either `about`, `row` and `seconds`, `step` and `sheet`, `step` and `profile`, or `gap`.
    MeterRecord {
        /// on the engine's clock, also for meters of another machine
        at: Stamp = Nanoseconds;
        /// in the first row: what is metered
        about: Option<MeterAbout> = Unitless | none;
        /// a report of about a second: numbers without tiers; figures that were not metered are left out
        row: Option<BTreeMap<String, Value>> = Unitless | none;
        /// the length of the interval of `row`
        seconds: Option<f64> = Seconds | none;
        /// the step of `sheet` or `profile`, from 0 within the segment
        step: Option<usize> = Unitless | none;
        /// all figures of a step's measurement interval; each figure is `{"value", "tier"}` or `{"why"}` ([meters.md](meters.md))
        sheet: Option<BTreeMap<String, Value>> = Unitless | none;
        /// where the host's CPU time went in a step's measurement interval, by location and module; `flame.svg` draws that of the last step
        profile: Option<BTreeMap<String, Value>> = Unitless | none;
        /// why the meters gave no figures from then on
        gap: Option<String> = Unitless | none;
    }
}

record! {
    /// What the meters of a segment meter, and how certainly.
    MeterAbout {
        /// `here`, `ssh`, `node_exporter` or `none`
        source: String = Unitless;
        /// what is metered ([meters.md](meters.md#what-is-metered-the-subject))
        subject: String = Unitless;
        /// whether that is the whole machine; older folders say it by `subject` alone
        whole_machine: Option<bool> = Unitless | none;
        /// why this subject was chosen; or why nothing is metered
        why: String = Unitless;
        /// how certainly its CPU figures are the host's
        honesty: String = Unitless;
        /// the number of that attribution level, from 1, the most certain; null if it has none
        order: Option<u32> = Unitless | none;
    }
}

record! {
    /// A row of `linkage.jsonl`: what dynamic linkers have reported.
    LinkageRow {
        /// on the engine's clock
        at: Stamp = Nanoseconds;
        /// programs whose linker has reported
        programs: u64 = Number;
        /// references that these have bound by name
        symbols: u64 = Number;
    }
}

record! {
    /// A row of `wanting.jsonl`: the tasks of a benchmark's programs.
    RunnableRow {
        /// on the engine's clock
        at: Stamp = Nanoseconds;
        /// number of all tasks
        tasks: u64 = Number;
        /// tasks that run, are ready to run, or wait for a device
        wanting: u64 = Number;
    }
}

record! {
    /// A row of `kernel-threads.jsonl`: what the kernel's own threads have used.
    KernelThreadsRow {
        /// on the engine's clock
        at: Stamp = Nanoseconds;
        /// CPU time since the first row
        seconds: f64 = Seconds;
    }
}

record! {
    /// A row of `marks.jsonl`: an instant that somebody who watched the run has marked, or at which somebody steered it.
    MarkRow {
        /// from the start of the segment
        seconds: f64 = Seconds;
        /// what was said of it
        note: String = Unitless;
        /// of a mark that holding or releasing starts left: whether users who have not started wait from then on
        holds_starts: Option<bool> = Unitless | none;
    }
}

record! {
    /// A row of `watchers.jsonl`: what somebody who watched the run used in a step's measurement interval.
    WatcherRow {
        /// the step, from 0 within the segment
        step: usize = Unitless;
        /// who watched, such as `live view`
        name: String = Unitless;
        /// the reading when the measurement interval began
        begin: CpuReading = Unitless;
        /// the reading when it ended, or the run was stopped
        end: CpuReading = Unitless;
    }
}
