//! What earlier logins of this process tell about the next one. A host counts wrong answers and may lock the account, so what it has
//! refused is not sent again, unless the same login has worked before.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::destination::Destination;
use super::error::Unanswered;
use crate::SshError;

/// What is known of an account, by address and user.
#[derive(Debug, Default)]
struct Account {
    has_logged_in: bool,
    /// Why its host has refused it.
    refusal: Option<String>,
    /// The last period whose one-time code was sent.
    last_code: Option<u64>,
}

/// The accounts by address and user. A prompt that is not understood is noted for the whole host, under an empty name.
static ACCOUNTS: LazyLock<Mutex<HashMap<(String, String), Account>>> = LazyLock::new(Mutex::default);

fn accounts() -> MutexGuard<'static, HashMap<(String, String), Account>> {
    ACCOUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(destination: &Destination, user: &str) -> (String, String) {
    (destination.address.to_string(), user.to_owned())
}

/// Fails if this login was refused before.
pub(super) fn check(destination: &Destination) -> Result<(), SshError> {
    let accounts = accounts();
    let refusal = |user| accounts.get(&key(destination, user)).and_then(|account| account.refusal.clone());
    match refusal("").or_else(|| refusal(&destination.user)) {
        Some(refusal) => Err(SshError::NotRepeated { refusal }),
        None => Ok(()),
    }
}

pub(super) fn note_login(destination: &Destination) {
    let mut accounts = accounts();
    for user in ["", &destination.user] {
        accounts.entry(key(destination, user)).or_default().has_logged_in = true;
    }
}

pub(super) fn note_failure(destination: &Destination, error: &SshError) {
    let users: &[&str] = match error {
        SshError::Prompt { why: Unanswered::Unknown, .. } => &["", &destination.user],
        SshError::Prompt { .. } => &[&destination.user],
        SshError::Auth { .. } if destination.password.is_some() || destination.codes.is_some() => &[&destination.user],
        _ => return,
    };
    let mut accounts = accounts();
    for user in users {
        let account = accounts.entry(key(destination, user)).or_default();
        if !account.has_logged_in {
            account.refusal = Some(error.to_string());
        }
    }
}

/// Fails if the one-time code of this period was sent before: a host takes each code once.
pub(super) fn use_code(destination: &Destination, period: u64) -> Result<(), String> {
    let mut accounts = accounts();
    let account = accounts.entry(key(destination, &destination.user)).or_default();
    if account.last_code.replace(period) == Some(period) {
        return Err(
            "the code of this moment was used before, and the host takes it once; the next one follows within a minute"
                .to_owned(),
        );
    }
    Ok(())
}
