//! What clocks and counters say of an interval: all of a report that takes no sample; and the report that they make, with
//! `total_time_meters`: where the time went, largest first.

use std::ops::Deref;

use super::{ByCause, Cpu, Figure, MeterReport, Own, TimeRow};

/// Made by the plain tier; the traced one makes another of it. Samples share out the CPU time that it has.
#[derive(Debug)]
pub struct CounterFigures {
    /// The report, as far as it is known without samples: without causes, and without `total_time`.
    pub report: MeterReport,
    /// Idle time by the kernel's own clock, in percent of the elapsed time. [`Cpu::idle`] is its share of the ticks, and busy ticks
    /// are a sample.
    pub kernel_idle: Figure,
    /// Rows of `total_time` for a report without causes.
    pub busy_rows: Vec<TimeRow>,
    /// Rows of `total_time` for steal and idle.
    pub idle_rows: Vec<TimeRow>,
}

impl Deref for CounterFigures {
    type Target = MeterReport;

    fn deref(&self) -> &MeterReport {
        &self.report
    }
}

impl CounterFigures {
    /// CPU seconds that there were.
    pub fn capacity(&self) -> f64 {
        self.seconds * self.cpus.len() as f64
    }

    /// The subject's CPU seconds in the interval of the CPUs. [`Own::seconds`] are those between two looks at its tasks, which
    /// come a little later.
    pub fn own_seconds(&self) -> Figure {
        self.own.percent.map(|percent| percent / 100.0 * self.capacity())
    }

    /// The report, with CPU time by cause or why there is none.
    pub fn report(self, by_cause: Figure<ByCause>) -> MeterReport {
        MeterReport { total_time: self.total_time(&by_cause), by_cause, ..self.report }
    }

    /// Causes, where they are known, stand in place of user and system time, with what others used apart.
    fn total_time(&self, by_cause: &Figure<ByCause>) -> Vec<TimeRow> {
        let busy = by_cause.value().map_or_else(|| self.busy_rows.clone(), |causes| rows(&self.cpu, &self.own, causes));
        busy.into_iter().chain(self.idle_rows.iter().cloned()).collect()
    }
}

/// Why rows of what ran beside the subject have no average.
pub const NOT_ITS_OWN: &str = "it is not the subject's";

impl TimeRow {
    /// A row of time that was not the host's.
    pub fn idle(name: &str, percent: Figure) -> Self {
        Self {
            name: name.to_owned(),
            percent,
            of_non_idle: Figure::absent("idle, or not the host's own"),
            average: Figure::absent("it has no occurrences"),
        }
    }
}

fn rows(cpu: &Cpu, own: &Own, by_cause: &ByCause) -> Vec<TimeRow> {
    let busy = cpu.busy();
    let of_busy = |percent: &Figure| {
        if busy.value().is_some_and(|busy| *busy > 0.0) {
            return percent.with(&busy, |percent, busy| 100.0 * percent / busy);
        }
        Figure::absent("the CPUs were idle")
    };
    let causes = by_cause.causes.iter().map(|(name, cause)| TimeRow {
        name: name.replace('_', " "),
        of_non_idle: of_busy(&cause.percent),
        percent: cause.percent.clone(),
        average: cause.average.clone(),
    });
    let mut rows: Vec<TimeRow> = causes.collect();
    let size = |row: &TimeRow| row.percent.value().copied().unwrap_or(0.0);
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
    if own.others.value().is_some() {
        rows.extend(own.beside().map(|(name, percent)| TimeRow {
            name: name.to_owned(),
            of_non_idle: of_busy(percent),
            percent: percent.clone(),
            average: Figure::absent(NOT_ITS_OWN),
        }));
    }
    rows
}
