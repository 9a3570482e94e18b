//! The subject's own CPU time, and what else its CPUs did. Each moment counts once.

use serde::Serialize;

use super::{Figure, Own};

/// How the CPU time of a subject's tasks was measured, which decides what may be missing from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The account of its control group. Nothing is missing.
    ControlGroup,
    /// The accounts of its processes, notices of births, and the final accounts of ended processes. Missing, for a process for
    /// which no parent waits: what each task used since the last clock tick (4 ms at most at 250 Hz), and the kernel's work to
    /// end it.
    ExitRecords,
    /// The same without notices of births. Missing too: a process that leaves its parent and lives on.
    ExitRecordsByParent,
    /// The accounts of its processes and of children for which a parent waited. Missing: a process that leaves its parent, or for
    /// which no parent waits.
    Parents,
    /// The busy time of its CPUs: the subject is all that runs on them.
    Cpus,
    /// Traced in the kernel, from birth to end.
    Tracer,
}

impl Own {
    /// Divides the CPUs' busy time without the subject into interrupts and others. Others have what interrupts leave, unless they
    /// were measured; then interrupts are at most what the clocks of both leave.
    #[must_use]
    pub fn with_beside(mut self, busy: &Figure, irq: &Figure) -> Self {
        let rest = busy.with(&self.percent, |busy, own| (busy - own).max(0.0));
        let measured = Some(&self.others).filter(|_| !self.others_are_rest);
        let left = measured.map_or(rest.clone(), |others| rest.with(others, |rest, others| (rest - others).max(0.0)));
        self.irq = match left.why() {
            Some(why) => Figure::absent(why),
            None => irq.with(&left, |irq, left| irq.clamp(0.0, *left)),
        };
        if self.others_are_rest {
            let apart = self.irq.value().is_some();
            self.others = if apart { rest.with(&self.irq, |rest, irq| rest - irq) } else { rest };
        } else if let Some(why) = rest.why() {
            self.others = Figure::absent(why);
        }
        self
    }

    /// What else the CPUs did: names and percentages.
    pub fn beside(&self) -> impl Iterator<Item = (&'static str, &Figure)> {
        let apart = self.irq.value().map(|_| ("interrupts beside it", &self.irq));
        let others = if apart.is_some() { "others on these CPUs" } else { "others and interrupts" };
        std::iter::once((others, &self.others)).chain(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(percent: Figure) -> Own {
        let none = || Figure::absent("not here");
        let (usr, sys, others, irq) = (none(), none(), none(), none());
        let others_are_rest = true;
        Own {
            others_are_rest,
            source: Source::Parents,
            seconds: none(),
            percent,
            usr,
            sys,
            others,
            irq,
            doubt: None,
            tasks: none(),
            processes: none(),
        }
    }

    #[test]
    fn the_rest_of_the_cpus_time_is_distributed_once() {
        let busy = Figure::plain(90.0);
        let put = |percent, irq: Figure| {
            let own = own(Figure::plain(percent)).with_beside(&busy, &irq);
            (own.others.value().copied(), own.irq.value().copied())
        };
        assert_eq!(put(60.0, Figure::plain(10.0)), (Some(20.0), Some(10.0)));
        assert_eq!(put(60.0, Figure::absent("mingled")), (Some(30.0), None));
        // The subject's clock is exact and ticks are not, so no part may become negative or exceed the rest.
        assert_eq!(put(60.0, Figure::plain(-1.0)), (Some(30.0), Some(0.0)));
        assert_eq!(put(85.0, Figure::plain(10.0)), (Some(0.0), Some(5.0)));
        assert_eq!(put(95.0, Figure::plain(10.0)), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn measured_others_are_not_changed() {
        let own = Own { others: Figure::plain(22.0), others_are_rest: false, ..own(Figure::plain(60.0)) };
        let own = own.with_beside(&Figure::plain(90.0), &Figure::plain(10.0));
        assert_eq!((own.others.value(), own.irq.value()), (Some(&22.0), Some(&8.0)));
    }

    #[test]
    fn an_ended_subject_leaves_the_rest_unknown() {
        let own = own(Figure::absent("it has ended")).with_beside(&Figure::plain(90.0), &Figure::plain(10.0));
        assert_eq!((own.others.why(), own.irq.why()), (Some("it has ended"), Some("it has ended")));
    }
}
