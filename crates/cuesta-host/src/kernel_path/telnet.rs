//! Loads what handles telnet in the kernel, gives it sockets, and tells it what the host has done.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use libbpf_rs::{
    ErrorKind, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramInput, RingBuffer, RingBufferBuilder,
    set_print,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{set_tcp_nodelay, socket_error};
use rustix::net::{
    AddressFamily, SendFlags, Shutdown, SocketFlags, SocketType, accept_with, bind, connect, getsockname, listen, send,
    shutdown, socket_with,
};
use rustix::thread::{CapabilitySet, capabilities};

use super::Traffic;
use super::path::Control;

/// Made by `build.rs` from `telnet.bpf.c`.
const PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/telnet.bpf.o"));

/// Programs, and the maps whose sockets they look after.
const ATTACHED: [(&str, &str); 4] =
    [("line_input", "lines"), ("line_output", "lines"), ("control_opened", "controls"), ("sink_input", "sinks")];
const HOST: &str = "i_am_the_host";

const NOT_ALLOWED: &str =
    "only root, or a process with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, may use it on telnet lines";

/// How long the kernel may take to break a socket.
const BREAK_TIMEOUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
/// How long loopback may take to connect.
const CONNECT_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// `struct event` of `telnet.bpf.c`: a cookie, whether anything was lost, a number of bytes, and the bytes.
const EVENT_HEAD: usize = 16;
/// Most events of one turn. A line that floods the host with commands then delays other lines by no more than these.
const MOST_EVENTS: usize = 64;

/// The programs of one host thread. They leave the kernel when it is dropped.
pub(super) struct Telnet {
    maps: Arc<Maps>,
    /// Both ends of the connection whose one end is broken.
    _sink: Control,
    _object: Object,
}

/// The maps that the host reads or writes; `telnet.bpf.c` says what they are.
struct Maps {
    lines: MapHandle,
    controls: MapHandle,
    sinks: MapHandle,
    parsers: MapHandle,
    outputs: MapHandle,
    events: MapHandle,
    counts: MapHandle,
}

/// Reads commands of lines.
pub(super) struct Commands(RingBuffer<'static>);

/// A line that the programs look after.
pub(super) struct TelnetLine {
    maps: Arc<Maps>,
    output: Output,
}

/// `struct output` of `telnet.bpf.c`.
#[derive(Debug, Clone, Copy)]
struct Output {
    control: u64,
    first: u64,
    cookie: u64,
    handled: u64,
}

/// Counts of the programs.
#[derive(Debug)]
pub(super) struct TelnetCounters(MapHandle);

impl Telnet {
    /// Loads the programs.
    ///
    /// # Errors
    /// The reason, and the remedy.
    pub(super) fn load() -> Result<Self, String> {
        if !is_allowed() {
            return Err(NOT_ALLOWED.to_owned());
        }
        set_print(None);
        let object = ObjectBuilder::default()
            .open_memory(PROGRAMS)
            .and_then(libbpf_rs::OpenObject::load)
            .map_err(|error| refusal(&error))?;
        let maps = Maps::open(&object)?;
        for (program, map) in ATTACHED {
            let program =
                object.progs_mut().find(|candidate| candidate.name() == program).ok_or("a program is missing")?;
            program.attach_sockmap(map_of(&object, map)?.as_fd().as_raw_fd()).map_err(|error| refusal(&error))?;
        }
        let mut context = [0; 8];
        let input = ProgramInput { context_in: Some(&mut context), ..ProgramInput::default() };
        let host = object.progs_mut().find(|candidate| candidate.name() == HOST).ok_or("a program is missing")?;
        host.test_run(input).map_err(|error| refusal(&error))?;
        let sink = connection(0).map_err(|error| format!("no loopback: {error}"))?;
        break_sink(&maps.sinks, &sink).map_err(|error| format!("the kernel does not take it: {error}"))?;
        Ok(Self { maps: Arc::new(maps), _sink: sink, _object: object })
    }

    /// Readable when there are commands.
    pub(super) fn events(&self) -> BorrowedFd<'_> {
        self.maps.events.as_fd()
    }

    /// Reads commands, which `deliver` gets with their line's cookie; `None` if the line has lost some, or input.
    pub(super) fn commands(&self, mut deliver: impl FnMut(u64, Option<&[u8]>) + 'static) -> io::Result<Commands> {
        let mut ring = RingBufferBuilder::new();
        let event = move |event: &[u8]| {
            if let Some((cookie, bytes)) = parse(event) {
                deliver(cookie, bytes);
            }
            0
        };
        ring.add(&self.maps.events, event).map_err(io::Error::other)?;
        Ok(Commands(ring.build().map_err(io::Error::other)?))
    }

    pub(super) fn counters(&self) -> TelnetCounters {
        TelnetCounters(MapHandle::try_from(&self.maps.counts).expect("it has a descriptor"))
    }

    /// Lines that have lost commands or input.
    pub(super) fn lost(&self) -> u64 {
        read_counts(&self.maps.counts).lost
    }

    /// Whether a line has lost commands or input.
    pub(super) fn has_lost(&self, cookie: u64) -> bool {
        let parser = self.maps.parsers.lookup(&cookie.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
        matches!(parse(&parser), Some((_, None)))
    }

    /// Has the programs look after a line. What its program writes and they leave to the host is written on `control`.
    ///
    /// # Errors
    /// Why they do not, by the name under which it is counted.
    pub(super) fn enter(&self, cookie: u64, line: &OwnedFd, control: &OwnedFd) -> Result<TelnetLine, &'static str> {
        let maps = &self.maps;
        let output = Output { control: 0, first: 0, cookie, handled: 0 };
        let mut entered = TelnetLine { maps: Arc::clone(maps), output };
        let parser = vec![0; maps.parsers.value_size() as usize];
        maps.parsers.update(&cookie.to_ne_bytes(), &parser, MapFlags::ANY).map_err(|_| "full")?;
        entered.enter(line, control).map_err(|_| "refused")?;
        Ok(entered)
    }
}

impl fmt::Debug for Telnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telnet").finish_non_exhaustive()
    }
}

impl Maps {
    fn open(object: &Object) -> Result<Self, String> {
        let map = |name| map_of(object, name);
        Ok(Self {
            lines: map("lines")?,
            controls: map("controls")?,
            sinks: map("sinks")?,
            parsers: map("parsers")?,
            outputs: map("outputs")?,
            events: map("events")?,
            counts: map("counts")?,
        })
    }
}

impl Commands {
    /// Delivers the next commands. Returns whether more may wait.
    pub(super) fn take(&self) -> io::Result<bool> {
        let taken = self.0.consume_raw_n(MOST_EVENTS);
        let taken = usize::try_from(taken).map_err(|_| io::Error::from_raw_os_error(-taken))?;
        Ok(taken == MOST_EVENTS)
    }
}

impl TelnetLine {
    /// Of the redirected output, `characters` are written on the line.
    pub(super) fn output_handled(&mut self, characters: u64, line: &OwnedFd) {
        if std::mem::replace(&mut self.output.handled, characters) != characters {
            // The kernel allocates it anew and may have no memory. Output is then left to the host until a later update succeeds.
            let _ = self.write_output(line);
        }
    }

    /// The last step is the one that changes what happens to the line.
    fn enter(&mut self, line: &OwnedFd, control: &OwnedFd) -> libbpf_rs::Result<()> {
        let key = self.output.cookie.to_ne_bytes();
        self.write_output(control)?;
        self.maps.controls.update(&key, &descriptor(control), MapFlags::ANY)?;
        // `control_opened` takes it.
        let _ = send(control, &[0], SendFlags::NOSIGNAL);
        let noted = self.maps.outputs.lookup(&control.as_raw_fd().to_ne_bytes(), MapFlags::ANY)?;
        let noted = noted.and_then(|bytes| Output::read(&bytes)).filter(|output| output.control != 0);
        self.output = noted.ok_or_else(|| libbpf_rs::Error::from(io::Error::from(io::ErrorKind::NotConnected)))?;
        self.write_output(line)?;
        self.maps.lines.update(&key, &descriptor(line), MapFlags::ANY)
    }

    fn write_output(&self, socket: &OwnedFd) -> libbpf_rs::Result<()> {
        self.maps.outputs.update(&socket.as_raw_fd().to_ne_bytes(), &self.output.bytes(), MapFlags::ANY)
    }
}

impl fmt::Debug for TelnetLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelnetLine").field("output", &self.output).finish_non_exhaustive()
    }
}

impl Drop for TelnetLine {
    fn drop(&mut self) {
        // Sockets leave their maps when they are closed.
        let _ = self.maps.parsers.delete(&self.output.cookie.to_ne_bytes());
    }
}

impl Output {
    fn bytes(self) -> Vec<u8> {
        [self.control, self.first, self.cookie, self.handled].map(u64::to_ne_bytes).concat()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut numbers = bytes.chunks_exact(8).map(|number| u64::from_ne_bytes(number.try_into().expect("8 bytes")));
        let mut next = || numbers.next();
        Some(Self { control: next()?, first: next()?, cookie: next()?, handled: next()? })
    }
}

impl TelnetCounters {
    pub(super) fn read(&self) -> Traffic {
        read_counts(&self.0)
    }
}

fn read_counts(counts: &MapHandle) -> Traffic {
    let counts = counts.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
    Traffic::read(&counts).unwrap_or_default()
}

/// A connection over loopback. It has a listener of its own: other programs cannot hold it up by connecting there first. The listener
/// has an address of its own, chosen by `number`: one address has fewer ports than two threads may have lines.
pub(super) fn connection(number: u64) -> io::Result<Control> {
    let socket = |flags| socket_with(AddressFamily::INET, SocketType::STREAM, flags | SocketFlags::CLOEXEC, None);
    let listener = socket(SocketFlags::NONBLOCK)?;
    bind(&listener, &SocketAddr::from((loopback_address(number), 0)))?;
    listen(&listener, 1)?;
    let kernel = socket(SocketFlags::NONBLOCK)?;
    match connect(&kernel, &getsockname(&listener)?) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    poll(&mut [PollFd::new(&listener, PollFlags::IN)], Some(&CONNECT_TIMEOUT))?;
    let host = accept_with(&listener, SocketFlags::CLOEXEC)?;
    // Anybody on this machine can connect there.
    if rustix::net::getpeername(&host)? != Some(getsockname(&kernel)?) {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    rustix::fs::fcntl_setfl(&kernel, rustix::fs::OFlags::empty())?;
    set_tcp_nodelay(&kernel, true)?;
    Ok(Control { host, kernel })
}

/// An address in the middle of 127.0.0.0/8, because no host has the first and the last address of a network.
fn loopback_address(number: u64) -> Ipv4Addr {
    let [.., a, b, c] = number.to_be_bytes();
    Ipv4Addr::new(127, 64 + a % 64, b, c)
}

/// Puts a socket into the map and breaks it: what it receives it is to send, which it can no longer.
fn break_sink(sinks: &MapHandle, sink: &Control) -> io::Result<()> {
    sinks.update(&0_u32.to_ne_bytes(), &descriptor(&sink.kernel), MapFlags::ANY).map_err(io::Error::other)?;
    shutdown(&sink.kernel, Shutdown::Write)?;
    send(&sink.host, &[0], SendFlags::NOSIGNAL)?;
    poll(&mut [PollFd::new(&sink.kernel, PollFlags::ERR)], Some(&BREAK_TIMEOUT))?;
    match socket_error(&sink.kernel)? {
        Err(Errno::PIPE) => Ok(()),
        _ => Err(io::Error::other("a socket does not break")),
    }
}

/// A line's cookie, and bytes of its commands; `None` in their place if it has lost some, or input.
fn parse(event: &[u8]) -> Option<(u64, Option<&[u8]>)> {
    let (head, bytes) = event.split_at_checked(EVENT_HEAD)?;
    let cookie = u64::from_ne_bytes(head[..8].try_into().ok()?);
    let [lost, len] = [8, 12].map(|at| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
    let commands = bytes.get(..len as usize)?;
    Some((cookie, (lost == 0).then_some(commands)))
}

/// How a map of sockets is given one.
fn descriptor(socket: &impl AsFd) -> [u8; 8] {
    u64::try_from(socket.as_fd().as_raw_fd()).unwrap_or(u64::MAX).to_ne_bytes()
}

fn map_of(object: &Object, name: &str) -> Result<MapHandle, String> {
    let map = object.maps().find(|map| map.name() == name).ok_or_else(|| format!("there is no map {name}"))?;
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// In a network namespace of its own, whose few ports are all that there are.
    #[test]
    fn connections_are_not_bounded_by_the_ports_of_one_address() {
        let few = "ip link set lo up && echo 40000 40199 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" --exact \"$1\" --ignored";
        let test = "kernel_path::telnet::tests::five_hundred_connections";
        let binary = std::env::current_exe().unwrap();
        let run = Command::new("unshare").args(["--net", "sh", "-c", few]).arg(binary).arg(test).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
        assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"));
    }

    #[test]
    #[ignore = "for the test above"]
    fn five_hundred_connections() {
        let connections: io::Result<Vec<Control>> = (1..=500).map(connection).collect();
        assert_eq!(connections.unwrap().len(), 500);
    }
}
