//! The built-in host's two ways between a telnet line and its program, a program for each line: through the host's process, and
//! within the kernel.

use std::error::Error;

use cuesta_host::Path;

use super::trip::{Load, Trip};
use crate::job::{Framing, HostJob, Work};
use crate::table::{ResultRow, Spread, in_turn};

/// Pairs of the two ways.
const PAIRS: usize = 5;
const USERS: [u32; 2] = [100, 400];
/// Largest CPU time a key, over that of the user path.
const MOST: f64 = 0.5;

/// Measures all loads.
pub(crate) fn measure(cpus: (usize, usize)) -> Result<Vec<ResultRow>, Box<dyn Error>> {
    USERS.into_iter().map(|users| beside_user_path(users, cpus)).collect()
}

fn beside_user_path(users: u32, (drivers, hosts): (usize, usize)) -> Result<ResultRow, Box<dyn Error>> {
    let (mut user, mut kernel) = (Vec::new(), Vec::new());
    for round in 0..PAIRS {
        let play = |path| {
            let host = HostJob { relays: Some(path), ..HostJob::small(Work::Typists, Framing::Telnet, hosts) };
            Load { host, users, hold: None }.play(drivers)
        };
        let (by_user, by_kernel) = in_turn(round, || play(Path::User), || play(Path::Kernel))?;
        user.push(by_user);
        kernel.push(by_kernel);
    }
    let ratios = Spread::new(kernel.iter().zip(&user).map(|(kernel, user)| kernel.host / user.host));
    let [user, kernel] = [&user, &kernel].map(|trips| Trip::medians(trips));
    let name = format!("host CPU per key, in-kernel path, {users} programs");
    Ok(ResultRow::at_most(&name, format!("{ratios} x   ({kernel} beside {user})"), ratios.median, Some(MOST)))
}
