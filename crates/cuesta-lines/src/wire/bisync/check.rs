//! Block checks: CRC-16 for EBCDIC and for transparent text; odd parity and a longitudinal check for other ASCII text.

/// The checks of a block so far. Both are made, because the end of the block decides which of them it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Check {
    /// x¹⁶ + x¹⁵ + x² + 1, reflected; sent with the low byte first.
    pub(super) crc: u16,
    /// Exclusive or of all characters. Bit 7 is no part of it: on the line it is the parity of the check character (ISO 1155).
    pub(super) lrc: u8,
}

impl Check {
    pub(super) fn add(&mut self, byte: u8) {
        self.crc ^= u16::from(byte);
        for _ in 0..8 {
            let carry = self.crc & 1;
            self.crc = (self.crc >> 1) ^ if carry == 1 { 0xa001 } else { 0 };
        }
        self.lrc = (self.lrc ^ byte) & 0x7f;
    }
}

/// A character of seven bits with odd parity in bit 7.
pub(super) fn with_parity(character: u8) -> u8 {
    let character = character & 0x7f;
    if character.count_ones().is_multiple_of(2) { character | 0x80 } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crc(bytes: &[u8]) -> u16 {
        let mut check = Check::default();
        for byte in bytes {
            check.add(*byte);
        }
        check.crc
    }

    #[test]
    fn the_crc_is_that_of_recorded_blocks() {
        assert_eq!(crc(&[0x6c, 0xd9, 0x02, 0x40, 0xc8, 0x40, 0x50, 0x03]), 0x280d);
        assert_eq!(crc(&[0x6c, 0xd9, 0x02, 0x40, 0xc6, 0x40, 0xc1, 0x03]), 0x5062);
        assert_eq!(crc(&[0x6c, 0xd9, 0x02, 0x40, 0xc7, 0xc2, 0x40, 0x03]), 0xd4a3);
        assert_eq!(crc(b"123456789"), 0xbb3d);
        assert_eq!(crc(&[0x6c, 0xd9, 0x02, 0x40, 0xc8, 0x40, 0x50, 0x03, 0x0d, 0x28]), 0, "the residue");
    }

    #[test]
    fn parity_is_odd() {
        assert_eq!([0x00, 0x03, 0x16, b'0', b'1'].map(with_parity), [0x80, 0x83, 0x16, 0xb0, 0x31]);
    }
}
