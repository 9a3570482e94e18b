//! By which clock, and what is written down.
//!
//! A record is a stamped fact, and the clock is what stamps it, so both are one room. This crate knows nothing of lines,
//! users or tapes, and depends on no other crate of Cuesta.
//!
//! - [`clock`]: the one door for time, real or virtual.
//! - [`Stamp`]: an instant; [`Timeline`]: the instants of a run; [`Transaction`]: four of them.
//! - [`Tally`]: what one thread counts between two cuts of the clock; [`SeriesNames`]: the names of its series.
//! - [`Recorder`]: the one thread that writes; [`AgentFolder`]: where; [`Snapshot`]: a look at it meanwhile.

pub mod clock;
mod folder;
mod recorder;
mod snapshot;
mod stamp;
mod tally;
mod timeline;
mod timer_fd;
mod timer_queue;
mod transaction;
mod transaction_log;

pub use folder::{AgentEnd, AgentFolder};
pub use recorder::{Recorder, RecorderHandle, RecorderSetup};
pub use snapshot::Snapshot;
pub use stamp::Stamp;
pub use tally::{
    ArrivalCounts, CharacterCounts, Counts, SeriesId, SeriesNames, Tally, TimeSums, UserRow, WaitingCounts,
};
pub use timeline::{Interval, Phase, StepTimes, Timeline};
pub use transaction::Transaction;
