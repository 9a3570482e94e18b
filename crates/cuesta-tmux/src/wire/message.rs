//! Messages: segments, each behind a mini-header and padded to 32 bits (RFC 1692 §2, §4).
//!
//! ```text
//! octets 0, 1   length of this header and the segment, without padding; network order
//! octet 2       protocol of the segment
//! octet 3       octets 0, 1 and 2, exclusive-or
//! ```

use super::segment::Segment;

/// Octets of a mini-header.
pub(super) const MINI_HEADER: usize = 4;
/// Most segments in a message. More than 64 of TCP do not fit into 1500 octets; a forged message
/// draws no more answers than this.
pub(super) const MOST_SEGMENTS: usize = 64;

/// Most segments with SYN that are taken from a message: each is answered, and the answer is repeated for a minute if nothing comes
/// back. A sender of ours sends each at once, so its messages have one.
pub(super) const MOST_SYNS: usize = 4;

/// Why the rest of a message means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// A mini-header's checksum is wrong.
    Checksum,
    /// A length is below 4, or goes past the end.
    Length,
}

/// Adds a segment of at most 65,531 octets.
pub(super) fn push(message: &mut Vec<u8>, segment: &Segment<'_>) {
    message.extend_from_slice(&mini_header((MINI_HEADER + segment.octets.len()) as u16, segment.protocol));
    message.extend_from_slice(segment.octets);
    message.resize(message.len() + segment.octets.len().next_multiple_of(4) - segment.octets.len(), 0);
}

const fn mini_header(length: u16, protocol: u8) -> [u8; MINI_HEADER] {
    let [high, low] = length.to_be_bytes();
    [high, low, protocol, high ^ low ^ protocol]
}

/// The segments of a message, in order, up to the first fault.
pub(super) const fn segments(message: &[u8]) -> Segments<'_> {
    Segments { rest: message }
}

/// See [`segments`].
#[derive(Debug)]
pub(super) struct Segments<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Segments<'a> {
    type Item = Result<Segment<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        // One to three octets at the end are taken for padding.
        let (&[high, low, protocol, checksum], _) = self.rest.split_first_chunk()?;
        let length = usize::from(u16::from_be_bytes([high, low]));
        let octets = self.rest.get(MINI_HEADER..length);
        // The padding of the last segment may be missing. After a fault nothing follows.
        self.rest = self.rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        if checksum != high ^ low ^ protocol {
            self.rest = &[];
            return Some(Err(Fault::Checksum));
        }
        let Some(octets) = octets else {
            self.rest = &[];
            return Some(Err(Fault::Length));
        };
        Some(Ok(Segment { protocol, octets }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mini_headers_are_as_computed_by_hand() {
        let expected: [(u16, u8, [u8; 4]); 9] = [
            (24, 6, [0x00, 0x18, 0x06, 0x1e]),
            (25, 6, [0x00, 0x19, 0x06, 0x1f]),
            (36, 6, [0x00, 0x24, 0x06, 0x22]),
            (37, 6, [0x00, 0x25, 0x06, 0x23]),
            (53, 17, [0x00, 0x35, 0x11, 0x24]),
            (704, 6, [0x02, 0xc0, 0x06, 0xc4]),
            (1480, 6, [0x05, 0xc8, 0x06, 0xcb]),
            (4, 6, [0x00, 0x04, 0x06, 0x02]),
            (65_535, 255, [0xff, 0xff, 0xff, 0xff]),
        ];
        for (length, protocol, header) in expected {
            assert_eq!(mini_header(length, protocol), header);
        }
    }

    fn read(message: &[u8]) -> Vec<Result<(u8, Vec<u8>), Fault>> {
        segments(message).map(|segment| segment.map(|segment| (segment.protocol, segment.octets.to_vec()))).collect()
    }

    #[test]
    fn octets_that_are_no_segment_are_faults_or_padding() {
        assert_eq!(read(&[0; 4]), [Err(Fault::Length)], "it passes the checksum");
        for length in 1..4 {
            assert_eq!(read(&mini_header(length, 6)), [Err(Fault::Length)]);
        }
        assert_eq!(read(&mini_header(5, 6)), [Err(Fault::Length)], "one past the end");
        assert_eq!(read(&mini_header(u16::MAX, 6)), [Err(Fault::Length)]);
        assert_eq!(read(&mini_header(4, 6)), [Ok((6, Vec::new()))]);
        assert_eq!(read(&[0, 4, 6, 3]), [Err(Fault::Checksum)]);
        for trailing in [&[][..], &[1], &[1, 2], &[1, 2, 3]] {
            let message = [&mini_header(5, 6)[..], b"x", trailing].concat();
            assert_eq!(read(&message), [Ok((6, b"x".to_vec()))]);
            assert_eq!(read(trailing), []);
        }
    }

    fn written(segments: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut message = Vec::new();
        for (protocol, octets) in segments {
            push(&mut message, &Segment { protocol: *protocol, octets });
        }
        message
    }

    fn any_segments() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
        prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..90)), 0..9)
    }

    proptest! {
        #[test]
        fn any_octets_are_read_to_an_end_and_within_bounds(message: Vec<u8>) {
            let mut consumed = 0;
            for segment in segments(&message).flatten() {
                consumed += MINI_HEADER + segment.octets.len();
                let bounds = message.as_ptr_range();
                prop_assert!(bounds.start <= segment.octets.as_ptr() && segment.octets.as_ptr_range().end <= bounds.end);
            }
            prop_assert!(consumed <= message.len());
        }

        #[test]
        fn what_is_written_is_read(segments in any_segments()) {
            let message = written(&segments);
            prop_assert_eq!(message.len() % 4, 0);
            prop_assert_eq!(read(&message), segments.into_iter().map(Ok).collect::<Vec<_>>());
        }

        #[test]
        fn messages_cut_at_any_segment_hold_the_same(segments in any_segments(), cut: prop::sample::Index) {
            let (before, after) = segments.split_at(cut.index(segments.len() + 1));
            let parts = [read(&written(before)), read(&written(after))].concat();
            prop_assert_eq!(parts, read(&written(&segments)));
        }
    }
}
