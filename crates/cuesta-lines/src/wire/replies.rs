//! The replies of a protocol that wait to be sent.

/// Most bytes of replies that may wait. A peer that asks more without reading gets no answer to the rest.
const LIMIT: usize = 1024;

/// Bytes that must be sent before any more characters.
#[derive(Debug, Default)]
pub struct Replies {
    bytes: Vec<u8>,
    /// Messages of the negotiation from the other end, modulo 2³².
    pub(super) negotiated: u32,
    /// Messages that were too long or broken off, and replies that did not fit.
    pub(super) dropped: u64,
}

impl Replies {
    /// The bytes that wait.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The first `len` bytes were sent.
    pub fn sent(&mut self, len: usize) {
        self.bytes.drain(..len);
        if self.bytes.is_empty() {
            self.bytes = Vec::new();
        }
    }

    /// Number of messages of the negotiation from the other end, modulo 2³²; compare it with an earlier value to see whether one came.
    pub fn negotiated(&self) -> u32 {
        self.negotiated
    }

    /// Whether a reply of `len` bytes still fits. One that does not counts as dropped.
    pub(super) fn admits(&mut self, len: usize) -> bool {
        let fits = self.bytes.len() + len <= LIMIT;
        self.dropped += u64::from(!fits);
        fits
    }

    /// Adds a reply if it fits.
    pub(super) fn push(&mut self, reply: &[u8]) {
        if self.admits(reply.len()) {
            self.append(reply);
        }
    }

    /// Adds bytes that were admitted, or that must be sent.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}
