//! Once there are buffers, a segment is sent and received without an allocation. (The allocator counts for the whole process.)
#![allow(unsafe_code)] // an allocator can be written no other way
#![allow(clippy::unwrap_used)] // the helpers are of tests too

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_tmux::wire::{CommonHeader, Multiplexer, Output, Settings};
use etherparse::PacketBuilder;

struct Counting;

thread_local! {
    /// Allocations of this thread.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: it passes everything on to the system's allocator; the count is a constant-initialized cell, which allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Keeps the last message in a buffer that is large enough.
struct Last {
    message: Vec<u8>,
    given: u64,
}

impl Output for Last {
    fn to_network(&mut self, packet: &[u8]) {
        self.message.clear();
        self.message.extend_from_slice(packet);
    }

    fn to_host(&mut self, _packet: &[u8]) {
        self.given += 1;
    }
}

const US: [u8; 4] = [192, 0, 2, 1];
const PEER: [u8; 4] = [192, 0, 2, 2];

/// Sends 100 keystrokes in 100 ms, and takes each message as if the peer had sent it.
fn type_keys(multiplexer: &mut Multiplexer, now: &mut Stamp, packet: &[u8], output: &mut Last) {
    for _ in 0..100 {
        *now += Duration::from_millis(1);
        multiplexer.send(packet, *now, output);
        if multiplexer.next_due() <= *now {
            multiplexer.expire(*now, output);
            let header = CommonHeader { source: PEER.into(), destination: US.into(), tos: 0 };
            let message = std::mem::take(&mut output.message);
            multiplexer.receive_payload(header, &message[20..], *now, output);
            output.message = message;
        }
    }
}

#[test]
fn no_segment_allocates_once_there_are_buffers() {
    let mut packet = Vec::new();
    PacketBuilder::ipv4(US, PEER, 64).tcp(40_000, 23, 1, 8192).ack(1).write(&mut packet, b"x").unwrap();
    let mut now = Stamp::ZERO;
    let mut multiplexer = Multiplexer::new(Settings { peers: vec![PEER.into()], ..Settings::default() }, now);
    let mut output = Last { message: Vec::with_capacity(2000), given: 0 };
    let header = CommonHeader { source: PEER.into(), destination: US.into(), tos: 0 };
    multiplexer.receive_payload(header, &[], now, &mut output);
    type_keys(&mut multiplexer, &mut now, &packet, &mut output);
    let (before, given) = (ALLOCATIONS.get(), output.given);
    for _ in 0..100 {
        type_keys(&mut multiplexer, &mut now, &packet, &mut output);
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(output.given - given > 9000, "{} segments", output.given - given);
}
