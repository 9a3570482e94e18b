//! A station that bids and sends.

use super::*;

#[test]
fn a_message_is_cut_into_blocks_with_alternating_answers() {
    Script::sending(&[&[0xc1, 0xc2, 0xc3], &[0xc4]])
        .plays(">AB <ACK1 >C <ACK0")
        .tells(&[Event::Delivered])
        .plays(">D <ACK1 >EOT")
        .tells(&[Event::Delivered])
        .counts(|_| ());
    Script::receiving()
        .plays("<AB >ACK1 <C >ACK0 <EOT >nothing")
        .tells(&[text(&[0xc1, 0xc2], false), text(&[0xc3], true)])
        .counts(|_| ());
}

#[test]
fn a_lost_answer_is_asked_for_and_a_lost_block_is_sent_again() {
    Script::sending_on_a_line(&[&[0xc1, 0xc2, 0xc3]])
        .plays(">AB 3000ms >ENQ <ACK1 >C 3000ms >ENQ <ACK1 >C <ACK0")
        .tells(&[Event::Delivered])
        .counts(|counters| (counters.timeouts, counters.bad_responses) = (2, 3));
    Script::receiving().plays("<C >ACK1 <ENQ >ACK1").tells(&[text(&[0xc3], true)]);
}

/// Two ENQs have their answers after the next block was sent.
#[test]
fn late_answers_over_tcp_are_ignored() {
    Script::sending(&[&[0xc1, 0xc2, 0xc3]])
        .plays(">AB 3000ms >ENQ 3000ms >ENQ <ACK1 >C <ACK1 <ACK1 >nothing <ACK0 >EOT")
        .tells(&[Event::Delivered])
        .counts(|counters| (counters.timeouts, counters.bad_responses) = (2, 4));
}

#[test]
fn silence_ends_with_doubt_and_then_nothing_is_bid_until_the_peer_waits_no_longer() {
    Script::sending(&[&[0xc3], &[0xc4]])
        .plays(">C 3000ms >ENQ 3000ms >ENQ 3000ms >ENQ 3000ms >EOT")
        .tells(&[Event::InDoubt(Reason::NoReply)])
        .counts(|counters| (counters.timeouts, counters.bad_responses, counters.retries_exceeded) = (4, 4, 1))
        .plays("23000ms >ENQ");
}

#[test]
fn a_rejected_block_is_sent_again_up_to_the_limit() {
    let mut script = Script::sending(&[&[0xc3]]);
    for _ in 0..3 {
        script = script.plays(">C <NAK");
    }
    script
        .plays(">C <NAK >EOT")
        .tells(&[Event::NotDelivered(Reason::Rejected)])
        .counts(|counters| (counters.rejected_output, counters.retries_exceeded) = (4, 1));
}

#[test]
fn wacks_are_waited_for_up_to_their_limit() {
    let mut script = Script::with(Role::Primary, |profile| profile.wack_limit = 5).offers(&[0xc3], true);
    script = script.plays(">ENQ <WACK 1000ms >ENQ <ACK0 >C <WACK");
    for _ in 0..4 {
        script = script.plays("1000ms >ENQ <WACK");
    }
    let more = script.plays("1000ms >ENQ");
    Script { station: more.station.clone(), now: more.now }.plays("<ACK1 >EOT").tells(&[Event::Delivered]);
    more.plays("<WACK >EOT")
        .tells(&[Event::InDoubt(Reason::Busy)])
        .counts(|counters| (counters.wacks_received, counters.retries_exceeded) = (7, 1));
}

#[test]
fn if_both_bid_the_primary_insists_and_the_secondary_yields() {
    Script::new(Role::Primary).offers(&[0xc3], true).plays(">ENQ <ENQ >nothing 2700ms >ENQ <ACK0 >C");
    Script::new(Role::Secondary).offers(&[0xc3], true).plays(">ENQ <ENQ >ACK0 <EOT >ENQ 3000ms >ENQ");
    Script::with(Role::Primary, |profile| profile.yields_always = true).offers(&[0xc3], true).plays(">ENQ <ENQ >ACK0");
}

#[test]
fn bids_fail_at_their_limit() {
    Script::with(Role::Secondary, |profile| profile.bid_limit = 2)
        .offers(&[0xc3], true)
        .plays(">ENQ <NAK 3000ms >ENQ 3000ms")
        .tells(&[Event::NotDelivered(Reason::BidFailed)])
        .counts(|counters| (counters.rejected_output, counters.timeouts, counters.bids_failed) = (1, 1, 1));
}

#[test]
fn a_bid_answered_with_ack1_repeats_the_lost_eot() {
    Script::new(Role::Primary).offers(&[0xc3], true).plays(">ENQ <ACK1 >EOT+ENQ <ACK0 >C");
}

#[test]
fn rvi_is_sent_once_and_ends_a_transmission_after_the_message() {
    Script::receiving().offers(&[0xc3], true).plays("<AB >RVI <ENQ >ACK1 <D >ACK0 <EOT >ENQ");
    Script::sending_on_a_line(&[&[0xc1, 0xc2, 0xc3], &[0xc4]])
        .plays(">AB <RVI >C 3000ms >ENQ <RVI") // The same again: the block was lost.
        .plays(">C <ACK0 >EOT")
        .tells(&[Event::Delivered])
        .plays("3000ms >ENQ");
}

#[test]
fn ttd_holds_the_line_within_a_message() {
    let held = Script::with(Role::Primary, |profile| profile.ttd_limit = 2)
        .offers(&[0xc1, 0xc2], false)
        .plays(">ENQ <ACK0 >AB <ACK1 2000ms >TTD <NAK");
    let other = Script { station: held.station.clone(), now: held.now };
    other.offers(&[0xc3], true).plays(">C <ACK0").tells(&[Event::Delivered]).counts(|_| ());
    held.plays("2000ms >TTD <NAK 2000ms >EOT")
        .tells(&[Event::NotDelivered(Reason::Unfinished)])
        .offers(&[0xc3], true) // The rest is dropped.
        .offers(&[0xc4], true)
        .plays("<ENQ >ACK0 <EOT >ENQ <ACK0 >D");
    Script::receiving().plays("<TTD >NAK <C >ACK1").counts(|_| ());
}

#[test]
fn a_peer_that_leaves_or_bids_in_place_of_an_answer_leaves_doubt() {
    Script::sending(&[&[0xc3]]).plays(">C <EOT >nothing").tells(&[Event::InDoubt(Reason::Refused)]);
    Script::sending(&[&[0xc1, 0xc2, 0xc3]])
        .plays(">AB <ENQ >ACK0")
        .tells(&[Event::NotDelivered(Reason::Refused)])
        .plays("<C >ACK1");
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
    script.offers(&[0xc1; 3], true).plays(">ENQ");
}
