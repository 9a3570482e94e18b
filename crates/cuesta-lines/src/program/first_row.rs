//! The first row that a command prints.

use super::ProxyCommand;
use crate::{OpenError, receive};

/// Most bytes of the row.
const LONGEST: usize = 256;

/// Runs `command` with `/bin/sh -c` and returns its first row, without blanks around it. What it does then is cut off.
pub(crate) async fn first_row_of(command: &str) -> Result<String, String> {
    let failed = |what: String| format!("`{command}` {what}");
    let mut program = ProxyCommand::start(command).map_err(|error: OpenError| error.to_string())?;
    let (mut row, mut room) = (Vec::new(), [0; LONGEST]);
    while row.len() < LONGEST && !row.contains(&b'\n') {
        match receive(&mut program, &mut room).await {
            Ok(received) if received.len > 0 => row.extend(&room[..received.len]),
            // The error stands on its standard error.
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&row);
    match text.lines().next().map(str::trim) {
        Some(row) if !row.is_empty() => Ok(row.to_owned()),
        _ => match program.complaint() {
            complaint if complaint.is_empty() => Err(failed("printed nothing".to_owned())),
            complaint => Err(failed(format!("printed nothing: {complaint}"))),
        },
    }
}
