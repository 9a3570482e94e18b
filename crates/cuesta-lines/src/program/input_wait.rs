//! Whether a program waits for input from its terminal, by the system calls in which its threads sleep: `proc_pid_syscall(5)`. An ancestor
//! may read that of a program that runs as the same user.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::makedev;
use rustix::process::Pid;

#[cfg(target_arch = "x86_64")]
mod calls {
    pub(super) const POLL: &[i64] = &[libc::SYS_poll, libc::SYS_ppoll];
    pub(super) const SELECT: &[i64] = &[libc::SYS_select, libc::SYS_pselect6];
    pub(super) const EPOLL: &[i64] = &[libc::SYS_epoll_wait, libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2];
}
#[cfg(not(target_arch = "x86_64"))]
mod calls {
    pub(super) const POLL: &[i64] = &[libc::SYS_ppoll];
    pub(super) const SELECT: &[i64] = &[libc::SYS_pselect6];
    pub(super) const EPOLL: &[i64] = &[libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2];
}

/// Most descriptors of a call that are looked at.
const MOST_DESCRIPTORS: u64 = 1024;
/// Most processes that are looked at.
const MOST_PROCESSES: usize = 256;
/// The stack of a program of 32 bits, whose calls have other numbers, is below.
const END_OF_32_BITS: u64 = 1 << 32;

/// Whether a process in the foreground `group` of a terminal waits for its input: one that is `root` or descends from it. `terminal`: its
/// device. `None` if that cannot be told.
pub(super) fn awaits_input(root: Pid, group: Pid, terminal: u64) -> Option<bool> {
    let processes: Vec<_> = descendants(root).into_iter().filter(|process| group_of(process) == Some(group)).collect();
    let mut is_known = !processes.is_empty();
    for process in processes {
        for thread in names(&format!("/proc/{process}/task")) {
            let sleeper = Sleeper { process: &process, terminal };
            match sleeper.awaits_input(&thread) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_known = false,
            }
        }
    }
    is_known.then_some(false)
}

/// A process, and those that descend from it.
fn descendants(root: Pid) -> Vec<String> {
    let mut all = vec![root.as_raw_nonzero().to_string()];
    let mut next = 0;
    while next < all.len() && all.len() < MOST_PROCESSES {
        let tasks = format!("/proc/{}/task", all[next]);
        for thread in names(&tasks) {
            let children = fs::read_to_string(format!("{tasks}/{thread}/children")).unwrap_or_default();
            all.extend(children.split_ascii_whitespace().map(str::to_owned));
        }
        next += 1;
    }
    all
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The process group of a process: the fifth field of `proc_pid_stat(5)`.
fn group_of(process: &str) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Pid::from_raw(stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()?)
}

/// A process whose threads may sleep.
struct Sleeper<'a> {
    process: &'a str,
    terminal: u64,
}

impl Sleeper<'_> {
    fn awaits_input(&self, thread: &str) -> Option<bool> {
        let call = match fs::read_to_string(format!("/proc/{}/task/{thread}/syscall", self.process)) {
            Ok(text) => text,
            // It has ended.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => return Some(false),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Some(false),
            Err(_) => return None,
        };
        // The number of the call, its six arguments, the stack pointer, the program counter. Outside of a call: less.
        let words: Vec<&str> = call.split_ascii_whitespace().collect();
        let [number, arguments @ .., stack, _counter] = &*words else { return Some(false) };
        let Ok(number) = number.parse::<i64>() else { return Some(false) };
        let arguments: Vec<u64> = arguments.iter().map(|word| hexadecimal(word)).collect::<Option<_>>()?;
        let [first, second, ..] = *arguments else { return Some(false) };
        if hexadecimal(stack)? < END_OF_32_BITS {
            return None;
        }
        match number {
            libc::SYS_read | libc::SYS_readv => Some(self.is_terminal(first)),
            libc::SYS_io_uring_enter | libc::SYS_restart_syscall => None,
            number if calls::POLL.contains(&number) => self.polls_terminal(first, second),
            number if calls::SELECT.contains(&number) => self.selects_terminal(first, second),
            number if calls::EPOLL.contains(&number) => self.watches_terminal(first),
            _ => Some(false),
        }
    }

    /// Whether a descriptor of the process is of the terminal.
    fn is_terminal(&self, descriptor: u64) -> bool {
        let about = fs::metadata(format!("/proc/{}/fd/{descriptor}", self.process));
        // The second is `/dev/tty`.
        about.is_ok_and(|about| [self.terminal, makedev(5, 0)].contains(&about.rdev()))
    }

    /// An array of `struct pollfd`: a descriptor, the events that are waited for, and room for those that have come.
    fn polls_terminal(&self, array: u64, count: u64) -> Option<bool> {
        let entries = self.read_memory(array, count.min(MOST_DESCRIPTORS) * 8)?;
        Some(entries.as_chunks::<8>().0.iter().any(|[a, b, c, d, events @ .., _, _]| {
            let awaits = i16::from_ne_bytes(*events) & libc::POLLIN != 0;
            let descriptor = u64::try_from(i32::from_ne_bytes([*a, *b, *c, *d]));
            awaits && descriptor.is_ok_and(|descriptor| self.is_terminal(descriptor))
        }))
    }

    /// A set of the first `count` descriptors, a bit each.
    fn selects_terminal(&self, count: u64, set: u64) -> Option<bool> {
        if set == 0 {
            return Some(false);
        }
        let count = count.min(MOST_DESCRIPTORS);
        let bytes = self.read_memory(set, count.div_ceil(64) * 8)?;
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let is_set = |descriptor: &u64| words[*descriptor as usize / 64] >> (descriptor % 64) & 1 == 1;
        Some((0..count).filter(is_set).any(|descriptor| self.is_terminal(descriptor)))
    }

    /// What an epoll instance watches is in its rows `tfd: 0 events: 19 …`; see `proc_pid_fdinfo(5)`.
    fn watches_terminal(&self, instance: u64) -> Option<bool> {
        let info = fs::read_to_string(format!("/proc/{}/fdinfo/{instance}", self.process)).ok()?;
        Some(info.lines().any(|row| {
            let words: Vec<&str> = row.split_ascii_whitespace().collect();
            let ["tfd:", descriptor, "events:", events, ..] = &*words else { return false };
            let awaits = hexadecimal(events).is_some_and(|events| events & libc::EPOLLIN as u64 != 0);
            awaits && descriptor.parse().is_ok_and(|descriptor| self.is_terminal(descriptor))
        }))
    }

    fn read_memory(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        if !bytes.is_empty() {
            File::open(format!("/proc/{}/mem", self.process)).ok()?.read_exact_at(&mut bytes, address).ok()?;
        }
        Some(bytes)
    }
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()
}
