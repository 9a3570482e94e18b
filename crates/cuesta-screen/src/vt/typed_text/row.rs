//! A row of the text that a user types.

use super::super::cells::CellPosition;
use super::{ControlKey, KeyMatch};

/// A row of typed characters. The first ones are shown.
#[derive(Debug)]
pub(super) struct TypedRow<K> {
    pub(super) keys: Vec<TypedKey<K>>,
    /// How many of them are shown.
    pub(super) shown: usize,
    pub(super) end: Option<ControlKey>,
    /// The cursor when its first unshown key was sent.
    pub(super) origin: CellPosition,
    /// The host has made something else of its text.
    pub(super) is_lost: bool,
    /// The text was where it had been, or elsewhere as a whole, at the end of the last frame.
    pub(super) stands: bool,
}

#[derive(Debug)]
pub(super) struct TypedKey<K> {
    pub(super) character: char,
    /// `None` once the caller has it.
    pub(super) value: Option<K>,
    /// Where it was shown.
    pub(super) cell: Option<CellPosition>,
    /// It may never be shown, and then hides no key behind it.
    pub(super) is_optional: bool,
    /// How much had been printed when it was sent.
    pub(super) sent_after: u64,
}

impl<K> TypedRow<K> {
    pub(super) fn new(origin: CellPosition) -> Self {
        Self { keys: Vec::new(), shown: 0, end: None, origin, is_lost: false, stands: true }
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &K> {
        self.keys.iter().filter_map(|key| key.value.as_ref())
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.shown < self.keys.len()
    }

    /// How many keys it begins with that may never be shown, if none is shown and others follow.
    pub(super) fn optional(&self) -> usize {
        let count = self.keys.iter().take_while(|key| key.is_optional).count();
        if self.shown > 0 || count == self.keys.len() { 0 } else { count }
    }

    /// Loses its keys, and those that will follow.
    pub(super) fn lose<I>(&mut self, mut report: impl FnMut(KeyMatch<K, I>)) {
        self.keys.drain(..).filter_map(|key| key.value).for_each(|key| report(KeyMatch::Lost(key)));
        (self.shown, self.is_lost) = (0, true);
    }
}
