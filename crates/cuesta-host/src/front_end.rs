//! State shared by the lines of one thread: settings, pool, servers and meters.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use cuesta_distributions::SeededRng;
use cuesta_record::{Stamp, clock};
use serde_json::{Value, json};

use crate::kernel_path::KernelPath;
use crate::meters::Meters;
use crate::meters::snapshot::CounterSnapshot;
use crate::pool::Pool;
use crate::servers::Servers;
use crate::services::Unpaired;
use crate::settings::Settings;
use crate::{HostError, Spec};

/// The front end of one thread.
#[derive(Debug)]
pub struct FrontEnd {
    pub(crate) settings: Settings,
    pub(crate) meters: Arc<Meters>,
    pub(crate) pool: Pool,
    /// The in-kernel path, if lines may take it.
    pub(crate) kernel_path: Option<Rc<KernelPath>>,
    /// The line that the next bisync line is paired with.
    pub(crate) unpaired: Unpaired,
    servers: Option<RefCell<Servers>>,
    first: CounterSnapshot,
}

impl FrontEnd {
    /// A front end on the current thread, for [`serve`](crate::serve). It does not listen; its time starts now.
    pub fn new(spec: &Spec) -> Result<Rc<Self>, HostError> {
        let started = clock::now();
        Ok(Self::on_thread(Settings::resolve(spec, started)?, None, 0, started))
    }

    /// The front end of thread number `thread` of a host.
    pub(crate) fn on_thread(
        settings: Settings,
        kernel_path: Option<KernelPath>,
        thread: u64,
        started: Stamp,
    ) -> Rc<Self> {
        let counters = kernel_path.as_ref().map(KernelPath::counters);
        let meters = Arc::new(Meters::new(settings.servers, counters));
        let pool = Pool::new(settings.pool, Arc::clone(&meters));
        let servers = settings.distribution.clone().map(|distribution| {
            // Streams are counted down from the end because users' streams count up from 0 and a host may share its driver's seed.
            let rng = SeededRng::new(settings.seed, u64::MAX - thread);
            RefCell::new(Servers::new(distribution, rng, Arc::clone(&meters)))
        });
        let (kernel_path, first) = (kernel_path.map(Rc::new), CounterSnapshot::at_start(started, 1));
        Rc::new(Self { settings, meters, pool, kernel_path, unpaired: Unpaired::default(), servers, first })
    }

    /// The figures since the start.
    pub fn meters(&self) -> Value {
        json!(CounterSnapshot::read(&[Arc::clone(&self.meters)]).since(&self.first))
    }

    /// When the answer to a message that arrived at `arrived` is due: after its service and the delay.
    pub(crate) fn due(&self, arrived: Stamp) -> Stamp {
        let arrived = self.stalled(arrived).unwrap_or(arrived);
        let done = self.servers.as_ref().map_or(arrived, |servers| servers.borrow_mut().serve(arrived));
        done + self.settings.delay
    }

    /// The end of the stall window that `now` lies in.
    pub(crate) fn stalled(&self, now: Stamp) -> Option<Stamp> {
        self.settings.stall.filter(|(from, to)| *from <= now && now < *to).map(|(_, to)| to)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_answer_is_due_after_service_delay_and_stall() {
        let spec = r#"{"service_time":"10ms","delay":"5ms","stall":{"at":"1s","for":"1s"}}"#;
        let started = clock::now();
        let front =
            FrontEnd::on_thread(Settings::resolve(&Spec::parse(spec).unwrap(), started).unwrap(), None, 0, started);
        let at = |millis| started + Duration::from_millis(millis);
        assert_eq!(front.due(at(3)), at(18));
        assert_eq!(front.due(at(4)), at(28));
        assert_eq!(front.due(at(1_500)), at(2_015));
        assert_eq!((front.stalled(at(999)), front.stalled(at(1_000))), (None, Some(at(2_000))));
        assert_eq!(front.stalled(at(2_000)), None);
    }
}
