//! Users of one thread take turns: none keeps it to itself, even if nothing makes it wait.

#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::harness::{play_over, spec};
use cuesta_lines::{Line, Received, Traffic};
use serde_json::json;

/// A line that takes everything at once and brings nothing. It logs the number of its user for each key.
struct ReadyLine {
    user: u32,
    log: Rc<RefCell<Vec<u32>>>,
}

impl Line for ReadyLine {
    fn poll_receive(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<Received>> {
        Poll::Pending
    }

    fn poll_send(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.log.borrow_mut().push(self.user);
        Poll::Ready(Ok(bytes.len()))
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
}

#[test]
fn users_who_type_without_gaps_take_turns() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&log);
    let tape = "Set KeyRate 0\nRepeat 5000\nType \"x\"\nEnd\nWait+Bytes 1\n";
    play_over(
        spec(2, 0.0, 5.0, &json!({})),
        tape,
        &json!({"service": {"transaction": {"reply": 20}}}),
        move |_, user| Box::new(ReadyLine { user, log: Rc::clone(&log) }),
    );
    let log = seen.take();
    assert_eq!(log.iter().filter(|user| **user == 1).count(), 5000);
    let longest = log.chunk_by(|one, next| one == next).map(<[u32]>::len).max().unwrap();
    assert!(longest < 1000, "{longest} keys in a row");
}
