//! The servers: one queue, first come first served, to a number of servers of equal speed.
//!
//! No task waits in a queue. The completion of a message is computed when it arrives, from due instants and never from "now",
//! because a server that wakes late would be a slower server.

use std::sync::Arc;
use std::time::Duration;

use cuesta_distributions::{Distribution, SeededRng};
use cuesta_record::Stamp;

use crate::meters::Meters;

/// The servers of one thread.
#[derive(Debug)]
pub(crate) struct Servers {
    distribution: Distribution,
    rng: SeededRng,
    /// Its `free_at` holds when each server will be free.
    meters: Arc<Meters>,
}

impl Servers {
    pub(crate) fn new(distribution: Distribution, rng: SeededRng, meters: Arc<Meters>) -> Self {
        Self { distribution, rng, meters }
    }

    /// Takes a message that arrived at `arrived` and returns its completion. Call it in the order of arrival.
    pub(crate) fn serve(&mut self, arrived: Stamp) -> Stamp {
        let work = self.distribution.sample(&mut self.rng);
        let Some(server) = self.meters.free_at.iter().min_by_key(|free_at| free_at.get()) else {
            return arrived;
        };
        let begun = arrived.max(Stamp::from_nanos(server.get()));
        let done = begun + work;
        server.set(done.as_nanos());
        self.count(begun.since(arrived), work);
        done
    }

    fn count(&self, waited: Duration, work: Duration) {
        self.meters.served.add(1);
        self.meters.server_nanos.add(work.as_nanos() as u64);
        self.meters.waited_nanos.add(waited.as_nanos() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Stamp {
        Stamp::from_nanos(ms * 1_000_000)
    }

    fn servers(number: usize) -> Servers {
        let distribution = Distribution::fixed(Duration::from_millis(10));
        Servers::new(distribution, SeededRng::new(1, 1), Arc::new(Meters::new(number, None)))
    }

    #[test]
    fn one_server_works_one_after_the_other() {
        let mut one = servers(1);
        let done: Vec<Stamp> = [0, 3, 3, 50].map(|at| one.serve(ms(at))).into();
        assert_eq!(done, [ms(10), ms(20), ms(30), ms(60)]);
        assert_eq!(one.meters.waited_nanos.get(), 7_000_000 + 17_000_000);
    }

    #[test]
    fn the_first_free_server_takes_the_next_message() {
        let mut two = servers(2);
        let done: Vec<Stamp> = [0, 3, 5, 6].map(|at| two.serve(ms(at))).into();
        assert_eq!(done, [ms(10), ms(13), ms(20), ms(23)]);
        assert_eq!(two.meters.served.get(), 4);
    }
}
