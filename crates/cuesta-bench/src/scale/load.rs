//! CPU of the driver by number of users, each of whom types at one rate: alone on its core, the host on the other.

use std::error::Error;
use std::path::Path;

use super::Kind;
use super::plot::{Axis, Line, Plot};
use crate::crowd::Crowd;
use crate::table::ResultRow;

impl Kind {
    /// The driver's CPU by number of users; each run must be valid. `plots`: the folder of the pictures, if they are wanted.
    pub(super) fn measure_load(
        self,
        plots: Option<&Path>,
        cpus: (usize, usize),
    ) -> Result<Vec<ResultRow>, Box<dyn Error>> {
        let crowd = |users| Crowd::of(self.framing, users, self.cycle, self.stagger.1, cpus);
        let crowds: Vec<_> = self.populations().into_iter().map(crowd).collect::<Result<_, _>>()?;
        if let Some(folder) = plots {
            self.plot_load(&crowds, &folder.join(format!("load-{}.svg", self.name())))?;
        }
        Ok(crowds.iter().map(|crowd| row(&self.name(), crowd)).collect())
    }

    fn plot_load(self, crowds: &[Crowd], file: &Path) -> Result<(), Box<dyn Error>> {
        let line = |name: &str, side: usize| Line {
            name: name.to_owned(),
            points: crowds.iter().map(|crowd| (f64::from(crowd.users), crowd.cpu()[side] * 1e2)).collect(),
        };
        let rate = self.cycle.as_secs_f64().recip();
        Plot {
            title: format!("CPU of the driver, {rate} keys a second from each user, {} lines", self.name()),
            x: Axis { title: "users", log: false },
            y: Axis { title: "% of a core", log: false },
            lines: vec![line("Cuesta", 0), line(self.limit_name(), 1)],
        }
        .write(file)
    }

    /// What the limit is called in a plot.
    pub(super) fn limit_name(self) -> &'static str {
        if self.framing == crate::job::Framing::Ssh { "russh alone" } else { "bare epoll loop" }
    }
}

fn row(name: &str, crowd: &Crowd) -> ResultRow {
    let doubts = crowd.doubts();
    let [cpu, limit] = crowd.cpu().map(|share| share * 1e2);
    let cost = [crowd.outcome, crowd.limit].map(|outcome| outcome.cost() * 1e6);
    let mut measured = format!(
        "CPU {cpu:.1} % beside {limit:.1} % ({:.1} us a key beside {:.1} us), lateness p99 {:.0} us",
        cost[0],
        cost[1],
        crowd.outcome.lateness[1] * 1e6
    );
    if !doubts.is_empty() {
        measured = format!("{measured}; doubts: {}", doubts.join(", "));
    }
    ResultRow::with_target(&format!("driver CPU, {} users, {name}", crowd.users), measured, "valid", doubts.is_empty())
}
