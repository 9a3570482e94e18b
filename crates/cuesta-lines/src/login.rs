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
    /// What a web terminal wants of a program in place of a password.
    pub token: Option<String>,
    /// The cookies of a browser that has logged in, as a `Cookie` header has them.
    pub cookie: Option<String>,
    /// The whole row, for what a target names by `{column}`.
    pub cells: BTreeMap<String, String>,
}

impl Login {
    /// Takes the columns of a row that have a value.
    pub fn from_row(row: &BTreeMap<String, String>) -> Self {
        let cell = |column| row.get(column).filter(|cell| !cell.is_empty()).cloned();
        Self {
            user: cell("user"),
            password: cell("password"),
            code: cell("code"),
            totp: cell("totp"),
            lu: cell("lu"),
            token: cell("token"),
            cookie: cell("cookie"),
            cells: row.clone(),
        }
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
            .field("token", &hidden(&self.token))
            .field("cookie", &hidden(&self.cookie))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_printed() {
        let cells = [("user", "joe"), ("password", "geheim"), ("code", "123456"), ("token", "geheim"), ("pin", "1234")];
        let row = cells.map(|(column, cell)| (column.to_owned(), cell.to_owned())).into();
        let login = format!("{:?}", Login::from_row(&row));
        assert_eq!(
            login,
            r#"Login { user: Some("joe"), password: Some("…"), code: Some("…"), totp: None, lu: None, token: Some("…"), cookie: None, .. }"#
        );
    }
}
