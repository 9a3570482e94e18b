//! The end of a session: the run is over, or the line was lost, and then what the host said last, and how its program ended.

use std::fmt::Write;
use std::time::Duration;

use cuesta_lines::{ExitStatus, Login, kind_of};
use cuesta_record::{Failure, clock};
use cuesta_tape::Op;

use super::{Stop, User};
use crate::session::Session;
use crate::shown::{last_rows, make_printable};

/// How long the exit of a program is waited for after it has closed its line. Most exit a little later.
const EXIT_WAIT: Duration = Duration::from_millis(200);

impl User {
    /// Records what the host of a lost line said last, and what was waited for. Returns the reason, with the exit of the program there in place
    /// of the line's failure if that is known.
    pub(super) async fn explain_loss(&self, stop: Stop, mut session: Session) -> Stop {
        if !matches!(stop, Stop::Lost(_)) || self.load_has_ended() {
            return stop;
        }
        let (wait, since) = self.last_wait;
        let waited = clock::now().since(since);
        let stop = self.add_program_exit(stop, &mut session).await;
        let waits = wait == self.at && matches!(self.program().ops.get(wait), Some(Op::Wait { .. } | Op::Ready { .. }));
        if let (Stop::Lost(loss), true) = (stop, waits) {
            self.shared.add_sample(loss.name(), || self.sample(&session, wait, waited));
        }
        stop
    }

    async fn add_program_exit(&self, stop: Stop, session: &mut Session) -> Stop {
        let Stop::Lost(fault) = stop else { return stop };
        let has_reason = session.end_reason().is_some();
        if !has_reason && !matches!(fault, Failure::Closed | Failure::Reset | Failure::Broken | Failure::NoProgram) {
            return stop;
        }
        let ended = if has_reason { None } else { session.program_exit(clock::now() + EXIT_WAIT).await };
        let by_exit = |status| self.failure_by_exit(fault, status, session.has_sent());
        let loss = match ended.map_or(fault, by_exit) {
            at_start @ (Failure::ExitedAtStart | Failure::NoProgram) => at_start,
            _ if self.is_at_ready() => Failure::NotReady,
            loss => loss,
        };
        let last = session.last_rows();
        let account = match session.end_reason() {
            Some(reason) => {
                format!("{}: {}", self.describe_host(), make_printable(&self.hide_secrets(&reason)))
            }
            None => self.describe_end(ended, &last, session.received() > 0),
        };
        self.shared.tally(|tally| {
            tally.counts.said.entry(loss).or_insert(account);
        });
        Stop::Lost(loss)
    }

    /// What a host said, without the user's secrets: it may quote what a line logged in with.
    pub(super) fn hide_secrets(&self, said: &str) -> String {
        let (group, target) = (&self.shared.groups[self.group], &self.shared.spec.groups[self.group].target);
        let login = group.row(self.rank).map(Login::from_row).unwrap_or_default();
        cuesta_lines::hide_secrets(said, target, &login, &group.secrets(self.rank))
    }

    /// The failure to count, given the line's and how the program there ended.
    fn failure_by_exit(&self, fault: Failure, status: ExitStatus, has_sent: bool) -> Failure {
        let waits = self.program().ops.iter().any(|op| matches!(op, Op::Wait { .. } | Op::Ready { .. }));
        match status {
            _ if fault == Failure::NoProgram => fault,
            _ if !self.host_has_answered && (waits || !has_sent) => Failure::ExitedAtStart,
            ExitStatus::Exited(0) => fault,
            _ => Failure::Exited,
        }
    }

    /// The command, or the address without its settings.
    fn describe_host(&self) -> String {
        let target = &self.shared.spec.groups[self.group].target;
        let is_program = kind_of(target).is_some_and(|kind| kind.starts_program);
        let host = match target.split_once(':') {
            Some((_, command)) if is_program => command,
            _ => target.split(['?', '#']).next().unwrap_or(target),
        };
        make_printable(host)
    }

    /// How the program ended, and what the host sent last; `has_sent`: it has sent anything.
    fn describe_end(&self, ended: Option<ExitStatus>, last: &[u8], has_sent: bool) -> String {
        let how = ended.map_or_else(|| "closed the line".to_owned(), |status| status.to_string());
        let mut about = format!("{} {how}", self.describe_host());
        let rows = last_rows(last, &self.shared.groups[self.group].secrets(self.rank));
        let _ = match rows.as_slice() {
            [] if has_sent => write!(about, "; it had drawn its screen, and said nothing"),
            [] => write!(about, " and had said nothing"),
            rows => write!(about, "; it said last: {}", rows.join(" | ")),
        };
        about
    }

    /// Nothing more is due: keeps the line open until the measurement ends, and then while keys wait for their echo. Returns
    /// without a reason to stop if a step was cut meanwhile: then the end may be another one.
    pub(super) async fn stay_until_the_end(&mut self, session: &mut Session) -> Result<(), Stop> {
        let schedule = self.shared.schedule();
        let timeline = &schedule.timeline;
        if let Some(leaves) = schedule.leaves_by_cut(self.group, self.rank) {
            return Err(self.leave_at(session, leaves).await);
        }
        if self.hung_up {
            clock::sleep_until(timeline.end()).await;
        } else if session.listen_until_cut(timeline.end()).await? {
            return Ok(());
        }
        if !self.load_has_ended() {
            return Ok(());
        }
        if !self.hung_up {
            session.listen_for_echoes(timeline.drained()).await?;
        }
        Err(Stop::Over)
    }
}
