//! What the subject may run out of: levels at the end of the interval, and events within it.

use cuesta_meters_report::{Count, Figure, Limits};

use super::Delta;
use crate::kernel::grown;
use crate::snapshot::limits::{LimitCounters, Logins};

const UNREAD: &str = "this kernel has no such file, or this user may not read it";
const NO_SSHD: &str = "no listening sshd is among its processes";

impl Delta<'_> {
    pub(super) fn limits(&self) -> Limits {
        let level = |read: fn(&LimitCounters) -> Option<u64>, why: &str| {
            read(&self.later.limits).map_or_else(|| self.missing(why), |value| Figure::plain(value as f64))
        };
        let events = |read: fn(&LimitCounters) -> Option<u64>, why: &str| {
            let (earlier, later) = (read(&self.earlier.limits), read(&self.later.limits));
            let both = earlier.zip(later).and_then(|(earlier, later)| grown(earlier, later));
            both.map_or_else(|| self.missing(why), |count| Figure::plain(Count::new(count, self.seconds)))
        };
        let of_group = "only a control group counts it: name one with cgroup:PATH or pid:N";
        Limits {
            ptys: level(|limits| limits.ptys, UNREAD),
            pty_limit: level(|limits| limits.pty_limit, UNREAD),
            files: level(|limits| limits.files, UNREAD),
            file_limit: level(|limits| limits.file_limit, UNREAD),
            entropy: level(|limits| limits.entropy, UNREAD),
            listen_overflows: events(|limits| Some(limits.listen?.overflows), UNREAD),
            listen_drops: events(|limits| Some(limits.listen?.drops), UNREAD),
            syn_cookies: events(|limits| Some(limits.listen?.cookies), UNREAD),
            name_lookups: level(|limits| limits.name_lookups, UNREAD),
            conntrack: level(|limits| limits.conntrack, UNREAD),
            conntrack_limit: level(|limits| limits.conntrack_limit, UNREAD),
            conntrack_drops: events(|limits| limits.conntrack_drops, UNREAD),
            oom_kills: events(|limits| limits.oom_kills, UNREAD),
            memory_high: events(|limits| limits.memory_high, of_group),
            pids_refused: events(|limits| limits.pids_refused, of_group),
            startups: level(|limits| limits.logins.map(|logins| logins.startups.now), NO_SSHD),
            startups_start: level(|limits| limits.logins.map(|logins| logins.startups.start), NO_SSHD),
            startups_rate: level(|limits| limits.logins.and_then(|logins: Logins| logins.rate), NO_SSHD),
            startups_full: level(|limits| limits.logins.map(|logins| logins.startups.full), NO_SSHD),
            login_grace: level(|limits| limits.logins.and_then(|logins| logins.grace), NO_SSHD),
        }
    }
}
