//! A user's line to the simulated host. It has no task at its other end: when the user listens, the line takes its requests
//! through the stations.
//!
//! A line has one request at the stations at a time, as a terminal has one program in the foreground. Requests that are made
//! meanwhile wait on the line.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Expected, Line, Received, ResponseForm, Traffic};
use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use crate::host::SimulatedHost;
use crate::station::{Departure, Ticket, Work};

/// The user's end of a line.
#[derive(Debug)]
pub(crate) struct SimulatedLine {
    host: Rc<SimulatedHost>,
    group: usize,
    /// How many of the next characters the host echoes.
    to_echo: usize,
    /// The echoes that can be read.
    echoes: Vec<u8>,
    /// How many characters of responses can be read.
    characters: u64,
    /// How many characters were promised since the last key.
    promised: u64,
    closed: bool,
    /// The request at a station, and the station's number.
    current: Option<(Request, usize)>,
    waiting: VecDeque<Request>,
    /// Until the current request leaves, if that is known.
    alarm: Sleep,
    /// Called when it leaves, if that is not known.
    ticket: Option<Rc<Ticket>>,
    called: bool,
    traffic: Traffic,
}

/// What the line asks of the host.
#[derive(Debug)]
struct Request {
    work: Work,
    output: Output,
}

/// What the host writes when a request is done.
#[derive(Debug)]
enum Output {
    Echo(Vec<u8>),
    Characters(u64),
    /// Nothing: it closes the line.
    Close,
}

/// What a response consists of: characters that no key is echoed with, and that a terminal ignores.
const CHARACTER: u8 = 0;

impl SimulatedLine {
    pub(crate) fn new(host: Rc<SimulatedHost>, group: usize) -> Self {
        host.line_opens();
        Self {
            host,
            group,
            to_echo: 0,
            echoes: Vec::new(),
            characters: 0,
            promised: 0,
            closed: false,
            current: None,
            waiting: VecDeque::new(),
            alarm: clock::sleep_until(Stamp::FAR),
            ticket: None,
            called: false,
            traffic: Traffic::default(),
        }
    }

    fn ask(&mut self, request: Request) {
        if self.current.is_some() {
            self.waiting.push_back(request);
        } else {
            self.enter_from(0, request);
        }
    }

    /// Lets a request enter the next station, or writes its output if there is none, and begins with the next request.
    fn enter_from(&mut self, mut first: usize, mut request: Request) {
        loop {
            let entered = self.host.enter_from(first, request.work, || Rc::clone(self.ticket.get_or_insert_default()));
            if let Some((station, departure)) = entered {
                self.called = departure == Departure::Called;
                if let Departure::At(at) = departure {
                    self.alarm.reset(at);
                }
                self.current = Some((request, station));
                return;
            }
            self.write(request.output);
            match self.waiting.pop_front() {
                Some(next) => (first, request) = (0, next),
                None => return,
            }
        }
    }

    fn write(&mut self, output: Output) {
        match output {
            Output::Echo(echo) => self.echoes.extend(echo),
            Output::Characters(count) => self.characters += count,
            Output::Close => self.closed = true,
        }
    }

    /// Takes requests on until one must wait at a station; ready when there is none.
    fn poll_requests(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some((_, station)) = &self.current {
            let next = station + 1;
            match &self.ticket {
                Some(ticket) if self.called => ready!(ticket.poll(cx)),
                _ => ready!(Pin::new(&mut self.alarm).poll(cx)),
            }
            if let Some((request, _)) = self.current.take() {
                self.enter_from(next, request);
            }
        }
        Poll::Ready(())
    }

    /// The echo of the last key, taken away from what the host has written or will write.
    fn last_echo(&mut self) -> Vec<u8> {
        let current = self.current.as_mut().map(|(request, _)| request);
        let last = self.waiting.back_mut().or(current).map(|request| &mut request.output);
        if let Some(Output::Echo(echo)) = last { mem::take(echo) } else { mem::take(&mut self.echoes) }
    }
}

impl Line for SimulatedLine {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let waits = self.poll_requests(cx).is_pending();
        if self.echoes.is_empty() && self.characters == 0 && !self.closed {
            assert!(waits || self.current.is_none());
            return Poll::Pending;
        }
        let echoes = self.echoes.len().min(into.len());
        into[..echoes].copy_from_slice(&self.echoes[..echoes]);
        self.echoes.drain(..echoes);
        let len = (into.len() - echoes).min(usize::try_from(self.characters).unwrap_or(usize::MAX));
        into[echoes..echoes + len].fill(CHARACTER);
        self.characters -= len as u64;
        self.traffic.received += (echoes + len) as u64;
        Poll::Ready(Ok(Received { len: echoes + len, at: clock::now(), ..Received::default() }))
    }

    fn poll_send(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.promised = 0;
        self.traffic.sent += bytes.len() as u64;
        let echoed = bytes.len().min(self.to_echo);
        self.to_echo -= echoed;
        if self.host.serves_keys() {
            self.ask(Request { work: Work::Key, output: Output::Echo(bytes[..echoed].to_vec()) });
        } else {
            self.echoes.extend(&bytes[..echoed]);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn announce(&mut self, expected: Expected) {
        let (form, transaction) = match expected {
            Expected::Echo(characters) => {
                self.to_echo += characters;
                return;
            }
            Expected::Response { form, transaction } => (form, transaction),
        };
        let output = match form {
            ResponseForm::Characters(count) => {
                let more = count.saturating_sub(self.promised);
                self.promised += more;
                Output::Characters(more)
            }
            // Without a key there is no echo to wait for.
            ResponseForm::Echo if transaction.is_none() => return,
            ResponseForm::Echo => Output::Echo(self.last_echo()),
            ResponseForm::Close => Output::Close,
        };
        match transaction {
            Some(transaction) => {
                self.ask(Request { work: Work::Transaction { group: self.group, transaction }, output });
            }
            None => self.write(output),
        }
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

impl Drop for SimulatedLine {
    fn drop(&mut self) {
        self.host.line_closes();
    }
}
