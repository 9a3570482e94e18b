//! Cost of a key by number of users. All users together type at one rate, so that only their number differs: at a higher rate the
//! driver wakes less often for each key, and a key costs less.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use super::Kind;
use super::plot::{Axis, thousands};
use crate::job::{Job, Work};
use crate::pair::{Pair, Pairing};
use crate::table::{ResultRow, Spread, median};

/// Number of users with which the most are compared: with fewer, the fixed memory of the process is part of what each costs.
const USUAL: u32 = 1000;

/// The pairs of one number of users.
#[derive(Debug, Clone)]
struct Point {
    users: u32,
    pairs: Vec<Pair>,
}

impl Kind {
    /// The cost of a key by number of users. `growth`: the largest cost at the most users, over that at [`USUAL`]; and
    /// the same of its ratio to the limit. `plots`: the folder of the pictures, if they are wanted.
    pub(super) fn measure_curve(
        self,
        growth: f64,
        plots: Option<&Path>,
        cpus: (usize, usize),
    ) -> Result<Vec<ResultRow>, Box<dyn Error>> {
        let points = self.points(cpus)?;
        let total = thousands(self.rate.into());
        let title = format!("CPU time of a key, {total} keys a second in all, {} lines", self.name());
        let axes = [Axis { title: "users", log: true }, Axis { title: "µs of CPU a key", log: false }];
        let costs = points.iter().map(|point| (point.users, point.costs()));
        self.plot(plots, "cost", title, axes, costs)?;
        let rows = points.iter().map(|point| point.row(&self.name()));
        Ok(rows.chain(growth_row(&self.name(), &points, growth)).collect())
    }

    /// Measures all points once a round, so that each has its part of what changes from minute to minute.
    fn points(self, cpus: (usize, usize)) -> Result<Vec<Point>, Box<dyn Error>> {
        let mut points: Vec<_> =
            self.populations().into_iter().map(|users| Point { users, pairs: Vec::new() }).collect();
        for round in 0..self.rounds {
            for point in &mut points {
                point.pairs.push(self.pair(point.users, round, cpus)?);
            }
        }
        Ok(points)
    }

    fn pair(self, users: u32, round: usize, cpus: (usize, usize)) -> Result<Pair, Box<dyn Error>> {
        let (framing, work) = (self.framing, Work::Typists);
        let pairing = Pairing { work, framing, beside: framing, users, control: false };
        let cycle = Duration::from_secs(1) * users / self.rate;
        // Until the last user has typed a first key, which is due within a cycle.
        let settle = cycle + Duration::from_millis(500);
        Pair::run(pairing, round, cpus, |job| Job { cycle, settle, stagger: self.stagger.0, ..job })
    }
}

/// How much the cost grows from [`USUAL`] users to the most.
fn growth_row(name: &str, points: &[Point], most_growth: f64) -> Option<ResultRow> {
    let (usual, most) = (points.iter().find(|point| point.users == USUAL)?, points.last()?);
    let growth = |figure: fn(&Pair) -> f64| {
        Spread::new(most.pairs.iter().zip(&usual.pairs).map(|(most, usual)| figure(most) / figure(usual))).median
    };
    let [ratio, tested, limit] =
        [growth(Pair::ratio), growth(|pair| pair.tested.cost()), growth(|pair| pair.limit.cost())];
    let measured = format!("{tested:.2} x beside {limit:.2} x of the limit; the ratio of both {ratio:.2} x");
    let name = format!("CPU per key, {} users over {USUAL}, {name}", most.users);
    Some(ResultRow::with_target(
        &name,
        measured,
        &format!("at most {most_growth:.2} x"),
        ratio.max(tested) <= most_growth,
    ))
}

impl Point {
    /// The median costs of Cuesta and of the limit, in microseconds.
    fn costs(&self) -> [f64; 2] {
        [median(&self.pairs, |pair| pair.tested.cost()) * 1e6, median(&self.pairs, |pair| pair.limit.cost()) * 1e6]
    }

    fn row(&self, name: &str) -> ResultRow {
        let ratios = Spread::new(self.pairs.iter().map(Pair::ratio));
        let [tested, limit] = self.costs();
        let memory = median(&self.pairs, |pair| pair.tested.memory) / 1024.0;
        let measured = format!("{ratios} x   ({tested:.1} us beside {limit:.1} us), {memory:.1} KiB a user");
        let errors = self.pairs.iter().map(|pair| pair.tested.errors).sum();
        ResultRow::without_target(&format!("CPU per key, {} users, {name}", self.users), measured, errors)
    }
}
