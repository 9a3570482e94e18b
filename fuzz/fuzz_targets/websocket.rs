//! Feeds WebSocket's framing with any bytes, whole and in pieces: the events are equal, and memory is bounded.
#![no_main]

use cuesta_lines::wire::websocket::{Content, Event, FrameError, Inflater, Receiver, Role};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, bool, u8, Vec<u8>)| {
    let (is_server, is_compressed, size, raw) = input;
    let receiver = || {
        let receiver = Receiver::new(if is_server { Role::Server } else { Role::Client });
        if is_compressed { receiver.with_inflater(Inflater::default()) } else { receiver }
    };
    let whole = feed(receiver(), &raw, raw.len().max(1));
    assert_eq!(feed(receiver(), &raw, usize::from(size).max(1)), whole);
});

/// The events in bytes that come in pieces of `size`, and the error that ends them.
fn feed(mut receiver: Receiver, raw: &[u8], size: usize) -> (Vec<Event>, Option<FrameError>) {
    let mut events = Vec::new();
    for chunk in raw.chunks(size) {
        let mut bytes = chunk.to_vec();
        let mut at = 0;
        while at < bytes.len() {
            let (len, event) = match receiver.receive(&mut bytes[at..]) {
                Ok(result) => result,
                Err(error) => return (events, Some(error)),
            };
            assert!(len > 0 && at + len <= bytes.len());
            events.extend(event.map(|event| match event {
                Event::Message(kind, Content::Here(range)) => {
                    Event::Message(kind, Content::Held(bytes[at..][range].to_vec()))
                }
                other => other,
            }));
            at += len;
        }
    }
    (events, None)
}
