//! Text in answer to text.

use super::*;

fn conversational(role: Role) -> Script {
    Script::with(role, |profile| profile.conversational = true)
}

/// A secondary on a line that has answered `C` with `D`.
fn replying() -> Script {
    let script = conversational(Role::Secondary).on_a_line();
    script.offers(&[0xc4], true).plays(">ENQ <ENQ >ACK0 <C >D").tells(&[text(&[0xc3], true)])
}

/// A primary on a line that has sent `C` and awaits an answer.
fn asking() -> Script {
    let script = conversational(Role::Primary).on_a_line();
    script.offers(&[0xc3], true).plays(">ENQ <ACK0 >C")
}

/// The same once it has got `D` as reply.
fn replied() -> Script {
    asking().plays("<D >ACK1").tells(&[Event::Delivered, text(&[0xc4], true)])
}

#[test]
fn a_message_may_take_the_place_of_the_ack_and_ends_the_transmission() {
    replying().offers(&[0xc3], true).plays("<ACK1 >EOT").tells(&[Event::Delivered]).counts(|_| ()).plays("200ms >ENQ");
    replied().offers(&[0xc3], true).plays(">nothing <EOT >ENQ").counts(|_| ());
}

#[test]
fn only_a_whole_message_of_one_block_replies_and_only_to_the_end_of_a_message() {
    let bid = || conversational(Role::Secondary).plays("<ENQ >ACK0");
    bid().plays("<C >ACK1").offers(&[0xc4], true).plays("<ENQ >ACK1"); // The answer to ENQ is the same.
    bid().offers(&[0xc1, 0xc2], true).plays("<AB >RVI <C >WHOLE_AB");
    bid().offers(&[0xc1, 0xc2, 0xc3], true).plays("<AB >RVI <C >ACK0");
    bid().offers(&[0xc1], false).plays("<AB >RVI <C >ACK0");
    Script::receiving().offers(&[0xc4], true).plays("<C >RVI");
}

#[test]
fn a_lost_reply_is_asked_for_and_sent_again() {
    asking().plays("3000ms >ENQ <D >ACK1").tells(&[Event::Delivered, text(&[0xc4], true)]);
    replying().plays("<ENQ >D <ACK1 >EOT").tells(&[Event::Delivered]);
    replying().plays("<C >D").tells(&[]); // A peer that sends its block again has not got the reply.
}

#[test]
fn a_damaged_reply_is_rejected_and_sent_again() {
    asking()
        .gets_damaged(D)
        .plays(">NAK 3000ms >ENQ <D >ACK1")
        .tells(&[Event::Delivered, text(&[0xc4], true)])
        .counts(|counters| (counters.invalid_input, counters.timeouts, counters.bad_responses) = (1, 1, 1));
    replying().plays("<NAK >D <ACK1 >EOT").tells(&[Event::Delivered]);
}

/// It cannot be the next block, and its check does not matter: only one block is a reply.
#[test]
fn a_reply_that_comes_again_is_acknowledged_and_dropped() {
    replying().plays("3100ms >D <ACK1 >EOT").tells(&[Event::Delivered]);
    let script = replied().plays("<D >ACK1");
    script
        .gets_damaged(D)
        .plays(">ACK1")
        .tells(&[])
        .plays("<ENQ") // A bid: EOT was lost.
        .plays(">ACK1 <EOT <ENQ >ACK0");
}

#[test]
fn a_reply_may_be_answered_with_wack_and_then_is_asked_about_with_enq() {
    asking()
        .plays("full <D 100ms >WACK <D 100ms >WACK room <ENQ >ACK1")
        .tells(&[Event::Delivered, text(&[0xc4], true)]);
    replying().plays("<WACK 1000ms >ENQ 3000ms >ENQ <ACK1 >EOT").tells(&[Event::Delivered]);
}

/// How an owner composes its reply.
#[test]
fn a_message_offered_before_there_is_room_is_a_reply() {
    let full = || conversational(Role::Secondary).plays("<ENQ >ACK0 full <C >nothing");
    full().offers(&[0xc4], true).plays(">nothing room >D <ACK1 >EOT");
    full().plays("100ms >WACK").offers(&[0xc4], true).plays("room >nothing <ENQ >D <ENQ >D");
}

#[test]
fn a_reply_is_not_answered_with_text() {
    let answered = replying().plays("<C >D <WACK <C >nothing").tells(&[]);
    answered.plays("1000ms >ENQ <ACK1 >EOT").tells(&[Event::Delivered]);
    replied().offers(&[0xc3], true).plays("<D >ACK1");
}

#[test]
fn a_reply_given_up_is_replaced_by_the_ack() {
    let mut script = replying();
    for _ in 0..2 {
        script = script.plays("<ENQ >D");
    }
    script.plays("<ENQ >ACK1").tells(&[Event::InDoubt(Reason::NoReply)]).plays("<ENQ >ACK1 <EOT");
    let mut script = replying();
    for _ in 0..2 {
        script = script.plays("<NAK >D");
    }
    script.plays("<NAK >ACK1").tells(&[Event::NotDelivered(Reason::Rejected)]).plays("<C >ACK0");
    let mut script = replying();
    for _ in 0..2 {
        script = script.plays("3100ms >D");
    }
    script
        .plays("3100ms >nothing") // Nothing asks for it.
        .tells(&[Event::InDoubt(Reason::NoReply)])
        .plays("<ENQ >ACK1")
        .counts(|counters| (counters.timeouts, counters.bad_responses, counters.retries_exceeded) = (3, 3, 1));
}

#[test]
fn replies_that_remain_bad_leave_doubt() {
    let mut script = asking();
    for _ in 0..3 {
        script = script.gets_damaged(D).plays(">NAK");
    }
    script.gets_damaged(D).plays(">EOT").tells(&[Event::InDoubt(Reason::NoReply)]);
}

#[test]
fn a_peer_that_leaves_in_answer_to_a_reply_leaves_doubt() {
    replying().plays("<EOT >nothing").tells(&[Event::InDoubt(Reason::Refused)]);
    replying().plays("<DISCONNECT").tells(&[Event::InDoubt(Reason::Disconnected), Event::Disconnected]);
}

#[test]
fn text_is_no_answer_without_the_setting_or_within_a_message() {
    Script::sending(&[&[0xc3]]).plays(">C <D >nothing").tells(&[]).counts(|counters| counters.bad_responses = 1);
    let within = conversational(Role::Primary).offers(&[0xc1, 0xc2, 0xc3], true).plays(">ENQ <ACK0 >AB");
    within.plays("<D >nothing").tells(&[]).counts(|counters| counters.bad_responses = 1);
    asking().plays("<AB >nothing").tells(&[]); // It is not the whole reply.
}
