//! Who waits for the host, and for what.

use cuesta_record::{Counts, Stamp};

use super::ThreadState;
use super::user_state::{UserState, WaitingFor};

impl ThreadState {
    /// A user waits for something from now on, or for nothing any more.
    pub(crate) fn waits(&self, slot: usize, what: Option<WaitingFor>) {
        self.users.borrow_mut()[slot].waits = what;
    }

    /// A user waits for the echoes of so many keys, the first of which was due at an instant; or for none.
    pub(crate) fn waits_for_echo(&self, slot: usize, since: Option<Stamp>, keys: usize) {
        self.users.borrow_mut()[slot].echo = since.map(|since| (since, keys));
    }

    /// Whether anyone waits for an answer or an echo.
    pub(crate) fn is_waiting(&self) -> bool {
        self.users.borrow().iter().any(|slot| matches!(slot.waits, Some(WaitingFor::Answer(_))) || slot.echo.is_some())
    }
}

/// Counts those who wait at the end of an interval.
pub(super) fn count_waiting(users: &[UserState], end: Stamp, counts: &mut Counts) {
    let age = |since: Stamp| end.since(since).as_secs_f64();
    for slot in users {
        match slot.waits {
            Some(WaitingFor::Answer(due)) if due < end => {
                counts.waiting.answers += 1;
                counts.oldest = counts.oldest.max(age(due));
            }
            Some(WaitingFor::Prompt(since)) if since < end => {
                counts.waiting.prompts += 1;
                counts.waiting.oldest = counts.waiting.oldest.max(age(since));
            }
            _ => {}
        }
        if let Some((due, keys)) = slot.echo.filter(|(due, _)| *due < end) {
            counts.waiting.echoes += 1;
            counts.waiting.keys += keys as u64;
            counts.oldest = counts.oldest.max(age(due));
        }
    }
    counts.unfinished = counts.waiting.answers + counts.waiting.echoes;
    counts.waiting.oldest = counts.waiting.oldest.max(counts.oldest);
}
