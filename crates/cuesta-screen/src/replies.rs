//! The terminal's own replies to the host's queries.

/// Replies that wait to be sent.
#[derive(Debug)]
pub(crate) struct Replies {
    pending: Vec<u8>,
    /// At most this many bytes wait: a host that asks more without reading gets no reply to the rest.
    most: usize,
}

impl Replies {
    pub(crate) fn new(most: usize) -> Self {
        Self { pending: Vec::new(), most }
    }

    /// The bytes that wait.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// The first `len` bytes were sent.
    pub(crate) fn forget(&mut self, len: usize) {
        self.pending.drain(..len.min(self.pending.len()));
    }

    /// Adds a reply, if there is room for it.
    pub(crate) fn push(&mut self, reply: impl AsRef<[u8]>) {
        if self.pending.len() + reply.as_ref().len() <= self.most {
            self.pending.extend_from_slice(reply.as_ref());
        }
    }

    /// Their memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.pending.capacity()
    }
}
