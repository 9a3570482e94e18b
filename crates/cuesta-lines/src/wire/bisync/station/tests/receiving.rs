//! A station that receives, and how a line ends.

use super::*;

#[test]
fn without_room_a_good_block_is_kept_and_answered_with_wack() {
    Script::receiving()
        .plays("full <AB >nothing 100ms >WACK <AB") // A repeated one: the answer was not sent.
        .plays("100ms >WACK <ENQ room >ACK1")
        .tells(&[text(&[0xc1, 0xc2], false)])
        .counts(|counters| counters.wacks_sent = 2);
}

#[test]
fn events_that_are_not_taken_fill_the_room() {
    let mut script = Script::receiving();
    for odd in (0..EVENTS_LIMIT).map(|block| block % 2 == 0) {
        script = script.plays("<AB");
        if script.station.events.len() < EVENTS_LIMIT {
            script = script.plays(if odd { ">ACK1" } else { ">ACK0" });
        }
    }
    script = script.plays("100ms >WACK");
    script.station.take_event().unwrap();
    script.plays("<ENQ >ACK0");
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
        .plays(">NAK <ENQ") // NAK was lost. It is not repeated: it has no number.
        .plays(">ACK0 <C >ACK1")
        .tells(&[text(&[0xc3], true)])
        .counts(|counters| counters.invalid_input = 1);
}

#[test]
fn a_peer_that_does_not_read_fills_no_memory() {
    let script = Script::receiving().gets(&ENQ.repeat(100_000));
    assert!(script.station.output().len() < OUTPUT_LIMIT + 2);
}

#[test]
fn a_block_that_is_broken_off_is_refused_and_a_silent_one_is_dropped() {
    Script::receiving()
        .gets(&[0x02, 0xc1])
        .plays("<ENQ >NAK")
        .gets(&[0x02, 0xc1])
        .plays("2000ms <ENQ >ACK0")
        .gets(&[0x02, 0xc1, 0x37]) // The sender gave up, and its block has no end..plays(">nothing")
        .tells(&[])
        .counts(|counters| counters.invalid_input = 1);
}

#[test]
fn after_the_block_wait_the_line_is_free_or_disconnected() {
    Script::receiving()
        .plays("<AB >ACK1 20000ms >nothing")
        .tells(&[text(&[0xc1, 0xc2], false), Event::Cut])
        .offers(&[0xc3], true)
        .plays(">ENQ")
        .counts(|counters| counters.timeouts = 1);
    Script::with(Role::Secondary, |profile| profile.after_block_wait = AfterBlockWait::Disconnect)
        .plays("<ENQ >ACK0 20000ms >DISCONNECT")
        .tells(&[Event::Disconnected]);
}

#[test]
fn a_disconnection_settles_every_message() {
    let mut ended = Script::sending(&[&[0xc3], &[0xc4]]).plays(">C <DISCONNECT").tells(&[
        Event::InDoubt(Reason::Disconnected),
        Event::NotDelivered(Reason::Disconnected),
        Event::Disconnected,
    ]);
    assert_eq!(ended.station.offer(ended.now, b"x", true), Err(OfferError::Disconnected));
    assert_eq!(ended.station.deadline(), None);
    let mut ended = Script::receiving().plays("<AB >ACK1");
    ended.station.disconnect();
    ended
        .plays(">DISCONNECT")
        .tells(&[text(&[0xc1, 0xc2], false), Event::Cut, Event::Disconnected])
        .plays("<ENQ >nothing");
}

#[test]
fn an_idle_peer_of_rje80_is_ignored() {
    let idle = [0x10, 0x10, 0x10, 0x70];
    Script::new(Role::Primary).gets(&idle).offers(&[0xc3], true).plays(">ENQ").gets(&idle).plays(">nothing <ACK0 >C");
    Script::new(Role::Secondary).gets(&[0x32, 0x32, 0x32]).plays("<ENQ >ACK0");
}
