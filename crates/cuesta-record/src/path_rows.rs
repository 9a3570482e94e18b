//! The rows of a run folder that tell the path of keys: what the host's tracer writes, and what the driver adds to join it to its own keys.

use std::ops::RangeInclusive;

use serde::Serialize;

use crate::{Stamp, plain_types, record};

/// The ports from which a driver's probe lines come, by which the host's kernel knows them. No system takes them for
/// connections by itself, unless `ip_local_port_range` was widened.
pub const FOLLOWED_PORTS: RangeInclusive<u16> = 20_000..=21_999;

/// What a key's time passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HopKind {
    /// A task was running for this key.
    OnCpu,
    /// A task was ready to run, and others had its CPU.
    RunQueue,
    /// A task had been woken on an idle CPU, which took time to come back.
    Waking,
    /// A task waited for a timer that it had set.
    Timer,
    /// A task waited for a block device.
    Disk,
    /// A task slept until something else woke it: a lock, another task, a device.
    Sleeping,
    /// A segment went up the kernel's network stack, from its arrival to its socket; also over a connection within the host.
    NetworkStack,
    /// Characters waited for the terminal's worker.
    WorkerQueue,
    /// The task that had the key was running, but for keys of other connections.
    OthersKeys,
    /// The echo went down the network stack, in the call that wrote it.
    Sent,
    /// TCP held the echo back after the call that wrote it had ended.
    Held,
    /// Another machine had the key: from what was sent there to its answer.
    Beyond,
}

plain_types!(HopKind = "str", HopReason = "str");

/// Why TCP held an echo back, or a task had no CPU, or what is doubtful of a sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HopReason {
    /// Nagle's algorithm: what was sent before is not acknowledged, and the socket lacks `TCP_NODELAY`.
    Nagle,
    /// The socket is corked (`TCP_CORK`, `MSG_MORE`).
    Cork,
    /// The client's window was full.
    Window,
    /// The congestion window was full.
    Congestion,
    /// Something else, such as pacing.
    Other,
    /// The tracer did not see the sleep end: the wait for a CPU after it is part of it.
    Unseen,
    /// A CPU quota was used up.
    Quota,
}

record! {
    /// A row of `paths.jsonl`: beside `host_at` either `path`, or `counts`. The tracer of the host writes it.
    PathRecord {
        /// when it was written, on the host's monotonic clock
        host_at: Stamp = Nanoseconds;
        /// a path that was followed to its end
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<PathRow> = Unitless | none;
        /// what was followed so far
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<PathCounts> = Unitless | none;
    }
}

record! {
    /// The path of what one segment of a client brought, a key or several, through the host, up to the segment that carries an answer. A
    /// segment that is answered by several segments has a path for each. Durations are on the host's clock; their sum is `ns`, but for
    /// what could not be attributed.
    PathRow {
        /// the client's port; null at a terminal of the same machine
        port: Option<u16> = Unitless | none;
        /// the number of the pseudo-terminal; null over TCP
        terminal: Option<u32> = Unitless | none;
        /// offset in the stream to the host, modulo 2^32: the segment's bytes are those behind it …
        key_from: u32 = Bytes;
        /// … up to this one
        key_to: u32 = Bytes;
        /// offset in the stream from the host, modulo 2^32: the answer's bytes are those behind it …
        echo_from: u32 = Bytes;
        /// … up to this one
        echo_to: u32 = Bytes;
        /// when the segment arrived, on the host's monotonic clock
        begun: Stamp = Nanoseconds;
        /// from the segment's arrival to the answer's departure
        ns: u64 = Nanoseconds;
        /// whether the path is known from its beginning
        whole: bool = Unitless;
        /// in order
        hops: Vec<PathHop> = Unitless;
    }
}

record! {
    /// A part of a path: what passed on one thing at one task. A visit of a task may have several, which were interleaved.
    PathHop {
        /// `on_cpu`, `run_queue`, `waking`, `timer`, `disk`, `sleeping`, `network_stack`, `worker_queue`, `others_keys`, `sent`, `held` or `beyond`
        kind: HopKind = Unitless;
        /// the task's name; empty if no task had the key
        task: String = Unitless | "";
        /// the task's number (of its thread)
        pid: u32 = Unitless | 0;
        /// of `timer`, `disk` and `sleeping`: the system call in which it slept last
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<String> = Unitless | none;
        /// of `run_queue`: the task that had the CPU last; of `sleeping`: the task that woke it; null if it was an interrupt;
        /// of `beyond`: the other machine's address and port
        #[serde(skip_serializing_if = "Option::is_none")]
        other: Option<String> = Unitless | none;
        /// the number of that task
        #[serde(skip_serializing_if = "Option::is_none")]
        other_pid: Option<u32> = Unitless | none;
        /// of `held`: why: `nagle`, `cork`, `window`, `congestion` or `other`; of `run_queue`: `quota` if a CPU quota was used up (Linux 6.18
        /// or newer); of `sleeping`: `unseen` if the tracer did not see it end
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<HopReason> = Unitless | none;
        /// of `beyond`: the port of this end of the connection
        #[serde(skip_serializing_if = "Option::is_none")]
        port: Option<u16> = Unitless | none;
        /// of `beyond`: offset in the stream to the other machine before what was sent, modulo 2^32
        #[serde(skip_serializing_if = "Option::is_none")]
        sent: Option<u32> = Bytes | none;
        /// of `beyond`: how far the stream from there had come with the answer
        #[serde(skip_serializing_if = "Option::is_none")]
        answered: Option<u32> = Bytes | none;
        /// how long
        ns: u64 = Nanoseconds;
        /// when the task's visit ended, from the path's beginning
        ended: u64 = Nanoseconds;
    }
}

record! {
    /// What a tracer has followed since its start.
    PathCounts {
        /// segments with data that came on followed lines
        keys: u64 = Number;
        /// paths that were written
        finished: u64 = Number;
        /// paths that were lost: the kernel's buffer was full
        lost: u64 = Number;
        /// answers by tasks that had no key of that line: each has no path
        unknown: u64 = Number;
        /// what this kernel does not show: the kinds of hops that then have no figure, if any, and the reason, such as
        /// `sent, held: … (this kernel has no tracepoint tcp_sendmsg_locked)`
        missing: Vec<String> = Unitless;
    }
}

record! {
    /// A row of `agent-K/followed.csv`: a key of a probe line (the plan's `path`), for the join with the path through the host.
    FollowedRow {
        /// the group of its user, in double quotes
        user_group: String = Unitless;
        /// number of the user
        user: u32 = Unitless;
        /// `echo`: a key and its echo; `answer`: the key that ended an input, and the end of the answer; `login`: the line's opening, and the first prompt
        what: String = Unitless;
        /// the client's port; empty at a terminal of the same machine
        port: Option<u16> = Unitless | none;
        /// the number of the pseudo-terminal; empty over TCP
        terminal: Option<u32> = Unitless | none;
        /// offset in the stream to the host, modulo 2^32, up to which the key goes; 0 for a login
        key: u32 = Bytes;
        /// offset in the stream from the host, modulo 2^32: the bytes behind it …
        echo_from: u32 = Bytes;
        /// … up to this one hold the echo, or the answer's end
        echo_to: u32 = Bytes;
        /// when the key was sent; of a login, when the line was begun to be opened
        sent: Stamp = Nanoseconds;
        /// when the echo or the end of the answer was received
        shown: Stamp = Nanoseconds;
        /// when the kernel sent the key, where it stamps the line
        kernel_sent: Option<Stamp> = Nanoseconds | none;
        /// when the kernel received the echo, where it stamps the line
        kernel_shown: Option<Stamp> = Nanoseconds | none;
        /// whether segments from the host were acknowledged at once since the key, or as late as the kernel may (`TCP_QUICKACK`, at
        /// random); empty at a terminal, and for a login
        quickack: Option<bool> = Unitless | none;
        /// segments with data that came from the key to the echo; empty as `quickack`
        segments: Option<u32> = Number | none;
        /// acknowledgements without data that were sent meanwhile; empty as `quickack`
        acknowledgements: Option<u32> = Number | none;
        /// when the first bytes behind the key were received; empty as `quickack`
        first: Option<Stamp> = Nanoseconds | none;
    }
}
