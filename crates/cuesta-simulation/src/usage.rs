//! How much a station did in the measurement interval of each step.

use cuesta_record::{Stamp, Timeline};

/// Sums over the measurement intervals, by step. The times are in seconds.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    /// Services of the whole simulation, settling included.
    services: u64,
    windows: Vec<Window>,
}

/// One measurement interval, and what is counted in it.
#[derive(Debug)]
struct Window {
    begin: Stamp,
    end: Stamp,
    sums: UsageSums,
}

/// What a station did in one measurement interval.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UsageSums {
    /// Services that ended.
    pub(crate) visits: u64,
    /// Time of servers at work.
    pub(crate) busy: f64,
    /// Time of requests at the station, waiting or in service.
    pub(crate) present: f64,
}

impl Usage {
    pub(crate) fn new(timeline: &Timeline) -> Self {
        let window = |step: &cuesta_record::StepTimes| Window {
            begin: timeline.at(step.settled),
            end: timeline.at(step.end),
            sums: UsageSums::default(),
        };
        Self { services: 0, windows: timeline.steps.iter().map(window).collect() }
    }

    pub(crate) fn services(&self) -> u64 {
        self.services
    }

    pub(crate) fn sums(&self, step: usize) -> UsageSums {
        self.windows[step].sums
    }

    /// A service ends at an instant.
    pub(crate) fn count_service(&mut self, at: Stamp) {
        self.services += 1;
        for window in &mut self.windows {
            window.sums.visits += u64::from(window.begin <= at && at < window.end);
        }
    }

    /// Servers work from one instant to another.
    pub(crate) fn add_busy(&mut self, from: Stamp, to: Stamp, servers: f64) {
        for window in &mut self.windows {
            window.sums.busy += window.overlap(from, to) * servers;
        }
    }

    /// Requests are at the station from one instant to another.
    pub(crate) fn add_present(&mut self, from: Stamp, to: Stamp, requests: f64) {
        for window in &mut self.windows {
            window.sums.present += window.overlap(from, to) * requests;
        }
    }
}

impl Window {
    /// How long the time from one instant to another lies in the window, in seconds.
    fn overlap(&self, from: Stamp, to: Stamp) -> f64 {
        // `since` is zero where the other instant is later.
        to.min(self.end).since(from.max(self.begin)).as_nanos() as f64 / 1e9
    }
}
