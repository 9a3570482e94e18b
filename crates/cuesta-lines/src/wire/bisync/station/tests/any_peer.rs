//! Any owner and any peer.

use proptest::prelude::*;

use super::*;

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
    fn any_peer_is_survived(
        steps in proptest::collection::vec(step(), 0..200),
        primary in any::<bool>(),
        conversational in any::<bool>(),
    ) {
        let role = if primary { Role::Primary } else { Role::Secondary };
        let Script { mut station, mut now } = Script::with(role, |profile| profile.conversational = conversational);
        let (mut offered, mut settled) = (0, 0);
        let mut within_message = false;
        for step in steps.into_iter().chain([Step::Offer(vec![], true)]) {
            match step {
                Step::Receive(bytes) => station.receive(now, &bytes),
                Step::Offer(text, last) => if station.offer(now, &text, last).is_ok() {
                    offered += usize::from(!within_message);
                    within_message = !last;
                },
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
