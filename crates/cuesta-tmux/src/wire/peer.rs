//! What is known of a peer: whether it speaks `TMux`, and when to ask it (RFC 1692 §2.3).
//!
//! ```text
//! Unknown ──a datagram came──→ Able ──nothing came for the TTL──────────────────→ Expired ──a datagram came──→ Able
//!                              Able ──ICMP refused a datagram───────────────────→ Refused ─a datagram came──→ Able
//!                              Able ──3 messages and 3 s without an answer──────→ Silent ──an answer came───→ Able
//! ```
//!
//! A peer that is not able is probed by ENQs after 15 s, 30 s, 60 s … 1 h. Meanwhile segments go to it as plain IP. After a
//! silence only a message begins these intervals anew: a peer that answers probes, and never a message, is tried ever more rarely.
//!
//! Any valid datagram of a configured peer makes it able, as the RFC says. To ask for an answer to one of ours first would leave
//! two idle hosts unknown to each other, because the RFC advises against answering ENQs. What a forged datagram can do is bounded
//! instead: messages that draw no message make the peer silent, whatever ENQs come meanwhile; then only a message that answers, or
//! an ENQ that answers a probe, makes it able again, whatever ICMP comes meanwhile. The same rule serves where a filter lets
//! datagrams through in one direction only. Who can forge messages with segments can still keep a peer able that is not.

use std::net::IpAddr;
use std::time::Duration;

use cuesta_record::Stamp;
use rand::RngExt;
use rand_pcg::Pcg32;
use serde::Serialize;

use super::counters::PeerChanges;
use super::path_mtu::PathMtu;
use super::settings::LATEST;

/// The interval after the first ENQ; each is twice the one before.
const FIRST_INTERVAL: Duration = Duration::from_secs(15);
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);
/// An ENQ is answered only if nothing was sent for this long: otherwise the peer knows already.
const QUIET: Duration = Duration::from_secs(1);
/// ENQs are answered at most once in this time, so that two hosts do not answer each other for ever (RFC 1692 §6).
const BETWEEN_ANSWERS: Duration = Duration::from_secs(15);
/// How long an answer may take, and how many messages may be without one meanwhile. TCP acknowledges within half a second.
const ANSWER_TIME: Duration = Duration::from_secs(3);
const UNANSWERED: u32 = 3;

/// What is believed of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PeerState {
    /// Nothing was heard of it yet.
    Unknown,
    /// It speaks `TMux`: segments to it are multiplexed.
    Able,
    /// Nothing was heard of it for the TTL.
    Expired,
    /// ICMP said that it does not speak `TMux`, or that a router does not let it through.
    Refused,
    /// Messages were sent to it, and nothing came back.
    Silent,
}

/// A peer, for displays.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerStatus {
    /// Where it is.
    pub address: IpAddr,
    /// What is believed of it.
    pub state: PeerState,
    /// Seconds since something was heard of it.
    pub heard_s: Option<f64>,
    /// Seconds until the next probe; none while it is able.
    pub probe_in_s: Option<f64>,
    /// Segments that wait for it.
    pub waiting: usize,
    /// The largest datagram that the path to it carries, octets.
    pub mtu: usize,
}

/// What is known of a peer.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: IpAddr,
    /// This host's address towards it, the source of probes and messages; unspecified until a datagram shows it.
    pub(super) local: IpAddr,
    pub(super) path_mtu: PathMtu,
    state: PeerState,
    /// Until when it is believed able, if it is.
    able_until: Stamp,
    last_heard: Option<Stamp>,
    /// Messages and ENQs.
    last_sent: Option<Stamp>,
    last_probed: Option<Stamp>,
    /// When an ENQ was sent as an answer.
    last_answered: Option<Stamp>,
    /// Messages sent that need an answer, since the last message of it, and when the first of them was.
    unanswered: u32,
    unanswered_since: Stamp,
    /// It has been silent since its last message.
    was_silent: bool,
    /// [`Stamp::FAR`] while it is able.
    probe_due: Stamp,
    /// From the next probe to the one after it.
    interval: Duration,
}

impl Peer {
    /// A peer of which nothing is known: its first probe is due at `now`.
    pub(super) const fn new(address: IpAddr, local: IpAddr, mtu: usize, now: Stamp) -> Self {
        Self {
            address,
            local,
            path_mtu: PathMtu::new(address, mtu),
            state: PeerState::Unknown,
            able_until: now,
            last_heard: None,
            last_sent: None,
            last_probed: None,
            last_answered: None,
            unanswered: 0,
            unanswered_since: now,
            was_silent: false,
            probe_due: now,
            interval: FIRST_INTERVAL,
        }
    }

    /// Whether the peer knows this host by `source`: from another address it would take a message for a stranger's.
    pub(super) fn is_local(&self, source: IpAddr) -> bool {
        self.local == source || self.local.is_unspecified()
    }

    /// Whether the segment at hand is multiplexed. When the TTL is over the peer becomes unable, and yet this segment is
    /// multiplexed: a peer that lives will answer it (RFC 1692 §2.3).
    pub(super) fn takes_segment(&mut self, now: Stamp, random: &mut Pcg32, changes: &mut PeerChanges) -> bool {
        if self.state != PeerState::Able {
            return false;
        }
        if self.unanswered >= UNANSWERED && now.since(self.unanswered_since) >= ANSWER_TIME {
            changes.silent += 1;
            self.was_silent = true;
            self.become_unable(PeerState::Silent, now, random);
            return false;
        }
        if now >= self.able_until {
            changes.expired += 1;
            self.interval = FIRST_INTERVAL;
            self.become_unable(PeerState::Expired, now, random);
        }
        true
    }

    /// An ENQ of it came.
    pub(super) fn heard_enq(&mut self, now: Stamp, ttl: Duration, changes: &mut PeerChanges) {
        self.note_heard(self.last_probed, now, ttl, changes);
    }

    /// A message of it came, with valid segments.
    pub(super) fn heard_message(&mut self, now: Stamp, ttl: Duration, changes: &mut PeerChanges) {
        self.note_heard(self.last_sent, now, ttl, changes);
        if self.state == PeerState::Able {
            self.unanswered = 0;
            self.was_silent = false;
            self.interval = FIRST_INTERVAL;
        }
    }

    /// Something came that answers what was sent at `asked`, if that is not too long ago.
    fn note_heard(&mut self, asked: Option<Stamp>, now: Stamp, ttl: Duration, changes: &mut PeerChanges) {
        self.last_heard = Some(now);
        let is_answer = asked.is_some_and(|asked| now.since(asked) <= ANSWER_TIME);
        if self.state == PeerState::Silent && !is_answer {
            return;
        }
        if is_answer && !self.was_silent {
            self.interval = FIRST_INTERVAL;
        }
        changes.able += u64::from(self.state != PeerState::Able);
        self.state = PeerState::Able;
        self.able_until = now + ttl;
        self.probe_due = Stamp::FAR;
    }

    /// ICMP said that a datagram to it was refused. A silent peer stays silent: else an ENQ would make it able without an answer.
    pub(super) fn refused(&mut self, now: Stamp, random: &mut Pcg32, changes: &mut PeerChanges) {
        match self.state {
            PeerState::Able => {
                changes.refused += 1;
                self.become_unable(PeerState::Refused, now, random);
            }
            PeerState::Silent => (),
            _ => self.state = PeerState::Refused,
        }
    }

    fn become_unable(&mut self, state: PeerState, now: Stamp, random: &mut Pcg32) {
        self.state = state;
        self.unanswered = 0;
        self.schedule_probe(now, random);
    }

    fn schedule_probe(&mut self, now: Stamp, random: &mut Pcg32) {
        self.probe_due = (now + self.interval.mul_f64(random.random_range(0.9..1.1))).min(LATEST);
        self.interval = (self.interval * 2).min(LONGEST_INTERVAL);
    }

    pub(super) fn sent_message(&mut self, needs_answer: bool, now: Stamp) {
        self.last_sent = Some(now);
        if needs_answer {
            if self.unanswered == 0 {
                self.unanswered_since = now;
            }
            self.unanswered = self.unanswered.saturating_add(1);
        }
    }

    /// When it must be probed.
    pub(super) const fn probe_due(&self) -> Stamp {
        self.probe_due
    }

    pub(super) fn sent_probe(&mut self, now: Stamp, random: &mut Pcg32) {
        (self.last_sent, self.last_probed) = (Some(now), Some(now));
        self.schedule_probe(now, random);
    }

    /// Whether its ENQ is to be answered by one. It is if this host has nothing to send: so a host that only receives is
    /// discovered too.
    pub(super) fn answers_enq(&mut self, now: Stamp) -> bool {
        let has_passed = |since: Option<Stamp>, time| since.is_none_or(|since| now.since(since) >= time);
        let answers = has_passed(self.last_sent, QUIET) && has_passed(self.last_answered, BETWEEN_ANSWERS);
        if answers {
            (self.last_sent, self.last_answered) = (Some(now), Some(now));
        }
        answers
    }

    /// The clock went back to `now`: nothing is later than it could be from here.
    pub(super) fn clock_went_back(&mut self, now: Stamp, ttl: Duration) {
        self.path_mtu.clock_went_back(now);
        self.able_until = self.able_until.min(now + ttl);
        self.unanswered_since = self.unanswered_since.min(now);
        for past in [&mut self.last_heard, &mut self.last_sent, &mut self.last_probed, &mut self.last_answered] {
            *past = past.map(|past| past.min(now));
        }
        if self.probe_due != Stamp::FAR {
            self.probe_due = self.probe_due.min(now + self.interval);
        }
    }

    pub(super) fn status(&self, now: Stamp, waiting: usize) -> PeerStatus {
        let expired = self.state == PeerState::Able && now >= self.able_until;
        PeerStatus {
            address: self.address,
            state: if expired { PeerState::Expired } else { self.state },
            heard_s: self.last_heard.map(|heard| now.since(heard).as_secs_f64()),
            probe_in_s: (self.probe_due != Stamp::FAR).then(|| self.probe_due.since(now).as_secs_f64()),
            waiting,
            mtu: self.path_mtu.at(now),
        }
    }
}
