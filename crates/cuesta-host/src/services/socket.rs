//! Runs a program whose input and output are a socket, as inetd does: no line discipline, no echo, and the program sees the end of
//! its input. With the in-kernel path most characters do not pass here.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use cuesta_lines::Socket;

use super::relay::{Relay, RelayEnd};
use crate::Service;
use crate::terminal::Terminal;

/// How long a program whose line was hung up may be silent before it is hung up as well.
const SILENCE: Duration = Duration::from_secs(1);

pub(super) async fn serve(terminal: &mut Terminal) -> io::Result<()> {
    let front = Rc::clone(terminal.front());
    let Service::Socket { command } = &front.settings.service else { return Ok(()) };
    let program = match terminal.join_kernel_path() {
        Some((socket, control)) => {
            terminal.service_line_once().await?;
            Socket::start_on(command, &socket, control.host, control.kernel)
        }
        None => Socket::start(command),
    };
    let mut program = program.map_err(io::Error::other)?;
    let outcome = relay(terminal, &mut program).await;
    program.end().await;
    outcome
}

async fn relay(terminal: &mut Terminal, program: &mut Socket) -> io::Result<()> {
    let mut relay = Relay::new();
    match relay.run(terminal, program).await? {
        RelayEnd::Ended => Ok(()),
        RelayEnd::HungUp => relay.drain(terminal, program, Socket::end_input, SILENCE).await,
    }
}
