//! The row that meters write each second, and that `Host::meters` gives of the time since the start.

use std::collections::BTreeMap;

use cuesta_record::{Stamp, record};

use super::connections::LineTotals;

record! {
    /// A row of `host/series.jsonl`: what the built-in host did in about a second. Levels are those at its end.
    HostSeriesRow {
        /// the end of the row's time, on the clock
        at: Stamp = Nanoseconds;
        /// the length of the row's time
        length: f64 = Seconds;
        /// the lines
        lines: HostLines = Unitless;
        /// messages each way: rows, or characters of raw input
        messages: HostMessages = Unitless;
        /// characters at each stage of the front end
        characters: HostCharacters = Unitless;
        /// messages that came before the service asked for them (type-ahead)
        read_ahead: ReadAhead = Unitless;
        /// reads of lines
        reads: LineCalls = Unitless;
        /// writes to lines
        writes: LineCalls = Unitless;
        /// servicing of lines: today's form of interrupts
        wakes: Wakes = Unitless;
        /// times that a line did not take all the output that was due
        output_blocks: OutputBlocks = Unitless;
        /// the pool of output buffers
        pool: HostPool = Unitless;
        /// the servers of the service time
        servers: HostServers = Unitless;
        /// the counters of bisync lines, by name; null if there were none
        bisync: Option<BTreeMap<&'static str, u64>> = Number | none;
        /// the in-kernel path; null if the host does without
        kernel_path: Option<KernelPathTraffic> = Unitless | none;
        /// CPU time
        cpu: HostCpu = Unitless;
    }
}

record! {
    /// The lines of the built-in host.
    HostLines {
        /// connected now
        connected: u64 = Number;
        /// those whose service waits for a message
        asking: u64 = Number | none;
        /// those that have not taken all the output that is due
        blocked: u64 = Number | none;
        /// the most at one time since the start; with several threads, the sum of their peaks
        peak: u64 = Number;
        /// opened
        opened: u64 = Number;
        /// refused: no descriptor, or an address that is not allowed
        refused: u64 = Number;
        /// ended, by cause
        closes: BTreeMap<&'static str, u64> = Number;
        /// connected time, summed over lines
        line_seconds: f64 = Seconds;
        /// the largest totals of any line that has ended since the start
        busiest: LineTotals = Unitless;
    }
}

record! {
    /// Messages of the built-in host.
    HostMessages {
        /// that services took
        r#in: u64 = Number;
        /// complete answers of services
        out: u64 = Number;
    }
}

record! {
    /// Characters of the built-in host.
    HostCharacters {
        /// received from lines, before erasing and killing
        typed: u64 = Number;
        /// that services took
        r#in: u64 = Number;
        /// that services wrote
        out: u64 = Number;
        /// that the front end echoed
        echoed: u64 = Number;
        /// on the wire towards the host, negotiation and escapes included
        line_in: u64 = Number;
        /// on the wire towards the terminals, negotiation and escapes included
        line_out: u64 = Number;
        /// removed by the erase or kill character, and those characters themselves
        erased: u64 = Number;
        /// beyond the longest row
        cut: u64 = Number;
    }
}

record! {
    /// Type-ahead.
    ReadAhead {
        /// messages
        messages: u64 = Number;
        /// their characters
        characters: u64 = Number;
        /// the time that they waited for the service
        waited_seconds: f64 = Seconds | none;
    }
}

record! {
    /// System calls on lines.
    LineCalls {
        /// calls
        calls: u64 = Number;
        /// the time that they took
        seconds: f64 = Seconds;
    }
}

record! {
    /// Servicing of lines.
    Wakes {
        /// times that a line was serviced
        count: u64 = Number;
        /// the time that this took
        seconds: f64 = Seconds;
        /// the longest of these times since the start
        longest: f64 = Seconds;
    }
}

record! {
    /// Output that lines did not take.
    OutputBlocks {
        /// times that output remained
        count: u64 = Number;
        /// characters that remained at those times
        characters: u64 = Number;
        /// the fewest that remained at one of them since the start; null if no line has blocked
        least: Option<u64> = Number;
    }
}

record! {
    /// The pool of output buffers.
    HostPool {
        /// characters that it has room for
        size: u64 = Number;
        /// characters that wait for output
        used: u64 = Number;
        /// free room
        free: u64 = Number;
        /// the least free room since the start
        least_free: u64 = Number;
        /// times that it had less room than a line needed
        overflows: u64 = Number;
    }
}

record! {
    /// The servers of the service time.
    HostServers {
        /// servers
        number: usize = Number;
        /// messages that they were given
        messages: u64 = Number;
        /// the time that they were busy, summed over servers
        busy_seconds: f64 = Seconds;
        /// that time per server and second; null without servers
        busy: Option<f64> = Ratio;
        /// the time that messages waited for a server
        waited_seconds: f64 = Seconds;
        /// the mean number of messages that wait; null without servers
        mean_queue: Option<f64> = Number;
    }
}

record! {
    /// The in-kernel path of the built-in host.
    KernelPathTraffic {
        /// lines
        lines: KernelPathLines = Unitless;
        /// characters from lines to programs
        input: KernelPathInput = Unitless;
        /// characters from programs to lines
        output: KernelPathOutput = Unitless;
    }
}

record! {
    /// Lines and the in-kernel path.
    KernelPathLines {
        /// those that took it
        joined: u64 = Number;
        /// those that wanted to and could not, by reason
        refused: BTreeMap<&'static str, u64> = Number;
    }
}

record! {
    /// Input on the in-kernel path.
    KernelPathInput {
        /// characters that passed within the kernel
        kernel: u64 = Number;
        /// bytes of telnet's commands, which the host is told
        commands: u64 = Bytes;
        /// lines that were ended because commands or input of theirs were lost
        lost: u64 = Number;
    }
}

record! {
    /// Output on the in-kernel path.
    KernelPathOutput {
        /// characters that passed within the kernel
        kernel: u64 = Number;
        /// characters that the host's process wrote, by the reason
        user: BTreeMap<&'static str, u64> = Number;
    }
}

record! {
    /// CPU time of the built-in host.
    HostCpu {
        /// each of its threads; null for one that has ended, or if the kernel has no `schedstat`
        threads: Vec<Option<HostThread>> = Unitless;
        /// of the whole process
        process: f64 = Seconds;
    }
}

record! {
    /// CPU time of a thread of the built-in host.
    HostThread {
        /// on a CPU
        seconds: f64 = Seconds;
        /// the share of the time in which it was not on a CPU; null in a row without length
        idle: Option<f64> = Ratio;
        /// runnable without a CPU
        run_wait: f64 = Seconds;
    }
}
