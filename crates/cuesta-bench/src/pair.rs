//! Two drivers on one core at once, each with a host of its own on another core.
//!
//! Other load and the CPU's clock rate affect both alike, so the ratio of their costs is reliable where a cost alone is not.

use std::error::Error;

use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::Part;
use crate::table::{ResultRow, Spread, in_turn, median, with_errors};

/// Largest CPU time per operation, over that of the limit.
const COST: f64 = 1.25;
/// Largest median lateness, in microseconds.
const LATENESS: f64 = 50.0;
/// If the control is further than this from 1, or spread wider, the machine is too busy to judge the targets.
const NOISE: f64 = 0.15;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairing {
    pub(crate) work: Work,
    pub(crate) framing: Framing,
    /// The protocol of the lines of the limit, which may be another one than that of the tested driver.
    pub(crate) beside: Framing,
    pub(crate) users: u32,
    /// Tests the limit instead of Cuesta. The ratio should then be 1, and its scatter is the noise of the method.
    pub(crate) control: bool,
}

/// The outcomes of two drivers in the same window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) tested: Outcome,
    pub(crate) limit: Outcome,
}

impl Pairing {
    /// The rows of some pairs: the ratio of costs, and the lateness of typed keys.
    pub(crate) fn measure(
        self,
        name: &str,
        pairs: usize,
        cpus: (usize, usize),
    ) -> Result<Vec<ResultRow>, Box<dyn Error>> {
        let pairs: Vec<Pair> =
            (0..pairs).map(|round| Pair::run(self, round, cpus, |job| job)).collect::<Result<_, _>>()?;
        let ratios = Spread::new(pairs.iter().map(Pair::ratio));
        let measured = format!("{ratios} x   ({})", costs(&pairs));
        if self.control {
            return Ok(vec![ResultRow::control(name, measured, ratios, NOISE)]);
        }
        let errors: u64 = pairs.iter().map(|pair| pair.tested.errors).sum();
        let met = ratios.median <= COST && errors == 0;
        let ratio = ResultRow::with_target(name, with_errors(measured, errors), &format!("at most {COST:.2} x"), met);
        let is_timed = self.work == Work::Typists && self.framing != Framing::Ssh;
        Ok([ratio].into_iter().chain(is_timed.then(|| lateness(&pairs))).collect())
    }
}

impl Pair {
    /// Runs a pair. In odd rounds the limit starts first. `change` gets the usual job.
    pub(crate) fn run(
        pairing: Pairing,
        round: usize,
        (drivers, hosts): (usize, usize),
        change: impl FnOnce(Job) -> Job,
    ) -> Result<Self, Box<dyn Error>> {
        let Pairing { work, framing, beside, users, control } = pairing;
        let (_one, one) = Part::hosts(HostJob::small(work, framing, hosts), users)?;
        let (_two, two) = Part::hosts(HostJob::small(work, beside, hosts), users)?;
        // Both windows open at the same instant, so both drivers get the head start that the slower one needs.
        let limit =
            change(Job { stagger: framing.stagger(), ..Job::new(work, beside, users, String::new(), drivers) }).at(two);
        let tested = Job { framing, ..limit.clone() }.at(one);
        let start_tested =
            || if control { Part::bare(&Job { framing: beside, ..tested.clone() }) } else { Part::driver(&tested) };
        let (mut tested, mut limit) = in_turn(round, start_tested, || Part::bare(&limit))?;
        Ok(Self { tested: tested.answer()?, limit: limit.answer()? })
    }

    /// CPU time per operation of the tested driver over that of the limit.
    pub(crate) fn ratio(&self) -> f64 {
        self.tested.cost() / self.limit.cost()
    }
}

/// The median costs of both drivers.
pub(crate) fn costs(pairs: &[Pair]) -> String {
    let [tested, limit] =
        [|pair: &Pair| pair.tested.cost(), |pair: &Pair| pair.limit.cost()].map(|cost| median(pairs, cost) * 1e6);
    format!("{tested:.1} us beside {limit:.1} us")
}

fn lateness(pairs: &[Pair]) -> ResultRow {
    let tested = [0, 1].map(|place| median(pairs, |pair| pair.tested.lateness[place]) * 1e6);
    let limit = [0, 1].map(|place| median(pairs, |pair| pair.limit.lateness[place]) * 1e6);
    let measured =
        format!("p50 {:.0} us beside {:.0} us, p99 {:.0} us beside {:.0} us", tested[0], limit[0], tested[1], limit[1]);
    let target = format!("p50 under {LATENESS:.0} us");
    ResultRow::with_target("  lateness of the same keys", measured, &target, tested[0] < LATENESS)
}

/// The row of one kind of line compared with the bare loop on tcp: a figure without a target.
pub(crate) fn beside_bare_tcp(
    name: &str,
    framing: Framing,
    users: u32,
    cpus: (usize, usize),
) -> Result<ResultRow, Box<dyn Error>> {
    let pairing = Pairing { work: Work::Typists, framing, beside: Framing::Tcp, users, control: false };
    let pair = Pair::run(pairing, 0, cpus, |job| job)?;
    let (ratio, costs, memory) = (pair.ratio(), costs(&[pair]), pair.tested.memory / 1024.0);
    let measured = format!("{ratio:.2} x   ({costs}), {memory:.1} KiB a user");
    Ok(ResultRow::without_target(&format!("CPU per key, a {name} line beside bare tcp"), measured, pair.tested.errors))
}
