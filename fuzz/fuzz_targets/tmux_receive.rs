//! Gives any octets to a multiplexer as datagrams, payloads and ICMP: nothing panics, and no more comes out than went in.
#![no_main]

use cuesta_record::Stamp;
use cuesta_tmux::wire::{Carriage, CommonHeader, Multiplexer, Output, Settings};
use libfuzzer_sys::fuzz_target;

const PEER: [u8; 4] = [192, 0, 2, 2];

#[derive(Default)]
struct Octets(usize);

impl Output for Octets {
    fn to_network(&mut self, packet: &[u8]) {
        assert!(packet.len() <= 28, "only ENQs are sent");
    }

    fn to_host(&mut self, packet: &[u8]) {
        self.0 += packet.len() - 20;
    }
}

/// What is done (a number), when (ns), and with which octets.
type Calls = Vec<(u8, u64, Vec<u8>)>;

fuzz_target!(|input: (bool, bool, Calls)| {
    let (over_udp, udp, calls) = input;
    let carriage = if over_udp { Carriage::Udp { port: 1692 } } else { Carriage::Ip };
    let settings = Settings { peers: vec![PEER.into()], carriage, udp, ..Settings::default() };
    let mut multiplexer = Multiplexer::new(settings, Stamp::ZERO);
    for (kind, nanos, octets) in calls {
        let now = Stamp::from_nanos(nanos);
        let mut output = Octets::default();
        match kind % 4 {
            0 => multiplexer.receive(&octets, now, &mut output),
            1 => multiplexer.receive_icmp(&octets, now),
            2 => multiplexer.expire(now, &mut output),
            _ => {
                let header = CommonHeader { source: PEER.into(), destination: [192, 0, 2, 1].into(), tos: kind };
                multiplexer.receive_payload(header, &octets, now, &mut output);
            }
        }
        assert!(output.0 <= octets.len());
    }
});
