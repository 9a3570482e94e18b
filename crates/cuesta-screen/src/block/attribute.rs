//! The attribute that begins a field.

use super::address;

/// An attribute byte; the two upper bits only make it printable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attribute(u8);

const PROTECTED: u8 = 0x20;
const NUMERIC: u8 = 0x10;
const DISPLAY: u8 = 0x0c;
const MODIFIED: u8 = 0x01;
/// Bits that a host may set; the others are reserved.
const KNOWN: u8 = PROTECTED | NUMERIC | DISPLAY | MODIFIED;

impl Attribute {
    pub(super) fn new(byte: u8) -> Self {
        Self(byte & KNOWN)
    }

    /// As it is sent.
    pub(super) fn printable(self) -> u8 {
        address::printable(self.0)
    }

    /// Whether nothing can be typed into the field.
    pub(super) fn is_protected(self) -> bool {
        self.0 & PROTECTED != 0
    }

    /// Whether the cursor skips the field when the one before it is full.
    pub(super) fn is_autoskip(self) -> bool {
        self.is_protected() && self.0 & NUMERIC != 0
    }

    /// Whether its text is not shown, as that of a password.
    pub(super) fn is_hidden(self) -> bool {
        self.0 & DISPLAY == DISPLAY
    }

    /// Whether the user, or the host in the user's place, has changed the field (MDT).
    pub(super) fn is_modified(self) -> bool {
        self.0 & MODIFIED != 0
    }

    #[must_use]
    pub(super) fn with_modified(self, modified: bool) -> Self {
        Self(if modified { self.0 | MODIFIED } else { self.0 & !MODIFIED })
    }
}
