//! What a host counts of itself. Counting is a load and a store on the line's own thread; any other thread may read.
//!
//! - [`Meters`]: one thread's counters and levels.
//! - [`connections`]: who is connected, and how lines ended.
//! - [`snapshot`]: the figures, made of two readings.
//! - [`series`]: a row of them each second.
//! - [`task`]: what the kernel says of a thread's CPU time.

pub(crate) mod connections;
mod counter;
pub(crate) mod series;
pub(crate) mod snapshot;
mod task;

use std::sync::Mutex;
use std::time::Duration;

use connections::ConnectionTable;
pub(crate) use counter::Counter;
pub(crate) use task::Task;

use crate::input::EditCounts;

/// Counters that only grow: one list, three shapes of it.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// One thread's counters and levels.
        #[derive(Debug)]
        pub(crate) struct Meters {
            $($(#[$doc])* pub(crate) $name: Counter,)*
            /// What can fall again, and extremes.
            pub(crate) levels: Levels,
            /// From when on each server has nothing to do; nanoseconds on the clock.
            pub(crate) free_at: Box<[Counter]>,
            /// Who is connected. Locked when a line comes or goes, and to read.
            pub(crate) connections: Mutex<ConnectionTable>,
            /// The thread that is metered.
            pub(crate) task: Task,
        }

        /// The counters of some threads at an instant, or what they grew by.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct Counts {
            $($(#[$doc])* pub(crate) $name: u64,)*
        }

        impl Meters {
            /// The meters of this thread, which has so many servers.
            pub(crate) fn new(servers: usize) -> Self {
                Self {
                    $($name: Counter::default(),)*
                    levels: Levels::default(),
                    free_at: (0..servers).map(|_| Counter::default()).collect(),
                    connections: Mutex::default(),
                    task: Task::of_this_thread(),
                }
            }

            fn add_to(&self, counts: &mut Counts) {
                $(counts.$name += self.$name.get();)*
            }
        }

        impl Counts {
            /// What they grew by since `earlier`.
            fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.saturating_sub(earlier.$name),)* }
            }
        }
    };
}

counters! {
    /// Messages that a service took: rows, or characters of raw input.
    messages_in,
    /// Answers that a service gave whole.
    messages_out,
    /// Characters that lines brought, before erasing and killing.
    typed,
    /// Characters that services took.
    characters_in,
    /// Characters that services gave.
    characters_out,
    /// Characters that the front end echoed.
    echoed,
    /// Characters that crossed lines towards the host, negotiation and escapes included.
    line_in,
    /// Characters that crossed lines towards the terminals, negotiation and escapes included.
    line_out,
    /// Characters taken back by the erase or kill character, these included.
    erased,
    /// Characters beyond the longest row.
    cut,
    /// Messages that had come before the service asked for them.
    ahead,
    /// The characters of those.
    ahead_characters,
    /// Time that those waited for the service.
    ahead_nanos,
    /// Looks at a line for input.
    reads,
    /// Time that these took.
    read_nanos,
    /// Attempts to give a line output.
    writes,
    /// Time that these took.
    write_nanos,
    /// Times a line was looked after: today's interrupts.
    wakes,
    /// Time that these took.
    wake_nanos,
    /// Times a line did not take all that was due.
    blocks,
    /// Characters left over at those times.
    block_characters,
    /// Times the pool had less than a line asked for.
    overflows,
    /// Messages given to a server.
    served,
    /// Work given to servers.
    server_nanos,
    /// Time that messages wait for a server.
    waited_nanos,
}

/// What can fall again, and extremes since the start.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    /// Characters that the pool has room for.
    pub(crate) pool_size: Counter,
    /// Characters that wait for output.
    pub(crate) pool_used: Counter,
    /// The least that was ever free.
    pub(crate) pool_least_free: Counter,
    /// Lines whose service waits for a message.
    pub(crate) asking: Counter,
    /// Lines that have not taken all that is due.
    pub(crate) blocked: Counter,
    /// The fewest characters that were ever left over by a line; 0 = no line ever left any.
    pub(crate) least_block: Counter,
    /// The longest that looking after a line ever took.
    pub(crate) longest_wake: Counter,
}

impl Meters {
    /// A line has been looked after, which took so long.
    pub(crate) fn count_wake(&self, took: Duration) {
        let nanos = took.as_nanos() as u64;
        self.wakes.add(1);
        self.wake_nanos.add(nanos);
        self.levels.longest_wake.raise_to(nanos);
    }

    /// A line did not take all that was due, and left so much over.
    pub(crate) fn count_block(&self, left: u64) {
        self.levels.blocked.add(1);
        self.blocks.add(1);
        self.block_characters.add(left);
        let least = &self.levels.least_block;
        least.set(if least.get() == 0 { left } else { least.get().min(left) });
    }

    /// A message of so many characters waited so long for its service to ask.
    pub(crate) fn count_ahead(&self, messages: u64, characters: usize, waited: Duration) {
        self.ahead.add(messages);
        self.ahead_characters.add(characters as u64);
        self.ahead_nanos.add(messages * waited.as_nanos() as u64);
    }

    /// A line brought so many characters, of which so many were echoed.
    pub(crate) fn count_typed(&self, typed: usize, echoed: usize, taken: EditCounts) {
        self.typed.add(typed as u64);
        self.echoed.add(echoed as u64);
        self.erased.add(taken.erased);
        self.cut.add(taken.cut);
    }
}
