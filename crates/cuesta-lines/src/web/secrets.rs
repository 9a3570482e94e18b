//! A user's secrets are blacked out in what a host says: hosts quote what they were sent, also encoded as it was sent.

use std::env;

use super::target::WebTarget;
use crate::percent::{Encoded, encode_segment};
use crate::wire::web::Account;
use crate::{Login, Target};

const BLACKED_OUT: &str = "…";

/// A shorter part of a cookie, such as `lang=en`, is no secret, and its letters are in other words.
const SHORTEST_COOKIE: usize = 8;

/// A text may end within a secret. Its end is hidden if it has at least this many of the secret's first characters.
const SHORTEST_PART: usize = 4;

/// The secrets of a user at a host, as texts may have them; those that hold others stand first.
pub(super) struct Secrets(Vec<String>);

/// What a host said, without the secrets that a user logs in with, and without `others`, such as further secret columns of the users' table.
pub fn hide_secrets(said: &str, target: &str, login: &Login, others: &[&str]) -> String {
    Secrets::new(login, shared_token(target).as_deref(), others).hide(said)
}

/// The token that a target takes from the environment for all its users.
pub fn shared_token(target: &str) -> Option<String> {
    match target.parse() {
        Ok(Target::Web(target)) => read_token(&target),
        _ => None,
    }
}

impl Secrets {
    pub(super) fn from_login(target: &WebTarget, login: &Login) -> Self {
        Self::new(login, read_token(target).as_deref(), &[])
    }

    fn new(login: &Login, shared: Option<&str>, others: &[&str]) -> Self {
        let (user, password) = (login.user.clone(), login.password.clone());
        let basic = Account { user, password, ..Account::default() }.basic();
        let credentials = basic.as_deref().and_then(|basic| basic.split_once(' ')).map(|(_, credentials)| credentials);
        let own = [login.password.as_deref(), login.token.as_deref(), login.cookie.as_deref(), credentials];
        let plain = own.into_iter().flatten().chain(shared).chain(others.iter().copied());
        let plain =
            plain.chain(login.cookie.iter().flat_map(|cookie| list_cookie_values(cookie))).filter(|it| !it.is_empty());
        let mut secrets: Vec<String> =
            plain.flat_map(|secret| [secret.to_owned(), encode_segment(secret), Encoded(secret).to_string()]).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets)
    }

    /// A text without them.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut hidden = self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, BLACKED_OUT));
        if let Some(len) = self.0.iter().filter_map(|secret| len_of_part(secret, &hidden)).max() {
            hidden.truncate(hidden.len() - len);
            hidden.push_str(BLACKED_OUT);
        }
        hidden
    }
}

/// How many bytes at the end of a text are the beginning of a secret; none if they are fewer than [`SHORTEST_PART`] characters.
fn len_of_part(secret: &str, text: &str) -> Option<usize> {
    let ends = secret.char_indices().map(|(at, _)| at).filter(|at| *at >= SHORTEST_PART);
    ends.filter(|end| text.ends_with(&secret[..*end])).max()
}

/// The values of a `Cookie` header.
fn list_cookie_values(cookie: &str) -> impl Iterator<Item = &str> {
    let values = cookie.split(';').filter_map(|pair| pair.split_once('=')).map(|(_, value)| value.trim());
    values.filter(|value| value.len() >= SHORTEST_COOKIE)
}

fn read_token(target: &WebTarget) -> Option<String> {
    env::var(target.browser.token.as_ref()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(said: &str) -> String {
        let cell = |text: &str| Some(text.to_owned());
        let login = Login {
            user: cell("joe"),
            password: cell("a b/c"),
            token: cell("t0ken"),
            cookie: cell("lang=en; session=0123456789"),
            ..Login::default()
        };
        hide_secrets(said, "ws://h", &login, &["p1n"])
    }

    #[test]
    fn secrets_are_hidden_in_each_form_that_was_sent() {
        for said in [
            "a b/c",
            "a%20b%2Fc",
            "a%20b/c",
            "am9lOmEgYi9j",
            "t0ken",
            "lang=en; session=0123456789",
            "0123456789",
            "p1n",
        ] {
            assert_eq!(hide(&format!("no \"{said}\" here")), "no \"…\" here");
        }
        assert_eq!(hide("joe en session"), "joe en session");
    }

    #[test]
    fn a_part_at_the_end_is_hidden_too() {
        assert_eq!(hide("no 012345"), "no …");
        assert_eq!(hide("no 012"), "no 012");
    }
}
