//! Waits for a program that takes keys.

use std::task::Poll;

use cuesta_record::{Failure, Stamp, clock};
use cuesta_tape::Probe;

use super::Session;
use crate::readiness::{Next, Obstacle, ProbeKey, Readiness, Received};
use crate::terminal::Keystroke;

/// Most characters that are kept of what comes after a probe.
pub(super) const MOST_PROBED: usize = 64;

impl Session {
    /// Waits until the program is ready, or an instant: then it is told what is seen instead.
    pub(crate) async fn wait_until_ready(
        &mut self,
        probe: &Probe,
        deadline: Stamp,
    ) -> Result<Result<(), Obstacle>, Failure> {
        let mut readiness = Readiness::new(probe, clock::now());
        let mut last = clock::now();
        loop {
            let now = clock::now();
            let terminal = readiness.asks_the_line().then(|| self.line.terminal()).flatten();
            let is_awaited = terminal.and_then(|terminal| terminal.awaits_echoed_input());
            let received = Received { last, since_key: self.probed.as_deref().unwrap_or_default(), is_awaited };
            // `find_mismatch` has refused other terminals.
            let Some(screen) = self.terminal.screen() else { return Ok(Ok(())) };
            match readiness.look(screen, received, now) {
                Next::Ready => {
                    self.probed = None;
                    self.terminal.probe_ended();
                    return Ok(Ok(()));
                }
                Next::NotReady(obstacle) => return Ok(Err(obstacle)),
                Next::LookAt(_) if now >= deadline => return Ok(Err(readiness.obstacle(screen))),
                Next::LookAt(at) => {
                    if self.listen_for_output(at.min(deadline)).await? {
                        last = clock::now();
                    }
                }
                Next::Press(ProbeKey::Character(character)) => {
                    self.probed = Some(Vec::new());
                    self.send_probe(Keystroke::Character(character.encode_utf8(&mut [0; 4]))).await?;
                }
                Next::Press(ProbeKey::Key(key)) => self.send_probe(Keystroke::Key(key)).await?,
            }
        }
    }

    /// Listens until something has come and is drawn, or a query of the host was replied to, or an instant; says whether it was one of
    /// the first two.
    async fn listen_for_output(&mut self, until: Stamp) -> Result<bool, Failure> {
        let before = self.line.traffic();
        let event = |session: &Self| {
            let has_changed = session.line.traffic() != before;
            has_changed && session.terminal.is_drawn() && session.terminal.replies().is_empty()
        };
        let heard = self.listen(until, |session, _| if event(session) { Poll::Ready(()) } else { Poll::Pending });
        Ok(heard.await?.is_some() || self.line.traffic() != before)
    }
}
