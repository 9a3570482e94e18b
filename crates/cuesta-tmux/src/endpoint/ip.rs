//! Runs `ip` of iproute2, in the network namespace of the calling thread.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::EndpointError;

/// A version of IP, as `ip` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V6,
}

impl Version {
    fn flag(self) -> &'static str {
        match self {
            Self::V4 => "-4",
            Self::V6 => "-6",
        }
    }
}

/// What a command shows, as JSON.
pub(crate) fn show(version: Version, words: &[&str]) -> Result<Value, EndpointError> {
    let output = Command::new("ip").args([version.flag(), "-json"]).args(words).stdin(Stdio::null()).output();
    let shown = checked(output, || words.join(" "))?;
    if shown.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Array(Vec::new())); // some versions print nothing for an empty list
    }
    Ok(serde_json::from_slice(&shown)?)
}

/// Carries out commands, in order, up to the first that fails.
pub(crate) fn batch(version: Version, commands: &[String]) -> Result<(), EndpointError> {
    if commands.is_empty() {
        return Ok(());
    }
    let mut child = Command::new("ip")
        .args([version.flag(), "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| EndpointError::Ip { command: "ip".to_owned(), why: error.to_string() })?;
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all((commands.join("\n") + "\n").as_bytes()); // if it has ended, its message says why
    }
    checked(child.wait_with_output(), || commands.join("; "))?;
    Ok(())
}

fn checked(output: std::io::Result<Output>, command: impl Fn() -> String) -> Result<Vec<u8>, EndpointError> {
    let failed = |why: String| EndpointError::Ip { command: format!("ip {}", command()), why };
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(failed(why.lines().next().unwrap_or("it says nothing").trim().to_owned()))
}
