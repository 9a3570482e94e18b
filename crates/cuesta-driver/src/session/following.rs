//! The rows of `followed.csv`: on a probe line, where each key and its echo are in the two streams.

use cuesta_distributions::SeededRng;
use cuesta_lines::{LineMark, ProbeSocket, Received, SegmentCounts};
use cuesta_record::{FollowedKey, FollowedKind, Stamp, WaitEnd};

use super::Session;
use crate::followed_keys::{FollowedKeys, FollowedRead, FollowedSend};
use crate::user_state::UserState;

/// A probe line.
#[derive(Debug)]
pub(super) struct ProbeLine {
    mark: LineMark,
    /// When the line was begun to be opened, until its login has a row.
    login: Option<Stamp>,
    keys: FollowedKeys,
    /// Decides how each key's echo is acknowledged.
    rng: SeededRng,
    /// How it was decided for the last key, and what the connection had carried before that; `None` where no TCP is.
    acknowledges: Option<(bool, SegmentCounts)>,
}

/// Of how many keys on a probe line one has the acknowledgements of its echo put off. At every 30th user that is under one key of 100, so that
/// the p99 of all users' echoes is that of lines which are left alone.
const PUT_OFF: u64 = 4;
/// Random streams beyond those of users: for each of its lines one.
const STREAMS: u64 = 3 << 61;

impl Session {
    /// Follows the line from now on, which was begun to be opened at an instant, if the plan says so.
    pub(super) fn follow(&mut self, begun: Stamp) {
        let user = self.shared.user(self.slot, |user| user.user);
        if !self.shared.spec.follows(self.group, user) {
            return;
        }
        match self.line.mark() {
            Some(mark) => {
                let line = self.shared.user(self.slot, UserState::count_probe_line);
                let rng = SeededRng::new(self.shared.spec.seed, STREAMS + (u64::from(user) << 24) + u64::from(line));
                let (login, keys) = (Some(begun), FollowedKeys::default());
                self.followed = Some(Box::new(ProbeLine { mark, login, keys, rng, acknowledges: None }));
            }
            None => self.shared.tally(|tally| tally.counts.unmarked += 1),
        }
    }

    /// Decides whether what follows the next key is acknowledged at once. The echo of a host that writes in pieces and keeps Nagle's algorithm
    /// waits for that, and no other echo does.
    pub(super) fn choose_acknowledgement(&mut self) {
        let Some(followed) = &mut self.followed else { return };
        let Some(socket) = self.line.probe_socket() else { return };
        let at_once = followed.rng.below(PUT_OFF) > 0;
        followed.acknowledges = Some((at_once, socket.segments()));
        socket.acknowledge(at_once);
    }

    /// Has the kernel keep to what was decided, which it forgets when it sends or receives.
    pub(super) fn keep_acknowledgement(&self) {
        let Some((at_once, _)) = self.followed.as_ref().and_then(|followed| followed.acknowledges) else { return };
        if let Some(socket) = self.line.probe_socket() {
            socket.acknowledge(at_once);
        }
    }

    /// A key is sent at an instant.
    pub(super) fn follow_key(&mut self, sent: Stamp) {
        if self.followed.is_none() {
            return;
        }
        self.follow_login(None);
        self.note_sent();
        if let Some(followed) = &mut self.followed {
            followed.keys.begin_key(sent, followed.acknowledges);
        }
    }

    /// Notes what is known by now of the last key. Not while it is being sent.
    pub(super) fn note_sent(&mut self) {
        let Some(followed) = self.followed.as_mut().filter(|followed| !self.sending && followed.keys.asks()) else {
            return;
        };
        let kernel = self.line.kernel_sent().map(|stamps| stamps.kernel);
        followed.keys.note_sent(self.line.sent_up_to(), kernel);
    }

    /// Notes a read.
    pub(super) fn follow_read(&mut self, received: &Received) {
        if self.followed.is_none() {
            return;
        }
        // The kernel acknowledges nothing at once while its stamp of the key waits.
        self.note_sent();
        self.keep_acknowledgement();
        if let Some(followed) = &mut self.followed {
            let kernel = received.stamped.map(|stamps| stamps.kernel);
            let segments = self.line.probe_socket().map(ProbeSocket::segments).unwrap_or_default();
            followed.keys.note_read(received.at, self.line.traffic().received, kernel, segments);
        }
    }

    /// The login ended with the first prompt, at an instant; without a prompt, with the last read before the first key.
    pub(crate) fn follow_login(&mut self, prompt: Option<Stamp>) {
        let Some(followed) = &mut self.followed else { return };
        let Some(begun) = followed.login.take() else { return };
        let read = match prompt {
            Some(at) => followed.keys.read(at).map(|read| (at, read)),
            None => followed.keys.last_read(),
        };
        if let Some((shown, read)) = read {
            self.add_followed(FollowedKind::Login, (0, None), read, (begun, shown));
        }
    }

    /// A key was sent at an instant; its echo, or its answer, was complete at another one.
    pub(crate) fn follow_end(&self, kind: FollowedKind, sent: Stamp, shown: Stamp) {
        let Some(followed) = &self.followed else { return };
        if let (Some((end, key)), Some(read)) = (followed.keys.key(sent), followed.keys.read(shown)) {
            self.add_followed(kind, (end, Some(key)), read, (sent, shown));
        }
    }

    fn add_followed(
        &self,
        kind: FollowedKind,
        (end, key): (u32, Option<FollowedSend>),
        read: FollowedRead,
        (sent, shown): (Stamp, Stamp),
    ) {
        let Some(followed) = &self.followed else { return };
        let (port, terminal) = match followed.mark {
            LineMark::Port(port) => (Some(port), None),
            LineMark::Terminal(number) => (None, Some(number)),
        };
        let row = FollowedKey {
            kind,
            series: self.shared.groups[self.group].series.echo.ended(WaitEnd::Answered).number(),
            user: self.shared.user(self.slot, |user| user.user),
            port,
            terminal,
            key: end,
            echo: read.range,
            sent,
            shown,
            kernel_sent: key.and_then(|key| key.kernel),
            kernel_shown: read.kernel,
            acknowledged: key.and_then(|key| followed.keys.acknowledged(&key, &read)),
        };
        self.shared.tally(|tally| tally.followed.push(row));
    }
}
