//! Where the keys of a probe line and their echoes are in its two streams of bytes: by that the path through the host is joined to them,
//! because the clocks of two machines differ.
//!
//! Offsets are those of the connection (TCP; the master of a pseudo-terminal), whatever is around the characters, modulo 2³². Pure: the session
//! says what was sent and read.

use std::collections::VecDeque;

use cuesta_lines::SegmentCounts;
use cuesta_record::{Acknowledged, Stamp};

/// Most keys and reads that are remembered; an echo that comes later has no row.
const MOST_KEYS: usize = 256;
const MOST_READS: usize = 64;

/// What was sent and read lately.
#[derive(Debug, Default)]
pub(crate) struct FollowedKeys {
    keys: VecDeque<FollowedSend>,
    reads: VecDeque<FollowedRead>,
    /// The end of what was read.
    received: u64,
}

/// A key that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FollowedSend {
    sent: Stamp,
    /// Its end; `None` while the line has it.
    pub(crate) end: Option<u32>,
    /// When the kernel sent it, in ns since 1970.
    pub(crate) kernel: Option<u64>,
    /// Whether the host's segments are acknowledged at once, where that is chosen, and what the connection had carried before.
    acknowledges: Option<(bool, SegmentCounts)>,
}

/// A read, as the user got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FollowedRead {
    at: Stamp,
    /// It brought the bytes behind the first, up to the second.
    pub(crate) range: (u32, u32),
    /// When the kernel received it, in ns since 1970.
    pub(crate) kernel: Option<u64>,
    /// What the connection had carried then.
    pub(crate) segments: SegmentCounts,
}

impl FollowedKeys {
    /// A key is being sent; `acknowledges`: whether the host's segments are acknowledged at once, and what the connection has carried.
    pub(crate) fn begin_key(&mut self, sent: Stamp, acknowledges: Option<(bool, SegmentCounts)>) {
        if self.keys.len() == MOST_KEYS {
            self.keys.pop_front();
        }
        self.keys.push_back(FollowedSend { sent, end: None, kernel: None, acknowledges });
    }

    /// What is known of the last key, after which nothing was sent: its end, and when the kernel sent it. The first that is known counts: later
    /// the protocol may send something of its own.
    pub(crate) fn note_sent(&mut self, end: Option<u64>, kernel: Option<u64>) {
        if let Some(key) = self.keys.back_mut() {
            key.end = key.end.or(end.map(|end| end as u32));
            key.kernel = key.kernel.or(kernel);
        }
    }

    /// Whether something of the last key is not known.
    pub(crate) fn asks(&self) -> bool {
        self.keys.back().is_some_and(|key| key.end.is_none() || key.kernel.is_none())
    }

    /// Characters came. `received`: the end of what the line has read. It may have read them with the characters before.
    pub(crate) fn note_read(&mut self, at: Stamp, received: u64, kernel: Option<u64>, segments: SegmentCounts) {
        let before = self.reads.back().filter(|_| received == self.received);
        let from = before.map_or(self.received as u32, |before| before.range.0);
        if self.reads.len() == MOST_READS {
            self.reads.pop_front();
        }
        self.reads.push_back(FollowedRead { at, range: (from, received as u32), kernel, segments });
        self.received = received;
    }

    /// The key that was sent at an instant, if its end is known.
    pub(crate) fn key(&self, sent: Stamp) -> Option<(u32, FollowedSend)> {
        let key = self.keys.iter().rev().find(|key| key.sent == sent)?;
        Some((key.end?, *key))
    }

    /// The last read up to an instant.
    pub(crate) fn read(&self, at: Stamp) -> Option<FollowedRead> {
        self.reads.iter().rev().find(|read| read.at <= at).copied()
    }

    /// How what followed a key was acknowledged, up to a read.
    pub(crate) fn acknowledged(&self, key: &FollowedSend, read: &FollowedRead) -> Option<Acknowledged> {
        let (at_once, before) = key.acknowledges?;
        let first = self.reads.iter().find(|read| read.at > key.sent)?.at;
        let SegmentCounts { with_data: segments, acknowledgements } = read.segments.since(before);
        Some(Acknowledged { at_once, segments, acknowledgements, first })
    }

    /// The last read, and when it was.
    pub(crate) fn last_read(&self) -> Option<(Stamp, FollowedRead)> {
        self.reads.back().map(|read| (read.at, *read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    #[test]
    fn a_key_ends_where_the_stream_ended_when_it_was_written() {
        let mut followed = FollowedKeys::default();
        followed.note_sent(Some(3), None);
        followed.begin_key(at(1), None);
        followed.note_sent(None, None);
        assert!(followed.asks() && followed.key(at(1)).is_none(), "the line has it");
        followed.note_sent(Some((1 << 32) + 7), None);
        followed.note_sent(Some(90), Some(5));
        let key = followed.key(at(1)).map(|(end, key)| (end, key.kernel));
        assert_eq!((followed.asks(), key), (false, Some((7, Some(5)))));
        followed.begin_key(at(2), None);
        followed.note_sent(Some((1 << 32) + 8), None);
        assert_eq!([1, 2, 3].map(|sent| followed.key(at(sent)).map(|(end, _)| end)), [Some(7), Some(8), None]);
    }

    #[test]
    fn an_echo_is_in_the_read_that_brought_it() {
        let mut followed = FollowedKeys::default();
        followed.note_read(at(10), (1 << 32) - 1, Some(4), SegmentCounts::default());
        followed.note_read(at(20), (1 << 32) + 1, None, SegmentCounts::default());
        followed.note_read(at(30), (1 << 32) + 1, None, SegmentCounts::default());
        followed.note_read(at(40), (1 << 32) + 5, None, SegmentCounts::default());
        let range = |nanos| followed.read(at(nanos)).map(|read| read.range);
        assert_eq!(range(9), None);
        assert_eq!([10, 19, 20].map(range), [Some((0, u32::MAX)), Some((0, u32::MAX)), Some((u32::MAX, 1))]);
        assert_eq!(range(30), Some((u32::MAX, 1)), "they were read together");
        assert_eq!(range(99), Some((1, 5)));
        assert_eq!(followed.read(at(10)).unwrap().kernel, Some(4));
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut followed = FollowedKeys::default();
        for turn in 0..=MOST_KEYS as u64 {
            followed.begin_key(at(turn), None);
            followed.note_sent(Some(turn), None);
            followed.note_read(at(turn), turn, None, SegmentCounts::default());
        }
        assert_eq!((followed.keys.len(), followed.reads.len()), (MOST_KEYS, MOST_READS));
        assert_eq!((followed.key(at(0)), followed.read(at(1))), (None, None));
    }

    #[test]
    fn acknowledgements_are_counted_from_the_key_to_its_echo() {
        let counts = |with_data, acknowledgements| SegmentCounts { with_data, acknowledgements };
        let mut followed = FollowedKeys::default();
        followed.note_read(at(9), 1, None, counts(u32::MAX, 3));
        followed.begin_key(at(10), Some((false, counts(u32::MAX, 3))));
        followed.note_sent(Some(1), None);
        followed.note_read(at(11), 2, None, counts(0, 3));
        followed.note_read(at(53), 3, None, counts(1, 4));
        let (_, key) = followed.key(at(10)).unwrap();
        let acknowledged = followed.acknowledged(&key, &followed.read(at(53)).unwrap()).unwrap();
        assert_eq!(acknowledged, Acknowledged { at_once: false, segments: 2, acknowledgements: 1, first: at(11) });
    }
}
