//! A station that bids and sends.

use super::*;

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
