//! The trait of every line: characters to and from the other end, with the instants at which they passed.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use cuesta_record::{Failure, Stamp};

use crate::bisync::Bisync;
use crate::decoded::Transcript;
use crate::framed::HalfSequence;
use crate::handed_over::LineSocket;
use crate::probe_socket::ProbeSocket;
use crate::program::ExitStatus;
use crate::speed::Pace;
use crate::web::Break;

/// A terminal line, seen from one of its ends.
///
/// Characters are the application's: a telnet line hides its negotiation and its escapes. A line buffers as little as it can:
/// reading borrows the thread's buffer, and what the kernel does not take stays with the caller. One task polls a line in
/// both directions. What only some kinds of lines have is a capability that a line may offer: its [pace](Line::pace), its
/// [transcript](Line::transcript), a [terminal](Line::terminal), a [station](Line::station), a [socket](Line::socket).
pub trait Line {
    /// Reads received characters into `into`. `len` 0 means that the other end closed the line.
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>>;

    /// Sends as much of `bytes` as the line takes. Returns the number of bytes (at least one).
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// The line that this one wraps, if it wraps one. Methods that this line does not implement ask the inner line.
    fn inner(&self) -> Option<&dyn Line> {
        None
    }

    /// See [`Line::inner`].
    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        None
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

    /// How the program at the other end ended, once it has. `None` on lines that do not know.
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        self.inner_mut().map_or(Poll::Ready(None), |line| line.poll_exit(cx))
    }

    /// Why the host ended the line, in its own words, if it gave a reason.
    fn end_reason(&self) -> Option<String> {
        self.inner()?.end_reason()
    }

    /// Protocol sequences that were dropped so far: too long, broken off, or more than can be answered.
    fn dropped(&self) -> u64 {
        self.inner().map_or(0, Line::dropped)
    }

    /// When each phase of opening the line ended, so far.
    fn opening(&self) -> Opening {
        self.inner().map_or_else(Opening::default, Line::opening)
    }

    /// When each part of the line's own login ended.
    fn login_parts(&self) -> LoginParts {
        self.inner().map_or_else(LoginParts::default, Line::login_parts)
    }

    /// Its speed, on lines that have one.
    fn pace(&mut self) -> Option<&mut Pace> {
        self.inner_mut()?.pace()
    }

    /// What the host has said, on lines that carry text.
    fn transcript(&self) -> Option<&Transcript> {
        self.inner()?.transcript()
    }

    /// The terminal at the line, where its protocol knows one.
    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        self.inner_mut()?.terminal()
    }

    /// How a tracer at the host knows the line, if it was opened to be followed (`Options::followed`). `None` where none could.
    fn mark(&self) -> Option<LineMark> {
        self.inner()?.mark()
    }

    /// How many bytes the stream to the host has up to the last characters that were sent; `None` while these wait to be written.
    fn sent_up_to(&self) -> Option<u64> {
        self.inner().map_or_else(|| Some(self.traffic().sent), Line::sent_up_to)
    }

    /// Its connection with the host, on lines over TCP that were opened to be followed.
    fn probe_socket(&self) -> Option<ProbeSocket<'_>> {
        self.inner()?.probe_socket()
    }

    /// Its station, on bisync lines.
    fn station(&mut self) -> Option<&mut Bisync> {
        self.inner_mut()?.station()
    }

    /// The socket that carries the line, to hand it to a program. `None` on lines that are more than a socket and telnet: a line
    /// around another does not ask it.
    fn socket(&mut self) -> Option<LineSocket<'_>> {
        None
    }

    /// Characters on the wire so far, negotiation and escapes included.
    fn traffic(&self) -> Traffic {
        self.inner().map_or_else(Traffic::default, Line::traffic)
    }
}

/// The terminal at a line, as its protocol or its kernel knows it.
pub trait LineTerminal {
    /// Columns and rows of its window, where they are known.
    fn window(&self) -> Option<(u16, u16)> {
        None
    }

    /// Its name (for `TERM`), where it is known.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Changes the size of its window, where the protocol can announce it.
    fn resize(&mut self, columns: u16, rows: u16) {
        let _ = (columns, rows);
    }

    /// Whether the other end echoes input now. `None` where that is unknown or decided by the program that runs there.
    fn echoes(&self) -> Option<bool> {
        None
    }

    /// Where the kernel echoes input now, whether any program there waits for it: the echo alone does not show that. `None` where that is
    /// unknown or the program decides what it echoes. Reads some files; not to be called for each key.
    fn awaits_echoed_input(&self) -> Option<bool> {
        None
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

    fn socket(&mut self) -> Option<LineSocket<'_>> {
        (**self).socket()
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

/// What an error of a line is counted as.
pub fn failure_of(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    if let Some(inner) = error.get_ref() {
        if inner.is::<HalfSequence>() {
            return Failure::HalfSequence;
        }
        if let Some(broken) = inner.downcast_ref::<Break>() {
            return broken.failure();
        }
    }
    match error.kind() {
        Kind::ConnectionReset => Failure::Reset,
        Kind::BrokenPipe | Kind::UnexpectedEof | Kind::NotConnected => Failure::Closed,
        Kind::ConnectionAborted => Failure::Aborted,
        Kind::ConnectionRefused => Failure::Refused,
        Kind::TimedOut => Failure::Timeout,
        Kind::NotFound => Failure::NoProgram,
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => Failure::Unreachable,
        _ => Failure::Broken,
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

/// How a tracer at the host knows a line that it is to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineMark {
    /// By our port, one of [`cuesta_record::FOLLOWED_PORTS`].
    Port(u16),
    /// By the number of its pseudo-terminal, whose master is exclusive (`TIOCEXCL`).
    Terminal(u32),
}

/// What a user expects of the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The echo of this many characters, which are sent next.
    Echo(usize),
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
    /// The requests before the connection were answered: a page's login, a terminal that was made (web terminals).
    pub prepared: Option<Stamp>,
    /// The connection was accepted, the program started, or the device opened.
    pub connected: Option<Stamp>,
    /// TLS was agreed on.
    pub secured: Option<Stamp>,
    /// The host opened the WebSocket.
    pub upgraded: Option<Stamp>,
    /// The last message of the protocol's negotiation so far (telnet options, ssh key exchange); a later negotiation moves it.
    pub negotiated: Option<Stamp>,
    /// The line's own login succeeded, and its program runs (ssh). A login that the tape types is not counted here.
    pub logged_in: Option<Stamp>,
    /// The host said that the session is ready (web terminals).
    pub ready: Option<Stamp>,
}

/// When each part of a line's own login ended (ssh). A part that was not reached has no instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoginParts {
    /// The host's version came.
    pub greeted: Option<Stamp>,
    /// The host's first answer to a login came: which methods it accepts.
    pub answered: Option<Stamp>,
    /// The host accepted the user.
    pub authenticated: Option<Stamp>,
    /// The host opened a session.
    pub admitted: Option<Stamp>,
    /// The host gave the session a terminal.
    pub terminal: Option<Stamp>,
}

/// Characters on the wire, each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// From this end to the other.
    pub sent: u64,
    /// From the other end to this.
    pub received: u64,
}
