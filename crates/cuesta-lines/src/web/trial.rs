//! Opens a session and closes it, to learn before a run whether a user could type there.

use std::time::Duration;

use cuesta_record::clock;

use super::error::WebError;
use super::opening::open;
use super::secrets::Secrets;
use super::target::WebTarget;
use crate::{OpenError, Options, Received, receive, tcp};

/// A program has started once it is silent for so long after its first output; and the longest time that it is given.
const QUIET: Duration = Duration::from_millis(100);
const LONGEST_START: Duration = Duration::from_secs(5);

/// Opens a session, waits until its program has started, and closes it: a shell that is hung up while it starts may miss the signal and
/// run on (seen with bash below ttyd), and Kubernetes tells only after the session is ready that there is no such program.
pub(crate) async fn probe(target: &WebTarget, options: &Options) -> Result<(), OpenError> {
    let mut line = open(target, options).await?;
    let mut piece = [0; 4096];
    let last = clock::now() + LONGEST_START;
    let mut until = last;
    loop {
        match tcp::with_deadline(until, receive(&mut line, &mut piece)).await {
            Some(Ok(Received { len: 1.., .. })) if clock::now() < last => until = last.min(clock::now() + QUIET),
            Some(Err(error)) => {
                let error = WebError::NoSession { address: target.address.to_string(), why: error.to_string() };
                return Err(error.without(&Secrets::from_login(target, &options.login)).into());
            }
            _ => return Ok(()),
        }
    }
}
