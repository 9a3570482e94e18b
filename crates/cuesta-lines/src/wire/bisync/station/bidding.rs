//! A station that bids for the line.

use cuesta_record::Stamp;

use super::sending::Sending;
use super::{Control, Event, Reason, Role, State, Station};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Bidding {
    /// Bids sent.
    bids: u32,
    wacks: u32,
    /// Whether the last bid was answered with NAK or WACK, so that the timer ends a pause.
    pausing: bool,
}

impl Station {
    pub(super) fn bid(&mut self, now: Stamp) {
        self.answers_due = 0;
        self.bid_again(now, Bidding::default());
    }

    fn bid_again(&mut self, now: Stamp, bidding: Bidding) {
        if bidding.bids >= self.profile.bid_limit {
            self.counters.bids_failed += 1;
            self.outcome(Event::NotDelivered(Reason::BidFailed));
            return self.return_to_control(now, self.profile.rebid_pause);
        }
        self.state = State::Bidding(Bidding { bids: bidding.bids + 1, pausing: false, ..bidding });
        self.send_control(Control::Enq);
        self.answers_due += 1;
        let timeout = match self.role {
            Role::Primary => self.profile.primary_bid_timeout,
            Role::Secondary => self.profile.reply_timeout,
        };
        self.wait(now, timeout);
    }

    pub(super) fn bid_expired(&mut self, now: Stamp) {
        let State::Bidding(bidding) = self.state else { return };
        if !bidding.pausing {
            self.counters.timeouts += 1;
            self.forget_lost_answers();
        }
        self.bid_again(now, bidding);
    }

    pub(super) fn bid_answered(&mut self, now: Stamp, control: Control) {
        let State::Bidding(mut bidding) = self.state else { return };
        if control == Control::Enq {
            let insists = self.role == Role::Primary && !self.profile.yields_always && !bidding.pausing;
            if !insists {
                self.accept_bid(now);
            }
            return;
        }
        if bidding.pausing {
            return;
        }
        self.answers_due = self.answers_due.saturating_sub(1);
        match control {
            Control::Ack(false) => self.begin(now),
            Control::Ack(true) => {
                self.send_control(Control::Eot);
                self.bid_again(now, bidding);
            }
            Control::Nak => {
                self.counters.rejected_output += 1;
                bidding.pausing = true;
                self.state = State::Bidding(bidding);
                self.wait(now, self.profile.reply_timeout);
            }
            Control::Wack => {
                self.counters.wacks_received += 1;
                bidding.wacks += 1;
                if bidding.wacks > self.profile.wack_limit {
                    return self.give_up(now, Reason::Busy);
                }
                bidding.pausing = true;
                bidding.bids = bidding.bids.saturating_sub(1);
                self.state = State::Bidding(bidding);
                self.wait(now, self.profile.wack_pause);
            }
            _ => {}
        }
    }

    fn begin(&mut self, now: Stamp) {
        self.state = State::Sending(Sending::after_bid());
        self.send_next(now, true);
    }
}
