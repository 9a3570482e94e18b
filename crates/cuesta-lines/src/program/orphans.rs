//! Processes that programs leave behind. A daemon whose parent has ended becomes our child instead of init's, so that meters of
//! our descendants still find it, and its CPU time is added to ours when it ends.

use std::collections::HashSet;
use std::fs;
use std::sync::OnceLock;
use std::thread;

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};

/// Interval between searches for ended orphans.
const EVERY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Makes this process a subreaper and starts the thread that reaps orphans. If the kernel refuses, init adopts them as usual.
pub(super) fn adopt() {
    static BEGUN: OnceLock<()> = OnceLock::new();
    BEGUN.get_or_init(|| {
        if set_child_subreaper(Some(getpid())).is_ok() {
            let _ = thread::Builder::new().name("cuesta-orphans".into()).spawn(reap);
        }
    });
}

/// Reaps orphans only: the programs of lines are known, and processes that libraries start are in our session. For safety it
/// reaps only processes that were dead in two successive searches.
fn reap() {
    let mut dead = HashSet::new();
    loop {
        let _ = poll(&mut [], Some(&EVERY));
        let ours = session("self");
        let ended: HashSet<Pid> =
            children().into_iter().filter(|pid| is_orphan(*pid, ours) && has_ended(*pid)).collect();
        for pid in ended.intersection(&dead) {
            let _ = waitid(WaitId::Pid(*pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
        dead = ended;
    }
}

/// Children of all our threads.
fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let rows = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    rows.flat_map(|row| row.split(' ').filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect::<Vec<_>>()).collect()
}

/// Whether it is an orphan: in another session than ours, and not a program of a line.
fn is_orphan(pid: Pid, ours: Option<i32>) -> bool {
    session(&pid.to_string()).is_some_and(|its| Some(its) != ours && !super::is_awaited(pid))
}

/// The session of a process; 0 under a first process that began none, or if its leader is outside our PID namespace. (For 0,
/// `getsid` of `rustix` has no value.) Source: the sixth field of `/proc/PID/stat`, see `proc_pid_stat(5)`.
fn session(process: &str) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(3)?.parse().ok()
}

fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    waitid(WaitId::Pid(pid), options).is_ok_and(|status| status.is_some())
}
