//! Text in answer to text.

use super::*;

/// `AB` as a message of one block.
const WHOLE_AB: &[u8] = &[0x02, 0xc1, 0xc2, 0x03];

fn conversational(role: Role) -> Script {
    Script::with(role, |profile| profile.conversational = true)
}

/// A secondary on a line that has answered `C` with `D`.
fn replying() -> Script {
    let mut script = conversational(Role::Secondary);
    script.station.format.framing = Framing::Line;
    script.station.receiver = Receiver::new(script.station.format, 100);
    script.offers(&[0xc4], true).sends(ENQ).gets(ENQ).sends(ACK0).gets(C).sends(D).tells(&[text(&[0xc3], true)])
}

/// A primary on a line that has sent `C` and awaits an answer.
fn asking() -> Script {
    let mut script = conversational(Role::Primary);
    script.station.format.framing = Framing::Line;
    script.station.receiver = Receiver::new(script.station.format, 100);
    script.offers(&[0xc3], true).sends(ENQ).gets(ACK0).sends(C)
}

/// The same once it has got `D` as reply.
fn replied() -> Script {
    asking().gets(D).sends(ACK1).tells(&[Event::Delivered, text(&[0xc4], true)])
}

fn damaged(script: &Script, unit: &[u8]) -> Vec<u8> {
    let mut bad = script.framed(unit);
    bad[4] ^= 1;
    bad
}

#[test]
fn a_message_may_take_the_place_of_the_ack_and_ends_the_transmission() {
    replying()
        .offers(&[0xc3], true)
        .gets(ACK1)
        .sends(EOT)
        .tells(&[Event::Delivered])
        .counts(|_| ())
        .after(200)
        .sends(ENQ);
    replied().offers(&[0xc3], true).sends(&[]).gets(EOT).sends(ENQ).counts(|_| ());
}

#[test]
fn only_a_whole_message_of_one_block_replies_and_only_to_the_end_of_a_message() {
    let bid = || conversational(Role::Secondary).gets(ENQ).sends(ACK0);
    bid().gets(C).sends(ACK1).offers(&[0xc4], true).gets(ENQ).sends(ACK1); // The answer to ENQ is the same.
    bid().offers(&[0xc1, 0xc2], true).gets(AB).sends(RVI).gets(C).sends(WHOLE_AB);
    bid().offers(&[0xc1, 0xc2, 0xc3], true).gets(AB).sends(RVI).gets(C).sends(ACK0);
    bid().offers(&[0xc1], false).gets(AB).sends(RVI).gets(C).sends(ACK0);
    Script::receiving().offers(&[0xc4], true).gets(C).sends(RVI);
}

#[test]
fn a_lost_reply_is_asked_for_and_sent_again() {
    asking().after(3000).sends(ENQ).gets(D).sends(ACK1).tells(&[Event::Delivered, text(&[0xc4], true)]);
    replying().gets(ENQ).sends(D).gets(ACK1).sends(EOT).tells(&[Event::Delivered]);
    replying().gets(C).sends(D).tells(&[]); // A peer that sends its block again has not got the reply.
}

#[test]
fn a_damaged_reply_is_rejected_and_sent_again() {
    let mut script = asking();
    let bad = damaged(&script, D);
    script.station.receive(script.now, &bad);
    script
        .sends(NAK)
        .after(3000)
        .sends(ENQ)
        .gets(D)
        .sends(ACK1)
        .tells(&[Event::Delivered, text(&[0xc4], true)])
        .counts(|counters| (counters.invalid_input, counters.timeouts, counters.bad_responses) = (1, 1, 1));
    replying().gets(NAK).sends(D).gets(ACK1).sends(EOT).tells(&[Event::Delivered]);
}

/// It cannot be the next block, and its check does not matter: only one block is a reply.
#[test]
fn a_reply_that_comes_again_is_acknowledged_and_dropped() {
    replying().after(3100).sends(D).gets(ACK1).sends(EOT).tells(&[Event::Delivered]);
    let mut script = replied().gets(D).sends(ACK1);
    let bad = damaged(&script, D);
    script.station.receive(script.now, &bad);
    script
        .sends(ACK1)
        .tells(&[])
        .gets(ENQ) // A bid: EOT was lost.
        .sends(ACK1)
        .gets(EOT)
        .gets(ENQ)
        .sends(ACK0);
}

#[test]
fn a_reply_may_be_answered_with_wack_and_then_is_asked_about_with_enq() {
    asking()
        .room(false)
        .gets(D)
        .after(100)
        .sends(WACK)
        .gets(D)
        .after(100)
        .sends(WACK)
        .room(true)
        .gets(ENQ)
        .sends(ACK1)
        .tells(&[Event::Delivered, text(&[0xc4], true)]);
    replying()
        .gets(WACK)
        .after(1000)
        .sends(ENQ)
        .after(3000)
        .sends(ENQ)
        .gets(ACK1)
        .sends(EOT)
        .tells(&[Event::Delivered]);
}

/// How an owner composes its reply.
#[test]
fn a_message_offered_before_there_is_room_is_a_reply() {
    let full = || conversational(Role::Secondary).gets(ENQ).sends(ACK0).room(false).gets(C).sends(&[]);
    full().offers(&[0xc4], true).sends(&[]).room(true).sends(D).gets(ACK1).sends(EOT);
    full().after(100).sends(WACK).offers(&[0xc4], true).room(true).sends(&[]).gets(ENQ).sends(D).gets(ENQ).sends(D);
}

#[test]
fn a_reply_is_not_answered_with_text() {
    let answered = replying().gets(C).sends(D).gets(WACK).gets(C).sends(&[]).tells(&[]);
    answered.after(1000).sends(ENQ).gets(ACK1).sends(EOT).tells(&[Event::Delivered]);
    replied().offers(&[0xc3], true).gets(D).sends(ACK1);
}

#[test]
fn a_reply_given_up_is_replaced_by_the_ack() {
    let mut script = replying();
    for _ in 0..2 {
        script = script.gets(ENQ).sends(D);
    }
    script.gets(ENQ).sends(ACK1).tells(&[Event::InDoubt(Reason::NoReply)]).gets(ENQ).sends(ACK1).gets(EOT);
    let mut script = replying();
    for _ in 0..2 {
        script = script.gets(NAK).sends(D);
    }
    script.gets(NAK).sends(ACK1).tells(&[Event::NotDelivered(Reason::Rejected)]).gets(C).sends(ACK0);
    let mut script = replying();
    for _ in 0..2 {
        script = script.after(3100).sends(D);
    }
    script
        .after(3100)
        .sends(&[]) // Nothing asks for it.
        .tells(&[Event::InDoubt(Reason::NoReply)])
        .gets(ENQ)
        .sends(ACK1)
        .counts(|counters| (counters.timeouts, counters.bad_responses, counters.retries_exceeded) = (3, 3, 1));
}

#[test]
fn replies_that_remain_bad_leave_doubt() {
    let mut script = asking();
    let bad = damaged(&script, D);
    for _ in 0..3 {
        script.station.receive(script.now, &bad);
        script = script.sends(NAK);
    }
    script.station.receive(script.now, &bad);
    script.sends(EOT).tells(&[Event::InDoubt(Reason::NoReply)]);
}

#[test]
fn a_peer_that_leaves_in_answer_to_a_reply_leaves_doubt() {
    replying().gets(EOT).sends(&[]).tells(&[Event::InDoubt(Reason::Refused)]);
    replying().gets(DISCONNECT).tells(&[Event::InDoubt(Reason::Disconnected), Event::Disconnected]);
}

#[test]
fn text_is_no_answer_without_the_setting_or_within_a_message() {
    Script::sending(&[&[0xc3]]).sends(C).gets(D).sends(&[]).tells(&[]).counts(|counters| counters.bad_responses = 1);
    let within = conversational(Role::Primary).offers(&[0xc1, 0xc2, 0xc3], true).sends(ENQ).gets(ACK0).sends(AB);
    within.gets(D).sends(&[]).tells(&[]).counts(|counters| counters.bad_responses = 1);
    asking().gets(AB).sends(&[]).tells(&[]); // It is not the whole reply.
}
