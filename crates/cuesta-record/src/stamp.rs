//! Instants. Records hold instants; durations are derived when they are read, so that any correction can still be made.

use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant: nanoseconds on the machine's monotonic clock, the same for all processes of one time namespace (or on a test's virtual clock).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(u64);

impl Stamp {
    /// Before everything.
    pub const ZERO: Self = Self(0);
    /// After everything.
    pub const FAR: Self = Self(u64::MAX);

    /// From nanoseconds on the monotonic clock.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds on the monotonic clock.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to here; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Stamp {
    type Output = Self;

    /// Saturates at [`Stamp::FAR`].
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(rhs.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl AddAssign<Duration> for Stamp {
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}

impl Sub<Duration> for Stamp {
    type Output = Self;

    /// Saturates at [`Stamp::ZERO`].
    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(rhs.as_nanos()).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        let second = Duration::from_secs(1);
        assert_eq!(Stamp::FAR + second, Stamp::FAR);
        assert_eq!(Stamp::ZERO - second, Stamp::ZERO);
        assert_eq!(Stamp::ZERO.since(Stamp::FAR), Duration::ZERO);
        assert_eq!((Stamp::ZERO + second).since(Stamp::ZERO), second);
    }
}
