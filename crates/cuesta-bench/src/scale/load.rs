//! CPU of the driver by number of users, each of whom types at one rate: alone on its core, the host on the other.

use std::error::Error;
use std::path::Path;

use super::Kind;
use super::plot::Axis;
use crate::crowd::Crowd;
use crate::table::ResultRow;

impl Kind {
    /// The driver's CPU by number of users; each run must be valid. `plots`: the folder of the pictures, if they are wanted.
    pub(super) fn measure_load(
        self,
        plots: Option<&Path>,
        cpus: (usize, usize),
    ) -> Result<Vec<ResultRow>, Box<dyn Error>> {
        let crowd = |users| Crowd::run(self.framing, users, self.cycle, self.stagger.1, cpus);
        let crowds: Vec<_> = self.populations().into_iter().map(crowd).collect::<Result<_, _>>()?;
        let rate = self.cycle.as_secs_f64().recip();
        let title = format!("CPU of the driver, {rate} keys a second from each user, {} lines", self.name());
        let axes = [Axis { title: "users", log: false }, Axis { title: "% of a core", log: false }];
        let shares = crowds.iter().map(|crowd| (crowd.users, crowd.cpu().map(|share| share * 1e2)));
        self.plot(plots, "load", title, axes, shares)?;
        Ok(crowds.iter().map(|crowd| row(&self.name(), crowd)).collect())
    }
}

fn row(name: &str, crowd: &Crowd) -> ResultRow {
    let [cpu, limit] = crowd.cpu().map(|share| share * 1e2);
    let [cost, limit_cost] = [crowd.outcome, crowd.limit].map(|outcome| outcome.cost() * 1e6);
    let lateness = crowd.outcome.lateness[1] * 1e6;
    let measured = format!(
        "CPU {cpu:.1} % beside {limit:.1} % ({cost:.1} us a key beside {limit_cost:.1} us), lateness p99 {lateness:.0} us"
    );
    crowd.validity_row(&format!("driver CPU, {} users, {name}", crowd.users), measured)
}
