//! Each rule of the procedure, against a scripted peer.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::wire::bisync::AfterBlockWait;

const ENQ: &[u8] = &[0x2d];
const EOT: &[u8] = &[0x37];
const NAK: &[u8] = &[0x3d];
const ACK0: &[u8] = &[0x10, 0x70];
const ACK1: &[u8] = &[0x10, 0x61];
const WACK: &[u8] = &[0x10, 0x6b];
const RVI: &[u8] = &[0x10, 0x7c];
const TTD: &[u8] = &[0x02, 0x2d];
const DISCONNECT: &[u8] = &[0x10, 0x37];
/// `AB`, `C` and `D` as blocks: ETB and ETX.
const AB: &[u8] = &[0x02, 0xc1, 0xc2, 0x26];
const C: &[u8] = &[0x02, 0xc3, 0x03];
const D: &[u8] = &[0x02, 0xc4, 0x03];

/// A station, the clock, and the peer's script.
struct Script {
    station: Station,
    now: Stamp,
}

impl Script {
    fn with(role: Role, change: impl FnOnce(&mut Profile)) -> Self {
        let mut profile = Profile { block_size: 2, ..Profile::default() };
        change(&mut profile);
        let station = Station::new(profile, role, Code::Ebcdic, Framing::Hercules).unwrap();
        Self { station, now: Stamp::from_nanos(1 << 40) }
    }

    fn new(role: Role) -> Self {
        Self::with(role, |_| ())
    }

    /// A primary whose bid for these messages was accepted.
    fn sending(messages: &[&[u8]]) -> Self {
        let mut script = Self::new(Role::Primary);
        for message in messages {
            script.station.offer(script.now, message, true).unwrap();
        }
        script.sends(ENQ).gets(ACK0)
    }

    /// The same on a line, where units may be lost.
    fn sending_on_a_line(messages: &[&[u8]]) -> Self {
        let mut script = Self::new(Role::Primary);
        script.station.format.framing = Framing::Line;
        script.station.receiver = Receiver::new(script.station.format, 100);
        for message in messages {
            script.station.offer(script.now, message, true).unwrap();
        }
        script.sends(ENQ).gets(ACK0)
    }

    /// A unit as it is on this line.
    fn framed(&self, unit: &[u8]) -> Vec<u8> {
        if !self.station.format.is_line() || unit.is_empty() {
            return unit.to_vec();
        }
        let mut check = crate::wire::bisync::check::Check::default();
        for byte in unit.iter().skip(1) {
            check.add(*byte);
        }
        let is_block = unit[0] == 0x02 && unit != TTD;
        let check = if is_block { check.crc.to_le_bytes().to_vec() } else { vec![] };
        [&[0xaa, 0x32, 0x32], unit, &check, &[0xff]].concat()
    }

    /// A secondary that has accepted a bid.
    fn receiving() -> Self {
        Self::new(Role::Secondary).gets(ENQ).sends(ACK0)
    }

    #[track_caller]
    fn sends(mut self, expected: &[u8]) -> Self {
        let expected = self.framed(expected);
        assert_eq!(self.station.output(), expected);
        self.station.sent(self.now, expected.len());
        self
    }

    fn gets(mut self, bytes: &[u8]) -> Self {
        let bytes = self.framed(bytes);
        self.station.receive(self.now, &bytes);
        self
    }

    #[track_caller]
    fn after(mut self, milliseconds: u64) -> Self {
        let due = self.station.deadline().expect("a timer runs");
        assert_eq!(due.since(self.now), Duration::from_millis(milliseconds));
        self.now = due;
        self.station.expire(due);
        self
    }

    fn room(mut self, room: bool) -> Self {
        self.station.set_room(self.now, room);
        self
    }

    fn offers(mut self, text: &[u8], last: bool) -> Self {
        self.station.offer(self.now, text, last).unwrap();
        self
    }

    #[track_caller]
    fn tells(mut self, expected: &[Event]) -> Self {
        let events: Vec<_> = std::iter::from_fn(|| self.station.take_event()).collect();
        assert_eq!(events, expected);
        self
    }

    #[track_caller]
    fn counts(self, count: impl FnOnce(&mut Counters)) -> Self {
        let mut expected = Counters::default();
        count(&mut expected);
        assert_eq!(self.station.counters(), expected);
        self
    }
}

fn text(text: &[u8], last: bool) -> Event {
    Event::Text { text: text.to_vec(), records: vec![], last }
}

#[test]
fn a_message_is_cut_into_blocks_with_alternating_answers() {
    Script::sending(&[&[0xc1, 0xc2, 0xc3], &[0xc4]])
        .sends(AB)
        .gets(ACK1)
        .sends(C)
        .gets(ACK0)
        .tells(&[Event::Delivered])
        .sends(D)
        .gets(ACK1)
        .sends(EOT)
        .tells(&[Event::Delivered])
        .counts(|_| ());
    Script::receiving()
        .gets(AB)
        .sends(ACK1)
        .gets(C)
        .sends(ACK0)
        .gets(EOT)
        .sends(&[])
        .tells(&[text(&[0xc1, 0xc2], false), text(&[0xc3], true)])
        .counts(|_| ());
}

#[test]
fn a_lost_answer_is_asked_for_and_a_lost_block_is_sent_again() {
    Script::sending_on_a_line(&[&[0xc1, 0xc2, 0xc3]])
        .sends(AB)
        .after(3000)
        .sends(ENQ)
        .gets(ACK1)
        .sends(C)
        .after(3000)
        .sends(ENQ)
        .gets(ACK1)
        .sends(C)
        .gets(ACK0)
        .tells(&[Event::Delivered])
        .counts(|counters| (counters.timeouts, counters.bad_responses) = (2, 3));
    Script::receiving().gets(C).sends(ACK1).gets(ENQ).sends(ACK1).tells(&[text(&[0xc3], true)]);
}

/// Two ENQs have their answers after the next block was sent.
#[test]
fn late_answers_over_tcp_are_ignored() {
    Script::sending(&[&[0xc1, 0xc2, 0xc3]])
        .sends(AB)
        .after(3000)
        .sends(ENQ)
        .after(3000)
        .sends(ENQ)
        .gets(ACK1)
        .sends(C)
        .gets(ACK1)
        .gets(ACK1)
        .sends(&[])
        .gets(ACK0)
        .sends(EOT)
        .tells(&[Event::Delivered])
        .counts(|counters| (counters.timeouts, counters.bad_responses) = (2, 4));
}

#[test]
fn silence_ends_with_doubt_and_then_nothing_is_bid_until_the_peer_waits_no_longer() {
    Script::sending(&[&[0xc3], &[0xc4]])
        .sends(C)
        .after(3000)
        .sends(ENQ)
        .after(3000)
        .sends(ENQ)
        .after(3000)
        .sends(ENQ)
        .after(3000)
        .sends(EOT)
        .tells(&[Event::InDoubt(Reason::NoReply)])
        .counts(|counters| (counters.timeouts, counters.bad_responses, counters.retries_exceeded) = (4, 4, 1))
        .after(23_000)
        .sends(ENQ);
}

#[test]
fn a_rejected_block_is_sent_again_up_to_the_limit() {
    let mut script = Script::sending(&[&[0xc3]]);
    for _ in 0..3 {
        script = script.sends(C).gets(NAK);
    }
    script
        .sends(C)
        .gets(NAK)
        .sends(EOT)
        .tells(&[Event::NotDelivered(Reason::Rejected)])
        .counts(|counters| (counters.rejected_output, counters.retries_exceeded) = (4, 1));
}

#[test]
fn wacks_are_waited_for_up_to_their_limit() {
    let mut script = Script::with(Role::Primary, |profile| profile.wack_limit = 5).offers(&[0xc3], true);
    script = script.sends(ENQ).gets(WACK).after(1000).sends(ENQ).gets(ACK0).sends(C).gets(WACK);
    for _ in 0..4 {
        script = script.after(1000).sends(ENQ).gets(WACK);
    }
    let more = script.after(1000).sends(ENQ);
    Script { station: more.station.clone(), now: more.now }.gets(ACK1).sends(EOT).tells(&[Event::Delivered]);
    more.gets(WACK)
        .sends(EOT)
        .tells(&[Event::InDoubt(Reason::Busy)])
        .counts(|counters| (counters.wacks_received, counters.retries_exceeded) = (7, 1));
}

#[test]
fn without_room_a_good_block_is_kept_and_answered_with_wack() {
    Script::receiving()
        .room(false)
        .gets(AB)
        .sends(&[])
        .after(100)
        .sends(WACK)
        .gets(AB) // A repeated one: the answer was not sent.
        .after(100)
        .sends(WACK)
        .gets(ENQ)
        .room(true)
        .sends(ACK1)
        .tells(&[text(&[0xc1, 0xc2], false)])
        .counts(|counters| counters.wacks_sent = 2);
}

#[test]
fn events_that_are_not_taken_fill_the_room() {
    let mut script = Script::receiving();
    for odd in (0..EVENTS_LIMIT).map(|block| block % 2 == 0) {
        script = script.gets(AB);
        if script.station.events.len() < EVENTS_LIMIT {
            script = script.sends(if odd { ACK1 } else { ACK0 });
        }
    }
    script = script.after(100).sends(WACK);
    script.station.take_event().unwrap();
    script.gets(ENQ).sends(ACK0);
}

#[test]
fn a_bad_block_check_is_answered_with_nak() {
    let mut script = Script::receiving();
    script.station.format.framing = Framing::Line;
    script.station.receiver = Receiver::new(script.station.format, 100);
    let mut bad = script.framed(C);
    bad[4] ^= 1;
    script.station.receive(script.now, &bad);
    script
        .sends(NAK)
        .gets(ENQ) // NAK was lost. It is not repeated: it has no number.
        .sends(ACK0)
        .gets(C)
        .sends(ACK1)
        .tells(&[text(&[0xc3], true)])
        .counts(|counters| counters.invalid_input = 1);
}

#[test]
fn a_peer_that_does_not_read_fills_no_memory() {
    let script = Script::receiving().gets(&ENQ.repeat(100_000));
    assert!(script.station.output().len() < OUTPUT_LIMIT + 2);
}

#[test]
fn if_both_bid_the_primary_insists_and_the_secondary_yields() {
    Script::new(Role::Primary)
        .offers(&[0xc3], true)
        .sends(ENQ)
        .gets(ENQ)
        .sends(&[])
        .after(2700)
        .sends(ENQ)
        .gets(ACK0)
        .sends(C);
    Script::new(Role::Secondary)
        .offers(&[0xc3], true)
        .sends(ENQ)
        .gets(ENQ)
        .sends(ACK0)
        .gets(EOT)
        .sends(ENQ)
        .after(3000)
        .sends(ENQ);
    Script::with(Role::Primary, |profile| profile.yields_always = true)
        .offers(&[0xc3], true)
        .sends(ENQ)
        .gets(ENQ)
        .sends(ACK0);
}

#[test]
fn bids_fail_at_their_limit() {
    Script::with(Role::Secondary, |profile| profile.bid_limit = 2)
        .offers(&[0xc3], true)
        .sends(ENQ)
        .gets(NAK)
        .after(3000)
        .sends(ENQ)
        .after(3000)
        .tells(&[Event::NotDelivered(Reason::BidFailed)])
        .counts(|counters| (counters.rejected_output, counters.timeouts, counters.bids_failed) = (1, 1, 1));
}

#[test]
fn a_bid_answered_with_ack1_repeats_the_lost_eot() {
    Script::new(Role::Primary)
        .offers(&[0xc3], true)
        .sends(ENQ)
        .gets(ACK1)
        .sends(&[EOT, ENQ].concat())
        .gets(ACK0)
        .sends(C);
}

#[test]
fn rvi_is_sent_once_and_ends_a_transmission_after_the_message() {
    Script::receiving()
        .offers(&[0xc3], true)
        .gets(AB)
        .sends(RVI)
        .gets(ENQ)
        .sends(ACK1)
        .gets(D)
        .sends(ACK0)
        .gets(EOT)
        .sends(ENQ);
    Script::sending_on_a_line(&[&[0xc1, 0xc2, 0xc3], &[0xc4]])
        .sends(AB)
        .gets(RVI)
        .sends(C)
        .after(3000)
        .sends(ENQ)
        .gets(RVI) // The same again: the block was lost.
        .sends(C)
        .gets(ACK0)
        .sends(EOT)
        .tells(&[Event::Delivered])
        .after(3000)
        .sends(ENQ);
}

#[test]
fn ttd_holds_the_line_within_a_message() {
    let held = Script::with(Role::Primary, |profile| profile.ttd_limit = 2)
        .offers(&[0xc1, 0xc2], false)
        .sends(ENQ)
        .gets(ACK0)
        .sends(AB)
        .gets(ACK1)
        .after(2000)
        .sends(TTD)
        .gets(NAK);
    let other = Script { station: held.station.clone(), now: held.now };
    other.offers(&[0xc3], true).sends(C).gets(ACK0).tells(&[Event::Delivered]).counts(|_| ());
    held.after(2000)
        .sends(TTD)
        .gets(NAK)
        .after(2000)
        .sends(EOT)
        .tells(&[Event::NotDelivered(Reason::Unfinished)])
        .offers(&[0xc3], true) // The rest is dropped.
        .offers(&[0xc4], true)
        .gets(ENQ)
        .sends(ACK0)
        .gets(EOT)
        .sends(ENQ)
        .gets(ACK0)
        .sends(D);
    Script::receiving().gets(TTD).sends(NAK).gets(C).sends(ACK1).counts(|_| ());
}

#[test]
fn a_block_that_is_broken_off_is_refused_and_a_silent_one_is_dropped() {
    Script::receiving()
        .gets(&[0x02, 0xc1])
        .gets(ENQ)
        .sends(NAK)
        .gets(&[0x02, 0xc1])
        .after(2000)
        .gets(ENQ)
        .sends(ACK0)
        .gets(&[0x02, 0xc1, 0x37]) // The sender gave up, and its block has no end.
        .sends(&[])
        .tells(&[])
        .counts(|counters| counters.invalid_input = 1);
}

#[test]
fn after_the_block_wait_the_line_is_free_or_disconnected() {
    Script::receiving()
        .gets(AB)
        .sends(ACK1)
        .after(20_000)
        .sends(&[])
        .tells(&[text(&[0xc1, 0xc2], false), Event::Cut])
        .offers(&[0xc3], true)
        .sends(ENQ)
        .counts(|counters| counters.timeouts = 1);
    Script::with(Role::Secondary, |profile| profile.after_block_wait = AfterBlockWait::Disconnect)
        .gets(ENQ)
        .sends(ACK0)
        .after(20_000)
        .sends(DISCONNECT)
        .tells(&[Event::Disconnected]);
}

#[test]
fn a_disconnection_settles_every_message() {
    let mut ended = Script::sending(&[&[0xc3], &[0xc4]]).sends(C).gets(DISCONNECT).tells(&[
        Event::InDoubt(Reason::Disconnected),
        Event::NotDelivered(Reason::Disconnected),
        Event::Disconnected,
    ]);
    assert_eq!(ended.station.offer(ended.now, b"x", true), Err(OfferError::Disconnected));
    assert_eq!(ended.station.deadline(), None);
    let mut ended = Script::receiving().gets(AB).sends(ACK1);
    ended.station.disconnect();
    ended.sends(DISCONNECT).tells(&[text(&[0xc1, 0xc2], false), Event::Cut, Event::Disconnected]).gets(ENQ).sends(&[]);
}

#[test]
fn a_peer_that_leaves_or_bids_in_place_of_an_answer_leaves_doubt() {
    Script::sending(&[&[0xc3]]).sends(C).gets(EOT).sends(&[]).tells(&[Event::InDoubt(Reason::Refused)]);
    Script::sending(&[&[0xc1, 0xc2, 0xc3]])
        .sends(AB)
        .gets(ENQ)
        .sends(ACK0)
        .tells(&[Event::NotDelivered(Reason::Refused)])
        .gets(C)
        .sends(ACK1);
}

#[test]
fn an_idle_peer_of_rje80_is_ignored() {
    let idle = [0x10, 0x10, 0x10, 0x70];
    Script::new(Role::Primary).gets(&idle).offers(&[0xc3], true).sends(ENQ).gets(&idle).sends(&[]).gets(ACK0).sends(C);
    Script::new(Role::Secondary).gets(&[0x32, 0x32, 0x32]).gets(ENQ).sends(ACK0);
}

#[test]
fn text_that_cannot_be_sent_is_refused() {
    let mut script = Script::with(Role::Primary, |profile| {
        profile.transparency = Transparency::Never;
        profile.queue_limit = 4;
    });
    let control = OfferError::ControlCharacter { byte: 0x26, at: 1 };
    assert_eq!(script.station.offer(script.now, &[0xc1, 0x26], true), Err(control));
    assert_eq!(script.station.offer(script.now, &[0xc1; 4], true), Err(OfferError::Full));
    assert!(script.station.is_idle());
    script.offers(&[0xc1; 3], true).sends(ENQ);
}

/// What an owner and a peer can do.
#[derive(Debug, Clone)]
enum Step {
    Receive(Vec<u8>),
    Offer(Vec<u8>, bool),
    Expire,
    Sent(usize),
    Room(bool),
    TakeEvent,
}

fn step() -> impl Strategy<Value = Step> {
    let units = [ENQ, EOT, NAK, ACK0, ACK1, WACK, RVI, TTD, AB, C].map(<[u8]>::to_vec).to_vec();
    prop_oneof![
        6 => proptest::sample::select(units).prop_map(Step::Receive),
        1 => proptest::collection::vec(any::<u8>(), 0..10).prop_map(Step::Receive),
        2 => (proptest::collection::vec(any::<u8>(), 0..5), any::<bool>()).prop_map(|(text, last)| Step::Offer(text, last)),
        3 => Just(Step::Expire),
        4 => (0_usize..20).prop_map(Step::Sent),
        1 => any::<bool>().prop_map(Step::Room),
        2 => Just(Step::TakeEvent),
    ]
}

proptest! {
    /// No order of these panics or leaves a station that waits for nothing, and each message has one outcome.
    #[test]
    fn any_peer_is_survived(steps in proptest::collection::vec(step(), 0..200), primary in any::<bool>()) {
        let Script { mut station, mut now } = Script::new(if primary { Role::Primary } else { Role::Secondary });
        let (mut offered, mut settled) = (0, 0);
        for step in steps.into_iter().chain([Step::Offer(vec![], true)]) {
            match step {
                Step::Receive(bytes) => station.receive(now, &bytes),
                Step::Offer(text, last) => offered += usize::from(station.offer(now, &text, last).is_ok() && last),
                Step::Expire => now = station.deadline().unwrap_or(now),
                Step::Sent(len) => station.sent(now, len),
                Step::Room(room) => station.set_room(now, room),
                Step::TakeEvent => settled += usize::from(is_outcome(station.take_event().as_ref())),
            }
            station.expire(now);
            let idle = matches!(station.state, State::Control | State::Disconnected);
            prop_assert!(idle || station.timer != Timer::Off, "{:?}", station);
        }
        station.disconnect();
        while let Some(event) = station.take_event() {
            settled += usize::from(is_outcome(Some(&event)));
        }
        prop_assert_eq!(settled, offered);
    }

    #[test]
    fn pieces_of_any_size_do_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
        let mut whole = Script::receiving().gets(&bytes).station;
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        let mut cut = Script::receiving().gets(head).gets(tail).station;
        prop_assert_eq!(whole.output(), cut.output());
        prop_assert_eq!(whole.take_event(), cut.take_event());
    }
}

fn is_outcome(event: Option<&Event>) -> bool {
    matches!(event, Some(Event::Delivered | Event::NotDelivered(_) | Event::InDoubt(_)))
}
