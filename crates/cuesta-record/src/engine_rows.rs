//! The rows of a run folder that the engine writes, in Python. They are declared here as all others are: types, schema and documents come
//! from one place.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Stamp, record};

record! {
    /// A row of `agents.jsonl`: a reading of an agent's clock, or the agent's death. Instants are on the engine's clock.
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
