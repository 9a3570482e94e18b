//! What an agent and the engine tell each other: rows of JSON, each with one field. Python writes and reads both; what is inside a field
//! goes to or comes from a [`Run`](crate::Run).

use std::collections::BTreeMap;

use cuesta_record::{Snapshot, Stamp, record};

use crate::{BarrierRelease, BarrierStatus, RunSpec, UserScreen, schedule::Announcement, watch::WatchOrder};

record! {
    /// A row that the engine sends an agent. The end of its input means that the agent must stop.
    EngineMessage: Read {
        /// the first row: what to play
        order: Option<AgentOrder> = Unitless | none;
        /// once, when all agents are ready
        start: Option<AgentStart> = Unitless | none;
        /// whenever all users of all agents have arrived at a barrier
        release: Option<BarrierRelease> = Unitless | none;
        /// whenever the schedule of a search changes, or a step is cut
        announce: Option<Announcement> = Unitless | none;
        /// what people look at from now on
        watch: Option<WatchOrder> = Unitless | none;
        /// true: users who have not started wait; false: they start
        hold_starts: Option<bool> = Unitless | none;
        /// asks for the agent's clock, at any time: the instant on the engine's
        read_clock: Option<Stamp> = Nanoseconds | none;
    }
}

record! {
    /// What an agent has to play.
    AgentOrder: Read {
        /// the agent's own part
        spec: RunSpec = Unitless;
        /// the tapes that the groups name
        tapes: BTreeMap<String, TapeText> = Unitless;
        /// additional variables for the programs that the agent starts on its lines
        environment: BTreeMap<String, String> = Unitless;
        /// the folder in which it records
        folder: String = Unitless;
        /// passphrases of ssh keys, by file
        passphrases: BTreeMap<String, String> = Unitless;
    }
}

record! {
    /// A tape.
    TapeText: Read {
        /// its text
        text: String = Unitless;
        /// its name, for messages
        name: String = Unitless;
        /// the text of each file that it sources, by the path as written
        sources: BTreeMap<String, String> = Unitless;
    }
}

record! {
    /// When a segment starts.
    AgentStart: Read {
        /// on the agent's clock
        start_at: Stamp = Nanoseconds;
        /// since 1970
        started_wall: u64 = Nanoseconds;
    }
}

record! {
    /// A row that an agent sends the engine. An empty one says that it is alive.
    AgentMessage {
        /// the first row: it waits for the start
        ready: Option<AgentReady> = Unitless | none;
        /// its state, when that has changed
        snapshot: Option<Snapshot> = Unitless | none;
        /// what the screens show of its users that are looked at, a few times a second
        screens: Option<Vec<UserScreen>> = Unitless | none;
        /// whenever arrivals change at a barrier that users of other agents share
        standing: Option<BarrierStatus> = Unitless | none;
        /// the answer to `read_clock`
        clock: Option<ClockReading> = Unitless | none;
        /// once it was stopped: how many sessions have left something at hosts that is still to be removed
        removing: Option<usize> = Unitless | none;
        /// the last row: `completed` or `interrupted`
        ended: Option<String> = Unitless | none;
        /// the last row of an agent that cannot go on: why
        failed: Option<String> = Unitless | none;
    }
}

record! {
    /// An agent that has read its order.
    AgentReady {
        /// the name of its clock; two clocks of one name are one clock; null: it does not know
        clock: Option<String> = Unitless | none;
    }
}

record! {
    /// The clock of an agent, read for the engine.
    ClockReading {
        /// when the engine asked, on its clock
        asked: Stamp = Nanoseconds;
        /// the instant on the agent's
        at: Stamp = Nanoseconds;
    }
}
