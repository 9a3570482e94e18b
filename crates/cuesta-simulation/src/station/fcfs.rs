//! First come, first served, by servers of constant speed: a departure is known at the arrival, so no timer is needed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use cuesta_record::Stamp;

use crate::usage::Usage;

/// The servers of a station.
#[derive(Debug)]
pub(crate) struct Fcfs {
    /// When each of them is free, the first on top; none if there is one for each request.
    free_at: Option<BinaryHeap<Reverse<Stamp>>>,
}

impl Fcfs {
    pub(crate) fn new(servers: Option<u32>) -> Self {
        Self { free_at: servers.map(|servers| (0..servers).map(|_| Reverse(Stamp::ZERO)).collect()) }
    }

    /// Takes a request, which must not arrive before the one before it; returns its departure.
    pub(crate) fn enter(&mut self, service: Duration, now: Stamp, usage: &mut Usage) -> Stamp {
        let begun = match self.free_at.as_mut().and_then(BinaryHeap::peek_mut) {
            None => now,
            Some(mut first) => {
                let begun = now.max(first.0);
                first.0 = begun + service;
                begun
            }
        };
        let done = begun + service;
        usage.count_service(done);
        usage.add_busy(begun, done, 1.0);
        usage.add_present(now, done, 1.0);
        done
    }
}
