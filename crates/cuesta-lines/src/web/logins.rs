//! Logins that users share (`login=once`): the first one logs in, the others wait for its cookies.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::wire::http::CookieJar;

/// A login: at which target, as whom.
type Login = (String, Option<String>);

/// The logins of this process.
static LOGINS: LazyLock<Mutex<HashMap<Login, Arc<OnceCell<CookieJar>>>>> = LazyLock::new(Mutex::default);

/// Forgets a login whose cookies the host did not take: the next user logs in anew.
pub(super) fn forget(target: &str, user: Option<&str>) {
    let mut logins = LOGINS.lock().unwrap_or_else(PoisonError::into_inner);
    logins.remove(&(target.to_owned(), user.map(str::to_owned)));
}

/// The place for the cookies of a login.
pub(super) fn find_cell(target: &str, user: Option<&str>) -> Arc<OnceCell<CookieJar>> {
    let mut logins = LOGINS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(logins.entry((target.to_owned(), user.map(str::to_owned))).or_default())
}
