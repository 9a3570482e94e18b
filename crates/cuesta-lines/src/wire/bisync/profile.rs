//! The timers and limits of a station. The defaults are those of Multics (`bsc_tables.map355`, `bisync_.info`), except where a
//! field says otherwise.

use std::time::Duration;

use thiserror::Error;

/// Timers and limits. Both stations of a line should agree on the timers: the rules of [`ProfileError`] hold between the two.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Profile {
    /// How long a bid, a block or an ENQ may remain without an answer, from the instant when its last character was sent.
    pub reply_timeout: Duration,
    /// The same for a bid of the primary, which so bids again before the secondary does. Not of Multics, which always yielded: the
    /// value is that of Tandem's 6100.
    pub primary_bid_timeout: Duration,
    /// How long a receiving station waits for a block or anything else, from the instant when its answer was sent.
    pub block_wait: Duration,
    /// What it does then.
    pub after_block_wait: AfterBlockWait,
    /// How long text may pause within a block before the receiver drops it. A sender fills each second.
    pub text_gap: Duration,
    /// How long a station without room waits before it sends WACK, because room may come.
    pub wack_delay: Duration,
    /// How long after a WACK the sender asks again.
    pub wack_pause: Duration,
    /// How many WACKs a bid or a block may be answered with. (Multics had no limit.)
    pub wack_limit: u32,
    /// How long a sender without text waits before it sends TTD, within a message.
    pub ttd_time: Duration,
    /// How many TTDs it sends before it gives up the message.
    pub ttd_limit: u32,
    /// How often a block is sent again after a NAK.
    pub nak_limit: u32,
    /// How many ENQs are sent for a block whose answer is bad or missing.
    pub enq_limit: u32,
    /// How many bids are sent for the line.
    pub bid_limit: u32,
    /// How long a station that has sent EOT lets the other bid before it bids again. (Multics' value is not known.) It is the reply
    /// timeout after RVI.
    pub rebid_pause: Duration,
    /// A primary that yields to a bid of the other station, as Multics did. If the other station yields too, both wait for a block
    /// in vain until `block_wait` has passed.
    pub yields_always: bool,
    /// Whether a receiving station sends RVI, once, while it has output itself.
    pub interrupts: bool,
    /// Whether the last block of a message may be answered with a message of one block in place of ACK (limited conversational mode).
    /// Both stations of a line must have it: to one without it the text is no answer. It asks, and gives its message up, or gets ACK
    /// once the other station has withdrawn the text, which is then in doubt.
    ///
    /// Who composes a reply to what was received keeps no room ([`Station::set_room`](super::Station::set_room)) until it is offered:
    /// the other station gets WACK until then.
    pub conversational: bool,
    /// Most characters of text in a block sent (Multics: 6 to 2000).
    pub block_size: usize,
    /// Most characters of text in a block received; a longer one is refused with NAK.
    pub longest_received: usize,
    /// The length of a record in characters: each record but the last ends with ITB and a block check. None: there are no records.
    pub record_size: Option<usize>,
    /// The number of characters of a block after which SYN SYN (DLE SYN in transparent text) is sent, again and again. It should
    /// be what the line carries in a second. Only on a line.
    pub fill_every: Option<usize>,
    /// Which text is sent transparent. (Multics: all.)
    pub transparency: Transparency,
    /// Most characters that may wait to be sent. Each message counts for one more than it has.
    pub queue_limit: usize,
}

/// What a receiving station does when the sender has said nothing for `block_wait`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AfterBlockWait {
    /// It returns to control mode and sends nothing. The default: the likely cause is a lost EOT, which is no reason to end a
    /// hard-wired line, and nothing is lost, because the sender gave up long before (see [`ProfileError::BlockWait`]) and what it
    /// gave up it has reported.
    Control,
    /// It sends DLE EOT, as Multics did: a switched line should not stay connected in vain.
    Disconnect,
}

/// Which text is sent transparent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transparency {
    /// Each block with a character that text cannot hold otherwise.
    Auto,
    Always,
    /// None: a message with such a character is refused.
    Never,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            reply_timeout: Duration::from_secs(3),
            primary_bid_timeout: Duration::from_millis(2700),
            block_wait: Duration::from_secs(20),
            after_block_wait: AfterBlockWait::Control,
            text_gap: Duration::from_secs(2),
            wack_delay: Duration::from_millis(100),
            wack_pause: Duration::from_secs(1),
            wack_limit: 300,
            ttd_time: Duration::from_secs(2),
            ttd_limit: 30,
            nak_limit: 3,
            enq_limit: 3,
            bid_limit: 30,
            rebid_pause: Duration::from_millis(200),
            yields_always: false,
            interrupts: true,
            conversational: false,
            block_size: 256,
            longest_received: 4096,
            record_size: None,
            fill_every: None,
            transparency: Transparency::Auto,
            queue_limit: 1 << 20,
        }
    }
}

/// Why a profile is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// A receiver that returns to control mode takes the next ENQ for a bid and answers ACK0. If the sender still waited for the
    /// answer to a block, it would take that for the answer: a block could be lost, or sent twice.
    #[error(
        "block_wait is {is:?}; it must exceed {least:?}, which is (enq_limit + 1) × reply_timeout + the longer of ttd_time and wack_pause: raise it, or lower one of those"
    )]
    BlockWait { is: Duration, least: Duration },
    /// Otherwise the bids of both stations could collide for ever.
    #[error("primary_bid_timeout must be shorter than reply_timeout: lower it")]
    PrimaryBidTimeout,
    /// Otherwise the ENQ that follows a block without an end could be taken for its text.
    #[error("text_gap must be shorter than reply_timeout: lower it")]
    TextGap,
    /// Otherwise the sender would ask before the WACK comes.
    #[error("wack_delay must be shorter than primary_bid_timeout: lower it")]
    WackDelay,
    #[error("{0} must not be zero")]
    Zero(&'static str),
}

impl Profile {
    /// Whether the values are consistent.
    pub fn check(&self) -> Result<(), ProfileError> {
        let sizes = [
            ("bid_limit", self.bid_limit as usize),
            ("block_size", self.block_size),
            ("longest_received", self.longest_received),
            ("record_size", self.record_size.unwrap_or(1)),
            ("fill_every", self.fill_every.unwrap_or(1)),
            ("wack_pause", usize::from(!self.wack_pause.is_zero())),
            ("ttd_time", usize::from(!self.ttd_time.is_zero())),
        ];
        if let Some((name, _)) = sizes.into_iter().find(|(_, size)| *size == 0) {
            return Err(ProfileError::Zero(name));
        }
        let least = self.reply_timeout.saturating_mul(self.enq_limit.saturating_add(1));
        let least = least.saturating_add(self.ttd_time.max(self.wack_pause));
        if self.block_wait <= least {
            return Err(ProfileError::BlockWait { is: self.block_wait, least });
        }
        if self.primary_bid_timeout >= self.reply_timeout {
            return Err(ProfileError::PrimaryBidTimeout);
        }
        if self.text_gap >= self.reply_timeout {
            return Err(ProfileError::TextGap);
        }
        if self.wack_delay >= self.primary_bid_timeout {
            return Err(ProfileError::WackDelay);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_consistent_and_an_error_names_what_to_change() {
        assert_eq!(Profile::default().check(), Ok(()));
        let patient = Profile { enq_limit: 9, ..Profile::default() };
        let error = patient.check().expect_err("30 s of ENQs and 2 s of waiting for text");
        assert_eq!(
            error.to_string(),
            "block_wait is 20s; it must exceed 32s, which is (enq_limit + 1) × reply_timeout + the longer of ttd_time and wack_pause: raise it, or lower one of those"
        );
        let long = Profile { wack_pause: Duration::from_secs(8), ..Profile::default() };
        assert!(matches!(long.check(), Err(ProfileError::BlockWait { .. })));
        let equal = Profile { primary_bid_timeout: Duration::from_secs(3), ..Profile::default() };
        assert_eq!(equal.check(), Err(ProfileError::PrimaryBidTimeout));
        let empty = Profile { block_size: 0, ..Profile::default() };
        assert_eq!(empty.check(), Err(ProfileError::Zero("block_size")));
    }
}
