//! Ends programs whose line was dropped: SIGHUP, a grace period, SIGKILL, and reaping in any case.
//!
//! One thread does this for all programs, so that no user waits for another's program, and all programs of a run have the same
//! grace period at its end.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use cuesta_record::{Stamp, clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};

/// How long a program may take to end after SIGHUP, and again after SIGKILL.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// How often a killed process group is checked.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

enum Message {
    /// A program, and when it must have ended.
    End(Pid, Stamp),
    /// Reports when all earlier messages have been handled.
    Notify(Sender<()>),
}

/// None if the thread could not be started.
static REAPER: OnceLock<Option<Sender<Message>>> = OnceLock::new();

/// Hangs up a program and has the reaper end it.
pub(super) fn hand_over(pid: Pid) {
    let _ = kill_process_group(pid, Signal::HUP);
    let due = clock::now() + GRACE;
    let sent = REAPER.get_or_init(start).as_ref().map(|reaper| reaper.send(Message::End(pid, due)));
    if !matches!(sent, Some(Ok(()))) {
        end(pid, due);
    }
}

/// Waits until all programs whose lines were dropped have ended: at most a second or two.
pub fn wait_for_ended_programs() {
    let Some(Some(reaper)) = REAPER.get() else { return };
    let (done, is_done) = channel();
    if reaper.send(Message::Notify(done)).is_ok() {
        let _ = is_done.recv();
    }
}

fn start() -> Option<Sender<Message>> {
    let (sender, messages) = channel();
    let thread = thread::Builder::new().name("cuesta-reaper".into()).spawn(move || handle_messages(&messages));
    thread.is_ok().then_some(sender)
}

/// Handles programs one after another: later messages have later deadlines.
fn handle_messages(messages: &Receiver<Message>) {
    for message in messages {
        match message {
            Message::End(pid, due) => end(pid, due),
            Message::Notify(done) => drop(done.send(())),
        }
    }
}

fn end(pid: Pid, due: Stamp) {
    let program = pidfd_open(pid, PidfdFlags::empty()).ok();
    // Without a descriptor to wait with there is no grace period.
    let mut gone = program.as_ref().is_some_and(|program| ends_by(program, due));
    // Until the program is reaped, its number cannot be reused for another group.
    let _ = kill_process_group(pid, Signal::KILL);
    // A process of another user cannot be killed and is left alone.
    gone = gone || program.is_none_or(|program| ends_by(&program, clock::now() + GRACE));
    if gone {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
        super::awaited().remove(&pid);
        reap_group(pid, clock::now() + GRACE);
    }
}

/// Reaps the rest of a killed group, until `due` at most: members whose parents have ended are our children.
fn reap_group(group: Pid, due: Stamp) {
    while clock::now() < due {
        match waitid(WaitId::Pgid(Some(group)), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(_)) => {}
            // Some members have not ended yet.
            Ok(None) => {
                let _ = poll(&mut [], Some(&CHECK_INTERVAL));
            }
            Err(_) => return,
        }
    }
}

/// Waits for a program's end, until `due` at most; true if it has ended.
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
