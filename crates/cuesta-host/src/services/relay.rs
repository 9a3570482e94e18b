//! Relays between a terminal and the line of a program, for the services that run one.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_lines::Line;
use cuesta_record::{Stamp, clock};

use crate::input::{LONGEST_ROW, Unit};
use crate::terminal::Terminal;

/// Most bytes read from the program at once.
const PIECE: usize = 4096;

/// The relay of one line: the input that the program has not taken yet.
pub(super) struct Relay {
    characters: [u8; LONGEST_ROW + 1],
    from: usize,
    to: usize,
}

/// Why a relay came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelayEnd {
    HungUp,
    /// The program closed its end, or ended.
    Ended,
}

/// The result of reading the program's output.
enum OutputOutcome {
    Some,
    Nothing,
    Ended,
}

impl Relay {
    pub(super) fn new() -> Self {
        Self { characters: [0; LONGEST_ROW + 1], from: 0, to: 0 }
    }

    /// Relays until the line or the program ends.
    pub(super) async fn run(&mut self, terminal: &mut Terminal, program: &mut impl Line) -> io::Result<RelayEnd> {
        poll_fn(|cx| self.poll(cx, terminal, program)).await
    }

    /// Relays after the terminal hung up: gives the program the rest of its input, calls `end_input`, and shows output until it
    /// ends, or until nothing has passed for as long as `patience`.
    pub(super) async fn drain<L: Line>(
        &mut self,
        terminal: &mut Terminal,
        program: &mut L,
        end_input: fn(&mut L),
        patience: Duration,
    ) -> io::Result<()> {
        let mut due = clock::now() + patience;
        let mut input_ended = false;
        terminal.has_moved_in_kernel();
        poll_fn(|cx| {
            loop {
                let next = terminal.service_line(cx)?;
                let took = self.pass_input(cx, terminal, program);
                if !took && self.is_empty() && !std::mem::replace(&mut input_ended, true) {
                    end_input(program);
                }
                match pass_output(cx, terminal, program)? {
                    OutputOutcome::Ended => return Poll::Ready(Ok(())),
                    OutputOutcome::Nothing if !took => {}
                    _ => {
                        due = clock::now() + patience;
                        continue;
                    }
                }
                if clock::now() >= due {
                    if !terminal.has_moved_in_kernel() {
                        return Poll::Ready(Ok(()));
                    }
                    due = clock::now() + patience;
                }
                if terminal.poll_idle(cx, next.min(due)).is_pending() {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        terminal: &mut Terminal,
        program: &mut impl Line,
    ) -> Poll<io::Result<RelayEnd>> {
        loop {
            let next = terminal.service_line(cx)?;
            if terminal.hung_up() {
                return Poll::Ready(Ok(RelayEnd::HungUp));
            }
            if terminal.front().stalled(clock::now()).is_none() {
                if let Some((columns, rows)) = terminal.line().terminal().and_then(|known| known.window())
                    && let Some(terminal) = program.terminal()
                {
                    terminal.resize(columns, rows);
                }
                let took = self.pass_input(cx, terminal, program);
                match pass_output(cx, terminal, program)? {
                    OutputOutcome::Ended => return Poll::Ready(Ok(RelayEnd::Ended)),
                    OutputOutcome::Some => continue,
                    OutputOutcome::Nothing if took => continue,
                    OutputOutcome::Nothing => {}
                }
            }
            // That is all that was read, if nothing waits here.
            terminal.output_handled(program.traffic().received);
            if terminal.poll_idle(cx, next).is_pending() {
                return Poll::Pending;
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Passes input to the program, as much as it takes now; true if it took any.
    fn pass_input(&mut self, cx: &mut Context<'_>, terminal: &mut Terminal, program: &mut impl Line) -> bool {
        if self.is_empty() && !self.refill(terminal) {
            return false;
        }
        match program.poll_send(cx, &self.characters[self.from..self.to]) {
            Poll::Pending => false,
            Poll::Ready(Ok(taken)) => {
                self.from += taken;
                true
            }
            // The program has ended; reading reports that after its last output.
            Poll::Ready(Err(_)) => {
                self.from = self.to;
                false
            }
        }
    }

    /// Takes a row, or all raw characters that wait and fit: each by itself would take a write of its own, and as long as the host
    /// falls behind, a read of its own.
    fn refill(&mut self, terminal: &mut Terminal) -> bool {
        let by_rows = terminal.front().settings.discipline.unit == Unit::Row;
        (self.from, self.to) = (0, 0);
        while self.to < LONGEST_ROW {
            let Some(message) = terminal.next(&mut self.characters[self.to..LONGEST_ROW]) else { break };
            self.to += message.len;
            if by_rows {
                self.characters[self.to] = b'\n';
                self.to += 1;
                break;
            }
        }
        self.to > 0
    }
}

/// Copies the program's output to the terminal, as far as there is room.
fn pass_output(cx: &mut Context<'_>, terminal: &mut Terminal, program: &mut impl Line) -> io::Result<OutputOutcome> {
    let room = terminal.room_now().min(PIECE);
    if room == 0 {
        return Ok(OutputOutcome::Nothing);
    }
    let mut buffer = [0; PIECE];
    match program.poll_receive(cx, &mut buffer[..room]) {
        Poll::Pending => Ok(OutputOutcome::Nothing),
        Poll::Ready(Ok(received)) if received.len > 0 => {
            let shown = &buffer[..received.len];
            terminal.queue(Stamp::ZERO, received.len, |into| into.copy_from_slice(shown));
            Ok(OutputOutcome::Some)
        }
        Poll::Ready(Ok(_)) => Ok(OutputOutcome::Ended),
        // The shell has printed that there is no such program.
        Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(OutputOutcome::Ended),
        Poll::Ready(Err(error)) => Err(error),
    }
}
