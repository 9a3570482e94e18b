//! `ic_sample` of the 1979 front end: a histogram of where the samples fell, by location and by module.
//!
//! - `histogram`: counts stacks while the sampler runs.
//! - [`Profile`]: the counted stacks, with the kernel's names and the users' files.
//! - `symbols`: users' addresses → names.
//! - [`Listing`]: the histogram, largest first, until a fraction is covered.
//! - `flame`: the stacks as one picture.

mod flame;
mod histogram;
mod listing;
mod stacks;
mod symbols;

pub(crate) use histogram::{Histogram, ProfileSample};
pub use listing::{Listing, Row};
pub use stacks::{Location, Profile, Stack};
