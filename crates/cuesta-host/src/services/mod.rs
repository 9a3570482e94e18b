//! The services. One file each, all of one shape: `serve(terminal, …)` reads messages and writes answers until the line or the
//! service ends; the terminal does the rest. `relay` is what the services that run programs share.

mod bsc_loop;
mod echo;
mod form;
mod listing;
mod output;
mod relay;
mod shell;
mod socket;
mod transaction;

use std::io;
use std::rc::Rc;

use cuesta_lines::{Line, failure_of};

pub(crate) use bsc_loop::Unpaired;
pub(crate) use form::LONGEST_FORM;

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
        Err(error) => failure_of(&error).name(),
        Ok(()) if terminal.hung_up() => "closed",
        Ok(()) => "ended",
    });
}

async fn run(terminal: &mut Terminal) -> io::Result<()> {
    match terminal.front().settings.service {
        Service::Echo {} => echo::serve(terminal).await,
        Service::Transaction { reply } => transaction::serve(terminal, reply).await,
        Service::Form { reply } => form::serve(terminal, reply).await,
        Service::Output { rows, start } => output::serve(terminal, rows, start).await,
        // Boxed, because these futures are large and lines of other services should stay small.
        Service::BscLoop {} => Box::pin(bsc_loop::serve(terminal)).await,
        Service::Shell { .. } => Box::pin(shell::serve(terminal)).await,
        Service::Socket { .. } => Box::pin(socket::serve(terminal)).await,
    }
}
