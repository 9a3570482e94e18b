//! What a screen costs a user: typists whose keys are timed to the screen, beside the same who time them in what comes.
//! Both are Cuesta, on one core at once, over lines of the same kind.

use std::error::Error;
use std::time::Duration;

use cuesta_record::clock;

use crate::job::{CYCLE, Framing, HostJob, Job, Work};
use crate::process::Part;
use crate::table::Row;

/// From asking for two drivers to the start of their users.
const HEAD_START: Duration = Duration::from_millis(150);
const SETTLE: Duration = Duration::from_millis(800);
const MEASURE: Duration = Duration::from_secs(3);

/// Measures so many users of each kind; gives the row.
pub(crate) fn measure(users: u32, (drivers, hosts): (usize, usize)) -> Result<Row, Box<dyn Error>> {
    let framing = Framing::Tcp;
    let host = |work| Part::host(HostJob { work, framing, cpu: hosts, built_in: false, delay: Duration::ZERO });
    let (_one, one) = host(Work::Screens)?;
    let (_two, two) = host(Work::Typists)?;
    let plain = Job {
        work: Work::Typists,
        framing,
        users,
        address: two,
        cpu: drivers,
        start: clock::now() + HEAD_START,
        cycle: CYCLE,
        stagger: framing.stagger(),
        settle: SETTLE,
        measure: MEASURE,
    };
    let screens = Job { work: Work::Screens, address: one, ..plain.clone() };
    let (mut screens, mut plain) = (Part::driver(&screens)?, Part::driver(&plain)?);
    let (screens, plain) = (screens.outcome()?, plain.outcome()?);
    let measured = format!(
        "{:.2} x   ({:.1} us beside {:.1} us), {:.1} KiB a user beside {:.1} KiB",
        screens.cost() / plain.cost(),
        screens.cost() * 1e6,
        plain.cost() * 1e6,
        screens.memory / 1024.0,
        plain.memory / 1024.0
    );
    Ok(Row::known("CPU per key, timed to an 80x24 screen beside without", measured, screens.errors + plain.errors))
}
