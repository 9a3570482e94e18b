//! A line within the process, for tests in virtual time and for closed loops without a network.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use cuesta_record::clock;

use crate::{Line, Received, Traffic};

/// The two ends of a line that buffers at most `capacity` characters each way. Sent characters can be read at once.
pub fn pair(capacity: usize) -> (Loopback, Loopback) {
    let [there, back] = [(); 2].map(|()| Rc::new(RefCell::new(Direction::new(capacity))));
    let end = |send: &Rc<_>, receive: &Rc<_>| Loopback {
        send: Rc::clone(send),
        receive: Rc::clone(receive),
        traffic: Traffic::default(),
    };
    (end(&there, &back), end(&back, &there))
}

/// One end. Dropping it closes the line; the other end first reads what is still buffered.
#[derive(Debug)]
pub struct Loopback {
    send: Rc<RefCell<Direction>>,
    receive: Rc<RefCell<Direction>>,
    traffic: Traffic,
}

/// The buffer of one direction.
#[derive(Debug)]
struct Direction {
    characters: VecDeque<u8>,
    capacity: usize,
    /// One of the ends was dropped.
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Line for Loopback {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let mut direction = self.receive.borrow_mut();
        if direction.characters.is_empty() && !direction.closed {
            direction.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let len = direction.take(into);
        self.traffic.received += len as u64;
        Poll::Ready(Ok(Received { len, at: clock::now(), ..Received::default() }))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut direction = self.send.borrow_mut();
        if direction.closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let len = direction.put(bytes);
        if len == 0 {
            direction.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.traffic.sent += len as u64;
        Poll::Ready(Ok(len))
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.send.borrow_mut().close();
        self.receive.borrow_mut().close();
    }
}

impl Direction {
    fn new(capacity: usize) -> Self {
        Self { characters: VecDeque::new(), capacity: capacity.max(1), closed: false, reader: None, writer: None }
    }

    fn take(&mut self, into: &mut [u8]) -> usize {
        let len = self.characters.len().min(into.len());
        for (to, character) in into.iter_mut().zip(self.characters.drain(..len)) {
            *to = character;
        }
        wake(&mut self.writer);
        len
    }

    fn put(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(self.capacity - self.characters.len());
        self.characters.extend(&bytes[..len]);
        wake(&mut self.reader);
        len
    }

    fn close(&mut self) {
        self.closed = true;
        wake(&mut self.reader);
        wake(&mut self.writer);
    }
}

fn wake(waiting: &mut Option<Waker>) {
    if let Some(waker) = waiting.take() {
        waker.wake();
    }
}
