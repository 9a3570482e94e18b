//! What a user logs in with, on lines that log in by themselves.

use std::collections::BTreeMap;
use std::fmt;

/// The credentials of one user. Each field is a column of the users' table.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Login {
    /// The user name, where the target has none.
    pub user: Option<String>,
    pub password: Option<String>,
    /// A one-time code, as it is typed.
    pub code: Option<String>,
    /// The secret of time-based one-time codes (RFC 6238), in base 32 or as an `otpauth://totp/` URI.
    pub totp: Option<String>,
    /// The 3270's logical unit.
    pub lu: Option<String>,
}

impl Login {
    /// Takes the columns of a row that have a value.
    pub fn from_row(row: &BTreeMap<String, String>) -> Self {
        let cell = |column| row.get(column).filter(|cell| !cell.is_empty()).cloned();
        Self { user: cell("user"), password: cell("password"), code: cell("code"), totp: cell("totp"), lu: cell("lu") }
    }
}

/// Secrets are not printed.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |secret: &Option<String>| secret.as_ref().map(|_| "…");
        f.debug_struct("Login")
            .field("user", &self.user)
            .field("password", &hidden(&self.password))
            .field("code", &hidden(&self.code))
            .field("totp", &hidden(&self.totp))
            .field("lu", &self.lu)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_printed() {
        let cells = [("user", "joe"), ("password", "geheim"), ("code", "123456"), ("totp", "GEZDGNBV"), ("city", "")];
        let row = cells.map(|(column, cell)| (column.to_owned(), cell.to_owned())).into();
        let login = format!("{:?}", Login::from_row(&row));
        assert_eq!(
            login,
            r#"Login { user: Some("joe"), password: Some("…"), code: Some("…"), totp: Some("…"), lu: None }"#
        );
    }
}
