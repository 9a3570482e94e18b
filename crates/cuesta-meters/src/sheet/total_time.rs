//! `total_time_meters` with causes: what samples or tracers found takes the place of what ticks found.

use super::{Figure, Own, Sheet, TimeRow};
use crate::cause::Cause;

/// Rows that are of idle, or not the host's own, and stay as they are.
const KEPT: [&str; 6] = ["steal", "page-wait idle", "loading idle", "I/O-wait idle", "throttled idle", "zero idle"];

/// Why such rows have no average.
pub(crate) const NOT_ITS_OWN: &str = "it is not the subject's";

impl TimeRow {
    /// A row of time that was not the host's.
    pub(crate) fn idle(name: &str, percent: Figure) -> Self {
        Self {
            name: name.to_owned(),
            percent,
            of_non_idle: Figure::unmetered("idle, or not the host's own"),
            average: Figure::unmetered("it has no occurrences"),
        }
    }
}

impl Own {
    /// Shares out what the CPUs did beside the subject: interrupts as far as they are known, the rest to others.
    pub(crate) fn put_beside(&mut self, busy: &Figure, irq: &Figure) {
        let rest = busy.with(&self.percent, |busy, own| (busy - own).max(0.0));
        self.irq = match rest.why() {
            Some(why) => Figure::unmetered(why),
            None => irq.with(&rest, |irq, rest| irq.clamp(0.0, *rest)),
        };
        self.others = if self.irq.value().is_some() { rest.with(&self.irq, |rest, irq| rest - irq) } else { rest };
    }

    /// What the CPUs did beside the subject, by its names.
    pub(crate) fn beside(&self) -> impl Iterator<Item = (&'static str, &Figure)> {
        let apart = self.irq.value().map(|_| ("interrupts beside it", &self.irq));
        let others = if apart.is_some() { "others on these CPUs" } else { "others and interrupts" };
        std::iter::once((others, &self.others)).chain(apart)
    }
}

impl Sheet {
    /// Takes the interrupts that were sampled in the subject's time from those of the CPUs: what is left came beside it.
    /// Nothing where its time is without them, or the kernel's part of it was not seen.
    pub(crate) fn put_sampled_interrupts(&mut self) {
        let Some(by_cause) = self.by_cause.value().filter(|_| self.own.others.value().is_some()) else { return };
        if self.own.irq.value().is_some() || by_cause.causes.contains_key(Cause::Kernel.name()) {
            return;
        }
        let of = |cause: Cause| by_cause.causes.get(cause.name()).and_then(|found| found.percent.value().copied());
        let own = of(Cause::Interrupts).unwrap_or(0.0) + of(Cause::Softirq).unwrap_or(0.0);
        let irq = self.cpu.irq.with(&Figure::sampled(own), |irq, own| irq - own);
        self.own.put_beside(&self.cpu.busy(), &irq);
    }

    /// Puts the causes, if they are known, into the table of total time, largest first: of the subject, with what others
    /// used apart.
    pub(crate) fn put_causes(&mut self) {
        let Some(by_cause) = self.by_cause.value() else { return };
        let busy = self.cpu.busy();
        let of_busy = |percent: &Figure| {
            if busy.value().is_some_and(|busy| *busy > 0.0) {
                return percent.with(&busy, |percent, busy| 100.0 * percent / busy);
            }
            Figure::unmetered("the CPUs were idle")
        };
        let mut rows: Vec<TimeRow> = by_cause
            .causes
            .iter()
            .map(|(name, cause)| TimeRow {
                name: name.replace('_', " "),
                of_non_idle: of_busy(&cause.percent),
                percent: cause.percent.clone(),
                average: cause.average.clone(),
            })
            .collect();
        let size = |row: &TimeRow| row.percent.value().copied().unwrap_or(0.0);
        rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
        if self.own.others.value().is_some() {
            rows.extend(self.own.beside().map(|(name, percent)| TimeRow {
                name: name.to_owned(),
                of_non_idle: of_busy(percent),
                percent: percent.clone(),
                average: Figure::unmetered(NOT_ITS_OWN),
            }));
        }
        self.total_time.retain(|row| KEPT.contains(&row.name.as_str()));
        rows.append(&mut self.total_time);
        self.total_time = rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(percent: Figure) -> Own {
        let none = || Figure::unmetered("not here");
        let (usr, sys, others, irq) = (none(), none(), none(), none());
        Own { seconds: none(), percent, usr, sys, others, irq, tasks: none(), processes: none() }
    }

    #[test]
    fn what_the_cpus_did_beside_a_part_is_shared_out_once() {
        let busy = Figure::plain(90.0);
        let put = |percent, irq: Figure| {
            let mut own = own(Figure::plain(percent));
            own.put_beside(&busy, &irq);
            (own.others.value().copied(), own.irq.value().copied())
        };
        assert_eq!(put(60.0, Figure::plain(10.0)), (Some(20.0), Some(10.0)));
        assert_eq!(put(60.0, Figure::unmetered("mingled")), (Some(30.0), None));
        // The subject's clock is exact, ticks are not: neither goes below nothing, nor above what there was.
        assert_eq!(put(60.0, Figure::plain(-1.0)), (Some(30.0), Some(0.0)));
        assert_eq!(put(85.0, Figure::plain(10.0)), (Some(0.0), Some(5.0)));
        assert_eq!(put(95.0, Figure::plain(10.0)), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn beside_a_subject_that_ended_nothing_is_known() {
        let mut own = own(Figure::unmetered("it has ended"));
        own.put_beside(&Figure::plain(90.0), &Figure::plain(10.0));
        assert_eq!((own.others.why(), own.irq.why()), (Some("it has ended"), Some("it has ended")));
    }
}
