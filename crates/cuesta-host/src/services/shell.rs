//! Runs a program on a pseudo-terminal, which has its own line discipline and echo.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_lines::{Line, Pty};
use cuesta_record::{Stamp, clock};

use crate::Service;
use crate::input::LONGEST_ROW;
use crate::terminal::Terminal;

/// How long a line may take to send its terminal's name.
const INTRODUCTION: Duration = Duration::from_millis(250);
/// Most bytes read from the program at once.
const PIECE: usize = 4096;
/// The terminal's name for a line that does not send one.
const TERMINAL: &str = "xterm";
/// Columns and rows for a line that does not send them.
const WINDOW: (u16, u16) = (80, 24);

pub(super) async fn serve(terminal: &mut Terminal) -> io::Result<()> {
    terminal.wait_for_terminal_name(clock::now() + INTRODUCTION).await?;
    let Service::Shell { command } = &terminal.front().settings.service else { return Ok(()) };
    let line = terminal.line();
    let program = Pty::start(command, line.terminal().unwrap_or(TERMINAL), line.window().unwrap_or(WINDOW));
    let mut program = program.map_err(io::Error::other)?;
    let mut typed = PendingInput::default();
    let outcome = poll_fn(|cx| poll(cx, terminal, &mut program, &mut typed)).await;
    program.end().await;
    outcome
}

/// Until the line or the program ends.
fn poll(
    cx: &mut Context<'_>,
    terminal: &mut Terminal,
    program: &mut Pty,
    typed: &mut PendingInput,
) -> Poll<io::Result<()>> {
    loop {
        let next = terminal.service_line(cx)?;
        if terminal.hung_up() {
            return Poll::Ready(Ok(()));
        }
        if terminal.front().stalled(clock::now()).is_none() {
            if let Some((columns, rows)) = terminal.line().window() {
                program.resize(columns, rows);
            }
            let took = typed.pass(cx, terminal, program);
            match show(cx, terminal, program)? {
                ShowOutcome::Ended => return Poll::Ready(Ok(())),
                ShowOutcome::Some => continue,
                ShowOutcome::Nothing if took => continue,
                ShowOutcome::Nothing => {}
            }
        }
        if terminal.poll_idle(cx, next).is_pending() {
            return Poll::Pending;
        }
    }
}

/// The result of reading the program's output.
enum ShowOutcome {
    Some,
    Nothing,
    Ended,
}

/// Copies the program's output to the terminal, as far as there is room.
fn show(cx: &mut Context<'_>, terminal: &mut Terminal, program: &mut Pty) -> io::Result<ShowOutcome> {
    let room = terminal.room_now().min(PIECE);
    if room == 0 {
        return Ok(ShowOutcome::Nothing);
    }
    let mut buffer = [0; PIECE];
    match program.poll_receive(cx, &mut buffer[..room]) {
        Poll::Pending => Ok(ShowOutcome::Nothing),
        Poll::Ready(Ok(received)) if received.len > 0 => {
            let shown = &buffer[..received.len];
            terminal.put(Stamp::ZERO, received.len, |into| into.copy_from_slice(shown));
            Ok(ShowOutcome::Some)
        }
        Poll::Ready(Ok(_)) => Ok(ShowOutcome::Ended),
        // The shell has printed that there is no such program.
        Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(ShowOutcome::Ended),
        Poll::Ready(Err(error)) => Err(error),
    }
}

/// Input that the program has not taken yet.
struct PendingInput {
    characters: [u8; LONGEST_ROW + 1],
    from: usize,
    to: usize,
}

impl Default for PendingInput {
    fn default() -> Self {
        Self { characters: [0; LONGEST_ROW + 1], from: 0, to: 0 }
    }
}

impl PendingInput {
    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Passes input to the program, as much as it takes now; true if it took any.
    fn pass(&mut self, cx: &mut Context<'_>, terminal: &mut Terminal, program: &mut Pty) -> bool {
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

    fn refill(&mut self, terminal: &mut Terminal) -> bool {
        let Some(message) = terminal.next(&mut self.characters[..LONGEST_ROW]) else { return false };
        (self.from, self.to) = (0, message.len);
        if terminal.front().settings.discipline.canonical {
            self.characters[self.to] = b'\n';
            self.to += 1;
        }
        true
    }
}
