//! Conversational replies: text in answer to the last block of a message, in place of its ACK.
//!
//! The station that replies becomes the sender of one block, and remembers how it received. It never asks with ENQ.

use cuesta_record::Stamp;

use super::receiving::{Last, Receiving};
use super::sending::Sending;
use super::{Event, Reason, State, Station, Unit};
use crate::wire::bisync::receiver::Block;

impl Station {
    /// Whether the next message may be a reply: it is complete, and one block.
    pub(super) fn has_reply(&self) -> bool {
        let fits = |(text, complete): (&[u8], bool)| complete && text.len() <= self.profile.block_size;
        self.profile.conversational && self.queue.head().is_some_and(fits)
    }

    /// Answers the block that `receiving` has got with a message.
    pub(super) fn reply(&mut self, now: Stamp, receiving: Receiving) {
        self.answers_due = 0;
        self.state = State::Sending(Sending::reply_to(receiving, self.profile.rebid_pause));
        self.send_next(now, false);
    }

    /// A block came, good or bad, while this station sends.
    pub(super) fn answered_with_text(&mut self, now: Stamp, unit: Unit) {
        let State::Sending(sending) = &mut self.state else { return };
        if sending.unanswered_reply().is_some() {
            // It can only be the block that the reply answers.
            return self.asked_for_reply(now);
        }
        let expected = self.profile.conversational && sending.is_last_in_doubt() && !sending.is_reply();
        match unit {
            Unit::Block(Block { text, records, last: true }) if expected => {
                self.outcome(Event::Delivered);
                self.events.push_back(Event::Text { text, records, last: true });
                self.state = State::Receiving(Receiving::new(Last::Reply));
                self.acknowledge_soon(now);
            }
            Unit::Bad if expected => self.reject_reply(now),
            _ => self.counters.bad_responses += 1,
        }
    }

    /// The reply was lost: the other station asks, or sends its block again.
    pub(super) fn asked_for_reply(&mut self, now: Stamp) {
        self.ask_within_limit(now);
        self.acknowledge_if_withdrawn(now);
    }

    /// The other station still waits for an answer to its block, which is now ACK.
    pub(super) fn acknowledge_if_withdrawn(&mut self, now: Stamp) {
        if matches!(self.state, State::Receiving(_)) {
            self.acknowledge(now);
        }
    }

    /// The reply is given up. The station remains in the transmission as its receiver: the other one may still ask.
    pub(super) fn withdraw(&mut self, now: Stamp, receiving: Receiving, reason: Reason) {
        self.counters.retries_exceeded += 1;
        self.report(reason);
        self.state = State::Receiving(receiving);
        self.wait(now, self.profile.block_wait);
    }
}
