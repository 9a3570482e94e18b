//! Overhead of a screen: typists whose keys are timed to the screen compared with typists whose keys are timed in the stream.
//! Both are Cuesta, on one core at once, over lines of the same kind.

use std::error::Error;

use crate::job::{Framing, HostJob, Job, Work};
use crate::outcome::Outcome;
use crate::process::Part;
use crate::table::ResultRow;

/// Measures this many users of each kind.
pub(crate) fn measure(users: u32, (drivers, hosts): (usize, usize)) -> Result<ResultRow, Box<dyn Error>> {
    let framing = Framing::Tcp;
    let (_one, one) = Part::host(HostJob::small(Work::Screens, framing, hosts))?;
    let (_two, two) = Part::host(HostJob::small(Work::Typists, framing, hosts))?;
    let plain = Job::new(Work::Typists, framing, users, two, drivers);
    let screens = Job { work: Work::Screens, address: one, ..plain.clone() };
    let (mut screens, mut plain) = (Part::driver(&screens)?, Part::driver(&plain)?);
    let (screens, plain): (Outcome, Outcome) = (screens.answer()?, plain.answer()?);
    let measured = format!(
        "{:.2} x   ({:.1} us beside {:.1} us), {:.1} KiB a user beside {:.1} KiB",
        screens.cost() / plain.cost(),
        screens.cost() * 1e6,
        plain.cost() * 1e6,
        screens.memory / 1024.0,
        plain.memory / 1024.0
    );
    let name = "CPU per key, timed to an 80x24 screen beside without";
    Ok(ResultRow::without_target(name, measured, screens.errors + plain.errors))
}
