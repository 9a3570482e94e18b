//! Programs whose line is gone: hung up, given a little time, killed if they take more, and reaped in any case.
//!
//! One thread of the process does it for all, so that no user waits for the program of another, and that the end of a run
//! gives all of them the same time at once.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use cuesta_record::{Stamp, clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};

/// How long a program may take to go after it was hung up, and how long it may take to die.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// How often it is looked whether what was killed has ended.
const A_MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

enum Message {
    /// A program, and when it has to be gone.
    ChildGuard(Pid, Stamp),
    /// Somebody wants to know when all that came before is done.
    Tell(Sender<()>),
}

/// None if there is no thread to be had.
static REAPER: OnceLock<Option<Sender<Message>>> = OnceLock::new();

/// Hangs up a program that we started and that nobody else waits for, and sees to its end.
pub(super) fn take(pid: Pid) {
    let _ = kill_process_group(pid, Signal::HUP);
    let due = clock::now() + GRACE;
    let told = REAPER.get_or_init(begin).as_ref().map(|way| way.send(Message::ChildGuard(pid, due)));
    if !matches!(told, Some(Ok(()))) {
        end(pid, due);
    }
}

/// Waits until no program is left of those whose lines have been dropped. That takes at most a second or two.
pub fn wait_for_ended_programs() {
    let Some(Some(way)) = REAPER.get() else { return };
    let (done, is_done) = channel();
    if way.send(Message::Tell(done)).is_ok() {
        let _ = is_done.recv();
    }
}

fn begin() -> Option<Sender<Message>> {
    let (way, messages) = channel();
    let thread = thread::Builder::new().name("cuesta-reaper".into()).spawn(move || work(&messages));
    thread.is_ok().then_some(way)
}

/// One after another is enough: who comes later has to be gone later.
fn work(messages: &Receiver<Message>) {
    for message in messages {
        match message {
            Message::ChildGuard(pid, due) => end(pid, due),
            Message::Tell(done) => drop(done.send(())),
        }
    }
}

fn end(pid: Pid, due: Stamp) {
    let program = pidfd_open(pid, PidfdFlags::empty()).ok();
    // With no descriptor left to wait with, there is no grace either.
    let mut gone = program.as_ref().is_some_and(|program| ends_by(program, due));
    // As long as it is not reaped, its number names its group and no other.
    let _ = kill_process_group(pid, Signal::KILL);
    // What may not be killed, because it is another user's, is left to itself.
    gone = gone || program.is_none_or(|program| ends_by(&program, clock::now() + GRACE));
    if gone {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
        super::ours().remove(&pid);
        reap_group(pid, clock::now() + GRACE);
    }
}

/// Reaps what is left of a killed group, until an instant at most: members whose parents have ended are children of ours.
fn reap_group(group: Pid, due: Stamp) {
    while clock::now() < due {
        match waitid(WaitId::Pgid(Some(group)), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(_)) => {}
            // It was killed, and has not ended yet.
            Ok(None) => {
                let _ = poll(&mut [], Some(&A_MOMENT));
            }
            Err(_) => return,
        }
    }
}

/// Waits for a program's end, until an instant at most; says whether it has come.
fn ends_by(program: &OwnedFd, due: Stamp) -> bool {
    loop {
        let left = due.since(clock::now());
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(program, PollFlags::IN)], Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => {}
            outcome => return outcome.is_ok_and(|ready| ready > 0),
        }
    }
}
