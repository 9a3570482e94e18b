//! What answers on a line. One file each, all of one shape: `serve(terminal, …)` runs until the line or the service
//! ends, reading messages and writing answers; the terminal does the rest.

mod echo;
mod listing;
mod output;
mod shell;
mod transaction;

use std::io;
use std::rc::Rc;

use cuesta_lines::{Line, fault};

use crate::terminal::Terminal;
use crate::{FrontEnd, Service};

/// Serves one line on the current thread until it ends. Only under [`cuesta_record::clock::run`].
pub async fn serve(line: Box<dyn Line>, front: Rc<FrontEnd>) {
    let mut terminal = Terminal::new(line, front);
    let mut outcome = run(&mut terminal).await;
    if outcome.is_ok() {
        outcome = terminal.flush().await;
    }
    terminal.end(match outcome {
        Err(error) => fault(&error),
        Ok(()) if terminal.hung_up() => "closed",
        Ok(()) => "ended",
    });
}

async fn run(terminal: &mut Terminal) -> io::Result<()> {
    match terminal.front().settings.service {
        Service::Echo {} => echo::serve(terminal).await,
        Service::Transaction { reply } => transaction::serve(terminal, reply).await,
        Service::Output { rows, start } => output::serve(terminal, rows, start).await,
        // Boxed: it is large, and lines of other services need not be.
        Service::Shell { .. } => Box::pin(shell::serve(terminal)).await,
    }
}
