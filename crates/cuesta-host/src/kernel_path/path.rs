//! Hands lines' sockets to programs, and learns of their ends and of telnet's commands.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuesta_lines::{LineSocket, tcp_info};
use cuesta_record::event_queue;
use rustix::event::epoll;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::ioctl_fionread;
use rustix::net::sockopt::socket_cookie;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::io::Interest;
use tokio::sync::mpsc::{Sender, channel};

use super::{Commands, Telnet, TelnetCounters, TelnetLine, Traffic, connection};
use crate::input::Unit;
use crate::settings::Settings;

/// The event that announces commands of telnet lines. All others are lines' cookies, which the kernel counts from 1.
const COMMANDS: u64 = 0;
/// Most events of one look.
const MOST_EVENTS: usize = 64;
/// Most events of one line that may wait for its task, which reads them whenever it runs. A line with more is ended.
const MOST_WAITING: usize = 256;
/// Turns in which all commands are taken that waited at their beginning: the 11,000 events that fit need 178.
const MOST_TURNS: usize = 256;

/// The in-kernel path of one host thread.
pub(crate) struct KernelPath {
    telnet: Option<Telnet>,
    /// Watches for lines that end, and for commands.
    events: OwnedFd,
    /// By cookie. `None` when they cannot be watched any more.
    lines: RefCell<Option<HashMap<u64, LineTask>>>,
    /// Lines that had lost something when it was last asked.
    lost: Cell<u64>,
    plain: Arc<Mutex<PlainLines>>,
}

/// The task that serves a line. It reads telnet's commands and an error as the line's input, whose end is the end of this.
struct LineTask(Sender<io::Result<Vec<u8>>>);

/// The lines without framing, whose characters TCP counts.
#[derive(Debug, Default)]
struct PlainLines {
    open: HashMap<u64, Arc<OwnedFd>>,
    /// Characters of those that have ended.
    ended: Traffic,
}

/// A line in the in-kernel path.
#[derive(Debug)]
pub(crate) struct Session {
    path: Rc<KernelPath>,
    cookie: u64,
    socket: Arc<OwnedFd>,
    telnet: Option<TelnetLine>,
    /// What had been written, and what had not been read, when it was last asked whether characters move.
    seen: (u64, u64),
}

/// A connection on which the kernel leaves output to the host.
pub(crate) struct Control {
    /// The host reads here.
    pub(crate) host: OwnedFd,
    /// The kernel writes here.
    pub(crate) kernel: OwnedFd,
}

/// Counters of a path, which any thread may read.
#[derive(Debug)]
pub(crate) struct Counters {
    plain: Arc<Mutex<PlainLines>>,
    telnet: Option<TelnetCounters>,
}

impl KernelPath {
    /// `telnet`: it is for telnet lines, too.
    ///
    /// # Errors
    /// The reason, and the remedy.
    pub(super) fn new(telnet: bool) -> Result<Self, String> {
        let telnet = telnet.then(Telnet::load).transpose()?;
        let events = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| error.to_string())?;
        if let Some(telnet) = &telnet {
            let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
            epoll::add(&events, telnet.events(), epoll::EventData::new_u64(COMMANDS), flags)
                .map_err(|error| error.to_string())?;
        }
        Ok(Self {
            telnet,
            events,
            lines: RefCell::new(Some(HashMap::new())),
            lost: Cell::new(0),
            plain: Arc::default(),
        })
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters { plain: Arc::clone(&self.plain), telnet: self.telnet.as_ref().map(Telnet::counters) }
    }

    /// Gives the tasks of lines their commands, and tells them their ends. If that fails, their lines end, and no more can join.
    pub(crate) async fn watch(self: Rc<Self>) {
        if self.try_to_watch().await.is_err() {
            self.lines.take().into_iter().flatten().for_each(|(_, line)| line.abort());
        }
    }

    async fn try_to_watch(self: &Rc<Self>) -> io::Result<()> {
        let path = Rc::clone(self);
        let deliver = move |cookie, commands: Option<&[u8]>| path.deliver(cookie, commands);
        let commands = self.telnet.as_ref().map(|telnet| telnet.commands(deliver)).transpose()?;
        let events = event_queue::watch(self.events.try_clone()?, Interest::READABLE)?;
        let mut more = false;
        loop {
            if !more {
                events.readable().await?.clear_ready();
            }
            let ended = self.ended()?;
            // A line's last commands come before its end.
            for _ in 0..MOST_TURNS {
                more = commands.as_ref().map_or(Ok(false), Commands::take)?;
                if !more {
                    break;
                }
                self.end_lines_with_losses();
                tokio::task::yield_now().await;
            }
            for cookie in ended {
                self.leave(cookie);
            }
        }
    }

    /// Ends the lines of which the host has not been told something because too much waited. Otherwise one that waits for an answer
    /// would wait for ever.
    fn end_lines_with_losses(&self) {
        let Some(telnet) = &self.telnet else { return };
        let lost = telnet.lost();
        if self.lost.replace(lost) != lost {
            let mut lines = self.lines.borrow_mut();
            let with_losses = lines.iter_mut().flat_map(|lines| lines.extract_if(|cookie, _| telnet.has_lost(*cookie)));
            with_losses.for_each(|(_, line)| line.abort());
        }
    }

    /// Hands a line over, before anything is read from it. Returns the session, and the connection for what its programs leave to
    /// the host. The program may start when the line has sent what it has to say first.
    ///
    /// # Errors
    /// Why the line is relayed in user space, by the name under which it is counted. It is as it was then.
    pub(crate) fn join(
        self: &Rc<Self>,
        settings: &Settings,
        line: Option<LineSocket<'_>>,
    ) -> Result<(Session, Control), &'static str> {
        let mut line_socket = eligible(settings, line)?;
        let telnet = line_socket.is_telnet();
        if self.lines.borrow().is_none() {
            return Err("not watched");
        }
        let socket = Arc::new(line_socket.as_fd().try_clone_to_owned().map_err(|_| "no socket")?);
        let cookie = socket_cookie(&socket).map_err(|_| "no socket")?;
        let control = if telnet { connection(cookie) } else { pair() }.map_err(|_| "no connection")?;
        let (flags, event) = (epoll::EventFlags::RDHUP | epoll::EventFlags::ET, epoll::EventData::new_u64(cookie));
        epoll::add(&self.events, &socket, event, flags).map_err(|_| "no socket")?;
        // Dropping the session takes the line out of the event queue again.
        let mut session =
            Session { path: Rc::clone(self), cookie, socket: Arc::clone(&socket), telnet: None, seen: (0, 0) };
        if telnet {
            let telnet = self.telnet.as_ref().ok_or("telnet")?;
            session.telnet = Some(telnet.enter(cookie, &socket, &control.kernel)?);
            // The programs see to it that less waits. This does not fail on a TCP socket.
            let _ = line_socket.set_most_unsent(u32::MAX);
        } else {
            plain_lines(&self.plain).open.insert(cookie, Arc::clone(&socket));
        }
        // From here on nothing fails.
        let (commands, input) = channel(MOST_WAITING);
        let _ = fcntl_setfl(&socket, OFlags::empty());
        line_socket.hand_over(socket, input);
        if let Some(lines) = self.lines.borrow_mut().as_mut() {
            lines.insert(cookie, LineTask(commands));
        }
        Ok((session, control))
    }

    /// Commands of a line; `None` if it has lost some, or input.
    fn deliver(&self, cookie: u64, commands: Option<&[u8]>) {
        let delivered = commands.is_some_and(|commands| {
            let lines = self.lines.borrow();
            lines.as_ref().and_then(|lines| lines.get(&cookie)).is_some_and(|line| line.deliver(commands))
        });
        if !delivered {
            self.leave(cookie).into_iter().for_each(LineTask::abort);
        }
    }

    /// Takes a line out. When the result is dropped, its task reads the end of its input.
    fn leave(&self, cookie: u64) -> Option<LineTask> {
        self.lines.borrow_mut().as_mut()?.remove(&cookie)
    }

    /// The lines that have ended.
    fn ended(&self) -> io::Result<Vec<u64>> {
        let mut ended = Vec::new();
        loop {
            let mut events = Vec::with_capacity(MOST_EVENTS);
            epoll::wait(&self.events, rustix::buffer::spare_capacity(&mut events), Some(&NOW))?;
            ended.extend(events.iter().map(|event| event.data.u64()).filter(|cookie| *cookie != COMMANDS));
            if events.len() < MOST_EVENTS {
                return Ok(ended);
            }
        }
    }
}

impl LineTask {
    /// Returns false if the task has ended, or too much waits for it.
    fn deliver(&self, commands: &[u8]) -> bool {
        // The last place is for the error.
        self.0.capacity() > 1 && self.0.try_send(Ok(commands.to_vec())).is_ok()
    }

    /// Ends a line that the path cannot serve any further.
    fn abort(self) {
        // If this fails the task has ended.
        let _ = self.0.try_send(Err(io::ErrorKind::ConnectionAborted.into()));
    }
}

/// Without waiting.
const NOW: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };

impl fmt::Debug for KernelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelPath").finish_non_exhaustive()
    }
}

impl Session {
    /// The socket for the program.
    pub(crate) fn socket(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.socket)
    }

    /// Of the output that was left to the host, `handled` characters are written on the line.
    pub(crate) fn output_handled(&mut self, handled: u64) {
        if let Some(telnet) = &mut self.telnet {
            telnet.output_handled(handled, &self.socket);
        }
    }

    /// Whether characters have passed, either way, since this was asked before.
    pub(crate) fn has_moved(&mut self) -> bool {
        let written = tcp_info(&self.socket).map_or(0, |info| info.written);
        let now = (written, ioctl_fionread(&self.socket).unwrap_or(0));
        std::mem::replace(&mut self.seen, now) != now
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The program, if it lives on, keeps the socket open.
        let _ = epoll::delete(&self.path.events, &self.socket);
        self.path.leave(self.cookie);
        let mut plain = plain_lines(&self.path.plain);
        if plain.open.remove(&self.cookie).is_some() {
            plain.ended.add(&characters(&self.socket));
        }
    }
}

impl Counters {
    pub(crate) fn read(&self) -> Traffic {
        let plain = plain_lines(&self.plain);
        let mut sum = plain.ended;
        plain.open.values().for_each(|socket| sum.add(&characters(socket)));
        if let Some(telnet) = &self.telnet {
            sum.add(&telnet.read());
        }
        sum
    }
}

fn plain_lines(lines: &Mutex<PlainLines>) -> MutexGuard<'_, PlainLines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The characters of a line without framing.
fn characters(socket: &OwnedFd) -> Traffic {
    tcp_info(socket).map_or(Traffic::default(), |info| Traffic::plain(info.received, info.written))
}

/// A connection for a line without framing. Nothing passes there: it ends with the program.
fn pair() -> io::Result<Control> {
    let (host, kernel) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    Ok(Control { host, kernel })
}

/// The line's socket, if a program can have it.
///
/// # Errors
/// Why not, by the name under which it is counted.
fn eligible<'a>(settings: &Settings, line: Option<LineSocket<'a>>) -> Result<LineSocket<'a>, &'static str> {
    if settings.discipline.unit != Unit::Character || settings.discipline.echo {
        return Err("discipline");
    }
    if settings.stall.is_some() {
        return Err("stall");
    }
    line.ok_or("no socket")
}
