//! Waits for an instant, an event or a complete response. Each of them reads the line.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_lines::Delivery;
use cuesta_record::{Failure, Stamp, clock};
use cuesta_tape::{TapePlace, WaitCondition};

use super::Session;
use crate::barrier::BarrierWait;
use crate::pacing::ArrivalQueue;
use crate::response::{Done, ResponseMatcher};

/// After each such time, a wait that goes on leaves a sample for the live view.
const LONG_WAIT: Duration = Duration::from_secs(5);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    Done(Done),
    /// The deadline came first.
    TimedOut,
    /// A message was not delivered, or it is not known whether it was.
    Lost,
}

impl Session {
    /// Listens until an instant.
    pub(crate) async fn listen_until(&mut self, due: Stamp) -> Result<(), Failure> {
        self.listen(due, |_, _| Poll::<()>::Pending).await.map(|_| ())
    }

    /// Listens until an instant, or until a step is cut; says whether one was.
    pub(crate) async fn listen_until_cut(&mut self, until: Stamp) -> Result<bool, Failure> {
        let known = self.shared.cuts();
        let is_cut = |session: &Self, _: &mut Context<'_>| {
            if session.shared.cuts() == known { Poll::Pending } else { Poll::Ready(()) }
        };
        Ok(self.listen(until, is_cut).await?.is_some())
    }

    /// Listens until no key waits for its echo, or an instant.
    pub(crate) async fn listen_for_echoes(&mut self, until: Stamp) -> Result<(), Failure> {
        let all_echoed = |session: &Self, _: &mut Context<'_>| {
            if session.unechoed() == 0 { Poll::Ready(()) } else { Poll::Pending }
        };
        self.listen(until, all_echoed).await.map(|_| ())
    }

    /// Listens until something arrives for the user to do, or an instant.
    pub(crate) async fn listen_for(&mut self, arrivals: &ArrivalQueue, until: Stamp) -> Result<Option<Stamp>, Failure> {
        self.listen(until, |_, cx| arrivals.poll_next(cx.waker())).await
    }

    /// Listens until a barrier opens, or an instant; returns when all go on, if it opens.
    pub(crate) async fn listen_at(
        &mut self,
        mut wait: BarrierWait<'_>,
        until: Stamp,
    ) -> Result<Option<Stamp>, Failure> {
        self.listen(until, |_, cx| wait.poll(cx)).await
    }

    /// Listens until an event, or an instant: then there is no event.
    pub(super) async fn listen<T>(
        &mut self,
        until: Stamp,
        mut event: impl FnMut(&Self, &mut Context<'_>) -> Poll<T>,
    ) -> Result<Option<T>, Failure> {
        self.alarm.reset(until);
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(event) = event(self, cx) {
                    return Poll::Ready(Ok(Some(event)));
                }
                if Pin::new(&mut self.alarm).poll(cx).is_ready() {
                    return Poll::Ready(Ok(None));
                }
                ready!(self.poll_listen(cx))?;
            }
        })
        .await
    }

    /// Waits for the complete response, or a deadline.
    pub(crate) async fn wait(
        &mut self,
        condition: usize,
        place: &TapePlace,
        deadline: Stamp,
    ) -> Result<WaitOutcome, Failure> {
        let shared = Rc::clone(&self.shared);
        let is_new = self.next_condition.replace(condition) != Some(condition);
        let condition = &shared.program(self.group, self.program).conditions[condition];
        if is_new {
            // What has come so far was judged by another condition, or by none.
            let last = self.response.last();
            let is_met = last.is_some_and(|last| self.terminal.check_again(condition, last));
            self.response.judge_again(condition);
            if let Some(last) = last.filter(|_| is_met) {
                self.complete_on_screen(last);
            }
        }
        self.report_answer_signs();
        let begun = matches!(condition, WaitCondition::Silence(_)).then(clock::now);
        let mut shows_at = if self.shared.is_watched() { clock::latest() + LONG_WAIT } else { Stamp::FAR };
        poll_fn(|cx| {
            loop {
                if let Some(done) = self.response.done() {
                    self.response.end_input();
                    return Poll::Ready(Ok(WaitOutcome::Done(done)));
                }
                if *condition == WaitCondition::Delivered
                    && let Some(outcome) = self.delivery()
                {
                    return Poll::Ready(Ok(outcome));
                }
                let silence = match (condition, begun) {
                    (WaitCondition::Silence(length), Some(begun)) => Some(self.response.fell_silent(begun, *length)),
                    _ => None,
                };
                let silence = silence.filter(|done| done.at + done.silence <= deadline);
                let held_until = self.response_held_until();
                let silent = silence.map(|done| done.at + done.silence);
                self.alarm.reset(silent.into_iter().chain(held_until).fold(deadline.min(shows_at), Stamp::min));
                match self.poll_listen(cx) {
                    Poll::Ready(Ok(())) => continue,
                    Poll::Ready(Err(Failure::Closed)) if matches!(condition, WaitCondition::Disconnect) => {
                        return Poll::Ready(Ok(WaitOutcome::Done(self.response.closed(clock::now()))));
                    }
                    Poll::Ready(Err(_)) if self.response.done().is_some() || self.accept_held() => continue,
                    Poll::Ready(Err(lost)) => return Poll::Ready(Err(lost)),
                    // An acknowledgement is no input.
                    Poll::Pending if *condition == WaitCondition::Delivered && self.delivery().is_some() => continue,
                    Poll::Pending => {}
                }
                ready!(Pin::new(&mut self.alarm).poll(cx));
                let now = clock::now();
                if shows_at <= now && now < deadline {
                    let sample = Box::new(self.sample(format!("Wait+{condition}"), place, Duration::ZERO));
                    self.shared.user(self.slot, |user| user.long_wait = Some(sample));
                    shows_at = now + LONG_WAIT;
                    continue;
                }
                if self.draw_all() || self.accept_held() {
                    continue;
                }
                if held_until.is_some() && clock::now() < deadline {
                    continue;
                }
                self.response.end_input();
                return Poll::Ready(Ok(silence.map_or(WaitOutcome::TimedOut, WaitOutcome::Done)));
            }
        })
        .await
    }

    /// How a wait for delivery ends, if all messages have an outcome.
    fn delivery(&mut self) -> Option<WaitOutcome> {
        let outcome = match self.line.station()?.delivery() {
            Delivery::Pending => return None,
            Delivery::Done(at) => WaitOutcome::Done(ResponseMatcher::acknowledged(at)),
            Delivery::Lost => WaitOutcome::Lost,
        };
        self.count_traffic();
        self.response.end_input();
        Some(outcome)
    }

    /// Whether anything has come since the last key, echoes included.
    pub(crate) fn has_received_anything(&self) -> bool {
        self.since_key.received
    }

    /// Until when a possible response is not accepted, because it may be the echo of keys that wait for theirs.
    fn response_held_until(&self) -> Option<Stamp> {
        self.terminal.match_held_until().or_else(|| {
            let waits_for_echo = matches!(self.condition(), Some(WaitCondition::Echo));
            waits_for_echo.then(|| self.echoes.unconfirmed_until()).flatten()
        })
    }

    /// Accepts a possible response that was not accepted before; says whether there was one.
    fn accept_held(&mut self) -> bool {
        let now = clock::now();
        let is_held = self.terminal.match_held_until().is_some();
        if let Some(at) = is_held.then(|| self.terminal.accept_match()).flatten() {
            self.complete_on_screen(at);
        } else if !matches!(self.condition(), Some(WaitCondition::Echo)) || !self.resolve_echoes(now) {
            return false;
        }
        self.response.was_held(now);
        self.response.done().is_some()
    }
}
