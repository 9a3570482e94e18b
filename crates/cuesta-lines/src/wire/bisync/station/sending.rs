//! A station that sends.

use std::time::Duration;

use cuesta_record::Stamp;

use super::receiving::Receiving;
use super::{Control, Event, Reason, State, Station};
use crate::wire::bisync::profile::Transparency;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Sending {
    /// ACK1 acknowledges the block.
    pub(super) odd: bool,
    /// The block sent and not acknowledged. It is sent again as it was, even if more text has come.
    block: Option<Block>,
    waits: Waits,
    /// ENQs, NAKs and WACKs of this block.
    enqs: u32,
    naks: u32,
    wacks: u32,
    /// TTDs since the last block.
    ttds: u32,
    /// The last block was acknowledged with RVI: a second RVI does not acknowledge the next.
    interrupted: bool,
    /// If set, the transmission ends after this message, and no bid is sent during this time: RVI came, or the message is a reply.
    finish: Option<Duration>,
    /// If the block is a reply: how the station received what it replies to.
    replies_to: Option<Receiving>,
}

/// Length of the text, and whether the block ends the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Block {
    len: usize,
    last: bool,
}

/// What the timer of a sender ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Waits {
    /// The wait for the answer to the block.
    BlockAnswer,
    /// The wait for the answer to ENQ, which asks for that to the block.
    EnqAnswer,
    /// The pause after WACK.
    Pause,
    /// The wait for more text of the message.
    Text,
    /// The wait for the answer to TTD.
    TtdAnswer,
}

impl Sending {
    /// After the bid was accepted.
    pub(super) fn after_bid() -> Self {
        Self {
            odd: true,
            block: None,
            waits: Waits::Text,
            enqs: 0,
            naks: 0,
            wacks: 0,
            ttds: 0,
            interrupted: false,
            finish: None,
            replies_to: None,
        }
    }

    pub(super) fn reply_to(receiving: Receiving, pause: Duration) -> Self {
        Self { finish: Some(pause), replies_to: Some(receiving), ..Self::after_bid() }
    }

    /// Whether the last block of a message was sent and not acknowledged.
    pub(super) fn is_last_in_doubt(&self) -> bool {
        self.block.is_some_and(|block| block.last)
    }

    pub(super) fn is_reply(&self) -> bool {
        self.replies_to.is_some()
    }

    /// How often the block is sent again or asked for. A reply is once less, so that the ACK in its place comes before the other
    /// station gives up.
    fn limit(&self, limit: u32) -> u32 {
        if self.is_reply() { limit.saturating_sub(1) } else { limit }
    }

    /// A reply without WACK: the other station may still wait for the answer to its block. It does not after WACK, and the reply is
    /// then a block like any other.
    pub(super) fn unanswered_reply(&self) -> Option<Receiving> {
        self.replies_to.filter(|_| self.wacks == 0)
    }
}

impl Station {
    /// Sends the next block, EOT between messages, or waits for text within one.
    pub(super) fn send_next(&mut self, now: Stamp, between_messages: bool) {
        let State::Sending(sending) = &mut self.state else { return };
        let finish = sending.finish.filter(|_| between_messages);
        match self.queue.head().filter(|_| finish.is_none()) {
            Some((text, complete)) => {
                let len = text.len().min(self.profile.block_size);
                sending.block = Some(Block { len, last: complete && len == text.len() });
                sending.ttds = 0;
                self.send_block(now);
            }
            None if between_messages => {
                // While answers may still come, the pause is longer.
                let least = if self.answers_due > 0 { self.profile.reply_timeout } else { self.profile.rebid_pause };
                let pause = finish.map_or(least, |pause| pause.max(least));
                self.send_control(Control::Eot);
                self.return_to_control(now, pause);
            }
            None => {
                sending.waits = Waits::Text;
                self.wait(now, self.profile.ttd_time);
            }
        }
    }

    /// Sends the block, for the first time or again.
    fn send_block(&mut self, now: Stamp) {
        let State::Sending(sending) = &self.state else { return };
        let (Some(Block { len, last }), Some((text, _))) = (sending.block, self.queue.head()) else { return };
        let text = &text[..len];
        let transparent = match self.profile.transparency {
            Transparency::Auto => text.iter().any(|byte| self.format.needs_transparency(*byte)),
            Transparency::Always => true,
            Transparency::Never => false,
        };
        self.format.block(text, last, transparent, &self.profile, &mut self.output);
        self.await_answer(now, Waits::BlockAnswer);
    }

    fn await_answer(&mut self, now: Stamp, waits: Waits) {
        let State::Sending(sending) = &mut self.state else { return };
        sending.waits = waits;
        let patience = sending.unanswered_reply().map_or(Duration::ZERO, |_| self.profile.wack_delay);
        self.answers_due += 1;
        self.wait(now, self.profile.reply_timeout + patience);
    }

    /// Asks for the answer to the block, with ENQ, or if it is a reply, with the same text.
    fn ask(&mut self, now: Stamp) {
        let State::Sending(sending) = &self.state else { return };
        if sending.unanswered_reply().is_some() {
            return self.send_block(now);
        }
        self.send_control(Control::Enq);
        self.await_answer(now, Waits::EnqAnswer);
    }

    /// The answer is missing or wrong.
    pub(super) fn ask_within_limit(&mut self, now: Stamp) {
        let State::Sending(sending) = &mut self.state else { return };
        sending.enqs += 1;
        self.counters.bad_responses += 1;
        if sending.enqs > sending.limit(self.profile.enq_limit) {
            self.give_up(now, Reason::NoReply);
        } else {
            self.ask(now);
        }
    }

    pub(super) fn text_offered(&mut self, now: Stamp) {
        if matches!(&self.state, State::Sending(sending) if sending.waits == Waits::Text) && self.queue.head().is_some()
        {
            self.send_next(now, false);
        }
    }

    pub(super) fn sending_expired(&mut self, now: Stamp) {
        let State::Sending(sending) = self.state else { return };
        match sending.waits {
            Waits::BlockAnswer | Waits::EnqAnswer => {
                self.counters.timeouts += 1;
                self.forget_lost_answers();
                self.ask_within_limit(now);
            }
            Waits::Pause => self.ask(now),
            Waits::Text => self.send_ttd(now),
            Waits::TtdAnswer => {
                self.counters.timeouts += 1;
                self.forget_lost_answers();
                let State::Sending(sending) = &mut self.state else { return };
                sending.enqs += 1;
                if sending.enqs > self.profile.enq_limit {
                    return self.give_up(now, Reason::NoReply);
                }
                self.send_ttd(now);
            }
        }
    }

    fn send_ttd(&mut self, now: Stamp) {
        let State::Sending(sending) = &mut self.state else { return };
        sending.ttds += 1;
        if sending.ttds > self.profile.ttd_limit {
            return self.give_up(now, Reason::Unfinished);
        }
        self.send_control(Control::Ttd);
        self.await_answer(now, Waits::TtdAnswer);
    }

    /// An answer, to whatever was sent last.
    pub(super) fn answered(&mut self, now: Stamp, control: Control) {
        let State::Sending(sending) = &mut self.state else { return };
        match control {
            Control::Eot => return self.refused(now),
            Control::Enq if sending.unanswered_reply().is_some() => return self.asked_for_reply(now),
            Control::Enq => {
                self.refused(now);
                return self.accept_bid(now);
            }
            Control::Ttd | Control::Disconnect => return,
            _ => self.answers_due = self.answers_due.saturating_sub(1),
        }
        let later_due = self.answers_due > 0;
        match (sending.waits, control) {
            (Waits::TtdAnswer, Control::Nak) if !later_due => {
                sending.enqs = 0;
                self.send_next(now, false);
            }
            (Waits::Pause | Waits::Text | Waits::TtdAnswer, _) => self.counters.bad_responses += 1,
            (_, Control::Ack(odd)) if odd == sending.odd => self.acknowledged(now, false),
            (_, Control::Rvi) if !later_due && !sending.interrupted => self.acknowledged(now, true),
            (_, Control::Wack) => self.wacked(now),
            _ if later_due => self.counters.bad_responses += 1,
            (_, Control::Nak) => self.rejected(now),
            (Waits::BlockAnswer, _) => self.ask_within_limit(now),
            (Waits::EnqAnswer, _) => {
                self.counters.bad_responses += 1;
                self.send_block(now);
            }
        }
        self.acknowledge_if_withdrawn(now);
    }

    fn acknowledged(&mut self, now: Stamp, interrupted: bool) {
        let State::Sending(sending) = &mut self.state else { return };
        // All answers to what was sent before the block have come or will not come.
        self.answers_due = self.answers_due.min(sending.enqs + sending.wacks);
        let Block { len, last } = sending.block.take().unwrap_or(Block { len: 0, last: false });
        *sending = Sending {
            odd: !sending.odd,
            enqs: 0,
            naks: 0,
            wacks: 0,
            interrupted,
            finish: sending.finish.or(interrupted.then_some(self.profile.reply_timeout)),
            ..*sending
        };
        self.queue.acknowledge(len);
        if last {
            self.outcome(Event::Delivered);
        }
        self.send_next(now, last);
    }

    fn wacked(&mut self, now: Stamp) {
        let State::Sending(sending) = &mut self.state else { return };
        sending.wacks += 1;
        self.counters.wacks_received += 1;
        if sending.wacks > self.profile.wack_limit {
            return self.give_up(now, Reason::Busy);
        }
        sending.waits = Waits::Pause;
        self.wait(now, self.profile.wack_pause);
    }

    fn rejected(&mut self, now: Stamp) {
        let State::Sending(sending) = &mut self.state else { return };
        sending.naks += 1;
        self.counters.rejected_output += 1;
        if sending.naks > sending.limit(self.profile.nak_limit) {
            self.give_up(now, Reason::Rejected);
        } else {
            self.send_block(now);
        }
    }

    /// The text in answer to the block is bad.
    pub(super) fn reject_reply(&mut self, now: Stamp) {
        let State::Sending(sending) = &mut self.state else { return };
        self.answers_due = self.answers_due.saturating_sub(1);
        sending.naks += 1;
        self.counters.invalid_input += 1;
        if sending.naks > self.profile.nak_limit {
            self.give_up(now, Reason::NoReply);
        } else {
            self.send_control(Control::Nak);
            self.await_answer(now, Waits::BlockAnswer);
        }
    }

    /// Ends the transmission within a message, and lets the other station stop waiting for a block.
    pub(super) fn give_up(&mut self, now: Stamp, reason: Reason) {
        if let State::Sending(sending) = &self.state
            && let Some(receiving) = sending.unanswered_reply()
        {
            return self.withdraw(now, receiving, reason);
        }
        if reason != Reason::Unfinished {
            self.counters.retries_exceeded += 1;
        }
        self.send_control(Control::Eot);
        self.report(reason);
        // The other station may have begun to wait when its last answer was sent; the reply timeout is a margin.
        self.return_to_control(now, self.profile.block_wait + self.profile.reply_timeout);
    }

    /// The other station has left the transmission, so it waits for no block.
    fn refused(&mut self, now: Stamp) {
        self.counters.bad_responses += 1;
        self.report(Reason::Refused);
        self.return_to_control(now, self.profile.rebid_pause);
    }

    pub(super) fn report(&mut self, reason: Reason) {
        let in_doubt = matches!(&self.state, State::Sending(sending) if sending.is_last_in_doubt());
        // A NAK is the answer to the block itself.
        let in_doubt = in_doubt && reason != Reason::Rejected;
        self.outcome(if in_doubt { Event::InDoubt(reason) } else { Event::NotDelivered(reason) });
    }

    /// After the reply timeout nothing comes any more on a line. TCP loses nothing, and a host may answer late.
    pub(super) fn forget_lost_answers(&mut self) {
        if self.format.is_line() {
            self.answers_due = 0;
        }
    }
}
