//! What a bisync line has carried.

use crate::wire::bisync::Counters;

/// What a bisync line has carried, or several together. Text is counted without framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BisyncTotals {
    /// Messages that the other station acknowledged.
    pub sent: u64,
    /// Messages that were received whole.
    pub received: u64,
    /// Messages that the other station did not get.
    pub not_delivered: u64,
    /// Messages that the other station may have got or not.
    pub in_doubt: u64,
    /// Characters of text in messages acknowledged.
    pub text_sent: u64,
    /// Characters of text received.
    pub text_received: u64,
    /// The stations' own.
    pub counters: Counters,
}

impl BisyncTotals {
    /// Each figure with its name.
    pub fn figures(&self) -> [(&'static str, u64); 14] {
        let Self { sent, received, not_delivered, in_doubt, text_sent, text_received, counters } = *self;
        let own = [
            ("sent", sent),
            ("received", received),
            ("not_delivered", not_delivered),
            ("in_doubt", in_doubt),
            ("text_sent", text_sent),
            ("text_received", text_received),
        ];
        let counted = counters.figures();
        std::array::from_fn(|index| own.get(index).copied().unwrap_or_else(|| counted[index - own.len()]))
    }

    /// Their growth since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.combine(earlier, u64::wrapping_sub)
    }

    /// Adds those of another line.
    pub fn add(&mut self, other: &Self) {
        *self = self.combine(other, u64::wrapping_add);
    }

    fn combine(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            sent: with(self.sent, other.sent),
            received: with(self.received, other.received),
            not_delivered: with(self.not_delivered, other.not_delivered),
            in_doubt: with(self.in_doubt, other.in_doubt),
            text_sent: with(self.text_sent, other.text_sent),
            text_received: with(self.text_received, other.text_received),
            counters: self.counters.combine(&other.counters, with),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_and_sum_are_inverse() {
        let counters = Counters { timeouts: 7, wacks_sent: 3, ..Counters::default() };
        let before = BisyncTotals { sent: 5, text_received: 9, counters, ..BisyncTotals::default() };
        let counters = Counters { timeouts: 9, wacks_sent: 4, ..Counters::default() };
        let after = BisyncTotals { sent: 7, text_received: 9, counters, ..BisyncTotals::default() };
        let growth = after.since(&before);
        assert_eq!((growth.sent, growth.counters.timeouts, growth.counters.wacks_sent), (2, 2, 1));
        let mut sum = before;
        sum.add(&growth);
        assert_eq!(sum, after);
        let names = after.figures().map(|(name, _)| name);
        assert_eq!((names[0], names[6], names[13]), ("sent", "invalid_input", "bids_failed"));
    }
}
