//! A program with pipes for its input, its output and its errors: as the connection to a host (ssh's `ProxyCommand`), or for the first row
//! that it prints.

use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use cuesta_record::event_queue::watch;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::spawn::StandardStreams;
use super::{Program, not_started};
use crate::{Line, OpenError, Opening, Received, Traffic, receive};

/// At most this much of the program's standard error is read, in bytes.
const MOST_ERRORS: usize = 4096;
/// Most bytes of a first row.
const LONGEST_ROW: usize = 256;

/// A program and its three pipes. Bytes pass as they are. Dropping it hangs the program up.
#[derive(Debug)]
pub(crate) struct ProxyCommand {
    input: AsyncFd<OwnedFd>,
    output: AsyncFd<OwnedFd>,
    errors: std::fs::File,
    program: Program,
}

impl ProxyCommand {
    /// Starts `command` with `/bin/sh -c`.
    pub(crate) fn start(command: &str) -> Result<Self, OpenError> {
        Self::try_start(command).map_err(|cause| not_started(command, cause))
    }

    fn try_start(command: &str) -> io::Result<Self> {
        let (its_input, input) = pipe_with(PipeFlags::CLOEXEC)?;
        let (output, its_output) = pipe_with(PipeFlags::CLOEXEC)?;
        let (errors, its_errors) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&input, OFlags::NONBLOCK)?;
        fcntl_setfl(&output, OFlags::NONBLOCK)?;
        fcntl_setfl(&errors, OFlags::NONBLOCK)?;
        // Nothing reads this pipe before an error, so a full one must not block the program.
        fcntl_setfl(&its_errors, OFlags::NONBLOCK)?;
        let (input_end, output_end) = (its_input.as_fd(), its_output.as_fd());
        let streams = StandardStreams::ThreePipes { input: input_end, output: output_end, errors: its_errors.as_fd() };
        let program = Program::start(command, "dumb", streams)?;
        let (input, output) = (watch(input, Interest::WRITABLE)?, watch(output, Interest::READABLE)?);
        Ok(Self { input, output, errors: errors.into(), program })
    }

    /// The last row that the program has written to its standard error.
    pub(crate) fn last_error_row(&mut self) -> String {
        let mut text = Vec::new();
        // Stops where the pipe is empty or closed.
        let _ = (&mut self.errors).take(MOST_ERRORS as u64).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|row| !row.trim().is_empty()).unwrap_or_default();
        last.chars().filter(|c| !c.is_control()).take(200).collect()
    }
}

impl Line for ProxyCommand {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.program.poll_receive(&self.output, cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.program.poll_send(&self.input, cx, bytes)
    }

    fn opening(&self) -> Opening {
        self.program.opening()
    }

    fn traffic(&self) -> Traffic {
        self.program.traffic
    }
}

/// Runs `command` with `/bin/sh -c` and returns its first row, without blanks around it. The command is then hung up.
pub(crate) async fn first_row_of(command: &str) -> Result<String, String> {
    let mut program = ProxyCommand::start(command).map_err(|error| error.to_string())?;
    let (mut row, mut room) = (Vec::new(), [0; LONGEST_ROW]);
    while row.len() < LONGEST_ROW && !row.contains(&b'\n') {
        match receive(&mut program, &mut room).await {
            Ok(received) if received.len > 0 => row.extend(&room[..received.len]),
            // The error stands on its standard error.
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&row);
    match text.lines().next().map(str::trim) {
        Some(row) if !row.is_empty() => Ok(row.to_owned()),
        _ => match program.last_error_row() {
            error if error.is_empty() => Err(format!("`{command}` printed nothing")),
            error => Err(format!("`{command}` printed nothing: {error}")),
        },
    }
}
