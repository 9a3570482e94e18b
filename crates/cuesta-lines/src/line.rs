//! The trait of every line: characters to and from the other end, with the instants at which they passed.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_record::{Failure, Stamp};
use socket2::SockRef;
use tokio::sync::mpsc::Receiver;

use crate::bisync::{BisyncTotals, Delivery};
use crate::negotiated::HalfSequence;
use crate::program::ExitStatus;

/// A terminal line, seen from one of its ends.
///
/// Characters are the application's: a telnet line hides its negotiation and its escapes. A line buffers as little as it can:
/// reading borrows the thread's buffer, and what the kernel does not take stays with the caller. One task polls a line in
/// both directions.
pub trait Line {
    /// Reads received characters into `into`. `len` 0 means that the other end closed the line.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>>;

    /// Sends as much of `bytes` as the line takes. Returns the number of bytes (at least one).
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Does what the line's protocol asks for while its owner does not read it: a station answers that it has no room. Most need
    /// nothing. It wakes the task when it is to be called again.
    fn poll_serve(&mut self, cx: &mut Context<'_>) {
        if let Some(line) = self.inner_mut() {
            line.poll_serve(cx);
        }
    }

    /// The line that this one wraps, if it wraps one. Methods that this line does not implement ask the inner line.
    fn inner(&self) -> Option<&dyn Line> {
        None
    }

    /// See [`Line::inner`].
    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        None
    }

    /// The instant from which the line can carry the next character to the other end; [`Stamp::ZERO`] = at any time.
    fn free_at(&self) -> Stamp {
        self.inner().map_or(Stamp::ZERO, Line::free_at)
    }

    /// Sets the instant at which the next characters were due. A line with a speed counts from it and not from the call, which
    /// may be late, so that successive characters keep the line's speed.
    fn begin_next_at(&mut self, at: Stamp) {
        if let Some(line) = self.inner_mut() {
            line.begin_next_at(at);
        }
    }

    /// Tells the other end what is expected of it, if it is a model; any other host finds that out from the characters.
    fn announce(&mut self, expected: Expected) {
        if let Some(line) = self.inner_mut() {
            line.announce(expected);
        }
    }

    /// When the last characters were sent, by two clocks; `None` on lines that the kernel does not stamp.
    fn kernel_sent(&mut self) -> Option<StampPair> {
        self.inner_mut()?.kernel_sent()
    }

    /// Columns and rows of the line's terminal, where they are known.
    fn window(&self) -> Option<(u16, u16)> {
        self.inner()?.window()
    }

    /// The name of the line's terminal (for `TERM`), where it is known.
    fn terminal(&self) -> Option<&str> {
        self.inner()?.terminal()
    }

    /// Changes the size of the terminal's window, on lines whose protocol can announce it.
    fn resize(&mut self, columns: u16, rows: u16) {
        if let Some(line) = self.inner_mut() {
            line.resize(columns, rows);
        }
    }

    /// Whether the other end echoes input now. `None` where that is unknown or decided by the program that runs there.
    fn echoes(&self) -> Option<bool> {
        self.inner()?.echoes()
    }

    /// How the program at the other end ended, once it has. `None` on lines that do not know.
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        self.inner_mut().map_or(Poll::Ready(None), |line| line.poll_exit(cx))
    }

    /// Reads what has come already, whatever the line's speed; see [`Line::poll_receive`].
    fn poll_rest(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.poll_receive(cx, into)
    }

    /// What the other end said last, as far as it can be read without waiting: at most 512 characters, and whole rows only if it said
    /// more. Nothing on lines that carry no text.
    fn last_rows(&mut self) -> Vec<u8> {
        self.inner_mut().map_or_else(Vec::new, Line::last_rows)
    }

    /// The same of what has been read; nothing more is.
    fn rows_so_far(&self) -> Vec<u8> {
        self.inner().map_or_else(Vec::new, Line::rows_so_far)
    }

    /// How many received bytes were no character of the line's character set so far.
    fn undecoded(&self) -> u64 {
        self.inner().map_or(0, Line::undecoded)
    }

    /// Protocol sequences that were dropped so far: too long, broken off, or more than can be answered.
    fn dropped(&self) -> u64 {
        self.inner().map_or(0, Line::dropped)
    }

    /// When each phase of opening the line ended, so far.
    fn opening(&self) -> Opening {
        self.inner().map_or_else(Opening::default, Line::opening)
    }

    /// What became of the messages sent last, on lines whose other end acknowledges messages. `None` on all others.
    fn delivery(&self) -> Option<Delivery> {
        self.inner()?.delivery()
    }

    /// What a bisync line has carried so far.
    fn bisync(&self) -> Option<BisyncTotals> {
        self.inner()?.bisync()
    }

    /// The socket that carries the line, to hand it to a program. `None` on lines that are more than a socket and telnet: a line
    /// around another does not ask it.
    fn socket(&self) -> Option<LineSocket<'_>> {
        None
    }

    /// Leaves what the socket receives to a program, on lines with a [`Line::socket`]: from now on this line reads `input`, and ends
    /// with it. After each piece of it the kernel looks again at what the socket has received; a piece may be empty. `socket` is a
    /// duplicate of its socket; it may block. Dropping the line ends the connection, whoever has it open.
    fn hand_over(&mut self, _socket: Arc<OwnedFd>, _input: Receiver<io::Result<Vec<u8>>>) {}

    /// Whether others may write on the line now: what this end has sent ends within no sequence of its framing, and no reply waits.
    fn is_output_whole(&self) -> bool {
        self.inner().is_none_or(Line::is_output_whole)
    }

    /// Characters on the wire so far, negotiation and escapes included.
    fn traffic(&self) -> Traffic;
}

/// A line's socket.
#[derive(Debug, Clone, Copy)]
pub struct LineSocket<'a> {
    /// It is a TCP socket.
    pub socket: BorrowedFd<'a>,
    /// Its bytes are framed by telnet; otherwise they are the characters.
    pub telnet: bool,
}

impl LineSocket<'_> {
    /// Sets how many bytes the kernel takes before it sends them.
    ///
    /// # Errors
    /// When it is no TCP socket.
    pub fn set_most_unsent(&self, bytes: u32) -> io::Result<()> {
        SockRef::from(&self.socket).set_tcp_notsent_lowat(bytes)
    }

    /// Has the kernel acknowledge at once what was received. It is for a peer that keeps Nagle's algorithm, which holds the rest of a
    /// message back until its beginning is acknowledged; the kernel does so for a while and must be told again after each read.
    pub fn acknowledge_at_once(&self) {
        // A line that cannot is as slow as without it.
        let _ = rustix::net::sockopt::set_tcp_quickack(self.socket, true);
    }
}

impl Line for Box<dyn Line> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        (**self).poll_receive(cx, into)
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        (**self).poll_send(cx, bytes)
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&**self)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut **self)
    }

    fn socket(&self) -> Option<LineSocket<'_>> {
        (**self).socket()
    }

    fn hand_over(&mut self, socket: Arc<OwnedFd>, input: Receiver<io::Result<Vec<u8>>>) {
        (**self).hand_over(socket, input);
    }

    fn traffic(&self) -> Traffic {
        (**self).traffic()
    }
}

/// Waits for the next characters; see [`Line::poll_receive`].
pub async fn receive(line: &mut (impl Line + ?Sized), into: &mut [u8]) -> io::Result<Received> {
    poll_fn(|cx| line.poll_receive(cx, into)).await
}

/// Sends all of `bytes`. Nothing is received meanwhile, so two ends that both do only this can deadlock.
pub async fn send(line: &mut (impl Line + ?Sized), mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let len = poll_fn(|cx| line.poll_send(cx, bytes)).await?;
        bytes = &bytes[len..];
    }
    Ok(())
}

/// How a line broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The host closed it within a sequence of its framing.
    HalfSequence,
    /// The host reset it.
    Reset,
    /// The host closed it.
    Closed,
    /// The kernel gave it up.
    Aborted,
    /// The host refused it.
    Refused,
    /// The host no longer answers.
    Timeout,
    /// The program to run does not exist.
    NoProgram,
    /// No route leads to the host.
    Unreachable,
    /// Anything else.
    Broken,
}

impl Fault {
    /// The fault for an error of a line.
    pub fn of(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<HalfSequence>) {
            return Self::HalfSequence;
        }
        match error.kind() {
            Kind::ConnectionReset => Self::Reset,
            Kind::BrokenPipe | Kind::UnexpectedEof | Kind::NotConnected => Self::Closed,
            Kind::ConnectionAborted => Self::Aborted,
            Kind::ConnectionRefused => Self::Refused,
            Kind::TimedOut => Self::Timeout,
            Kind::NotFound => Self::NoProgram,
            Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => Self::Unreachable,
            _ => Self::Broken,
        }
    }

    /// What it is counted as.
    pub fn failure(self) -> Failure {
        match self {
            Self::HalfSequence => Failure::HalfSequence,
            Self::Reset => Failure::Reset,
            Self::Closed => Failure::Closed,
            Self::Aborted => Failure::Aborted,
            Self::Refused => Failure::Refused,
            Self::Timeout => Failure::Timeout,
            Self::NoProgram => Failure::NoProgram,
            Self::Unreachable => Failure::Unreachable,
            Self::Broken => Failure::Broken,
        }
    }
}

/// The result of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Characters, at the head of the caller's buffer; 0 = the other end closed.
    pub len: usize,
    /// When the first of them arrived. The driver's clock just after the read; the kernel's stamp, if there is one, stands beside
    /// it in `stamped`. On a line with a speed: when the last bit of the first character arrives, by arithmetic.
    pub at: Stamp,
    /// Time from one character to the next; zero on a line without a speed.
    pub per_character: Duration,
    /// When they arrived, by two clocks, whatever the line's speed; `None` on lines that the kernel does not stamp.
    pub stamped: Option<StampPair>,
}

impl Received {
    /// When character `index` of this read arrived.
    pub fn at_character(&self, index: usize) -> Stamp {
        self.at + self.per_character * u32::try_from(index).unwrap_or(u32::MAX)
    }
}

/// One event on a line by two clocks: the driver's and the kernel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampPair {
    /// Just before we sent, or just after we received.
    pub ours: Stamp,
    /// When the kernel passed it to the device, or had it from there; ns since 1970.
    pub kernel: u64,
}

impl StampPair {
    /// The time from `sent` to this by the kernel's clock and by the driver's; `None` if this was before by either.
    #[must_use]
    pub fn since(self, sent: Self) -> Option<(Duration, Duration)> {
        let seen = Duration::from_nanos(self.kernel.checked_sub(sent.kernel)?);
        (sent.ours <= self.ours).then(|| (seen, self.ours.since(sent.ours)))
    }
}

/// What a user expects of the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The echo of this many characters, which are sent next.
    Echo(usize),
    /// A response.
    Response {
        /// What completes it.
        form: ResponseForm,
        /// The number of the transaction, in the script, that the last key asked for; none if no key asked for output.
        transaction: Option<usize>,
    },
}

/// What completes a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseForm {
    /// This many characters since the last key, echoes not counted.
    Characters(u64),
    /// The echo of the last key.
    Echo,
    /// The end of the line.
    Close,
}

/// When each phase of opening a line ended. A phase that the line does not have, or has not reached, has no instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opening {
    /// The connection was accepted, the program started, or the device opened.
    pub connected: Option<Stamp>,
    /// The last message of the protocol's negotiation so far (telnet options, ssh key exchange); a later negotiation moves it.
    pub negotiated: Option<Stamp>,
    /// The line's own login succeeded (ssh). A login that the tape types is not counted here.
    pub logged_in: Option<Stamp>,
}

/// Characters on the wire, each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// From this end to the other.
    pub sent: u64,
    /// From the other end to this.
    pub received: u64,
}
