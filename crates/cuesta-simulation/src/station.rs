//! A station: what it is asked for, how long that takes, and when it is done.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use cuesta_distributions::{Distribution, SeededRng};
use cuesta_record::{Stamp, Timeline};

use crate::spec::{Discipline, StationSpec};
use crate::usage::{Usage, UsageSums};

mod fcfs;
mod sharing;

use fcfs::Fcfs;
use sharing::Sharing;

/// A station of the host.
#[derive(Debug)]
pub(crate) struct Station {
    demands: Demands,
    rng: SeededRng,
    usage: Usage,
    queue: Queue,
}

/// How long services take here.
#[derive(Debug)]
struct Demands {
    /// By group and transaction; none is no visit.
    transactions: Vec<Vec<Option<Distribution>>>,
    key: Option<Distribution>,
}

#[derive(Debug)]
enum Queue {
    Fcfs(Fcfs),
    Sharing(Sharing),
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// The response to a transaction of a group.
    Transaction { group: usize, transaction: usize },
    /// What each key takes.
    Key,
}

/// When a request that has entered a station leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Departure {
    /// At this instant, whatever happens meanwhile.
    At(Stamp),
    /// When its ticket is called.
    Called,
}

impl Station {
    /// `names`: the transactions of each group. `rng`: its own random stream.
    pub(crate) fn new(spec: &StationSpec, names: &[Vec<String>], timeline: &Timeline, rng: SeededRng) -> Self {
        let demand =
            |name: &String| spec.transactions.get(name).or(spec.demand.as_ref()).map(|demand| demand.0.clone());
        let queue = match (spec.discipline, spec.servers) {
            (Discipline::Fcfs, servers) if spec.speeds.is_empty() => Queue::Fcfs(Fcfs::new(servers)),
            (_, None) if spec.speeds.is_empty() => Queue::Fcfs(Fcfs::new(None)),
            _ => Queue::Sharing(Sharing::new(spec)),
        };
        Self {
            demands: Demands {
                transactions: names.iter().map(|names| names.iter().map(demand).collect()).collect(),
                key: spec.key_demand.as_ref().map(|demand| demand.0.clone()),
            },
            rng,
            usage: Usage::new(timeline),
            queue,
        }
    }

    /// Whether keys are served here.
    pub(crate) fn serves_keys(&self) -> bool {
        self.demands.key.is_some()
    }

    /// A request enters; `None` if it has nothing to do here. `lines`: how many users have an open line.
    pub(crate) fn enter(
        &mut self,
        work: Work,
        now: Stamp,
        lines: u32,
        waker: &Waker,
        ticket: impl FnOnce() -> Rc<Ticket>,
    ) -> Option<Departure> {
        let demand = match work {
            Work::Transaction { group, transaction } => self.demands.transactions[group][transaction].as_ref(),
            Work::Key => self.demands.key.as_ref(),
        };
        let service = demand?.sample(&mut self.rng);
        Some(match &mut self.queue {
            Queue::Fcfs(queue) => Departure::At(queue.enter(service, now, &mut self.usage)),
            Queue::Sharing(queue) => {
                queue.enter(service, ticket(), now, lines, &mut self.usage);
                queue.set_timer(waker);
                Departure::Called
            }
        })
    }

    /// Lets requests go that are done by now. Call it when its timer has woken `waker`, and when the number of lines changes.
    pub(crate) fn advance(&mut self, now: Stamp, lines: u32, waker: &Waker) {
        if let Queue::Sharing(queue) = &mut self.queue {
            queue.advance(now, lines, &mut self.usage);
            queue.set_timer(waker);
        }
    }

    pub(crate) fn services(&self) -> u64 {
        self.usage.services()
    }

    /// What it did in a step's measurement interval, which has ended.
    pub(crate) fn sums(&self, step: usize) -> UsageSums {
        self.usage.sums(step)
    }
}

/// What a request at a sharing station waits with. A line has one and uses it again.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    called: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Ticket {
    fn call(&self) {
        self.called.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Ready once it was called; then it can be used again.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        if self.called.replace(false) {
            return Poll::Ready(());
        }
        let mut waker = self.waker.borrow_mut();
        match &mut *waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}
