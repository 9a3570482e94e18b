//! A user under an open load of sessions: each arrival opens a line of its own.

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use cuesta_record::clock;

use super::{FIRST_RETRY, Stop, User};
use crate::pacing::Pacer;

impl User {
    /// One session of an open load of sessions, when it arrives.
    pub(super) async fn play_next_session(&mut self, retry: &mut Duration) -> Result<Infallible, Stop> {
        let Pacer::Open(arrivals) = &self.pacer else { return Err(Stop::Left) };
        let ends = self.step_end();
        let Some(due) = Rc::clone(arrivals).next_before(ends).await else {
            self.next_due = ends;
            return Err(Stop::Left);
        };
        self.shared.user(self.slot, |user| user.arrived = Some(due));
        self.next_due = due;
        self.delayed = clock::now().since(due);
        let played = self.play_session(retry).await;
        self.end_arrival(played);
        played.and(Err(Stop::Left))
    }

    async fn play_session(&mut self, retry: &mut Duration) -> Result<(), Stop> {
        let mut session = self.open().await?;
        *retry = FIRST_RETRY;
        match self.play(&mut session, 0, self.program().ops.len()).await {
            Err(stop) => Err(Box::pin(self.explain_loss(stop, session)).await),
            Ok(()) => Ok(()),
        }
    }

    /// Counts the end of a pass or a session, unless the run ended first, or the user left before it typed.
    pub(super) fn end_arrival(&self, played: Result<(), Stop>) {
        if !matches!(played, Err(Stop::Over | Stop::Left)) {
            self.shared.end_arrival(self.slot, played.is_err());
        }
    }
}
