//! The rows of `followed.csv`: on a probe line, where each key and its echo are in the two streams.

use cuesta_lines::{LineMark, Received};
use cuesta_record::{FollowedKey, FollowedKind, Stamp, WaitEnd};

use super::Session;
use crate::followed_keys::{FollowedKeys, FollowedRead};

/// A probe line.
#[derive(Debug)]
pub(super) struct ProbeLine {
    mark: LineMark,
    /// When the line was begun to be opened, until its login has a row.
    login: Option<Stamp>,
    keys: FollowedKeys,
}

impl Session {
    /// Follows the line from now on, which was begun to be opened at an instant, if the plan says so.
    pub(super) fn follow(&mut self, begun: Stamp) {
        let user = self.shared.user(self.slot, |user| user.user);
        if !self.shared.spec.follows(self.group, user) {
            return;
        }
        match self.line.mark() {
            Some(mark) => {
                let probe = ProbeLine { mark, login: Some(begun), keys: FollowedKeys::default() };
                self.followed = Some(Box::new(probe));
            }
            None => self.shared.tally(|tally| tally.counts.unmarked += 1),
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
            followed.keys.begin_key(sent);
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
        self.note_sent();
        if let Some(followed) = &mut self.followed {
            let kernel = received.stamped.map(|stamps| stamps.kernel);
            followed.keys.note_read(received.at, self.line.traffic().received, kernel);
        }
    }

    /// The host let the user in: its first prompt was seen at an instant. Without one, what came last before the first key stands for it.
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
        if let (Some(key), Some(read)) = (followed.keys.key(sent), followed.keys.read(shown)) {
            self.add_followed(kind, key, read, (sent, shown));
        }
    }

    fn add_followed(
        &self,
        kind: FollowedKind,
        (key, kernel_sent): (u32, Option<u64>),
        read: FollowedRead,
        (sent, shown): (Stamp, Stamp),
    ) {
        let Some(mark) = self.followed.as_ref().map(|followed| followed.mark) else { return };
        let (port, terminal) = match mark {
            LineMark::Port(port) => (Some(port), None),
            LineMark::Terminal(number) => (None, Some(number)),
        };
        let row = FollowedKey {
            kind,
            series: self.shared.groups[self.group].series.echo.ended(WaitEnd::Answered).number(),
            user: self.shared.user(self.slot, |user| user.user),
            port,
            terminal,
            key,
            echo: read.range,
            sent,
            shown,
            kernel_sent,
            kernel_shown: read.kernel,
        };
        self.shared.tally(|tally| tally.followed.push(row));
    }
}
