//! The driver against the limit of one core, as ratios.
//!
//! `cuesta-bench` measures everything and prints one table; `cuesta-bench TEXT` measures only names that contain TEXT, and
//! `cuesta-bench --plots FOLDER [TEXT]` also writes plots of the measurements that have some. It starts
//! itself again for each part, so that the CPU time and memory of each process are those of one part: `server`, `bare` (the
//! limit), `driver` (Cuesta) and `simulation`.
//!
//! - `job`: the job of a part; `outcome`: its result.
//! - `server`: the smallest possible host; `bare`: the smallest possible driver; `cuesta`: the real one.
//! - `bare_line`, `web_server`: a line of theirs over a WebSocket; `websocket`: the frames; `certificate`: what TLS needs.
//! - `ssh_server`, `ssh_bare`: server and limit over ssh, with `russh` alone.
//! - `histogram`, `wait`: the limit's histogram, and how it waits. `usage`: CPU time and memory of processes.
//! - `process`: parts as child processes; `pair`: two of them on one core at once; `crowd` and `delays`: one of them alone;
//!   `wakes`: how late the machine wakes a thread that only sleeps.
//! - `telnetd`: the built-in host beside `busybox telnetd`; `bin/cuesta-bench-rows.rs`: its programs. `idle_lines`: memory of idle lines.
//! - `drawing`: what drawing on a screen costs.
//! - `screens`: users with screens compared with users without.
//! - `simulation`: simulations beside Ciw, which `ciw.py` runs.
//! - `wire`: typists between two network namespaces: through TMux, and at the in-kernel path of the built-in host.
//! - `scale`: cost by number of users, and throughput of two threads, with plots.
//! - `following`: a host through which keys are followed, and are not, in turn; `following.py` plays them.
//! - `watched`: runs with a page and exporters open, beside runs without; `watched.py` starts both.
//! - `sampling`, `tracing`: overhead of the meters' sampler and tracers; `loads`: their workloads; `timer`: the overhead of a
//!   bare timer.
//! - `targets`: the measurements and their targets; `table`: the printed table.
//!
//! It asserts no absolute speed: the same binary differs by a factor of two from hour to hour on a shared machine.

mod bare;
mod bare_line;
mod certificate;
mod crowd;
mod cuesta;
mod delays;
mod drawing;
mod following;
mod histogram;
mod idle_lines;
mod job;
mod loads;
mod outcome;
mod pair;
mod process;
mod sampling;
mod scale;
mod screens;
mod server;
mod simulation;
mod ssh_bare;
mod ssh_server;
#[cfg(feature = "exact")]
mod switching;
mod table;
mod targets;
mod telnetd;
mod timer;
#[cfg(feature = "exact")]
mod tracing;
mod usage;
mod wait;
mod wakes;
mod watched;
mod web_server;
mod websocket;
#[cfg(feature = "exact")]
mod wire;

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [part @ ("server" | "bare" | "driver" | "simulation" | "agent" | "telnetd"), job] => {
            play(part, job).map(|()| true)
        }
        ["--plots", folder, ref wanted @ ..] => {
            targets::measure(&wanted.join(" "), Some(Path::new(folder)), &mut io::stdout())
        }
        ref wanted => targets::measure(&wanted.join(" "), None, &mut io::stdout()),
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

/// Plays a part, at most for as long as the process lives that started it.
fn play(part: &str, job: &str) -> Result<(), Box<dyn Error>> {
    process::end_with_parent()?;
    match part {
        "server" => server::serve(job),
        "bare" => bare::play(job),
        "driver" => cuesta::play(job),
        "telnetd" => telnetd::become_telnetd(job),
        "simulation" => simulation::play(job),
        #[cfg(feature = "exact")]
        "agent" => wire::serve(job),
        _ => Err(format!("the part `{part}` needs the feature `exact`").into()),
    }
}
