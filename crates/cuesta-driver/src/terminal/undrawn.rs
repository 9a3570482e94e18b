//! What a display has received and not drawn yet.

/// Reading stops while this much is not drawn; one more read may come on top of it.
pub(super) const FULL: usize = 16 * 1024;
/// How much memory is kept while nothing waits.
pub(super) const SPARE: usize = 1024;

/// Received bytes, of which the first ones are drawn.
#[derive(Debug, Default)]
pub(super) struct Undrawn {
    bytes: Vec<u8>,
    /// How many of them are drawn.
    drawn: usize,
}

impl Undrawn {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether reading should stop.
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() - self.drawn >= FULL
    }

    /// The next bytes to draw.
    pub(super) fn next(&self, len: usize) -> &[u8] {
        &self.bytes[self.drawn..self.drawn + len]
    }

    /// Forgets the next bytes, which were drawn, and releases the memory of a flood.
    pub(super) fn forget(&mut self, len: usize) {
        self.drawn += len;
        if self.drawn == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(SPARE);
            self.drawn = 0;
        } else if self.drawn >= FULL {
            self.bytes.drain(..self.drawn);
            self.drawn = 0;
        }
    }

    /// Its memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}
