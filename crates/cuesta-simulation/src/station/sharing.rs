//! Servers that are shared, or whose speed depends on the population: an arrival moves the departures of the requests before it.
//!
//! All requests in service progress at the same rate. `progress` is the work that a request would have had done if it had been in
//! service from the beginning. So a request's place among the departures is fixed when its service begins: it is done when
//! `progress` has grown by its service. Only the instant of the next departure changes.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use super::Ticket;
use crate::spec::{Discipline, Population, Speed, StationSpec};
use crate::usage::Usage;

/// The servers of a station.
#[derive(Debug)]
pub(crate) struct Sharing {
    discipline: Discipline,
    servers: usize,
    speeds: Vec<Speed>,
    /// In seconds of service.
    progress: f64,
    /// The instant of `progress`, and how many users had an open line then.
    at: Stamp,
    lines: u32,
    in_service: BinaryHeap<Service>,
    /// Requests that wait for a server, and their services in seconds.
    waiting: VecDeque<(f64, Rc<Ticket>)>,
    /// Until the next departure.
    timer: Sleep,
    /// How many services have begun.
    begun: u64,
}

/// A request in service.
#[derive(Debug)]
struct Service {
    /// The progress at which it is done.
    done: f64,
    number: u64,
    ticket: Rc<Ticket>,
}

/// Less progress than this is lost when instants are rounded to nanoseconds.
const ROUNDING: f64 = 1e-9;

impl Sharing {
    pub(crate) fn new(spec: &StationSpec) -> Self {
        Self {
            discipline: spec.discipline,
            servers: spec.servers.map_or(usize::MAX, |servers| servers as usize),
            speeds: spec.speeds.clone(),
            progress: 0.0,
            at: Stamp::ZERO,
            lines: 0,
            in_service: BinaryHeap::new(),
            waiting: VecDeque::new(),
            timer: clock::sleep_until(Stamp::FAR),
            begun: 0,
        }
    }

    /// Takes a request, whose ticket is called when it leaves.
    pub(crate) fn enter(&mut self, service: Duration, ticket: Rc<Ticket>, now: Stamp, lines: u32, usage: &mut Usage) {
        self.advance(now, lines, usage);
        let service = service.as_secs_f64();
        if self.discipline == Discipline::Ps || self.in_service.len() < self.servers {
            self.begin(service, ticket);
        } else {
            self.waiting.push_back((service, ticket));
        }
    }

    /// Progresses until now, and lets requests go that are done.
    pub(crate) fn advance(&mut self, now: Stamp, lines: u32, usage: &mut Usage) {
        let busy = self.in_service.len().min(self.servers);
        usage.add_busy(self.at, now, busy as f64);
        usage.add_present(self.at, now, (self.in_service.len() + self.waiting.len()) as f64);
        self.progress += now.since(self.at).as_secs_f64() * self.rate();
        (self.at, self.lines) = (now, lines);
        while let Some(first) = self.in_service.peek()
            && first.done <= self.progress + ROUNDING
        {
            usage.count_service(now);
            if let Some(service) = self.in_service.pop() {
                service.ticket.call();
            }
            if let Some((service, ticket)) = self.waiting.pop_front() {
                self.begin(service, ticket);
            }
        }
    }

    /// Sets the timer for the next departure.
    pub(crate) fn set_timer(&mut self, waker: &Waker) {
        let next = self.in_service.peek().map(|first| (first.done - self.progress).max(0.0) / self.rate());
        let due = next.map_or(Stamp::FAR, |seconds| {
            self.at + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX) + Duration::from_nanos(1)
        });
        self.timer.reset(due);
        if Pin::new(&mut self.timer).poll(&mut Context::from_waker(waker)).is_ready() {
            waker.wake_by_ref();
        }
    }

    fn begin(&mut self, service: f64, ticket: Rc<Ticket>) {
        self.begun += 1;
        self.in_service.push(Service { done: self.progress + service, number: self.begun, ticket });
    }

    /// The progress of each request in service, in seconds a second.
    fn rate(&self) -> f64 {
        let requests = self.in_service.len() + self.waiting.len();
        let exceeded = |speed: &&Speed| match speed.of {
            Population::Requests => requests as u64 > u64::from(speed.above),
            Population::Users => self.lines > speed.above,
        };
        let speed = self.speeds.iter().rfind(exceeded).map_or(1.0, |speed| speed.speed);
        match self.discipline {
            Discipline::Ps if requests > self.servers => speed * self.servers as f64 / requests as f64,
            _ => speed,
        }
    }
}

impl Ord for Service {
    /// The first to be done is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.done.total_cmp(&self.done).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Service {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Service {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Service {}
