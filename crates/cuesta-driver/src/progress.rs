//! Whether simulated users take time.

use std::cell::{Cell, RefCell};

use cuesta_record::Stamp;

/// At most this many passes of one user may begin at one instant of virtual time. A user who is behind catches up on at most 256.
const MOST_PASSES_AT_ONCE: u32 = 10_000;

/// Stops a simulation whose users take no time: only waiting moves virtual time, so there would be no end of their passes.
pub(crate) struct ProgressGuard {
    /// By user's slot: the instant at which its last pass began, and how many began there. Kept here, because users of a real run
    /// do not need the memory.
    passes: RefCell<Vec<(Stamp, u32)>>,
    stalled: Cell<Option<usize>>,
}

impl ProgressGuard {
    pub(crate) fn new(users: usize) -> Self {
        Self { passes: RefCell::new(vec![(Stamp::ZERO, 0); users]), stalled: Cell::new(None) }
    }

    /// Whether a user of a group may begin a pass at an instant. After it has refused one pass, it refuses all.
    pub(crate) fn allows_pass(&self, slot: usize, group: usize, at: Stamp) -> bool {
        let (last, passes) = &mut self.passes.borrow_mut()[slot];
        *passes = if *last == at { *passes + 1 } else { 1 };
        *last = at;
        if *passes > MOST_PASSES_AT_ONCE {
            self.stalled.set(Some(group));
        }
        self.stalled.get().is_none()
    }

    /// The group of the user whose passes take no time, if there is one.
    pub(crate) fn stalled(&self) -> Option<usize> {
        self.stalled.get()
    }
}
