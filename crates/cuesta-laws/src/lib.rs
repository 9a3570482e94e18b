//! Laws of durations: text in, seeded samples out.
//!
//! A law says how long something takes when it does not always take the same time: think time, service time, the gap
//! between two keys. This crate reads laws (`exp 5s`), shows them again, samples them and knows their means. It opens
//! no files (a caller's loader does), reads no clock and sleeps nowhere.
//!
//! - [`Law`]: a law of durations, `fixed`, `exp`, `uniform`, `lognormal`, `loglogistic`, `empirical`.
//! - [`KeyLaw`]: the shape of the gaps between keys, with a mean of one; the key gap scales it.
//! - [`Stream`]: the seeded numbers that one user draws from.
//! - [`duration`]: `200ms`, `15m`, `1h30m`: the one place that reads and shows durations.

pub mod duration;
mod error;
mod key_law;
mod law;
mod mean;
mod read;
mod stream;
mod words;

pub use error::LawError;
pub use key_law::KeyLaw;
pub use law::Law;
pub use stream::Stream;
