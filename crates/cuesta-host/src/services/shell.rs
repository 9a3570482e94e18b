//! Runs a program on a pseudo-terminal, which has its own line discipline and echo.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use cuesta_lines::Pty;
use cuesta_record::clock;

use super::relay::Relay;
use crate::Service;
use crate::terminal::Terminal;

/// How long a line may take to send its terminal's name.
const INTRODUCTION: Duration = Duration::from_millis(250);
/// The terminal's name for a line that does not send one.
const TERMINAL: &str = "xterm";
/// Columns and rows for a line that does not send them.
const WINDOW: (u16, u16) = (80, 24);

pub(super) async fn serve(terminal: &mut Terminal) -> io::Result<()> {
    terminal.wait_for_terminal_name(clock::now() + INTRODUCTION).await?;
    let front = Rc::clone(terminal.front());
    let Service::Shell { command } = &front.settings.service else { return Ok(()) };
    let known = terminal.line().terminal();
    let (name, window) = known.map_or((None, None), |known| (known.name(), known.window()));
    let program = Pty::start(command, name.unwrap_or(TERMINAL), window.unwrap_or(WINDOW));
    let mut program = program.map_err(io::Error::other)?;
    let outcome = Relay::new().run(terminal, &mut program).await;
    program.end().await;
    outcome.map(drop)
}
