//! Meters of hosts whose processes, counts or files are known.

mod running;

mod counts;
mod detached;
#[cfg(feature = "exact")]
mod exact;
mod hostile;
mod mixed;
