//! Programs of known behaviour at the other end of a user's line, in virtual time. Each logs when a key came, when it showed that key, and
//! when its answer was complete: the truth beside which a run's figures are held.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_driver::{Connect, RunSpec};
use cuesta_lines::loopback::{self, Loopback};
use cuesta_lines::{Line, LineTerminal, Received, send};
use cuesta_record::{Stamp, clock};
use hdrhistogram::Histogram;
use serde_json::json;

use crate::harness::{RunRecords, play_connected, script, spec};

/// What a program does.
pub(crate) trait Program {
    /// The user has come.
    fn begin(&mut self, now: &mut Doing);

    /// A key came; keys are counted from 0.
    fn key(&mut self, key: char, number: usize, now: &mut Doing);

    /// Something is due that it wanted to do later.
    fn due(&mut self, action: Action, now: &mut Doing);

    /// Whether it waits for input that the terminal driver of its line echoes; `None` if the line does not know.
    fn is_awaited(&self) -> Option<bool> {
        None
    }
}

/// What a program may want to do later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Draws what has come up to this key.
    Draw(usize),
    /// Answers, or does the next part of it.
    Answer(usize),
    /// Does what it does without any key.
    Tick,
}

/// What a program does at an instant.
#[derive(Default)]
pub(crate) struct Doing {
    text: String,
    shown: Vec<usize>,
    whole: Vec<usize>,
    answered: bool,
    later: Vec<(u64, Action)>,
}

impl Doing {
    pub(crate) fn send(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// What is sent shows a key.
    pub(crate) fn show(&mut self, key: usize) {
        self.shown.push(key);
    }

    /// What is sent ends the frame that shows a key.
    pub(crate) fn end_frame(&mut self, key: usize) {
        self.whole.push(key);
    }

    /// What is sent completes the answer to the last Return.
    pub(crate) fn answer(&mut self) {
        self.answered = true;
    }

    pub(crate) fn later(&mut self, ms: u64, action: Action) {
        self.later.push((ms, action));
    }
}

/// What a program did: how long each key took to be shown, its frame to be whole, and each Return to be answered.
#[derive(Default)]
pub(crate) struct Log {
    /// When the user came, and each key.
    pub(crate) begun: Option<Stamp>,
    pub(crate) came: Vec<Stamp>,
    returned: Option<Stamp>,
    pub(crate) echoes: Vec<Duration>,
    pub(crate) frames: Vec<Duration>,
    pub(crate) answers: Vec<Duration>,
    /// [`Program::is_awaited`] now.
    is_awaited: Option<bool>,
}

/// A user's end of a line to a program on a terminal of this machine.
struct OnTty {
    line: Loopback,
    log: Rc<RefCell<Log>>,
}

impl Line for OnTty {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.line.poll_receive(cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.line.poll_send(cx, bytes)
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
    }
}

impl LineTerminal for OnTty {
    fn awaits_echoed_input(&self) -> Option<bool> {
        self.log.borrow().is_awaited
    }
}

impl Log {
    fn note(&mut self, doing: &Doing, at: Stamp) {
        self.echoes.extend(doing.shown.iter().map(|key| at.since(self.came[*key])));
        self.frames.extend(doing.whole.iter().map(|key| at.since(self.came[*key])));
        self.answers.extend(self.returned.filter(|_| doing.answered).map(|returned| at.since(returned)));
    }
}

/// Plays a tape for one user at a program, for some seconds. Returns the records and the program's log.
pub(crate) fn played(program: impl Program + 'static, tape: &str, seconds: f64) -> (RunRecords, Log) {
    let log = Rc::<RefCell<Log>>::default();
    let (program, host_log) = (RefCell::new(Some(program)), Rc::clone(&log));
    let connect: Connect = Rc::new(move |_, _| {
        let (line, theirs) = loopback::pair(65536);
        let ours = OnTty { line, log: Rc::clone(&host_log) };
        let program = program.borrow_mut().take().expect("the user keeps its line");
        tokio::task::spawn_local(serve(program, theirs, Rc::clone(&host_log)));
        Box::pin(async move { Ok(Box::new(ours) as Box<dyn Line>) })
    });
    let records = play_connected(spec(1, 0.0, seconds, &json!({})), &script("t", tape), connect, Vec::new());
    let log = std::mem::take(&mut *log.borrow_mut());
    (records, log)
}

/// Plays a tape for several users, each at a program of its own. They are counted from 0.
pub(crate) fn played_by_all<P: Program + 'static>(
    spec: RunSpec,
    tape: &str,
    program: impl Fn(u32) -> P + 'static,
) -> RunRecords {
    let connect: Connect = Rc::new(move |_, user| {
        let (ours, theirs) = loopback::pair(65536);
        tokio::task::spawn_local(serve(program(user), theirs, Rc::default()));
        Box::pin(async move { Ok(Box::new(ours) as Box<dyn Line>) })
    });
    play_connected(spec, &script("t", tape), connect, Vec::new())
}

async fn serve(mut program: impl Program, mut line: Loopback, log: Rc<RefCell<Log>>) {
    let mut queue = BTreeMap::<(Stamp, u64), Action>::new();
    let (mut number, mut keys) = (0, 0);
    let mut buffer = [0; 256];
    let mut doing = Doing::default();
    log.borrow_mut().begun = Some(clock::now());
    program.begin(&mut doing);
    loop {
        let now = clock::now();
        log.borrow_mut().note(&doing, now);
        log.borrow_mut().is_awaited = program.is_awaited();
        for (ms, action) in doing.later.drain(..) {
            number += 1;
            queue.insert((now + Duration::from_millis(ms), number), action);
        }
        if !doing.text.is_empty() && send(&mut line, doing.text.as_bytes()).await.is_err() {
            return;
        }
        doing = Doing::default();
        let next = queue.first_key_value().map_or(Stamp::FAR, |((due, _), _)| *due);
        let mut due = pin!(clock::sleep_until(next));
        let read = poll_fn(|cx| match due.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => line.poll_receive(cx, &mut buffer).map(Some),
        });
        match read.await {
            None => {
                let (_, action) = queue.pop_first().unwrap();
                program.due(action, &mut doing);
            }
            Some(Ok(received)) if received.len > 0 => {
                for byte in &buffer[..received.len] {
                    let mut log = log.borrow_mut();
                    log.came.push(clock::now());
                    if *byte == b'\r' {
                        log.returned = Some(clock::now());
                    }
                    program.key(char::from(*byte), keys, &mut doing);
                    keys += 1;
                }
            }
            Some(_) => return,
        }
    }
}

/// Whether a histogram holds these durations and no others, to its three digits. The last ones may not be in it, because the run ended.
pub(crate) fn assert_same(what: &str, histogram: &Histogram<u64>, truth: &[Duration], may_lack: usize) {
    let count = histogram.len() as usize;
    assert!(count <= truth.len() && count + may_lack >= truth.len(), "{what}: {count} of {}", truth.len());
    let mut truth: Vec<_> = truth[..count].iter().map(|took| took.as_nanos() as u64).collect();
    truth.sort_unstable();
    let values = histogram
        .iter_recorded()
        .flat_map(|value| std::iter::repeat_n(value.value_iterated_to(), value.count_since_last_iteration() as usize));
    for (found, truth) in values.zip(truth) {
        let error = (found as f64 - truth as f64).abs();
        assert!(error <= truth as f64 * 2e-3 + 1e5, "{what}: {found} ns, but {truth} ns is right");
    }
}
