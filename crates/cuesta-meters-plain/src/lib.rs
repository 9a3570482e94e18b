//! The plain tier of the meters: world-readable files and counters of the kernel. It needs no privilege and costs a few
//! milliseconds.
//!
//! - [`Roots`]: where the kernel's files are.
//! - [`kernel`]: the kernel's interfaces, one file each: text in, numbers out.
//! - [`snapshot`]: [`CounterSnapshot`], the counters at an instant; `node_exporter` makes one of another machine's metrics.
//! - [`Delta`]: the difference of two snapshots, as figures of a report.
//! - [`ExitListener`]: births and exits of tasks by netlink, so that tasks that begin and end between two snapshots count.

mod delta;
pub mod kernel;
mod node_exporter;
mod roots;
pub mod snapshot;
mod task_exits;

pub use delta::{Delta, Incomparable, NO_DELAYS};
pub use node_exporter::NoMetrics;
pub use roots::Roots;
pub use snapshot::CounterSnapshot;
pub use task_exits::ExitListener;
