//! 3270 data streams over another line, both ends. The framing itself is [`crate::wire::tn3270`].

mod target;

use std::io;
use std::task::{Context, Poll};

use cuesta_record::Stamp;
pub use target::Tn3270Target;

use crate::framed::Framed;
use crate::wire::tn3270::{Framing, LuAnswer};
use crate::{Line, Options, Received, receive};

/// A line that carries records of a 3270.
#[derive(Debug)]
pub struct Tn3270<L> {
    framed: Framed<L, Framing>,
    /// Received with the answer about the logical unit, and not taken yet.
    waiting: Vec<u8>,
    waiting_since: Stamp,
}

impl<L: Line> Tn3270<L> {
    /// The terminal's end: the model whose alternate screen has the window's size. `extended`: whether it agrees to TN3270E. `lu`: the
    /// logical unit that it asks for.
    pub fn terminal(line: L, options: &Options, extended: bool, lu: Option<&str>) -> Self {
        let model = match (options.columns, options.rows) {
            (80, 32) => 3,
            (80, 43) => 4,
            (132, 27) => 5,
            _ => 2,
        };
        Self::new(line, Framing::terminal(&format!("IBM-3278-{model}-E"), extended, lu))
    }

    /// The host's end.
    pub fn host(line: L) -> Self {
        Self::new(line, Framing::host())
    }

    fn new(line: L, framing: Framing) -> Self {
        Self { framed: Framed::new(line, framing), waiting: Vec::new(), waiting_since: Stamp::ZERO }
    }

    /// Waits until the host gives the logical unit; the error is its reason why not.
    pub(crate) async fn logical_unit(&mut self) -> Result<(), String> {
        let mut room = [0; 1024];
        while self.framed.codec.lu_answer() == LuAnswer::Awaited && self.waiting.is_empty() {
            let received = receive(self, &mut room).await.map_err(|error| error.to_string())?;
            if received.len == 0 {
                return Err("it closes the line".to_owned());
            }
            self.waiting = room[..received.len].to_vec();
            self.waiting_since = received.at;
        }
        match self.framed.codec.lu_answer() {
            LuAnswer::Refused(reason) => Err(reason_for(reason)),
            _ => Ok(()),
        }
    }
}

/// A reason of RFC 2355 §7.1.6.
fn reason_for(reason: u8) -> String {
    let text = match reason {
        0 => "it is a printer's partner only",
        1 => "it is in use",
        2 => "it is no partner of a terminal",
        3 => "the host has no unit of that name",
        5 => "it does not fit the device type IBM-3278",
        7 => "the host lets no terminal choose",
        other => return format!("reason {other}"),
    };
    text.to_owned()
}

impl<L: Line> Line for Tn3270<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        if !self.waiting.is_empty() {
            let len = into.len().min(self.waiting.len());
            into[..len].copy_from_slice(&self.waiting[..len]);
            self.waiting.drain(..len);
            return Poll::Ready(Ok(Received { len, at: self.waiting_since, ..Received::default() }));
        }
        self.framed.poll_receive(cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.framed.poll_send(cx, bytes)
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.framed)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.framed)
    }
}
