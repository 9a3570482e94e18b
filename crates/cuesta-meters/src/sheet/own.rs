//! The subject's own CPU time, and what its CPUs did beside it: each moment is counted once.

use serde::{Deserialize, Serialize};

use super::{Figure, Sheet};
use crate::cause::Cause;

/// CPU time of the subject's own tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// CPU seconds, exact.
    pub seconds: Figure,
    /// The same, in percent of the sheet's CPUs.
    pub percent: Figure,
    /// In user mode, percent: the kernel splits by ticks.
    pub usr: Figure,
    /// In the kernel, percent: likewise.
    pub sys: Figure,
    /// CPU of others on the sheet's CPUs, percent; interrupts beside the subject included where `irq` is not known.
    pub others: Figure,
    /// Interrupts in neither its time nor others', percent. Where the kernel does not time them apart, a task's time holds
    /// those that came while it ran.
    pub irq: Figure,
    /// Tasks (threads) at the end.
    pub tasks: Figure,
    /// Processes at the end.
    pub processes: Figure,
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
