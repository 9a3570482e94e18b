//! The network's soft interrupts: over loopback what one side sends is received in its own context, so that this part of a
//! CPU's time is neither the host's nor the driver's alone.

use serde::{Deserialize, Serialize};

use super::Figure;

/// What they took of the whole machine, on whichever CPU, in whoever's context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// CPU seconds. Of the plain tier: of all soft interrupts, as the clock's ticks met them.
    pub seconds: Figure,
    /// The same in percent of all CPUs of the machine: of the report's and of those beside.
    pub percent: Figure,
    /// The 95 % interval of `percent`, by what so many samples can tell.
    #[serde(default = "unsampled")]
    pub interval: Figure<[f64; 2]>,
    /// CPU seconds of it that the clocks of the subject's tasks have in them.
    pub in_subject: Figure,
}

/// Ticks leave no interval that anybody could state.
pub(crate) fn unsampled<T>() -> Figure<T> {
    Figure::unmetered("it does not come from samples")
}
