//! Loads the relay into the kernel, gives it sockets, and tells it what the host has done.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Waker};

use cuesta_lines::{Line, LineSocket};
use cuesta_record::event_queue;
use libbpf_rs::{
    ErrorKind, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramInput, RingBufferBuilder, set_print,
};
use rustix::net::sockopt::socket_cookie;
use rustix::thread::{CapabilitySet, capabilities};
use tokio::io::Interest;

use super::Traffic;
use crate::settings::Settings;

/// Made by `build.rs` from `relay.bpf.c`.
const PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/relay.bpf.o"));

/// Programs, and the maps whose sockets they look after.
const ATTACHED: [(&str, &str); 3] = [("line_input", "lines"), ("host_output", "hosts"), ("program_output", "programs")];
const PENDING: &str = "pending";

const NOT_ALLOWED: &str = "only root, or a process with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, may use it";

/// What the relay compares with its own counts when it must not take over: no session gets so far.
const NEVER: u64 = u64::MAX;

/// The relay of one host thread. Its programs leave the kernel when it is dropped.
pub(crate) struct KernelPath {
    object: Object,
    maps: Maps,
    /// Where programs' connections to the host are made.
    listener: TcpListener,
    sessions: RefCell<Sessions>,
}

/// The maps that the host reads or writes; `relay.bpf.c` says what they are.
struct Maps {
    lines: MapHandle,
    hosts: MapHandle,
    programs: MapHandle,
    session_of_line: MapHandle,
    session_of_end: MapHandle,
    sessions: MapHandle,
    handled: MapHandle,
    told: MapHandle,
    news: MapHandle,
}

/// The numbers of sessions, and the tasks that serve them.
#[derive(Default)]
struct Sessions {
    tasks: Vec<Task>,
    free: Vec<u32>,
}

#[derive(Default)]
struct Task {
    waker: Option<Waker>,
    /// The relay has told that there is input for the host.
    has_news: bool,
}

/// A line in the relay. Dropping it takes its sockets out.
#[derive(Debug)]
pub(crate) struct Session {
    path: Rc<KernelPath>,
    index: u32,
    cookie: u64,
    handled: Handled,
    /// The relay may have taken input since this was last looked into.
    may_move: bool,
}

/// `struct handled` of `relay.bpf.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Handled {
    input: u64,
    output: u64,
    telnet: bool,
}

/// A relay's counters, which any thread may read.
#[derive(Debug)]
pub(crate) struct Counters(MapHandle);

impl KernelPath {
    /// Loads the relay.
    ///
    /// # Errors
    /// The reason, and the remedy.
    pub(crate) fn load() -> Result<Self, String> {
        if !is_allowed() {
            return Err(NOT_ALLOWED.to_owned());
        }
        set_print(None);
        let object = ObjectBuilder::default()
            .open_memory(PROGRAMS)
            .and_then(libbpf_rs::OpenObject::load)
            .map_err(|error| refusal(&error))?;
        let maps = Maps::of(&object)?;
        for (program, map) in ATTACHED {
            let program = object.progs_mut().find(|each| each.name() == program).ok_or("a program is missing")?;
            program.attach_sockmap(map_of(&object, map)?.as_fd().as_raw_fd()).map_err(|error| refusal(&error))?;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| format!("no loopback: {error}"))?;
        Ok(Self { object, maps, listener, sessions: RefCell::default() })
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters(map_of(&self.object, "counts").expect("it was found before"))
    }

    /// Wakes the tasks of sessions that have input for the host.
    pub(crate) async fn wake_sessions(self: Rc<Self>) -> io::Result<()> {
        let path = Rc::clone(&self);
        let wake = move |index: &[u8]| {
            path.wake(index);
            0
        };
        let mut ring = RingBufferBuilder::new();
        ring.add(&self.maps.news, wake).map_err(io::Error::other)?;
        let ring = ring.build().map_err(io::Error::other)?;
        let events = event_queue::watch(self.maps.news.as_fd().try_clone_to_owned()?, Interest::READABLE)?;
        loop {
            events.readable().await?.clear_ready();
            ring.consume().map_err(io::Error::other)?;
        }
    }

    /// Puts a line into the relay before anything is read from it. Returns the session, and the host's and the program's end of the
    /// connection between them. Until [`Session`] is told otherwise, everything is left to the host.
    ///
    /// # Errors
    /// Why the line is relayed in user space, by the name under which it is counted.
    pub(crate) fn join(
        self: &Rc<Self>,
        settings: &Settings,
        line: &mut dyn Line,
    ) -> Result<(Session, OwnedFd, OwnedFd), &'static str> {
        let telnet = eligible(settings, line.socket())?.telnet;
        let index = self.sessions.borrow_mut().take(self.maps.lines.max_entries()).ok_or("full")?;
        let handled = Handled { input: NEVER, output: NEVER, telnet };
        let mut session = Session { path: Rc::clone(self), index, cookie: 0, handled, may_move: false };
        let (ours, its) = connection(&self.listener).map_err(|_| "no connection")?;
        line.stop_watching_input().map_err(|_| "no socket")?;
        let socket = eligible(settings, line.socket())?.socket;
        session.cookie = socket_cookie(socket).map_err(|_| "no socket")?;
        session.enter(&socket, &ours, &its).map_err(|_| "refused")?;
        Ok((session, ours, its))
    }

    fn wake(&self, index: &[u8]) {
        let index = index.try_into().map_or(u32::MAX, u32::from_ne_bytes);
        let mut sessions = self.sessions.borrow_mut();
        if let Some(task) = sessions.tasks.get_mut(index as usize) {
            task.has_news = true;
            if let Some(waker) = &task.waker {
                waker.wake_by_ref();
            }
        }
    }
}

impl fmt::Debug for KernelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelPath").finish_non_exhaustive()
    }
}

impl Maps {
    fn of(object: &Object) -> Result<Self, String> {
        let map = |name| map_of(object, name);
        Ok(Self {
            lines: map("lines")?,
            hosts: map("hosts")?,
            programs: map("programs")?,
            session_of_line: map("session_of_line")?,
            session_of_end: map("session_of_end")?,
            sessions: map("sessions")?,
            handled: map("handled")?,
            told: map("told")?,
            news: map("news")?,
        })
    }
}

impl Sessions {
    /// A free number below `most`.
    fn take(&mut self, most: u32) -> Option<u32> {
        if let Some(index) = self.free.pop() {
            return Some(index);
        }
        let index = u32::try_from(self.tasks.len()).ok().filter(|index| *index < most)?;
        self.tasks.push(Task::default());
        Some(index)
    }

    fn give_back(&mut self, index: u32) {
        self.tasks[index as usize] = Task::default();
        self.free.push(index);
    }
}

impl Session {
    /// Has the task woken when there is input for the host. Call it before reading.
    pub(crate) fn attend(&mut self, cx: &mut Context<'_>) {
        let mut sessions = self.path.sessions.borrow_mut();
        let task = &mut sessions.tasks[self.index as usize];
        if !task.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            task.waker = Some(cx.waker().clone());
        }
        if std::mem::take(&mut task.has_news) {
            // Failing would lose a wake-up, but an array's entry can always be written.
            let _ = self.write(&self.path.maps.told, &0_u32.to_ne_bytes());
        }
    }

    /// All input so far was handled: `received` bytes from the line.
    pub(crate) fn input_handled(&mut self, received: u64) {
        self.may_move = true;
        self.tell(Handled { input: received, ..self.handled });
    }

    /// All output that the program sent to the host was handled: `received` characters.
    pub(crate) fn output_handled(&mut self, received: u64) {
        self.tell(Handled { output: received, ..self.handled });
    }

    /// Leaves everything to the host from now on.
    pub(crate) fn leave(&mut self) {
        self.tell(Handled { input: NEVER, output: NEVER, ..self.handled });
    }

    /// Whether input that the relay took is still on its way to the program. The host sends none before it has arrived.
    pub(crate) fn is_moving(&mut self) -> bool {
        self.may_move = self.may_move && self.pending() > 0;
        self.may_move
    }

    fn pending(&self) -> u32 {
        let mut context = u64::from(self.index).to_ne_bytes();
        let input = ProgramInput { context_in: Some(&mut context), ..ProgramInput::default() };
        let program = self.path.object.progs_mut().find(|program| program.name() == PENDING);
        program.and_then(|program| program.test_run(input).ok()).map_or(0, |output| output.return_value)
    }

    fn enter(&self, line: &impl AsFd, host: &OwnedFd, program: &OwnedFd) -> libbpf_rs::Result<()> {
        let maps = &self.path.maps;
        let index = self.index.to_ne_bytes();
        self.write(&maps.sessions, &vec![0; maps.sessions.value_size() as usize])?;
        self.write(&maps.told, &0_u32.to_ne_bytes())?;
        self.write(&maps.handled, &self.handled.bytes())?;
        for (end, map) in [(host, &maps.hosts), (program, &maps.programs)] {
            maps.session_of_end.update(&end.as_raw_fd().to_ne_bytes(), &index, MapFlags::ANY)?;
            self.write(map, &descriptor(end))?;
        }
        maps.session_of_line.update(&self.cookie.to_ne_bytes(), &index, MapFlags::ANY)?;
        self.write(&maps.lines, &descriptor(line))
    }

    fn tell(&mut self, handled: Handled) {
        if std::mem::replace(&mut self.handled, handled) != handled {
            let _ = self.write(&self.path.maps.handled, &handled.bytes());
        }
    }

    fn write(&self, map: &MapHandle, value: &[u8]) -> libbpf_rs::Result<()> {
        map.update(&self.index.to_ne_bytes(), value, MapFlags::ANY)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let maps = &self.path.maps;
        let index = self.index.to_ne_bytes();
        // What is not there, because its socket is closed or was not taken, need not be removed.
        let _ = maps.lines.delete(&index);
        let _ = maps.session_of_line.delete(&self.cookie.to_ne_bytes());
        let _ = maps.hosts.delete(&index);
        let _ = maps.programs.delete(&index);
        self.path.sessions.borrow_mut().give_back(self.index);
    }
}

impl Handled {
    fn bytes(self) -> Vec<u8> {
        [self.input, self.output, self.telnet.into()].map(u64::to_ne_bytes).concat()
    }
}

impl Counters {
    pub(crate) fn read(&self) -> Traffic {
        let mut sum = Traffic::default();
        let cpus = self.0.lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
        cpus.iter().filter_map(|bytes| Traffic::read(bytes)).for_each(|traffic| sum.add(&traffic));
        sum
    }
}

/// A connection over loopback: the host's end, and the program's.
fn connection(listener: &TcpListener) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = TcpStream::connect(listener.local_addr()?)?;
    loop {
        let (its, from) = listener.accept()?;
        // Anybody on this machine can connect there.
        if from == ours.local_addr()? {
            for end in [&ours, &its] {
                end.set_nodelay(true)?;
            }
            return Ok((ours.into(), its.into()));
        }
    }
}

/// How a map of sockets is given one.
fn descriptor(socket: &impl AsFd) -> [u8; 8] {
    u64::try_from(socket.as_fd().as_raw_fd()).unwrap_or(u64::MAX).to_ne_bytes()
}

fn map_of(object: &Object, name: &str) -> Result<MapHandle, String> {
    let map = object.maps().find(|map| map.name() == name).ok_or_else(|| format!("the relay has no map {name}"))?;
    MapHandle::try_from(&map).map_err(|error| refusal(&error))
}

fn is_allowed() -> bool {
    let may = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    let few = CapabilitySet::BPF | CapabilitySet::NET_ADMIN | CapabilitySet::PERFMON;
    [CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN, few].iter().any(|enough| may.contains(*enough))
}

fn refusal(error: &libbpf_rs::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => NOT_ALLOWED.to_owned(),
        _ => format!("the kernel does not take it: {error:#}"),
    }
}

/// The line's socket, if the relay can take the line.
///
/// # Errors
/// Why not, by the name under which it is counted.
fn eligible<'a>(settings: &Settings, line: Option<LineSocket<'a>>) -> Result<LineSocket<'a>, &'static str> {
    if settings.discipline.canonical || settings.discipline.echo {
        return Err("discipline");
    }
    if settings.stall.is_some() {
        return Err("stall");
    }
    line.ok_or("no socket")
}
