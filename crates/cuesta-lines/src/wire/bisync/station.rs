//! The procedure: bids, blocks and their answers, over one line to one other station.
//!
//! Exactly once. A block has no number; only the answer has (ACK0 or ACK1). So the receiver cannot know a repeated block from a new
//! one, and the sender must know whether a block came before it sends it again. The rules below marked *ours* make that certain, as
//! the exhaustive test `model` shows, if an answer comes within the reply timeout or not at all, and if damage is recognized:
//!
//! - After silence the sender asks (ENQ); it sends a block again only after NAK, or after the wrong ACK *in answer to an ENQ*.
//! - *Ours:* a receiver answers ENQ with the numbered ACK of the last good block, or with WACK if it owes that. It does not repeat
//!   NAK or RVI, which have no number: the sender could take a repeated one for the answer to the next block.
//! - *Ours:* a bid answered with ACK1 shows that the other station missed our EOT: EOT, and bid again. If it answers ACK0 its
//!   numbers fit, so no harm is done.
//! - *Ours:* a sender that gives up within a message does not bid again before the other station has stopped waiting for a block
//!   (or bids itself). If its EOT was lost too, the next message would be appended to the part that was received.
//! - *Ours:* the sender counts the answers that are still due. One that is not the right ACK is ignored while a later one is to
//!   come. So a host that answers late over TCP, where nothing is lost, gets no block twice. A host that drops a block unanswered
//!   cannot be told from a late one: the message is given up and reported.
//! - *Ours:* ENQ in answer to a block shows that the other station is in control mode: the block is in doubt.
//! - A station that owes an ACK drops a block, which can only be a repeated one.
//!
//! Conversational replies ([`Profile::conversational`]). A message of one block may take the place of the ACK of a message's last
//! block. It is answered with ACK1, NAK or WACK, not with text. A reply has no number, so the rest is *ours* where not said otherwise:
//!
//! - After the ACK of the reply its station sends EOT, whatever else it has to send. (So does the procedure.) It then lets the other
//!   station bid first, for `rebid_pause`. Since only one block is a reply, any block that follows is the same again, because the
//!   ACK was lost: it is dropped, good or bad, and ACK1 is sent again.
//! - The station that replied asks with the same text in place of ENQ, and sends it again after NAK or ENQ too. (So does the
//!   procedure.) ENQ would mean, to a station that waits for the answer to its block, that this one is in control mode. After WACK,
//!   which shows that the reply came, it asks with ENQ.
//! - It waits `wack_delay` longer than for the answer to a block. So the station that has not got the reply asks first, and the two do
//!   not meet on the line. Nothing is lost or doubled if they do.
//! - Only the first answer to a block, or that to ENQ after WACK, is text. What was answered with ACK or RVI is never answered with
//!   text: over TCP that could come after the next block was sent.
//! - A station that gives up its reply remains in the transmission as the receiver that it was, and acknowledges the block if it is
//!   asked. In control mode it would take the question for a bid, and the block would come twice. It gives up one attempt earlier
//!   than the sender of a block does, so that this ACK comes before the other station gives up its block.

mod bidding;
mod receiving;
mod replying;
mod sending;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use cuesta_record::Stamp;

use self::bidding::Bidding;
use self::receiving::{Last, Receiving};
use self::sending::Sending;
use super::blocks::{Control, Format, Framing};
use super::code::Code;
use super::counters::Counters;
use super::profile::{Profile, ProfileError, Transparency};
use super::queue::{OfferError, Queue};
use super::receiver::{Receiver, Unit};

/// Which of the two stations this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// If both bid, it insists.
    Primary,
    /// If both bid, it yields.
    Secondary,
}

impl Role {
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Primary => Self::Secondary,
            Self::Secondary => Self::Primary,
        }
    }
}

/// What happened. Each message offered has exactly one of the outcomes `Delivered`, `NotDelivered` and `InDoubt`, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
    /// A block was received; `last`: it ends the message. `records`: where each record that ended with ITB ends.
    Text { text: Vec<u8>, records: Vec<usize>, last: bool },
    /// The rest of the message that was being received will not come.
    Cut,
    /// The other station acknowledged the whole message.
    Delivered,
    /// The other station did not get the whole message.
    NotDelivered(Reason),
    /// The last block of the message was sent, and the other station may have got it or not.
    InDoubt(Reason),
    /// DLE EOT was received or sent. Nothing follows.
    Disconnected,
}

/// Why a message was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No bid succeeded.
    BidFailed,
    /// Too many NAKs.
    Rejected,
    /// Too many ENQs without the right answer, or too many bad replies.
    NoReply,
    /// Too many WACKs.
    Busy,
    /// The rest of the message was not offered in time: too many TTDs.
    Unfinished,
    /// The other station left the transmission: EOT or ENQ in answer to a block.
    Refused,
    /// The line was disconnected by either side.
    Disconnected,
}

/// Most events that wait to be taken before the station has no room for another block.
const EVENTS_LIMIT: usize = 16;
/// Bytes that may wait to be sent before control sequences are dropped. A peer that asks more without reading gets no answer.
const OUTPUT_LIMIT: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Station {
    profile: Profile,
    role: Role,
    format: Format,
    receiver: Receiver,
    state: State,
    timer: Timer,
    /// When a block that has begun and does not go on is dropped.
    text_until: Option<Stamp>,
    queue: Queue,
    /// Whether the owner has room for a block.
    room: bool,
    /// Answers to bids, blocks and ENQs that have not come yet. Those lost are counted until the right ACK comes, or, on a line,
    /// until the reply timeout has passed.
    answers_due: u32,
    output: Vec<u8>,
    events: VecDeque<Event>,
    counters: Counters,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum State {
    /// Between transmissions. If the timer runs, no bid is sent before it ends.
    Control,
    Bidding(Bidding),
    Sending(Sending),
    Receiving(Receiving),
    Disconnected,
}

/// What the state waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Timer {
    Off,
    /// It begins when all output was sent.
    AfterOutput(Duration),
    Until(Stamp),
}

impl Station {
    /// A station in control mode.
    pub fn new(profile: Profile, role: Role, code: Code, framing: Framing) -> Result<Self, ProfileError> {
        profile.check()?;
        let format = Format { code, framing };
        let receiver = Receiver::new(format, profile.longest_received);
        Ok(Self {
            profile,
            role,
            format,
            receiver,
            state: State::Control,
            timer: Timer::Off,
            text_until: None,
            queue: Queue::default(),
            room: true,
            answers_due: 0,
            output: Vec::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
        })
    }

    /// Adds a message, or the next part of one, to what is to be sent; `last`: the message ends here. While it does not, the line is
    /// held with TTD.
    ///
    /// After an error nothing has changed. A part of a message that was given up is accepted and dropped.
    pub fn offer(&mut self, now: Stamp, text: &[u8], last: bool) -> Result<(), OfferError> {
        if self.state == State::Disconnected {
            return Err(OfferError::Disconnected);
        }
        if self.profile.transparency == Transparency::Never
            && let Some(at) = text.iter().position(|byte| self.format.needs_transparency(*byte))
        {
            return Err(OfferError::ControlCharacter { byte: text[at], at });
        }
        if self.queue.len() + text.len() >= self.profile.queue_limit {
            return Err(OfferError::Full);
        }
        self.queue.offer(text, last);
        self.proceed(now);
        Ok(())
    }

    /// Whether the owner has room for a block (at first: yes). Without room, good blocks are answered with WACK.
    pub fn set_room(&mut self, now: Stamp, room: bool) {
        self.room = room;
        self.room_changed(now);
    }

    /// Takes received bytes; pieces may have any size.
    pub fn receive(&mut self, now: Stamp, bytes: &[u8]) {
        for byte in bytes {
            if self.state == State::Disconnected {
                return;
            }
            if let Some(unit) = self.receiver.take(*byte) {
                self.received(now, unit);
            }
        }
        self.text_until = self.receiver.is_within_a_block().then(|| now + self.profile.text_gap);
    }

    /// Does what is due at `now`. Call it when [`Station::deadline`] has come; too early or too often is harmless.
    pub fn expire(&mut self, now: Stamp) {
        if self.text_until.is_some_and(|until| until <= now) {
            self.text_until = None;
            self.receiver.abandon();
        }
        if matches!(self.timer, Timer::Until(until) if until <= now) {
            self.timer = Timer::Off;
            match self.state {
                State::Control => self.proceed(now),
                State::Bidding(_) => self.bid_expired(now),
                State::Sending(_) => self.sending_expired(now),
                State::Receiving(_) => self.receiving_expired(now),
                State::Disconnected => {}
            }
        }
    }

    /// When [`Station::expire`] must be called next.
    pub fn deadline(&self) -> Option<Stamp> {
        let timer = match self.timer {
            Timer::Until(until) => Some(until),
            Timer::Off | Timer::AfterOutput(_) => None,
        };
        self.text_until.into_iter().chain(timer).min()
    }

    /// Bytes to send.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The first `len` bytes of [`Station::output`] were sent, the last of them at `now`: the time-out of an answer begins.
    pub fn sent(&mut self, now: Stamp, len: usize) {
        self.output.drain(..len.min(self.output.len()));
        if let (Timer::AfterOutput(wait), true) = (self.timer, self.output.is_empty()) {
            self.timer = Timer::Until(now + wait);
        }
    }

    pub fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Whether nothing is under way or waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.state == State::Control && self.queue.head().is_none() && self.output.is_empty()
    }

    /// Sends DLE EOT. Messages not delivered are reported.
    pub fn disconnect(&mut self) {
        if self.state != State::Disconnected {
            self.send_control(Control::Disconnect);
            self.disconnected();
        }
    }

    fn received(&mut self, now: Stamp, unit: Unit) {
        if unit == Unit::Control(Control::Disconnect) {
            return self.disconnected();
        }
        match (&self.state, unit) {
            (State::Control, Unit::Control(Control::Enq)) => self.accept_bid(now),
            (State::Control, _) => self.answers_due = self.answers_due.saturating_sub(1),
            (State::Bidding(_), Unit::Control(control)) => self.bid_answered(now, control),
            (State::Sending(_), Unit::Control(control)) => self.answered(now, control),
            (State::Sending(_), unit) => self.answered_with_text(now, unit),
            (State::Receiving(_), unit) => self.received_as_receiver(now, unit),
            (State::Bidding(_) | State::Disconnected, _) => {}
        }
    }

    /// Begins what can begin: a bid, or the next block of a transmission that waits for text.
    fn proceed(&mut self, now: Stamp) {
        match self.state {
            State::Control if self.timer == Timer::Off && self.queue.head().is_some() => self.bid(now),
            State::Sending(_) => self.text_offered(now),
            _ => {}
        }
    }

    /// Returns to control mode. No bid is sent during `pause`.
    fn return_to_control(&mut self, now: Stamp, pause: Duration) {
        self.state = State::Control;
        self.timer = Timer::Off;
        if pause.is_zero() {
            self.proceed(now);
        } else {
            self.wait(now, pause);
        }
    }

    fn disconnected(&mut self) {
        match &self.state {
            State::Sending(sending) if sending.is_last_in_doubt() => {
                self.outcome(Event::InDoubt(Reason::Disconnected));
            }
            State::Receiving(receiving) if receiving.last == Last::Part => self.events.push_back(Event::Cut),
            _ => {}
        }
        while self.outcome(Event::NotDelivered(Reason::Disconnected)) {}
        self.events.push_back(Event::Disconnected);
        self.state = State::Disconnected;
        self.timer = Timer::Off;
        self.text_until = None;
        self.receiver.abandon();
    }

    /// Removes the first message and reports what became of it, if there is one.
    fn outcome(&mut self, event: Event) -> bool {
        let removed = self.queue.remove();
        if removed {
            self.events.push_back(event);
        }
        removed
    }

    fn send_control(&mut self, control: Control) {
        if self.output.len() < OUTPUT_LIMIT {
            self.format.control(control, &mut self.output);
        }
    }

    /// Starts the timer when all output was sent.
    fn wait(&mut self, now: Stamp, time: Duration) {
        self.timer = if self.output.is_empty() { Timer::Until(now + time) } else { Timer::AfterOutput(time) };
    }

    fn has_room(&self) -> bool {
        self.room && self.events.len() < EVENTS_LIMIT
    }
}
