//! The host: its stations, and how many users have an open line.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use cuesta_distributions::SeededRng;
use cuesta_record::{Timeline, clock};

use crate::spec::HostSpec;
use crate::station::{Departure, Station, Ticket, Work};
use crate::usage::UsageSums;

/// A host that is a model.
#[derive(Debug)]
pub(crate) struct SimulatedHost {
    stations: Vec<RefCell<Station>>,
    serves_keys: bool,
    /// Users with an open line.
    lines: Cell<u32>,
    /// Wakes the host's task, which lets requests leave sharing stations.
    waker: RefCell<Waker>,
}

/// Users and arrival processes take random streams from 0 and from 2⁶² on; stations take them from here.
const STREAMS: u64 = 1 << 60;

impl SimulatedHost {
    /// `names`: the transactions of each group.
    pub(crate) fn new(spec: &HostSpec, names: &[Vec<String>], timeline: &Timeline, seed: u64) -> Self {
        let station = |(number, station)| {
            let rng = SeededRng::new(seed, STREAMS + number);
            RefCell::new(Station::new(station, names, timeline, rng))
        };
        let stations: Vec<_> = (0..).zip(&spec.stations).map(station).collect();
        Self {
            serves_keys: stations.iter().any(|station| station.borrow().serves_keys()),
            stations,
            lines: Cell::new(0),
            waker: Waker::noop().clone().into(),
        }
    }

    /// What the host does by itself: it lets requests leave its sharing stations when they are done.
    pub(crate) async fn work(self: Rc<Self>) {
        poll_fn(|cx| {
            self.waker.borrow_mut().clone_from(cx.waker());
            self.advance();
            Poll::<()>::Pending
        })
        .await;
    }

    pub(crate) fn line_opens(&self) {
        self.lines.set(self.lines.get() + 1);
        self.advance();
    }

    pub(crate) fn line_closes(&self) {
        self.lines.set(self.lines.get() - 1);
        self.advance();
    }

    /// Whether a key is a request of its own.
    pub(crate) fn serves_keys(&self) -> bool {
        self.serves_keys
    }

    /// A request enters the first station, from number `first` on, that has a service for it; returns the station and the departure.
    pub(crate) fn enter_from(
        &self,
        first: usize,
        work: Work,
        mut ticket: impl FnMut() -> Rc<Ticket>,
    ) -> Option<(usize, Departure)> {
        let now = clock::now();
        let waker = self.waker.borrow();
        (first..self.stations.len()).find_map(|number| {
            let mut station = self.stations[number].borrow_mut();
            let departure = station.enter(work, now, self.lines.get(), &waker, &mut ticket)?;
            Some((number, departure))
        })
    }

    /// Services at all stations.
    pub(crate) fn services(&self) -> u64 {
        self.stations.iter().map(|station| station.borrow().services()).sum()
    }

    /// What each station did in a step's measurement interval, which has ended.
    pub(crate) fn sums(&self, step: usize) -> Vec<UsageSums> {
        self.stations.iter().map(|station| station.borrow().sums(step)).collect()
    }

    /// Lets requests leave that are done by now, and counts what the stations have done up to now.
    pub(crate) fn advance(&self) {
        let now = clock::now();
        for station in &self.stations {
            station.borrow_mut().advance(now, self.lines.get(), &self.waker.borrow());
        }
    }
}
