//! How much a counter grew.

/// How much a counter grew from `earlier` to `later`; none if it was set back.
///
/// Some counters of the kernel have 32 bits (the milliseconds of `/proc/diskstats`; everything on a 32-bit kernel): a counter
/// that falls from the upper half of 32 bits to a lower value has wrapped.
pub fn grown(earlier: u64, later: u64) -> Option<u64> {
    const SPAN: u64 = 1 << 32;
    if later >= earlier {
        Some(later - earlier)
    } else if (SPAN / 2..SPAN).contains(&earlier) && later < SPAN / 2 {
        Some(later + SPAN - earlier)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_of_32_bits_wraps() {
        assert_eq!(grown(u64::from(u32::MAX), 4), Some(5));
        assert_eq!(grown(7, 19), Some(12));
        assert_eq!(grown(u64::MAX - 1, u64::MAX), Some(1));
    }

    #[test]
    fn a_counter_that_was_set_back_says_nothing() {
        assert_eq!(grown(100, 4), None);
        assert_eq!(grown(1 << 40, 4), None);
    }
}
