//! The other end of a served line, for tests.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use cuesta_host::{FrontEnd, Spec, serve};
use cuesta_lines::{Line, loopback};
use cuesta_record::clock::{self, Sleep, Time};
use tokio::task;

/// Characters that a loopback line holds in each direction.
pub(crate) const ON_THE_WAY: usize = 4096;

/// Runs `future` in virtual time.
pub(crate) fn in_virtual_time<F: Future + 'static>(future: F) -> F::Output {
    clock::run(Time::Virtual, future).expect("needs no descriptors")
}

/// A front end on this thread.
pub(crate) fn front(spec: &str) -> Rc<FrontEnd> {
    FrontEnd::new(&Spec::parse(spec).expect("the test's own JSON")).expect("a sound specification")
}

/// The terminal's end of a line.
pub(crate) struct User {
    pub(crate) line: Box<dyn Line>,
}

impl User {
    /// On a loopback line that `front` serves.
    pub(crate) fn at(front: &Rc<FrontEnd>) -> Self {
        let (line, served) = loopback::pair(ON_THE_WAY);
        Self::on(line, served, front)
    }

    /// On any line.
    pub(crate) fn on(line: impl Line + 'static, served: impl Line + 'static, front: &Rc<FrontEnd>) -> Self {
        task::spawn_local(serve(Box::new(served), Rc::clone(front)));
        Self { line: Box::new(line) }
    }

    /// Sends all of `text`.
    pub(crate) async fn send(&mut self, text: &[u8]) -> io::Result<()> {
        let mut at = 0;
        while at < text.len() {
            at += poll_fn(|cx| self.line.poll_send(cx, &text[at..])).await?;
        }
        Ok(())
    }

    /// Sends all of `text`, or the part that the line accepts until `gone`.
    pub(crate) async fn send_or(&mut self, text: &[u8], mut gone: Sleep) -> io::Result<()> {
        let mut at = 0;
        poll_fn(|cx| {
            while at < text.len() {
                match self.line.poll_send(cx, &text[at..])? {
                    Poll::Ready(sent) => at += sent,
                    Poll::Pending => return Pin::new(&mut gone).poll(cx).map(Ok),
                }
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    /// Receives exactly `len` characters.
    pub(crate) async fn receive(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut text = vec![0; len];
        let mut at = 0;
        while at < len {
            let received = poll_fn(|cx| self.line.poll_receive(cx, &mut text[at..])).await?.len;
            if received == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            at += received;
        }
        Ok(text)
    }

    /// Receives until the line ends.
    pub(crate) async fn receive_all(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            match poll_fn(|cx| self.line.poll_receive(cx, &mut buffer)).await?.len {
                0 => return Ok(text),
                len => text.extend_from_slice(&buffer[..len]),
            }
        }
    }

    /// Receives until the received text ends with `end`.
    pub(crate) async fn receive_until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        while !text.ends_with(end) {
            text.extend(self.receive(1).await?);
        }
        Ok(text)
    }
}
