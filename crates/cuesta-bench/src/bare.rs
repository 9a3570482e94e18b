//! The limit: the smallest loop that sends the same bytes and measures the same two figures of each key, its lateness and its
//! echo time. It has one thread, edge-triggered epoll, a binary heap of due times, and `epoll_pwait2`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::io;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::thread::set_current_timer_slack;

use crate::bare_line::{BareLine, Opener};
use crate::histogram::Histogram;
use crate::job::{ANSWER, Framing, INPUT, Job, KEY, Work, phases};
use crate::outcome::Outcome;
use crate::usage::{Used, resident};
use crate::wait::{Event, wait};
use crate::{process, ssh_bare};

/// Runs a job and prints its outcome.
pub(crate) fn play(job: &str) -> Result<(), Box<dyn Error>> {
    let job: Job = serde_json::from_str(job)?;
    if job.framing == Framing::Ssh {
        return ssh_bare::play(job);
    }
    process::pin(job.cpu)?;
    // By default the kernel may delay a timeout by 50 us to coalesce wake-ups. A timerfd has no such slack, so neither has this.
    set_current_timer_slack(NonZero::new(1))?;
    let (before, used_at_first) = (resident("self")?, Used::now());
    let mut driver = Driver::new(&job)?;
    let opening = Used::now().cpu - used_at_first.cpu;
    match job.work {
        Work::Typists | Work::Screens => driver.spread_typists(),
        Work::Closed => driver.send_all(),
        Work::Echoed => return Err("the bare loop knows no prompts and echoes".into()),
    }
    driver.run_until(job.window_start())?;
    driver.forget();
    let opened = Used::now();
    driver.run_until(job.window_end())?;
    let grown = resident("self")?.saturating_sub(before);
    process::print_answer(&Outcome {
        operations: driver.operations,
        lateness: driver.lateness.p50_and_p99(),
        echo: driver.response.p50_and_p99(),
        opening,
        ..Outcome::of_window(&job, opened, Used::now(), grown)
    })
}

struct Driver {
    epoll: OwnedFd,
    users: Vec<User>,
    /// When the next key of each typist is due.
    due: BinaryHeap<Reverse<(Stamp, u32)>>,
    input: Vec<u8>,
    /// Length of a complete answer.
    answer: usize,
    closed: bool,
    cycle: Duration,
    buffer: Vec<u8>,
    lateness: Histogram,
    response: Histogram,
    operations: u64,
}

struct User {
    line: BareLine,
    sent: Stamp,
    received: usize,
}

impl Driver {
    fn new(job: &Job) -> Result<Self, Box<dyn Error>> {
        let closed = job.work == Work::Closed;
        let mut input = if closed { INPUT.as_bytes().to_vec() } else { KEY.to_vec() };
        if closed && job.framing.is_telnet() {
            // A telnet terminal's return is CR NUL (RFC 854).
            input.push(0);
        }
        if job.framing == Framing::TtydWss {
            // The type of a message of characters, both ways.
            input.insert(0, b'0');
        }
        let mut driver = Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            users: Vec::new(),
            due: BinaryHeap::new(),
            answer: if closed { ANSWER } else { input.len() },
            input,
            closed,
            cycle: job.cycle,
            buffer: vec![0; 64 * 1024],
            lateness: Histogram::default(),
            response: Histogram::default(),
            operations: 0,
        };
        let opener = Opener::new(job.framing)?;
        for (number, address) in (0..job.own_users()).zip(job.addresses().cycle()) {
            let line = opener.open(address, number)?;
            let wanted = EventFlags::IN | EventFlags::ET;
            epoll::add(&driver.epoll, &line, EventData::new_u64(u64::from(number)), wanted)?;
            driver.users.push(User { line, sent: Stamp::ZERO, received: 0 });
        }
        Ok(driver)
    }

    /// Spreads the typists' first instants over the cycle.
    fn spread_typists(&mut self) {
        let now = clock::now();
        let numbers = 0..self.users.len() as u32;
        self.due = phases(self.cycle).zip(numbers).map(|(phase, number)| Reverse((now + phase, number))).collect();
    }

    fn send_all(&mut self) {
        for user in &mut self.users {
            send(user, &self.input, &mut self.buffer);
        }
    }

    fn run_until(&mut self, end: Stamp) -> io::Result<()> {
        let mut events = [Event { events: 0, u64: 0 }; 256];
        loop {
            let now = self.type_what_is_due(clock::now());
            if now >= end {
                return Ok(());
            }
            let next = self.due.peek().map_or(end, |Reverse((due, _))| *due).min(end);
            let ready = wait(&self.epoll, &mut events, next.since(now))?;
            if ready.is_empty() {
                continue;
            }
            let now = clock::now();
            for event in ready {
                self.take(event.u64 as usize, now);
            }
        }
    }

    /// Sends the keys that are due, and returns the instant after the last one.
    fn type_what_is_due(&mut self, mut now: Stamp) -> Stamp {
        while let Some(mut next) = self.due.peek_mut() {
            let Reverse((due, number)) = *next;
            if due > now {
                break;
            }
            next.0.0 = due + self.cycle;
            drop(next);
            now = send(&mut self.users[number as usize], &self.input, &mut self.buffer);
            self.lateness.record(now.since(due).as_nanos() as u64);
            self.operations += 1;
        }
        now
    }

    fn take(&mut self, number: usize, now: Stamp) {
        let user = &mut self.users[number];
        // One read takes everything that is there; later input is another edge.
        let Ok(len) = user.line.receive(&mut self.buffer) else { return };
        user.received += len;
        if user.received < self.answer {
            return;
        }
        user.received = 0;
        self.response.record(now.since(user.sent).as_nanos() as u64);
        if self.closed {
            self.operations += 1;
            send(user, &self.input, &mut self.buffer);
        }
    }

    /// Resets the counters when the measurement window opens.
    fn forget(&mut self) {
        self.operations = 0;
        self.lateness = Histogram::default();
        self.response = Histogram::default();
    }
}

/// Sends an input, and returns its instant. `room`: where a frame of it is made.
fn send(user: &mut User, input: &[u8], room: &mut [u8]) -> Stamp {
    user.sent = clock::now();
    // A broken line shows in the count of operations.
    let _ = user.line.send(input, room);
    user.sent
}
