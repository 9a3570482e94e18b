//! All counters at an instant, and the row of figures between two of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cuesta_lines::BisyncTotals;
use cuesta_record::{Stamp, clock};

use super::connections::ConnectionTable;
use super::row::{
    HostCharacters, HostCpu, HostLines, HostMessages, HostPool, HostSeriesRow, HostServers, HostThread,
    KernelPathLines, KernelPathTraffic, LineCalls, OutputBlocks, ReadAhead, Wakes,
};
use super::task::TaskTime;
use super::{Counter, Counts, Levels, Meters};
use crate::kernel_path::{Counters, Traffic};

/// All threads' meters at an instant.
#[derive(Debug, Clone, Default)]
pub(crate) struct CounterSnapshot {
    at: Stamp,
    counts: Counts,
    connections: ConnectionTable,
    /// Work that servers have done so far, without the work still ahead; nanoseconds.
    busy_nanos: u64,
    servers: usize,
    levels: Levels<u64>,
    threads: Vec<Option<TaskTime>>,
    process_cpu: Duration,
    /// What bisync lines have carried, if there have been any.
    bisync: Option<BisyncTotals>,
    /// Characters by the way that they took, if the host has the in-kernel path.
    kernel_path: Option<Traffic>,
}

impl CounterSnapshot {
    /// The snapshot of a host that starts at `at`: all counters zero, and the CPU time of this process so far.
    pub(crate) fn at_start(at: Stamp, threads: usize) -> Self {
        Self {
            at,
            threads: vec![Some(TaskTime::default()); threads],
            process_cpu: clock::process_cpu(),
            ..Self::default()
        }
    }

    /// Reads the counters of all threads.
    pub(crate) fn read(meters: &[Arc<Meters>]) -> Self {
        let now = clock::now();
        let mut snapshot = Self::at_start(now, 0);
        for thread in meters {
            thread.add_to(&mut snapshot.counts);
            snapshot.connections.add(&thread.connections.lock().expect("no panic under this lock"), now);
            snapshot.servers += thread.free_at.len();
            snapshot.busy_nanos += busy(thread, now);
            snapshot.add_levels(&thread.levels);
            snapshot.threads.push(thread.task.time());
            if let Some(totals) = &*thread.bisync.lock().expect("no panic under this lock") {
                snapshot.bisync.get_or_insert_default().add(totals);
            }
            if let Some(relayed) = thread.kernel_path.as_ref().map(Counters::read) {
                snapshot.counts.add_relayed(&relayed);
                snapshot.kernel_path.get_or_insert_default().add(&relayed);
            }
        }
        snapshot
    }

    /// When it was read.
    pub(crate) fn at(&self) -> Stamp {
        self.at
    }

    fn add_levels(&mut self, levels: &Levels<Counter>) {
        let sum = &mut self.levels;
        sum.pool_size += levels.pool_size.get();
        sum.pool_used += levels.pool_used.get();
        sum.pool_least_free += levels.pool_least_free.get();
        sum.asking += levels.asking.get();
        sum.blocked += levels.blocked.get();
        sum.longest_wake = sum.longest_wake.max(levels.longest_wake.get());
        let least = [sum.least_block, levels.least_block.get()].into_iter().filter(|characters| *characters > 0).min();
        sum.least_block = least.unwrap_or(0);
    }

    /// The figures of the time since `earlier`. Levels are as they are now; extremes are since the start of the host.
    pub(crate) fn since(&self, earlier: &Self) -> HostSeriesRow {
        let length = self.at.since(earlier.at).as_secs_f64();
        let counts = self.counts.since(&earlier.counts);
        let levels = &self.levels;
        HostSeriesRow {
            at: self.at,
            length,
            lines: self.lines(earlier),
            messages: HostMessages { r#in: counts.messages_in, out: counts.messages_out },
            characters: HostCharacters {
                typed: counts.typed,
                r#in: counts.characters_in,
                out: counts.characters_out,
                echoed: counts.echoed,
                line_in: counts.line_in,
                line_out: counts.line_out,
                erased: counts.erased,
                cut: counts.cut,
            },
            read_ahead: ReadAhead {
                messages: counts.ahead,
                characters: counts.ahead_characters,
                waited_seconds: seconds(counts.ahead_nanos),
            },
            reads: LineCalls { calls: counts.reads, seconds: seconds(counts.read_nanos) },
            writes: LineCalls { calls: counts.writes, seconds: seconds(counts.write_nanos) },
            wakes: Wakes {
                count: counts.wakes,
                seconds: seconds(counts.wake_nanos),
                longest: seconds(levels.longest_wake),
            },
            output_blocks: OutputBlocks {
                count: counts.blocks,
                characters: counts.block_characters,
                least: (levels.least_block > 0).then_some(levels.least_block),
            },
            pool: HostPool {
                size: levels.pool_size,
                used: levels.pool_used,
                free: levels.pool_size.saturating_sub(levels.pool_used),
                least_free: levels.pool_least_free,
                overflows: counts.overflows,
            },
            servers: self.servers(earlier, &counts, length),
            bisync: self.bisync(earlier),
            kernel_path: self.kernel_path(earlier),
            cpu: self.cpu(earlier, length),
        }
    }

    fn lines(&self, earlier: &Self) -> HostLines {
        let (now, before) = (&self.connections, &earlier.connections);
        HostLines {
            connected: now.connected,
            asking: self.levels.asking,
            blocked: self.levels.blocked,
            peak: now.peak,
            opened: now.opened - before.opened,
            refused: now.refused - before.refused,
            closes: growth(&now.closes, &before.closes),
            line_seconds: seconds(now.line_nanos(self.at) - before.line_nanos(earlier.at)),
            busiest: now.busiest,
        }
    }

    fn bisync(&self, earlier: &Self) -> Option<BTreeMap<&'static str, u64>> {
        let growth = self.bisync?.since(&earlier.bisync.unwrap_or_default());
        Some(growth.figures().into())
    }

    fn kernel_path(&self, earlier: &Self) -> Option<KernelPathTraffic> {
        let traffic = self.kernel_path?.since(&earlier.kernel_path.unwrap_or_default());
        let (now, before) = (&self.connections, &earlier.connections);
        let lines = KernelPathLines {
            joined: now.in_kernel - before.in_kernel,
            refused: growth(&now.not_in_kernel, &before.not_in_kernel),
        };
        let (input, output) = traffic.figures();
        Some(KernelPathTraffic { lines, input, output })
    }

    fn servers(&self, earlier: &Self, counts: &Counts, length: f64) -> HostServers {
        let busy_seconds = seconds(self.busy_nanos.saturating_sub(earlier.busy_nanos));
        let waited_seconds = seconds(counts.waited_nanos);
        let capacity = length * self.servers as f64;
        HostServers {
            number: self.servers,
            messages: counts.served,
            busy_seconds,
            busy: (capacity > 0.0).then(|| busy_seconds / capacity),
            waited_seconds,
            mean_queue: (capacity > 0.0).then(|| waited_seconds / length),
        }
    }

    fn cpu(&self, earlier: &Self, length: f64) -> HostCpu {
        let used = |(now, before): (&Option<TaskTime>, &Option<TaskTime>)| {
            let (now, before) = (now.as_ref()?, before.as_ref()?);
            let run = seconds(now.run_nanos.saturating_sub(before.run_nanos));
            Some(HostThread {
                seconds: run,
                idle: (length > 0.0).then(|| (1.0 - run / length).clamp(0.0, 1.0)),
                run_wait: seconds(now.wait_nanos.saturating_sub(before.wait_nanos)),
            })
        };
        HostCpu {
            threads: self.threads.iter().zip(&earlier.threads).map(used).collect(),
            process: self.process_cpu.saturating_sub(earlier.process_cpu).as_secs_f64(),
        }
    }
}

/// Work done so far. Servers are busy without a break until `free_at`.
fn busy(meters: &Meters, now: Stamp) -> u64 {
    let ahead = meters.free_at.iter().map(|free_at| Stamp::from_nanos(free_at.get()).since(now).as_nanos() as u64);
    meters.server_nanos.get().saturating_sub(ahead.sum())
}

/// The growth of these counts, by name; without those that have not grown.
fn growth(now: &BTreeMap<&'static str, u64>, before: &BTreeMap<&'static str, u64>) -> BTreeMap<&'static str, u64> {
    now.iter()
        .map(|(name, count)| (*name, count - before.get(name).unwrap_or(&0)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn seconds(nanos: u64) -> f64 {
    Duration::from_nanos(nanos).as_secs_f64()
}
