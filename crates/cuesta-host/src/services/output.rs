//! Prints a listing again and again until the line closes, as fast as the line takes it.

use std::io;

use cuesta_record::clock;

use super::listing::{self, ROW};
use crate::OutputStart;
use crate::input::LONGEST_ROW;
use crate::terminal::Terminal;

pub(super) async fn serve(terminal: &mut Terminal, rows: u32, start: OutputStart) -> io::Result<()> {
    let length = u64::from(rows) * ROW as u64;
    let mut asked = clock::now();
    if start == OutputStart::Input {
        match terminal.read(&mut [0; LONGEST_ROW]).await? {
            Some(message) => asked = message.taken,
            None => return Ok(()),
        }
    }
    while !terminal.hung_up() {
        let due = terminal.front().due(asked);
        terminal.wait_until(due).await?;
        terminal.discard_input();
        terminal.write(due, length, listing::fill).await?;
        terminal.count_answer();
        asked = clock::now();
    }
    Ok(())
}
