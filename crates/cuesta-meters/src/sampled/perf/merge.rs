//! Records of several rings in the order of their instants. Pure.
//!
//! A program may start on one CPU and be sampled on another: its mappings are in one ring and its samples in the other. Read
//! ring by ring, samples would come before their mappings.

use cuesta_record::Stamp;

use super::record::Stamped;

/// Holds records back as long as an earlier one may still arrive.
#[derive(Debug, Default)]
pub(crate) struct Merge {
    waiting: Vec<Stamped>,
}

impl Merge {
    pub(crate) fn push(&mut self, record: Stamped) {
        self.waiting.push(record);
    }

    /// Removes and returns, in order, all records written before `floor`.
    pub(crate) fn before(&mut self, floor: Stamp) -> Vec<Stamped> {
        // Stable, so records of one instant keep the order of their ring.
        self.waiting.sort_by_key(|record| record.at);
        let later = self.waiting.split_off(self.waiting.partition_point(|record| record.at < floor));
        std::mem::replace(&mut self.waiting, later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampled::perf::record::Record;

    fn lost(at: u64) -> Stamped {
        Stamped { at: Stamp::from_nanos(at), record: Record::Lost(at) }
    }

    #[test]
    fn records_of_two_rings_come_in_order() {
        let mut merge = Merge::default();
        for at in [1, 4, 6, 2, 3, 9] {
            merge.push(lost(at));
        }
        assert_eq!(merge.before(Stamp::from_nanos(6)), [1, 2, 3, 4].map(lost));
        merge.push(lost(5));
        merge.push(lost(7));
        assert_eq!(merge.before(Stamp::FAR), [5, 6, 7, 9].map(lost));
    }
}
