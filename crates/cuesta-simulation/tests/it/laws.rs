//! Laws that hold on every simulated run.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::harness::{Network, covers, exact, play};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

/// A station of a product-form network: demand (s), servers (none: a delay), and whether they are shared.
type Station = (f64, Option<u32>, bool);

fn stations() -> impl Strategy<Value = Vec<Station>> {
    let servers = prop_oneof![Just(None), (1_u32..4).prop_map(Some)];
    prop::collection::vec((0.02..0.5, servers, any::<bool>()), 1..4)
}

fn spec(stations: &[Station]) -> Value {
    let station = |(demand, servers, shared): &Station| {
        let discipline = if *shared { "ps" } else { "fcfs" };
        json!({"name": "s", "demand": demand, "servers": servers, "discipline": discipline})
    };
    stations.iter().map(station).collect()
}

fn network(users: u32) -> Network {
    Network { users, think: 5.0, settle: 100.0, measure: 4_000.0 }
}

proptest! {
    // With a seed of its own: a few examples of all would miss these statistical bounds by chance.
    #![proptest_config(ProptestConfig {
        cases: 8,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_laws_hold(stations in stations(), users in 1_u32..60) {
        let step = play(&network(users), &spec(&stations));
        let (x, r) = (step.throughput.value, step.response.unwrap().value);
        let users = f64::from(users);
        // The response-time law. What is under way at the ends of the interval is counted in a part of it.
        let law = users / x - step.counts.sums.think / step.counts.transactions as f64;
        prop_assert!((law - r).abs() < 0.005 * users / x, "R is {r}, by the law {law}");
        let mut queues = 0.0;
        for (station, (demand, servers, _)) in step.stations.iter().zip(&stations) {
            // The utilization law. Demands vary by one in the square root of the visits.
            let sampled = 5.0 / (station.visits as f64).sqrt();
            prop_assert!((station.busy - x * demand).abs() <= sampled * x * demand + 1e-6);
            prop_assert!(station.utilization.is_none_or(|busy| busy <= 1.0 + 1e-9));
            prop_assert!(station.queue >= station.busy - 1e-9);
            prop_assert!(servers.is_some() || (station.queue - station.busy).abs() < 1e-9);
            queues += station.queue;
        }
        // Little's law at the host.
        prop_assert!((queues - x * r).abs() < 0.02 * (queues + 1.0), "{queues} at the stations, X·R is {}", x * r);
    }

    #[test]
    fn the_order_of_stations_changes_nothing(stations in stations(), users in 1_u32..60) {
        let there = play(&network(users), &spec(&stations));
        let reversed: Vec<_> = stations.iter().rev().copied().collect();
        let back = play(&network(users), &spec(&reversed));
        let within = (there.throughput.within.powi(2) + back.throughput.within.powi(2)).sqrt();
        prop_assert!((there.throughput.value - back.throughput.value).abs() < 3.0 * within);
        let demands: Vec<_> = stations.iter().map(|(demand, servers, _)| (*demand, *servers)).collect();
        prop_assert!(covers(&there.throughput, exact(users, 5.0, &demands).0, 3.0));
    }
}
