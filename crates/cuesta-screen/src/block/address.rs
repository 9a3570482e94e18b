//! Addresses of cells in the data stream: two bytes, of 12 or 14 bits.

/// The byte that carries six bits, so that all of them can be printed.
#[rustfmt::skip]
const SIX_BITS: [u8; 64] = [
    0x40, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f,
    0x50, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f,
    0x60, 0x61, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f,
];

/// The largest buffer whose places have 12 bits.
const TWELVE_BITS: usize = 4096;

/// The byte that carries the lower six bits of another.
pub(super) fn printable(bits: u8) -> u8 {
    SIX_BITS[usize::from(bits & 0x3f)]
}

/// The place of two bytes: 14 bits if the upper two are zero, else 12.
pub(super) fn decode([high, low]: [u8; 2]) -> usize {
    let (high_bits, low_bits) = (usize::from(high & 0x3f), usize::from(low & 0x3f));
    if high & 0xc0 == 0 { high_bits << 8 | usize::from(low) } else { high_bits << 6 | low_bits }
}

/// The two bytes of a place in a buffer of `cells` cells.
pub(super) fn encode(place: usize, cells: usize) -> [u8; 2] {
    if cells <= TWELVE_BITS {
        [printable((place >> 6) as u8), printable(place as u8)]
    } else {
        [(place >> 8 & 0x3f) as u8, (place & 0xff) as u8]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_reads_back() {
        for cells in [24 * 80, 43 * 80, 62 * 160] {
            for place in 0..cells {
                assert_eq!(decode(encode(place, cells)), place);
            }
        }
    }

    #[test]
    fn places_of_the_reference() {
        // GA23-0059, appendix D: 0, 80, 1919.
        assert_eq!([0, 80, 1919].map(|place| encode(place, 1920)), [[0x40, 0x40], [0xc1, 0x50], [0x5d, 0x7f]]);
        assert_eq!(decode([0x00, 0x50]), 80);
    }
}
