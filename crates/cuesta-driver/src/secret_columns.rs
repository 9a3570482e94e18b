//! The columns of a users' table whose cells no record may show: those that the plan names, and those that were typed while the
//! host echoed nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One group's columns, shared by its threads and by the writer of a cast.
#[derive(Debug, Default)]
pub(crate) struct SecretColumns {
    /// No count may reveal how long their cells are, either.
    named: Vec<String>,
    /// A secret that all users share, and that no column has: a token of the environment.
    shared: Option<String>,
    /// The other columns, and whether one was typed without an echo.
    others: BTreeMap<String, AtomicBool>,
}

impl SecretColumns {
    pub(crate) fn new<'a>(
        columns: impl IntoIterator<Item = &'a String>,
        named: &[String],
        shared: Option<String>,
    ) -> Self {
        let others = columns.into_iter().filter(|column| !named.contains(column));
        let others = others.map(|column| (column.clone(), AtomicBool::new(false))).collect();
        Self { named: named.to_vec(), shared, others }
    }

    /// Whether the plan names this column.
    pub(crate) fn is_named(&self, column: &str) -> bool {
        self.named.iter().any(|name| name == column)
    }

    /// This column was typed, and the host echoed nothing meanwhile.
    pub(crate) fn add_unechoed(&self, column: &str) {
        if let Some(unechoed) = self.others.get(column) {
            unechoed.store(true, Ordering::Relaxed);
        }
    }

    /// The cells of a row that no record may show, and the shared secret; empty ones are left out.
    pub(crate) fn cells<'a>(&'a self, row: Option<&'a BTreeMap<String, String>>) -> Vec<&'a str> {
        let is_unechoed = |column: &String| self.others.get(column).is_some_and(|is| is.load(Ordering::Relaxed));
        let secret = row.into_iter().flatten().filter(|(column, _)| self.is_named(column) || is_unechoed(column));
        let secret = secret.map(|(_, cell)| cell.as_str()).chain(self.shared.as_deref());
        secret.filter(|cell| !cell.is_empty()).collect()
    }
}

/// A user's cells.
#[derive(Debug)]
pub(crate) struct SecretCells {
    pub(crate) columns: Arc<SecretColumns>,
    pub(crate) row: BTreeMap<String, String>,
}

impl SecretCells {
    /// Those that no record may show now.
    pub(crate) fn now(&self) -> Vec<&str> {
        self.columns.cells(Some(&self.row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_typed_without_an_echo_becomes_secret() {
        let row = BTreeMap::from([("user", "ann"), ("pin", "4711"), ("code", "")].map(|(a, b)| (a.into(), b.into())));
        let columns = SecretColumns::new(row.keys(), &["code".into()], None);
        assert_eq!(columns.cells(Some(&row)), Vec::<&str>::new());
        columns.add_unechoed("pin");
        assert_eq!(columns.cells(Some(&row)), ["4711"]);
        assert!(columns.is_named("code") && !columns.is_named("pin"));
    }

    #[test]
    fn a_secret_that_users_share_is_one_of_each() {
        assert_eq!(SecretColumns::new([], &[], Some("t0ken".into())).cells(None), ["t0ken"]);
    }
}
