//! Sends any packets at any instants: nothing panics, no message exceeds the MTU, and what waits is due within the delay.
#![no_main]

use cuesta_record::Stamp;
use cuesta_tmux::wire::{CommonHeader, Multiplexer, Output, Settings};
use libfuzzer_sys::fuzz_target;

const PEER: [u8; 4] = [192, 0, 2, 2];

struct Messages {
    mtu: usize,
}

impl Output for Messages {
    fn to_network(&mut self, packet: &[u8]) {
        assert!(packet[0] >> 4 != 4 || packet.len() <= self.mtu || packet[9] != 18);
    }

    fn to_host(&mut self, _packet: &[u8]) {
        panic!("nothing was received");
    }
}

/// Packets and the instants at which they are sent, in ns.
type Packets = Vec<(u64, Vec<u8>)>;

fuzz_target!(|input: (u16, u8, bool, bool, Packets)| {
    let (mtu, milliseconds, udp, rfc_bypass, packets) = input;
    let delay = std::time::Duration::from_millis(milliseconds.into());
    let settings =
        Settings { peers: vec![PEER.into()], mtu: mtu.into(), delay, udp, rfc_bypass, ..Settings::default() };
    let delay = delay.min(cuesta_tmux::wire::LONGEST_DELAY);
    let mut output = Messages { mtu: usize::from(mtu).max(cuesta_tmux::wire::SMALLEST_MTU) };
    let mut multiplexer = Multiplexer::new(settings, Stamp::ZERO);
    for (nanos, mut packet) in packets {
        let now = Stamp::from_nanos(nanos);
        let heard = CommonHeader { source: PEER.into(), destination: [192, 0, 2, 1].into(), tos: 0 };
        multiplexer.receive_payload(heard, &[], now, &mut output);
        if let Some(address) = packet.get_mut(16..20) {
            address.copy_from_slice(&PEER);
        }
        multiplexer.send(&packet, now, &mut output);
        let waiting = multiplexer.peers(now)[0].waiting;
        assert!(waiting == 0 || multiplexer.next_due() <= now + delay);
    }
    multiplexer.expire(Stamp::FAR, &mut output);
    assert_eq!(multiplexer.peers(Stamp::FAR)[0].waiting, 0);
});
