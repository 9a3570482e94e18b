//! The same if both stations may reply with text, or one of them.

use std::time::Duration;

use super::*;

/// Most messages fit into one block, and may be replies.
fn conversational(setting: Setting) -> Setting {
    Setting { conversational: [true; 2], messages: [&[b"abc", b"d"], &[b"g", b"h"]], ..setting }
}

#[track_caller]
fn assert_replies(setting: &Setting, least: usize) {
    let explored = assert_holds(setting, least);
    assert!(explored.replies >= least / 100, "{explored:?}");
}

#[test]
fn six_faults_within_the_limits_lose_nothing_and_double_nothing() {
    let setting = Setting { conversational: [true; 2], ..setting() };
    assert_replies(&setting, 100_000);
    assert_replies(&conversational(setting), 100_000);
}

#[test]
fn six_faults_beyond_the_default_limits_are_reported() {
    let setting = Setting { conversational: [true; 2], ..limits(3) };
    assert_replies(&setting, 100_000);
    assert_replies(&conversational(setting), 100_000);
}

#[test]
fn six_faults_beyond_lower_limits_are_reported() {
    for limit in 0..3 {
        assert_replies(&conversational(limits(limit)), 50_000);
    }
}

#[test]
fn a_station_without_room_loses_nothing() {
    assert_replies(&conversational(Setting { faults: 3, full: 1, ..limits(3) }), 100_000);
    assert_replies(&conversational(Setting { faults: 2, full: 1, ..limits(1) }), 50_000);
}

#[test]
fn a_message_in_parts_is_whole_or_reported() {
    assert_replies(&conversational(Setting { faults: 3, in_parts: true, ..limits(1) }), 40_000);
}

#[test]
fn late_answers_over_tcp_lose_nothing_and_double_nothing() {
    let over_tcp = Setting { framing: Framing::Hercules, faults: 0, late: 6, ..limits(3) };
    assert_replies(&conversational(over_tcp.clone()), 50_000);
    assert_replies(&conversational(Setting { late: 2, full: 1, ..over_tcp }), 50_000);
}

/// Without `wack_delay` both stations end their wait at the same time.
#[test]
fn a_question_and_a_reply_sent_again_may_cross() {
    let mut hasty = conversational(limits(1));
    hasty.profile.wack_delay = Duration::ZERO;
    assert_replies(&hasty, 50_000);
    let mut patient = conversational(limits(13));
    patient.profile.wack_delay = Duration::ZERO;
    patient.profile.block_wait = Duration::from_secs(50);
    assert_replies(&Setting { must_deliver: true, ..patient }, 100_000);
}

/// A block wait that ends before a reply is withdrawn makes doubt, and no harm.
#[test]
fn an_answer_much_slower_than_a_block_loses_nothing() {
    let mut slow = conversational(limits(3));
    slow.profile.wack_delay = Duration::from_millis(2600);
    slow.profile.block_wait = Duration::from_millis(14_500);
    assert_replies(&slow, 100_000);
}

#[test]
fn a_station_that_does_not_know_replies_loses_nothing() {
    for knows in [[true, false], [false, true]] {
        for limit in [1, 3] {
            assert_holds(&Setting { conversational: knows, ..conversational(limits(limit)) }, 50_000);
        }
    }
}

#[test]
fn enq_about_a_reply_is_taken_for_a_bid() {
    let setting = Setting { faults: 1, mutation: Mutation::AsksAboutReply, ..conversational(setting()) };
    assert_fails(&setting, "InDoubt(Refused), within the limits");
}

#[test]
fn a_reply_that_is_not_recognized_when_it_comes_again_is_doubled() {
    let setting = Setting { faults: 1, mutation: Mutation::TakesReplyTwice, ..conversational(setting()) };
    assert_fails(&setting, "again, or out of order");
}

#[test]
fn a_station_that_leaves_with_its_reply_has_a_block_sent_twice() {
    let setting = Setting { faults: 2, mutation: Mutation::LeavesWithReply, ..conversational(limits(1)) };
    assert_fails(&setting, "again, or out of order");
}
