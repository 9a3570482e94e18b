//! The clock, and the records of a run.
//!
//! The clock stamps every record, so both are in one crate. It knows nothing of lines, users or tapes, and depends on no other
//! crate of Cuesta.
//!
//! - [`clock`]: real or virtual time; all Rust code but benchmarks and tests reads it and sleeps here.
//! - [`event_queue`]: descriptors on the thread's event queue; [`TimerFd`]: a timer for another one.
//! - [`Stamp`]: an instant; [`Timeline`]: the instants of a run; [`Transaction`]: four of them; [`EchoedKey`]: those of a key.
//! - [`Tally`]: the counters of one thread in one interval; [`Failure`]: what is counted as failed; [`SeriesNames`]: the names
//!   of its histograms.
//! - [`schema`]: how a record is declared, for all who read it; `engine_rows`: rows that the engine writes;
//!   `path_rows`: the path of a key, of which `followed_log` writes the driver's part.
//! - [`Recorder`]: the thread that writes; [`AgentFolder`]: the files, each a [`private_file`]; [`Snapshot`]: the state of a run, for displays.

mod bounded;
pub mod clock;
mod engine_rows;
pub mod event_queue;
mod failure;
mod folder;
mod followed_log;
mod key_log;
mod path_rows;
mod private;
mod recorder;
pub mod schema;
mod series;
mod snapshot;
mod stamp;
mod tally;
mod timeline;
mod timer_fd;
mod timer_queue;
mod transaction;
mod transaction_log;

pub use bounded::read_text;
pub use engine_rows::{
    AgentNote, KernelThreadsRow, LinkageRow, MarkRow, MeterRecord, NeighbourRow, RunnableRow, WatcherRow, WireRow,
};
pub use failure::Failure;
pub use folder::{AgentEnd, AgentFolder, SeriesRow, TimelineFile};
pub use followed_log::{Acknowledged, FollowedKey, FollowedKind};
pub use key_log::{EchoedKey, KeyFrame, KeyRow};
pub use path_rows::{FOLLOWED_PORTS, FollowedRow, HopKind, HopReason, PathCounts, PathHop, PathRecord, PathRow};
pub use private::{private_file, private_folder, private_options};
pub use recorder::{Recorder, RecorderHandle, RecorderSetup};
pub use series::{SeriesId, SeriesNames, WaitEnd, WaitSeries, tag_words};
pub use snapshot::Snapshot;
pub use stamp::Stamp;
pub use tally::{
    ArrivalCounts, CharacterCounts, Doing, DriverCounts, ScreenCounts, Tally, TimeSums, UserGlimpse, UserRow,
    WaitSample, WaitingCounts,
};
pub use timeline::{Interval, Phase, StepTimes, Timeline, UNKNOWN};
pub use timer_fd::TimerFd;
pub use transaction::Transaction;
pub use transaction_log::TransactionRow;
