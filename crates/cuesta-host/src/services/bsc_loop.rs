//! Wraps bisync lines in pairs, as subchannels of a front end were wrapped in 1979: what one of a pair sends, the other receives. The
//! stations are the lines' own; between the two pass rows.

use std::cell::{Cell, RefCell};
use std::io;

use cuesta_lines::{Loopback, loopback};

use super::relay::Relay;
use crate::terminal::Terminal;

/// Characters between the two lines of a pair; with more a line is not read, and its station says that it has no room.
const BETWEEN: usize = 4096;

/// The far end of the line that waits for another, with that line's number.
#[derive(Debug, Default)]
pub(crate) struct Unpaired {
    end: RefCell<Option<(u64, Loopback)>>,
    lines: Cell<u64>,
}

impl Unpaired {
    /// What a line is connected to: the far end of the one that waits, or a new pair's near end. Returns the line's number too.
    fn join(&self) -> (u64, Loopback) {
        let number = self.lines.get();
        self.lines.set(number + 1);
        if let Some((_, end)) = self.end.borrow_mut().take() {
            return (number, end);
        }
        let (near, far) = loopback::pair(BETWEEN);
        *self.end.borrow_mut() = Some((number, far));
        (number, near)
    }

    /// Called when a line has ended: if it still waits, the next line is not paired with it.
    fn leave(&self, number: u64) {
        self.end.borrow_mut().take_if(|(waiting, _)| *waiting == number);
    }
}

pub(super) async fn serve(terminal: &mut Terminal) -> io::Result<()> {
    let (number, mut other) = terminal.front().unpaired.join();
    let outcome = Relay::new().run(terminal, &mut other).await;
    terminal.front().unpaired.leave(number);
    outcome.map(drop)
}
