//! The plain tier: world-readable files and counters of the kernel. It needs no privilege and costs a few milliseconds.
//!
//! - [`kernel`]: the kernel's interfaces, one file each: text in, numbers out.
//! - [`CounterSnapshot`]: the counters at an instant; `node_exporter` makes one of another machine's metrics.
//! - [`Delta`]: the difference of two snapshots, as figures of a report.
//! - `task_exits`: births and exits of tasks by netlink, so that tasks that begin and end between two snapshots count.

pub(crate) mod delta;
pub mod kernel;
mod node_exporter;
pub(crate) mod snapshot;
pub(crate) mod task_exits;

pub use delta::{Delta, Incomparable};
pub use node_exporter::NoMetrics;
pub use snapshot::CounterSnapshot;
