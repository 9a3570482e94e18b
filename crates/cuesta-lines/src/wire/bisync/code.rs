//! The control characters of both codes.

/// A character code, with its control characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    Ebcdic,
    /// Seven bits and odd parity on a line; eight bits in transparent text and over TCP.
    Ascii,
}

/// The control characters of one code. The last four are the second characters of a sequence that begins with DLE.
pub(super) struct Characters {
    pub(super) soh: u8,
    pub(super) stx: u8,
    pub(super) etx: u8,
    pub(super) etb: u8,
    pub(super) itb: u8,
    pub(super) enq: u8,
    pub(super) eot: u8,
    pub(super) nak: u8,
    pub(super) dle: u8,
    pub(super) syn: u8,
    pub(super) ack0: u8,
    pub(super) ack1: u8,
    pub(super) wack: u8,
    pub(super) rvi: u8,
}

#[rustfmt::skip]
static EBCDIC: Characters = Characters {
    soh: 0x01, stx: 0x02, etx: 0x03, etb: 0x26, itb: 0x1f, enq: 0x2d, eot: 0x37, nak: 0x3d, dle: 0x10, syn: 0x32,
    ack0: 0x70, ack1: 0x61, wack: 0x6b, rvi: 0x7c,
};

#[rustfmt::skip]
static ASCII: Characters = Characters {
    soh: 0x01, stx: 0x02, etx: 0x03, etb: 0x17, itb: 0x1f, enq: 0x05, eot: 0x04, nak: 0x15, dle: 0x10, syn: 0x16,
    ack0: 0x30, ack1: 0x31, wack: 0x3b, rvi: 0x3c,
};

impl Code {
    pub(super) fn characters(self) -> &'static Characters {
        match self {
            Self::Ebcdic => &EBCDIC,
            Self::Ascii => &ASCII,
        }
    }
}

impl Characters {
    /// Whether text that is not transparent cannot hold this character.
    pub(super) fn is_control(&self, byte: u8) -> bool {
        let Self { soh, stx, etx, etb, itb, enq, eot, nak, dle, syn, .. } = *self;
        [soh, stx, etx, etb, itb, enq, eot, nak, dle, syn].contains(&byte)
    }
}
