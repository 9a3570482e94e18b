//! Samples have the mean that their distribution states, and the same seed gives the same samples.

use std::time::Duration;

use cuesta_distributions::{Distribution, KeyDistribution, SeededRng, duration};
use proptest::prelude::*;

fn no_file(_: &str) -> Result<String, String> {
    Err("no files here".to_owned())
}

fn load(name: &str) -> Result<String, String> {
    if name == "rows.txt" { Ok("100ms\n1\n4s\n".to_owned()) } else { no_file(name) }
}

fn distribution(text: &str) -> Distribution {
    Distribution::parse(text, &load).expect("the tests' distributions are sound")
}

/// Mean of 200,000 samples, in seconds.
fn drawn_mean(distribution: &Distribution, seed: u64) -> f64 {
    let mut rng = SeededRng::new(seed, 0);
    let draws = 200_000;
    (0..draws).map(|_| distribution.sample(&mut rng).as_secs_f64()).sum::<f64>() / f64::from(draws)
}

#[test]
fn every_distribution_has_its_stated_mean() {
    for text in [
        "fixed 2s",
        "exp 5s",
        "exp 5s max 6s",
        "uniform 1s 3s",
        "uniform 1s 3s max 2s",
        "lognormal 240ms 0.5",
        "lognormal 240ms 0.5 max 300ms",
        "loglogistic 200ms 3.5 60ms",
        "loglogistic 200ms 3.5 60ms max 250ms",
        "empirical rows.txt",
        "empirical rows.txt max 2s",
    ] {
        let distribution = distribution(text);
        let (stated, drawn) = (distribution.mean().as_secs_f64(), drawn_mean(&distribution, 1979));
        assert!((drawn / stated - 1.0).abs() < 0.015, "{text}: {drawn} drawn, {stated} stated");
    }
}

#[test]
fn every_key_distribution_has_mean_one() {
    for text in ["fixed", "exp", "lognormal 0.5", "loglogistic 3.5", "human"] {
        let distribution = KeyDistribution::parse(text).unwrap();
        let mut rng = SeededRng::new(1981, 35);
        let mean = (0..200_000).map(|_| distribution.factor(&mut rng)).sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.01, "{text}: {mean}");
        let gap = distribution.gap(Duration::from_millis(200), &mut rng);
        assert!(gap > Duration::ZERO && gap < Duration::from_secs(20), "{text}: {gap:?}");
    }
}

#[test]
fn a_uniform_distribution_fills_its_range_and_stays_in_it() {
    let (distribution, mut rng) = (distribution("uniform 1s 3s"), SeededRng::new(5, 5));
    let draws: Vec<f64> = (0..10_000).map(|_| distribution.sample(&mut rng).as_secs_f64()).collect();
    assert!(draws.iter().all(|d| (1.0..=3.0).contains(d)));
    assert!(draws.iter().any(|d| *d < 1.01) && draws.iter().any(|d| *d > 2.99));
}

#[test]
fn an_empirical_distribution_draws_every_row_and_nothing_else() {
    let (distribution, mut rng) = (distribution("empirical rows.txt"), SeededRng::new(5, 6));
    let mut drawn: Vec<Duration> = (0..1000).map(|_| distribution.sample(&mut rng)).collect();
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn, [Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(4)]);
}

/// Any distribution that parses, with ordinary and extreme parameters.
fn any_distribution() -> impl Strategy<Value = String> {
    let span = (1..10_000_000_000_000_u64).prop_map(|ns| duration::show(Duration::from_nanos(ns)));
    let base = prop_oneof![
        span.clone().prop_map(|d| format!("fixed {d}")),
        span.clone().prop_map(|d| format!("exp {d}")),
        (span.clone(), 1..5_u8).prop_map(|(d, h)| format!("uniform {d} {}h", h + 2)),
        (span.clone(), 0.01..3.0_f64).prop_map(|(d, s)| format!("lognormal {d} {s}")),
        (span.clone(), 1.01..50.0_f64).prop_map(|(d, s)| format!("loglogistic {d} {s}")),
    ];
    (base, proptest::option::of(span)).prop_map(|(distribution, max)| match max {
        Some(max) => format!("{distribution} max {max}"),
        None => distribution,
    })
}

proptest! {
    #[test]
    fn a_written_distribution_parses_to_the_same(text in any_distribution()) {
        let distribution = Distribution::parse(&text, &no_file).unwrap();
        prop_assert_eq!(&Distribution::parse(&distribution.to_string(), &no_file).unwrap(), &distribution);
    }

    #[test]
    fn a_seed_and_a_user_decide_every_draw(text in any_distribution(), seed: u64, user: u64) {
        let distribution = Distribution::parse(&text, &no_file).unwrap();
        let draw = |seed, user| {
            let mut rng = SeededRng::new(seed, user);
            (0..20).map(|_| distribution.sample(&mut rng)).collect::<Vec<_>>()
        };
        prop_assert_eq!(draw(seed, user), draw(seed, user));
        prop_assert!(draw(seed, user).iter().all(|d| *d <= duration::LONGEST));
        prop_assert_ne!(SeededRng::new(seed, user), SeededRng::new(seed, user ^ 1));
        prop_assert_ne!(SeededRng::new(seed, user), SeededRng::new(seed ^ 1, user));
    }

    #[test]
    fn no_text_panics(text in "(fixed|exp|uniform|lognormal|loglogistic|empirical|max|[0-9.]+(s|ms|h)?|\"| |.){0,12}") {
        if let Ok(distribution) = Distribution::parse(&text, &load) {
            prop_assert!(distribution.mean() <= duration::LONGEST);
            prop_assert!(distribution.sample(&mut SeededRng::new(0, 0)) <= duration::LONGEST);
        }
        let _ = KeyDistribution::parse(&text).map(|distribution| distribution.factor(&mut SeededRng::new(0, 0)));
    }
}
