//! Compares the host's capacity with theory: a closed loop of users in virtual time, and the exact solution.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::user::{User, front, in_virtual_time};
use cuesta_distributions::{Distribution, SeededRng};
use cuesta_record::{Stamp, clock};
use tokio::task;

/// Throughput in transactions per second, and mean response time in seconds.
#[derive(Debug, Clone, Copy)]
struct Performance {
    x: f64,
    r: f64,
}

/// The exact solution for exponential think times (mean `think`, seconds) and service times (mean `work`).
fn theory(users: u32, think: f64, servers: u32, work: f64) -> Performance {
    // The probability of k users at the host, from that of k - 1 (the machine repair model).
    let mut weights = vec![1.0];
    for k in 1..=users {
        let arrivals = f64::from(users - k + 1) / think;
        let completions = f64::from(k.min(servers)) / work;
        weights.push(weights[k as usize - 1] * arrivals / completions);
    }
    let sum: f64 = weights.iter().sum();
    let busy: f64 = (0..=users).map(|k| weights[k as usize] * f64::from(k.min(servers))).sum();
    let x = busy / sum / work;
    Performance { x, r: f64::from(users) / x - think }
}

const SETTLE: Duration = Duration::from_secs(300);
const MEASURE: Duration = Duration::from_secs(3000);

/// Simulates `n` users with a mean think time of a second for an hour.
fn measured(n: u64, servers: u32, service: &str) -> (Performance, f64) {
    let service = format!(r#""service_time":"{service}","servers":{servers}"#);
    let spec = format!(r#"{{"service":{{"transaction":{{"reply":4}}}},"echo":false,"seed":5,{service}}}"#);
    in_virtual_time(async move {
        let front = front(&spec);
        let from = clock::now() + SETTLE;
        let (count, sum) = (Rc::new(Cell::new(0_u32)), Rc::new(Cell::new(Duration::ZERO)));
        for number in 0..n {
            let (count, sum) = (Rc::clone(&count), Rc::clone(&sum));
            let user = User::at(&front);
            task::spawn_local(play(user, SeededRng::new(5, number), move |due: Stamp, response| {
                if due >= from {
                    count.set(count.get() + 1);
                    sum.set(sum.get() + response);
                }
            }));
        }
        clock::sleep_until(from + MEASURE).await;
        let x = f64::from(count.get()) / MEASURE.as_secs_f64();
        let r = sum.get().as_secs_f64() / f64::from(count.get());
        (Performance { x, r }, front.meters()["servers"]["busy"].as_f64().expect("there are servers"))
    })
}

async fn play(mut user: User, mut rng: SeededRng, mut done: impl FnMut(Stamp, Duration)) {
    let think = Distribution::parse("exp 1s", &|_| Err(String::new())).expect("a distribution");
    user.receive(2).await.expect("the first prompt");
    loop {
        let due = clock::now() + think.sample(&mut rng);
        clock::sleep_until(due).await;
        user.send(b"x\r").await.expect("the host reads");
        user.receive(4).await.expect("the answer");
        done(clock::now(), clock::now().since(due));
    }
}

fn compare(n: u32, servers: u32, service: f64) {
    let exact = theory(n, 1.0, servers, service);
    let (seen, busy) = measured(u64::from(n), servers, &format!("exp {service}s"));
    let off = |seen: f64, exact: f64| (seen / exact - 1.0).abs();
    assert!(off(seen.x, exact.x) < 0.02, "X of {n} users at {servers}: {seen:?}, exactly {exact:?}");
    assert!(off(seen.r, exact.r) < 0.02, "R of {n} users at {servers}: {seen:?}, exactly {exact:?}");
    let utilization = exact.x * service / f64::from(servers);
    assert!(off(busy, utilization) < 0.02, "U of {n} users at {servers}: {busy}, exactly {utilization}");
}

#[test]
fn one_server_below_saturation() {
    compare(50, 1, 0.01);
}

#[test]
fn one_server_at_saturation() {
    compare(100, 1, 0.01);
}

#[test]
fn one_server_beyond_saturation() {
    compare(200, 1, 0.01);
}

#[test]
fn four_servers_below_saturation() {
    compare(60, 4, 0.04);
}

#[test]
fn four_servers_beyond_saturation() {
    compare(150, 4, 0.04);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let (a, b) = (measured(20, 2, "exp 40ms"), measured(20, 2, "exp 40ms"));
    assert_eq!((a.0.x.to_bits(), a.0.r.to_bits()), (b.0.x.to_bits(), b.0.r.to_bits()));
}
