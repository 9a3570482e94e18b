//! The driver against the limit of one core, as ratios.
//!
//! `cuesta-bench` alone measures everything and prints one table; `cuesta-bench TEXT` what has TEXT in its name. It starts
//! itself again for each part, so that each is a process whose CPU time and memory are its own: `server`, `bare` (the limit)
//! and `driver` (Cuesta).
//!
//! - `job`: what a part is asked to do; `outcome`: what it has to say.
//! - `server`: the host, as small as can be; `bare`: the driver, as small as can be; `cuesta`: the real one.
//! - `ssh_server`, `ssh_bare`: the same two over ssh, with `russh` alone.
//! - `histogram`, `wait`: what the limit records into, and how it waits.
//! - `process`: parts as child processes; `pair`: two of them on one core at once; `crowd` and `delays`: one of them alone;
//!   `wakes`: how late the machine wakes anybody.
//! - `screens`: users with screens beside the same without.
//! - `sampling`, `tracing`: what the meters' sampler and tracers cost, by the same work with and without them; `loads`: that
//!   work; `timer`: what a timer alone would cost.
//! - `targets`: what is measured against what; `table`: how it is shown.
//!
//! It asserts no absolute speed: the same binary differs by a factor of two from hour to hour on a shared machine.

mod bare;
mod crowd;
mod cuesta;
mod delays;
mod histogram;
mod job;
mod loads;
mod outcome;
mod pair;
mod process;
mod sampling;
mod screens;
mod server;
mod ssh_bare;
mod ssh_server;
#[cfg(feature = "exact")]
mod switching;
mod table;
mod targets;
mod timer;
#[cfg(feature = "exact")]
mod tracing;
mod wait;
mod wakes;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", job] => server::serve(job).map(|()| true),
        ["bare", job] => bare::play(job).map(|()| true),
        ["driver", job] => cuesta::play(job).map(|()| true),
        _ => targets::measure(&words.join(" "), &mut io::stdout()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "cuesta-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
