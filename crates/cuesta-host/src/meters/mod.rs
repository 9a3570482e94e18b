//! The host's own meters. Counting is a load and a store on the line's own thread; any other thread may read.
//!
//! - [`Meters`]: one thread's counters and levels.
//! - [`connections`]: the connection table.
//! - [`snapshot`]: all counters at an instant; two give a row.
//! - [`row`]: the figures of a time; [`series`]: writes a row each second.
//! - [`task`]: a thread's CPU time.

pub(crate) mod connections;
mod counter;
pub(crate) mod row;
pub(crate) mod series;
pub(crate) mod snapshot;
mod task;

use std::sync::Mutex;
use std::time::Duration;

use connections::ConnectionTable;
pub(crate) use counter::Counter;
use cuesta_lines::BisyncTotals;
pub(crate) use task::Task;

use crate::input::EditCounts;
use crate::kernel_path::{self, Traffic};

/// Counters that only grow: one list, three shapes of it.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// One thread's counters and levels.
        #[derive(Debug)]
        pub(crate) struct Meters {
            $($(#[$doc])* pub(crate) $name: Counter,)*
            /// Levels, which can fall again, and extremes.
            pub(crate) levels: Levels<Counter>,
            /// When each server will be free; nanoseconds on the clock.
            pub(crate) free_at: Box<[Counter]>,
            /// The connection table. Locked when a line opens or closes, and to read.
            pub(crate) connections: Mutex<ConnectionTable>,
            /// The thread that is metered.
            pub(crate) task: Task,
            /// What bisync lines have carried; none before the first one is opened. Locked for each message.
            pub(crate) bisync: Mutex<Option<BisyncTotals>>,
            /// Characters that pass the thread's lines within the kernel.
            pub(crate) kernel_path: Option<kernel_path::Counters>,
        }

        /// The counters of some threads at an instant, or their growth.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct Counts {
            $($(#[$doc])* pub(crate) $name: u64,)*
        }

        impl Meters {
            /// The meters of this thread with this number of servers.
            pub(crate) fn new(servers: usize, kernel_path: Option<kernel_path::Counters>) -> Self {
                Self {
                    $($name: Counter::default(),)*
                    levels: Levels::default(),
                    free_at: (0..servers).map(|_| Counter::default()).collect(),
                    connections: Mutex::default(),
                    bisync: Mutex::default(),
                    task: Task::of_this_thread(),
                    kernel_path,
                }
            }

            fn add_to(&self, counts: &mut Counts) {
                $(counts.$name += self.$name.get();)*
            }
        }

        impl Counts {
            /// Counts characters that passed within the kernel as if the host had relayed them.
            fn add_relayed(&mut self, relayed: &Traffic) {
                for count in [&mut self.messages_in, &mut self.typed, &mut self.characters_in, &mut self.line_in] {
                    *count += relayed.input;
                }
                for count in [&mut self.characters_out, &mut self.line_out] {
                    *count += relayed.output;
                }
            }

            /// Their growth since `earlier`.
            fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.saturating_sub(earlier.$name),)* }
            }
        }
    };
}

counters! {
    /// Messages that services took: rows, or characters of raw input.
    messages_in,
    /// Complete answers of services.
    messages_out,
    /// Characters received from lines, before erasing and killing.
    typed,
    /// Characters that services took.
    characters_in,
    /// Characters that services wrote.
    characters_out,
    /// Characters that the front end echoed.
    echoed,
    /// Characters on the wire towards the host, negotiation and escapes included.
    line_in,
    /// Characters on the wire towards the terminals, negotiation and escapes included.
    line_out,
    /// Characters removed by the erase or kill character, and those characters themselves.
    erased,
    /// Characters beyond the longest row.
    cut,
    /// Messages that arrived before the service asked for them (type-ahead).
    ahead,
    /// Their characters.
    ahead_characters,
    /// Time that they waited for the service.
    ahead_nanos,
    /// Reads of a line.
    reads,
    /// Time that they took.
    read_nanos,
    /// Writes to a line.
    writes,
    /// Time that these took.
    write_nanos,
    /// Times that a line was serviced: today's form of interrupts.
    wakes,
    /// Time that these took.
    wake_nanos,
    /// Times that a line did not take all the output that was due.
    blocks,
    /// Characters that remained at those times.
    block_characters,
    /// Times that the pool had less room than a line needed.
    overflows,
    /// Messages given to a server.
    served,
    /// Work given to servers.
    server_nanos,
    /// Time that messages waited for a server.
    waited_nanos,
}

/// Levels, and extremes since the start: of a thread, or numbers of all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels<T> {
    /// Characters that the pool has room for.
    pub(crate) pool_size: T,
    /// Characters that wait for output.
    pub(crate) pool_used: T,
    /// The least free room so far.
    pub(crate) pool_least_free: T,
    /// Lines whose service waits for a message.
    pub(crate) asking: T,
    /// Lines that have not taken all the output that is due.
    pub(crate) blocked: T,
    /// The fewest characters that ever remained when a line blocked; 0 = no line has blocked.
    pub(crate) least_block: T,
    /// The longest time that servicing a line took.
    pub(crate) longest_wake: T,
}

impl Meters {
    /// Counts one servicing of a line and its duration.
    pub(crate) fn count_wake(&self, took: Duration) {
        let nanos = took.as_nanos() as u64;
        self.wakes.add(1);
        self.wake_nanos.add(nanos);
        self.levels.longest_wake.raise_to(nanos);
    }

    /// Counts a line that did not take all its output, with the remaining characters.
    pub(crate) fn count_block(&self, left: u64) {
        self.levels.blocked.add(1);
        self.blocks.add(1);
        self.block_characters.add(left);
        let least = &self.levels.least_block;
        least.set(if least.get() == 0 { left } else { least.get().min(left) });
    }

    /// Counts messages of type-ahead and their wait.
    pub(crate) fn count_ahead(&self, messages: u64, characters: usize, waited: Duration) {
        self.ahead.add(messages);
        self.ahead_characters.add(characters as u64);
        self.ahead_nanos.add(messages * waited.as_nanos() as u64);
    }

    /// Counts what a bisync line has carried since it was asked before. Its messages are those of its stations.
    pub(crate) fn count_bisync(&self, growth: &BisyncTotals) {
        self.messages_in.add(growth.received);
        self.messages_out.add(growth.sent);
        self.bisync.lock().expect("no panic under this lock").get_or_insert_default().add(growth);
    }

    /// Counts received and echoed characters.
    pub(crate) fn count_typed(&self, typed: usize, echoed: usize, taken: EditCounts) {
        self.typed.add(typed as u64);
        self.echoed.add(echoed as u64);
        self.erased.add(taken.erased);
        self.cut.add(taken.cut);
    }
}
