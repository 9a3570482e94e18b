//! A station that receives: it has accepted a bid.

use std::time::Duration;

use cuesta_record::Stamp;

use super::{Control, Event, State, Station, Unit};
use crate::wire::bisync::profile::AfterBlockWait;
use crate::wire::bisync::receiver::Block;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Receiving {
    /// The number of the last good block is odd, which ACK1 acknowledges. The bid has the number 0.
    odd: bool,
    owes: Owes,
    /// Whether RVI was sent.
    interrupted: bool,
    pub(super) last: Last,
}

/// What came last in good order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Last {
    Bid,
    /// A block of a message whose end did not come yet.
    Part,
    /// The end of a message: text may take the place of its ACK.
    End,
    /// A reply. No other block follows it.
    Reply,
}

/// Whether the last bid or good block was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Owes {
    Nothing,
    /// There was no room; there may be soon.
    Soon,
    /// WACK was sent, and ENQ must come before anything else is.
    Wacked,
}

impl Receiving {
    /// A bid or a reply came, and is to be acknowledged.
    pub(super) fn new(last: Last) -> Self {
        Self { odd: last == Last::Reply, owes: Owes::Soon, interrupted: false, last }
    }
}

impl Station {
    pub(super) fn accept_bid(&mut self, now: Stamp) {
        self.answers_due = 0;
        self.state = State::Receiving(Receiving::new(Last::Bid));
        self.acknowledge_soon(now);
    }

    pub(super) fn received_as_receiver(&mut self, now: Stamp, unit: Unit) {
        let State::Receiving(receiving) = &mut self.state else { return };
        let owes = receiving.owes != Owes::Nothing;
        match unit {
            Unit::Control(Control::Eot) => {
                let cut = receiving.last == Last::Part;
                self.leave(now, cut);
            }
            Unit::Control(Control::Enq) if !owes => self.acknowledge(now),
            // What cannot be an answer to an ACK that was not sent is a question for it, or a repeated block.
            Unit::Control(Control::Enq | Control::Ttd) | Unit::Block(_) | Unit::Bad if owes => {
                self.acknowledge_soon(now);
            }
            // A block after a reply can only be the reply again: it is acknowledged and not taken.
            Unit::Block(_) | Unit::Bad if receiving.last == Last::Reply => self.acknowledge(now),
            Unit::Control(Control::Ttd) => self.answer(now, Control::Nak),
            Unit::Bad => {
                self.counters.invalid_input += 1;
                self.answer(now, Control::Nak);
            }
            Unit::Block(block) => self.accept(now, block),
            Unit::Control(_) => {}
        }
    }

    pub(super) fn room_changed(&mut self, now: Stamp) {
        if let State::Receiving(Receiving { owes: Owes::Soon, .. }) = self.state {
            self.acknowledge_if_room(now);
        }
    }

    pub(super) fn receiving_expired(&mut self, now: Stamp) {
        let State::Receiving(receiving) = &mut self.state else { return };
        if receiving.owes == Owes::Soon {
            if !self.acknowledge_if_room(now) {
                self.counters.wacks_sent += 1;
                self.owe(Owes::Wacked);
                self.answer(now, Control::Wack);
            }
            return;
        }
        self.counters.timeouts += 1;
        let cut = receiving.last == Last::Part;
        match self.profile.after_block_wait {
            AfterBlockWait::Control => self.leave(now, cut),
            AfterBlockWait::Disconnect => self.disconnect(),
        }
    }

    fn accept(&mut self, now: Stamp, block: Block) {
        let Block { text, records, last } = block;
        self.events.push_back(Event::Text { text, records, last });
        let wants_to_send = self.profile.interrupts && self.queue.head().is_some() && self.has_room();
        let wants_to_reply = last && self.has_reply();
        let State::Receiving(receiving) = &mut self.state else { return };
        receiving.odd = !receiving.odd;
        receiving.last = if last { Last::End } else { Last::Part };
        if wants_to_send && !receiving.interrupted && !wants_to_reply {
            receiving.interrupted = true;
            self.answer(now, Control::Rvi);
        } else {
            receiving.owes = Owes::Soon;
            self.acknowledge_soon(now);
        }
    }

    /// Sends ACK if there is room, otherwise waits whether there will be.
    pub(super) fn acknowledge_soon(&mut self, now: Stamp) {
        if !self.acknowledge_if_room(now) {
            self.owe(Owes::Soon);
            self.wait(now, self.profile.wack_delay);
        }
    }

    fn acknowledge_if_room(&mut self, now: Stamp) -> bool {
        let has_room = self.has_room();
        if has_room {
            self.acknowledge(now);
        }
        has_room
    }

    /// Sends ACK, or text in the place of one that is owed: what was acknowledged is not answered with text.
    pub(super) fn acknowledge(&mut self, now: Stamp) {
        let has_reply = self.has_reply();
        let State::Receiving(receiving) = &mut self.state else { return };
        let owed = std::mem::replace(&mut receiving.owes, Owes::Nothing) != Owes::Nothing;
        let receiving = *receiving;
        if owed && receiving.last == Last::End && has_reply {
            self.reply(now, receiving);
        } else {
            self.answer(now, Control::Ack(receiving.odd));
        }
    }

    fn owe(&mut self, owes: Owes) {
        if let State::Receiving(receiving) = &mut self.state {
            receiving.owes = owes;
        }
    }

    fn answer(&mut self, now: Stamp, control: Control) {
        self.send_control(control);
        self.wait(now, self.profile.block_wait);
    }

    fn leave(&mut self, now: Stamp, cut: bool) {
        if cut {
            self.events.push_back(Event::Cut);
        }
        self.return_to_control(now, Duration::ZERO);
    }
}
