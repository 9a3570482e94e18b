//! A user waits until the program takes keys, before it types any that count.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cuesta_lines::kind_of;
use cuesta_record::{Failure, Timeline, clock};
use cuesta_tape::{Op, Probe};

use super::{Stop, User};
use crate::readiness::{Obstacle, ObstacleKind};
use crate::session::Session;
use crate::user_state::{Activity, WaitingFor};

/// A user who is not ready when measuring ends says what is seen then, after it was counted that the user still waits.
const AFTER_THE_END: Duration = Duration::from_millis(20);

impl User {
    /// Waits until the program is ready. If it is not in time, the line is given up.
    pub(super) async fn wait_until_ready(
        &mut self,
        session: &mut Session,
        probe: &Probe,
        timeout: Duration,
    ) -> Result<(), Stop> {
        let since = clock::now();
        self.last_wait = (self.at, since);
        // Once the host has answered, it is a pause of the user, who awaits no answer.
        let activity = if self.host_has_answered { Activity::Thinking } else { Activity::Other };
        self.shared.set_activity(self.slot, activity, since);
        self.shared.user(self.slot, |user| user.wait_for(Some(WaitingFor::Ready(since))));
        let over = |timeline: &Timeline| (timeline.end() + AFTER_THE_END).min(timeline.drained());
        let deadline = since.max(self.ready) + timeout;
        let (ready, over) = loop {
            let by = over(&self.shared.schedule().timeline);
            let ready = session.wait_until_ready(probe, deadline.min(by)).await;
            let is_moved = over(&self.shared.schedule().timeline) > by; // by a cut
            if !matches!(ready, Ok(Err(_))) || deadline < by || !is_moved {
                break (ready, by);
            }
        };
        self.shared.user(self.slot, |user| user.wait_for(None));
        let now = clock::now();
        match ready? {
            Ok(()) => {
                self.set_not_ready(false);
                self.host_has_answered = true;
                self.shared.user(self.slot, |user| user.at_work = true);
                self.ready = self.ready.max(now);
                self.next_due = self.next_due.max(now);
                self.shared.set_activity(self.slot, Activity::Thinking, now);
                Ok(())
            }
            Err(obstacle) if now >= over => {
                if !self.host_has_answered {
                    self.say_not_ready(session, &obstacle);
                }
                Err(Stop::Over)
            }
            Err(obstacle) => Err(self.tell_obstacle(session, &obstacle, now.since(since))),
        }
    }

    /// Whether the user plays a `Wait+Ready`.
    pub(super) fn is_at_ready(&self) -> bool {
        matches!(self.program().ops.get(self.at), Some(Op::Ready { .. }))
    }

    /// Counts whether this user's program is ready, as was seen last.
    pub(super) fn set_not_ready(&mut self, is_not_ready: bool) {
        let count = &self.shared.groups[self.group].not_ready;
        match (std::mem::replace(&mut self.is_not_ready, is_not_ready), is_not_ready) {
            (false, true) => {
                count.fetch_add(1, Ordering::Relaxed);
            }
            (true, false) => {
                count.fetch_sub(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn tell_obstacle(&self, session: &Session, obstacle: &Obstacle, waited: Duration) -> Stop {
        self.say_not_ready(session, obstacle);
        self.shared.add_sample(Failure::NotReady.name(), || self.sample(session, self.at, waited));
        Stop::Lost(Failure::NotReady)
    }

    fn say_not_ready(&self, session: &Session, Obstacle { kind, row }: &Obstacle) {
        let row = session.write_row(row);
        let mut account =
            if row.is_empty() { format!("the program {kind}") } else { format!("the program {kind}: `{row}`") };
        if let (ObstacleKind::NoEcho, Some(flag)) =
            (kind, kind_of(&self.shared.spec.groups[self.group].target).and_then(|kind| kind.writable_by))
        {
            let _ = write!(account, "; a terminal that was started without {flag} takes no keys");
        }
        self.shared.tally(|tally| {
            tally.counts.said.entry(Failure::NotReady).or_insert(account);
        });
    }
}
