//! Everything that a multiplexer counts. Nothing grows: durations and sizes are counted by powers of two.

use std::time::Duration;

use serde::Serialize;

/// What was done since the counters were reset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Segments in messages.
    pub segments: BothWays,
    /// Messages.
    pub messages: BothWays,
    /// Octets of messages, their IP headers included.
    pub octets: BothWays,
    /// Datagrams without a segment.
    pub enqs: BothWays,
    /// Messages sent, by cause.
    pub sent_because: SendCauses,
    /// How long the segments sent have waited.
    pub held: HeldTimes,
    /// Messages sent, by their number of segments.
    pub segments_per_message: Histogram,
    /// Packets of this host that went as plain IP, by reason.
    pub plain: PlainReasons,
    /// Packets of this host that were not sent at all.
    pub refused: RefusedOutput,
    /// Datagrams and segments from the network that were dropped, by kind.
    pub dropped: DroppedInput,
    /// How peers changed.
    pub changes: PeerChanges,
}

/// One count each way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BothWays {
    /// To the network.
    pub sent: u64,
    /// From the network.
    pub received: u64,
}

/// Why messages were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SendCauses {
    /// A segment had waited for the delay.
    pub timer: u64,
    /// The next segment did not fit, or no other would.
    pub full: u64,
    /// A segment with SYN, FIN, RST or URG was added.
    pub urgent: u64,
    /// A segment above `max_mpx` was added.
    pub large: u64,
    /// Nothing more was there to read, with a delay of zero.
    pub drained: u64,
    /// The agent ended.
    pub end: u64,
    /// A packet to the same peer went as plain IP, and must not overtake.
    pub plain: u64,
}

/// How long segments have waited in messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HeldTimes {
    /// Of all segments together, in nanoseconds.
    pub sum_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Segments by microseconds.
    pub microseconds: Histogram,
}

/// Why packets of this host went as plain IP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlainReasons {
    /// The destination is none of the peers.
    pub not_a_peer: u64,
    /// The source is not this host's address towards the peer, by which the peer knows it.
    pub other_source: u64,
    /// The peer is not known to speak `TMux` now.
    pub peer_unable: u64,
    /// A group of hosts, or this one.
    pub not_unicast: u64,
    /// IPv4 options.
    pub options: u64,
    /// Part of a fragmented packet.
    pub fragment: u64,
    /// Neither TCP nor, if it is multiplexed, UDP; or an extension header of IPv6.
    pub protocol: u64,
    /// Neither port is one of those to multiplex.
    pub port: u64,
    /// Above `max_mpx`, with `rfc_bypass`.
    pub large: u64,
    /// It fits into no message that the path carries.
    pub over_mtu: u64,
    /// The length of TCP's or UDP's header is wrong.
    pub transport: u64,
}

/// Why packets of this host were not sent at all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RefusedOutput {
    /// No whole IP packet.
    pub unreadable: u64,
    /// A message or an ENQ: routing leads back what was sent.
    pub looped: u64,
}

/// Why datagrams and segments from the network were dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DroppedInput {
    /// Datagrams from none of the peers.
    pub stranger: u64,
    /// Datagrams that are no whole IP packet.
    pub unreadable: u64,
    /// Datagrams of another protocol, or from or to another port.
    pub protocol: u64,
    /// Datagrams with IPv4 options.
    pub options: u64,
    /// Fragments of datagrams.
    pub fragment: u64,
    /// Datagrams to a group of hosts.
    pub not_unicast: u64,
    /// Messages from a mini-header with a wrong checksum on.
    pub checksum: u64,
    /// Messages from a mini-header on whose length is below 4, or past the end.
    pub length: u64,
    /// Segments neither of TCP nor of UDP.
    pub segment_protocol: u64,
    /// Segments that are messages.
    pub nested: u64,
    /// Segments whose TCP or UDP header has a wrong length.
    pub transport: u64,
    /// Segments with SYN after the fourth of a message.
    pub syns: u64,
    /// Segments after the 64th of a message.
    pub over_limit: u64,
}

/// How peers changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PeerChanges {
    /// From unable to able.
    pub able: u64,
    /// Unable: nothing was received for the TTL.
    pub expired: u64,
    /// Unable: ICMP said so.
    pub refused: u64,
    /// Unable: messages were sent, and nothing came back.
    pub silent: u64,
    /// The path to it carries less than was believed.
    pub smaller_mtu: u64,
}

/// Values by powers of two: count 0 is of zeros, count k is of values from 2^(k-1) up to below 2^k; the last has all above.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Histogram([u64; 20]);

impl Histogram {
    /// The counts.
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    pub(super) fn record(&mut self, value: u64) {
        let power = u64::BITS - value.leading_zeros();
        self.0[(power as usize).min(self.0.len() - 1)] += 1;
    }
}

impl HeldTimes {
    pub(super) fn record(&mut self, held: Duration) {
        let nanos = u64::try_from(held.as_nanos()).unwrap_or(u64::MAX);
        self.sum_ns = self.sum_ns.saturating_add(nanos);
        self.max_ns = self.max_ns.max(nanos);
        self.microseconds.record(nanos / 1000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_by_powers_of_two() {
        let mut histogram = Histogram::default();
        for value in [0, 1, 2, 3, 4, 7, 64, u64::MAX] {
            histogram.record(value);
        }
        assert_eq!(histogram.counts()[..8], [1, 1, 2, 2, 0, 0, 0, 1]);
        assert_eq!(histogram.counts()[19], 1);
    }

    #[test]
    fn held_times_are_summed_in_nanoseconds() {
        let mut held = HeldTimes::default();
        held.record(Duration::from_nanos(1500));
        held.record(Duration::from_millis(20));
        assert_eq!((held.sum_ns, held.max_ns), (20_001_500, 20_000_000));
        assert_eq!((held.microseconds.counts()[1], held.microseconds.counts()[15]), (1, 1));
    }
}
