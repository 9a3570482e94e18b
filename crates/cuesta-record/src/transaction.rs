//! One transaction, as four instants.

use std::time::Duration;

use crate::Stamp;

/// A transaction: from the last key of an input to the complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// Number of its series, which names group and transaction.
    pub class: u32,
    /// Number of the user, over all groups.
    pub user: u32,
    /// When its last key was due.
    pub due: Stamp,
    /// When it was sent.
    pub sent: Stamp,
    /// When the first character of the answer arrived.
    pub first: Stamp,
    /// When the answer was complete.
    pub done: Stamp,
}

impl Transaction {
    /// Response time as the user feels it: `done − due`.
    pub fn response(&self) -> Duration {
        self.done.since(self.due)
    }
}
