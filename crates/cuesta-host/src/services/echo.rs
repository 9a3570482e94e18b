//! Echoes its input through the echo map: each character, or each row when the input is canonical.

use std::io;
use std::rc::Rc;

use cuesta_record::Stamp;

use crate::input::{LONGEST_ROW, Unit};
use crate::terminal::Terminal;

/// Most characters taken at once.
const PIECE: usize = 64;

pub(super) async fn serve(terminal: &mut Terminal) -> io::Result<()> {
    match terminal.front().settings.discipline.unit {
        Unit::Character => characters(terminal).await,
        Unit::Row | Unit::Record => rows(terminal).await,
    }
}

/// Each character leaves when it is due, also with type-ahead.
async fn characters(terminal: &mut Terminal) -> io::Result<()> {
    let mut typed = [0; PIECE];
    while let Some(message) = terminal.read(&mut typed).await? {
        for character in &typed[..message.len] {
            let due = terminal.front().due(message.arrived);
            echo(terminal, due, std::slice::from_ref(character)).await?;
            terminal.count_answer();
        }
    }
    Ok(())
}

/// Each row waits for the one before it; the front end still echoes meanwhile.
async fn rows(terminal: &mut Terminal) -> io::Result<()> {
    let mut row = [0; LONGEST_ROW + 2];
    while let Some(message) = terminal.read(&mut row[..LONGEST_ROW]).await? {
        let due = terminal.front().due(message.taken);
        terminal.wait_until(due).await?;
        row[message.len..message.len + 2].copy_from_slice(b"\r\n");
        echo(terminal, due, &row[..message.len + 2]).await?;
        terminal.count_answer();
    }
    Ok(())
}

async fn echo(terminal: &mut Terminal, due: Stamp, characters: &[u8]) -> io::Result<()> {
    let front = Rc::clone(terminal.front());
    let fill = |at: u64, into: &mut [u8]| {
        for (to, from) in into.iter_mut().zip(&characters[at as usize..]) {
            *to = front.settings.discipline.map[usize::from(*from)];
        }
    };
    terminal.write(due, characters.len() as u64, fill).await
}
