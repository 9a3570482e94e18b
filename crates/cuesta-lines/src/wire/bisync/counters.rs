//! What a station counts.

/// The eight counters that Multics' front-end processor kept for a line of this kind, in its order; each modulo 2³².
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Counters {
    /// Blocks received with a bad block check, broken off or too long: NAKs sent. Those that answer a TTD do not count.
    pub invalid_input: u32,
    /// NAKs received in answer to a bid or a block.
    pub rejected_output: u32,
    /// Times that the other station said nothing: in answer to a bid, a block or a TTD, or where a block was awaited.
    pub timeouts: u32,
    pub wacks_sent: u32,
    pub wacks_received: u32,
    /// Messages given up because a limit of NAKs, ENQs or WACKs was exceeded.
    pub retries_exceeded: u32,
    /// Answers to a block that were missing, wrong or late.
    pub bad_responses: u32,
    /// Messages given up because no bid for the line succeeded.
    pub bids_failed: u32,
}
