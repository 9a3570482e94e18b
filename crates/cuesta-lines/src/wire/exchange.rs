//! What the framings of telnet and TN3270 share: the options, the subnegotiation that is coming, and the replies that wait.

use super::options::{Agreed, Options, Outcome, SE};

/// Most bytes of replies that may wait. A peer that asks more without reading gets no answer to the rest.
const REPLIES_LIMIT: usize = 1024;

/// The negotiation of one end.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(super) options: Options,
    /// The longest subnegotiation that is parsed.
    longest: usize,
    /// The subnegotiation under way.
    inside: Vec<u8>,
    /// Bytes that must be sent before any more characters.
    replies: Vec<u8>,
    /// Option commands and subnegotiations from the other end, modulo 2³².
    commands: u32,
    dropped: u64,
}

/// A framing with a negotiation, for the line that carries it.
pub(crate) trait Negotiating {
    /// By how many bytes a piece may grow when it is decoded.
    const GROWTH: usize;

    fn exchange(&mut self) -> &mut Exchange;

    /// Decodes the first `len` bytes of `raw` in place; `raw` has room for the growth. Returns the length of the result.
    fn decode(&mut self, raw: &mut [u8], len: usize) -> usize;

    /// Whether the input so far ends within a sequence, so that its rest is missing.
    fn is_within_a_sequence(&self) -> bool;
}

impl Exchange {
    pub(super) fn new(agreed: &'static Agreed, longest: usize) -> Self {
        Self {
            options: Options::new(agreed),
            longest,
            inside: Vec::new(),
            replies: Vec::new(),
            commands: 0,
            dropped: 0,
        }
    }

    /// Bytes that must be sent before any more characters.
    pub(crate) fn replies(&self) -> &[u8] {
        &self.replies
    }

    /// The first `len` bytes of [`Exchange::replies`] were sent.
    pub(crate) fn replied(&mut self, len: usize) {
        self.replies.drain(..len);
        if self.replies.is_empty() {
            self.replies = Vec::new();
        }
    }

    /// Number of commands from the other end, modulo 2³²; compare it with an earlier value to see whether one came.
    pub(crate) fn commands(&self) -> u32 {
        self.commands
    }

    /// Subnegotiations that were too long or broken off, and replies that did not fit.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The other end sent WILL, WONT, DO or DONT.
    pub(super) fn negotiated(&mut self, verb: u8, option: u8) -> Outcome {
        self.commands = self.commands.wrapping_add(1);
        self.options.negotiated(verb, option)
    }

    /// Another byte of the subnegotiation.
    pub(super) fn collect(&mut self, byte: u8) {
        // One byte more than the limit records that it was exceeded.
        if self.inside.len() <= self.longest {
            self.inside.push(byte);
        }
    }

    /// A command has come within the subnegotiation, which ends it. Returns its content; `None` if the command is another than SE, so
    /// that the rest is missing, or if it was too long.
    pub(super) fn end_inside(&mut self, command: u8) -> Option<Vec<u8>> {
        self.commands = self.commands.wrapping_add(1);
        let inside = std::mem::take(&mut self.inside);
        let whole = command == SE && inside.len() <= self.longest;
        self.dropped += u64::from(!whole);
        whole.then_some(inside)
    }

    /// Whether a reply of `len` bytes still fits. One that does not counts as dropped.
    pub(super) fn admits(&mut self, len: usize) -> bool {
        let fits = self.replies.len() + len <= REPLIES_LIMIT;
        self.dropped += u64::from(!fits);
        fits
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.replies.extend_from_slice(bytes);
    }
}
