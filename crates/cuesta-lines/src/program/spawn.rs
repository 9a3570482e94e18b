//! Starts a program in a session of its own. All unsafe code about programs is in this file, because no safe crate offers
//! `posix_spawn` with a new session.
//!
//! `posix_spawn` instead of fork and exec: a fork copies the page tables of a process with thousands of users and makes every
//! one of them late.
#![allow(unsafe_code)]

use std::env;
use std::ffi::{CStr, CString, OsString, c_char, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use rustix::process::Pid;

use super::command::shell_command;

/// Standard input, output and error of a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum StandardStreams<'a> {
    /// A terminal, by its path. It becomes the session's controlling terminal.
    Terminal(&'a CStr),
    /// Two pipes.
    Pipes { input: BorrowedFd<'a>, output: BorrowedFd<'a> },
    /// Two pipes, and a third for errors.
    ThreePipes { input: BorrowedFd<'a>, output: BorrowedFd<'a>, errors: BorrowedFd<'a> },
}

const SHELL: &CStr = c"/bin/sh";
/// Variables that describe the terminal we were started on, not the program's.
const NOT_HANDED_ON: [&str; 3] = ["TERM", "COLUMNS", "LINES"];

/// Starts `command` with `/bin/sh -c` in its own session and process group, with no signal ignored or blocked. The caller must
/// reap it.
///
/// # Errors
/// When there is no process or no memory left, or a text has a NUL in it.
pub(super) fn spawn(command: &str, terminal: &str, streams: StandardStreams<'_>) -> io::Result<Pid> {
    let command = CString::new(&*shell_command(command))?;
    let variables = variables(terminal)?;
    let arguments = [SHELL.as_ptr(), c"-c".as_ptr(), command.as_ptr(), ptr::null()];
    let mut environment: Vec<*const c_char> = variables.iter().map(|variable| variable.as_ptr()).collect();
    environment.push(ptr::null());
    let (actions, attributes) = (Actions::new(streams)?, Attributes::new()?);
    let mut pid = 0;
    // SAFETY: every pointer is to something that outlives the call; both lists end with a null pointer.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            SHELL.as_ptr(),
            actions.0.as_ptr(),
            attributes.0.as_ptr(),
            arguments.as_ptr().cast(),
            environment.as_ptr().cast(),
        )
    })?;
    Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn variables(terminal: &str) -> io::Result<Vec<CString>> {
    let kept = env::vars_os().filter(|(name, _)| NOT_HANDED_ON.iter().all(|other| name != other));
    let own = (OsString::from("TERM"), OsString::from(terminal));
    kept.chain([own])
        .map(|(name, value)| Ok(CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())?))
        .collect()
}

/// File actions of `posix_spawn`, which open the program's descriptors.
struct Actions(MaybeUninit<libc::posix_spawn_file_actions_t>);

impl Actions {
    fn new(streams: StandardStreams<'_>) -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: the call initialises it.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        let mut actions = Self(actions);
        match streams {
            StandardStreams::Terminal(path) => {
                actions.open(libc::STDIN_FILENO, path)?;
                actions.copy(libc::STDIN_FILENO, libc::STDOUT_FILENO)?;
            }
            StandardStreams::Pipes { input, output } => {
                actions.copy(input.as_raw_fd(), libc::STDIN_FILENO)?;
                actions.copy(output.as_raw_fd(), libc::STDOUT_FILENO)?;
            }
            StandardStreams::ThreePipes { input, output, errors } => {
                actions.copy(input.as_raw_fd(), libc::STDIN_FILENO)?;
                actions.copy(output.as_raw_fd(), libc::STDOUT_FILENO)?;
                actions.copy(errors.as_raw_fd(), libc::STDERR_FILENO)?;
                return Ok(actions);
            }
        }
        actions.copy(libc::STDOUT_FILENO, libc::STDERR_FILENO)?;
        Ok(actions)
    }

    /// A terminal that a session leader without a terminal opens becomes the session's controlling terminal.
    fn open(&mut self, to: c_int, path: &CStr) -> io::Result<()> {
        // SAFETY: the actions are initialised, and copy the path.
        check(unsafe {
            libc::posix_spawn_file_actions_addopen(self.0.as_mut_ptr(), to, path.as_ptr(), libc::O_RDWR, 0)
        })
    }

    fn copy(&mut self, from: c_int, to: c_int) -> io::Result<()> {
        // SAFETY: the actions are initialised.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(self.0.as_mut_ptr(), from, to) })
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: they are initialised, and not used any more.
        unsafe { libc::posix_spawn_file_actions_destroy(self.0.as_mut_ptr()) };
    }
}

/// Session and signals of the new process.
struct Attributes(MaybeUninit<libc::posix_spawnattr_t>);

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call initialises them.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        let mut attributes = Self(attributes);
        let pointer = attributes.0.as_mut_ptr();
        let signals = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let (mut all, mut none) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the attributes are initialised; so are both sets, by the calls before those that read them.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::sigemptyset(none.as_mut_ptr());
            check(libc::posix_spawnattr_setsigdefault(pointer, all.as_ptr()))?;
            check(libc::posix_spawnattr_setsigmask(pointer, none.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(pointer, libc::POSIX_SPAWN_SETSID | signals as libc::c_short))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: they are initialised, and not used any more.
        unsafe { libc::posix_spawnattr_destroy(self.0.as_mut_ptr()) };
    }
}

/// These calls return the error itself.
fn check(error: c_int) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}
