//! What a station counts.

/// The eight counters that Multics' front-end processor kept for a line of this kind, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Counters {
    /// Blocks received with a bad block check, broken off or too long: NAKs sent. Those that answer a TTD do not count.
    pub invalid_input: u64,
    /// NAKs received in answer to a bid or a block.
    pub rejected_output: u64,
    /// Times that the other station said nothing: in answer to a bid, a block or a TTD, or where a block was awaited.
    pub timeouts: u64,
    pub wacks_sent: u64,
    pub wacks_received: u64,
    /// Messages given up because a limit of NAKs, ENQs or WACKs was exceeded.
    pub retries_exceeded: u64,
    /// Answers to a block that were missing, wrong or late.
    pub bad_responses: u64,
    /// Messages given up because no bid for the line succeeded.
    pub bids_failed: u64,
}

impl Counters {
    /// Each with its name, in order.
    pub fn figures(&self) -> [(&'static str, u64); 8] {
        [
            ("invalid_input", self.invalid_input),
            ("rejected_output", self.rejected_output),
            ("timeouts", self.timeouts),
            ("wacks_sent", self.wacks_sent),
            ("wacks_received", self.wacks_received),
            ("retries_exceeded", self.retries_exceeded),
            ("bad_responses", self.bad_responses),
            ("bids_failed", self.bids_failed),
        ]
    }

    pub(crate) fn combine(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            invalid_input: with(self.invalid_input, other.invalid_input),
            rejected_output: with(self.rejected_output, other.rejected_output),
            timeouts: with(self.timeouts, other.timeouts),
            wacks_sent: with(self.wacks_sent, other.wacks_sent),
            wacks_received: with(self.wacks_received, other.wacks_received),
            retries_exceeded: with(self.retries_exceeded, other.retries_exceeded),
            bad_responses: with(self.bad_responses, other.bad_responses),
            bids_failed: with(self.bids_failed, other.bids_failed),
        }
    }
}
