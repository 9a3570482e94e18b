//! Characters over TCP without framing, both ends. The driver's hot path: one system call a read, one a write, no buffer.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use cuesta_record::{Stamp, clock};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::{TcpSocket, TcpStream, lookup_host};

use crate::followed_ports;
use crate::handed_over::HandedOver;
use crate::kernel_stamps::{self, KernelStamps};
use crate::{
    Address, Line, LineMark, LineSocket, OpenError, Opening, Options, ProbeSocket, Received, StampPair, Traffic, speed,
};

/// Unsent bytes that the kernel buffers for the host's end. Without a limit it would take megabytes of output from a host whose
/// client does not read. A fast reader loses nothing: bytes in flight do not count.
const HELD_FOR_A_SLOW_READER: u32 = 4 * 1024;

/// A TCP connection as a line.
pub(crate) struct Tcp {
    stream: Stream,
    connected: Stamp,
    traffic: Traffic,
    extras: Option<Box<Extras>>,
}

/// What few lines have, in a box of its own.
#[derive(Default)]
struct Extras {
    stamps: Option<KernelStamps>,
    /// Our port, if it marks the line as one to be followed.
    followed: Option<u16>,
}

/// The socket, and who reads it.
#[derive(Debug)]
pub(crate) enum Stream {
    /// This line.
    Own(TcpStream),
    /// A program.
    HandedOver(Box<HandedOver>),
}

/// Connects to the first of the host's addresses that accepts.
pub(crate) async fn connect(address: &Address, options: &Options) -> Result<Tcp, OpenError> {
    let addresses = lookup_host((address.host.as_str(), address.port))
        .await
        .map_err(|cause| OpenError::unresolved(address, cause))?;
    let none = io::Error::new(io::ErrorKind::NotFound, "an empty list");
    let mut last = OpenError::unresolved(address, none);
    for address in addresses {
        match connect_to(address, options).await {
            Ok(line) => return Ok(line),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn connect_to(address: SocketAddr, options: &Options) -> Result<Tcp, OpenError> {
    let failed = |cause| OpenError::not_connected(address, cause);
    let socket = socket(address, options.line_speed).map_err(failed)?;
    let followed = options.followed.then(|| followed_ports::bind(&socket, address)).flatten();
    let due = clock::now() + options.connect_timeout;
    let timeout = || OpenError::Timeout { address: address.to_string(), waited: options.connect_timeout };
    let stream = with_deadline(due, socket.connect(address)).await.ok_or_else(timeout)?.map_err(failed)?;
    let stamps = options.stamped.then(|| KernelStamps::new(&stream)).transpose().map_err(failed)?;
    let mut line = Tcp::new(stream).map_err(failed)?;
    if stamps.is_some() || followed.is_some() {
        line.extras = Some(Box::new(Extras { stamps, followed }));
    }
    Ok(line)
}

fn socket(address: SocketAddr, line_speed: u32) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if line_speed > 0 {
        // Must be set before connecting: otherwise the first window that TCP offers is large.
        socket.set_recv_buffer_size(speed::receive_buffer(line_speed))?;
    }
    Ok(socket)
}

/// The result of a future; `None` if it is not there by `due`.
pub(crate) async fn with_deadline<T>(due: Stamp, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut timeout = clock::sleep_until(due);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => Pin::new(&mut timeout).poll(cx).map(|()| None),
    })
    .await
}

impl Tcp {
    fn new(stream: TcpStream) -> io::Result<Self> {
        // Nagle's algorithm would hold each key back until the echo of the one before.
        stream.set_nodelay(true)?;
        let stream = Stream::Own(stream);
        Ok(Self { stream, connected: clock::now(), traffic: Traffic::default(), extras: None })
    }

    /// Notes that the proxy at the other end has now connected it to the host.
    pub(crate) fn note_connected(&mut self) {
        self.connected = clock::now();
    }

    /// The host's end.
    pub(crate) fn accepted(stream: TcpStream) -> io::Result<Self> {
        SockRef::from(&stream).set_tcp_notsent_lowat(HELD_FOR_A_SLOW_READER)?;
        Self::new(stream)
    }
}

impl Line for Tcp {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let is_stamped = self.extras.as_ref().is_some_and(|extras| extras.stamps.is_some());
        let (len, kernel) = match (&mut self.stream, is_stamped) {
            (Stream::Own(stream), false) => (ready!(poll_receive(stream, cx, into))?, None),
            (Stream::Own(stream), true) => ready!(kernel_stamps::poll_receive(stream, cx, into))?,
            (Stream::HandedOver(socket), _) => (ready!(socket.poll_receive(cx, into))?, None),
        };
        self.traffic.received += len as u64;
        let at = clock::now();
        let stamped = kernel.map(|kernel| StampPair { ours: at, kernel });
        Poll::Ready(Ok(Received { len, at, stamped, ..Received::default() }))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let stamps = self.extras.as_mut().and_then(|extras| extras.stamps.as_mut());
        let len = match (&mut self.stream, stamps) {
            (Stream::Own(stream), None) => ready!(poll_send(stream, cx, bytes))?,
            (Stream::Own(stream), Some(stamps)) => ready!(stamps.poll_send(stream, cx, bytes))?,
            (Stream::HandedOver(socket), _) => ready!(socket.poll_send(cx, bytes))?,
        };
        self.traffic.sent += len as u64;
        Poll::Ready(Ok(len))
    }

    fn kernel_sent(&mut self) -> Option<StampPair> {
        match (&self.stream, &mut self.extras.as_mut()?.stamps) {
            (Stream::Own(stream), Some(stamps)) => stamps.sent(stream),
            _ => None,
        }
    }

    fn mark(&self) -> Option<LineMark> {
        self.extras.as_ref()?.followed.map(LineMark::Port)
    }

    fn probe_socket(&self) -> Option<ProbeSocket<'_>> {
        self.mark().map(|_| ProbeSocket(self.stream.as_fd()))
    }

    fn opening(&self) -> Opening {
        Opening { connected: Some(self.connected), ..Opening::default() }
    }

    fn socket(&mut self) -> Option<LineSocket<'_>> {
        Some(LineSocket { stream: &mut self.stream, telnet: None })
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Own(stream) => stream.as_fd(),
            Self::HandedOver(stream) => stream.as_fd(),
        }
    }
}

/// Reads by the raw system call: the C library's wrapper costs a fraction of a microsecond in a threaded process.
fn poll_receive(stream: &TcpStream, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        let (room, mut all_there_was) = (into.len(), None);
        let read = stream.try_io(Interest::READABLE, || {
            let (len, _) = recv(stream, &mut *into, RecvFlags::empty())?;
            if len == 0 || len == room {
                return Ok(len);
            }
            // A short read emptied the socket: clear the readiness, so that no further call has to find that out.
            all_there_was = Some(len);
            Err(io::ErrorKind::WouldBlock.into())
        });
        match (all_there_was, read) {
            (Some(len), _) => return Poll::Ready(Ok(len)),
            (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            (None, read) => return Poll::Ready(read),
        }
    }
}

/// Writes by the raw system call. There is nearly always room, so the runtime is asked for it only after there was none.
fn poll_send(stream: &TcpStream, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
    let write = || Ok(send(stream, bytes, SendFlags::NOSIGNAL)?);
    let mut sent = write();
    while sent.as_ref().is_err_and(|error: &io::Error| error.kind() == io::ErrorKind::WouldBlock) {
        ready!(stream.poll_write_ready(cx))?;
        sent = stream.try_io(Interest::WRITABLE, write);
    }
    Poll::Ready(sent)
}

/// Most reads of unread data before closing.
const UNREAD: usize = 16;

impl Drop for Tcp {
    /// Ends the connection. Reads remaining data first: closing with unread data would reset it and lose the last output.
    fn drop(&mut self) {
        self.read_rest();
        if let Stream::HandedOver(stream) = &self.stream {
            // A connection that is over already needs no telling.
            let _ = shutdown(stream, Shutdown::Both);
        }
    }
}

impl Tcp {
    fn read_rest(&self) {
        let mut piece = [0; 4096];
        for _ in 0..UNREAD {
            if !recv(&self.stream, &mut piece, RecvFlags::DONTWAIT).is_ok_and(|(_, len)| len > 0) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_held_back_at_either_end() {
        clock::run(clock::Time::Real, async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = Address { host: "127.0.0.1".to_owned(), port: listener.local_addr().unwrap().port() };
            for line_speed in [0, 4800] {
                let near = connect(&address, &Options { line_speed, ..Options::default() }).await.unwrap();
                let far = Tcp::accepted(listener.accept().await.unwrap().0).unwrap();
                for end in [near, far] {
                    assert!(SockRef::from(&end.stream).tcp_nodelay().unwrap());
                }
            }
        })
        .unwrap();
    }

    #[test]
    fn a_line_is_small() {
        assert!(size_of::<Tcp>() <= 72, "{}", size_of::<Tcp>());
    }
}
