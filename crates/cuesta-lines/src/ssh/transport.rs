//! The transport of an ssh connection: TCP, a channel of a jump host, or a command.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use cuesta_record::{Stamp, clock};
use russh::ChannelStream;
use russh::client::Msg;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

use super::connect::SshSession;
use crate::program::ProxyCommand;
use crate::tcp::Tcp;
use crate::{Line as _, LineMark, Opening, Traffic};

/// A transport. Bytes are stamped when they are read.
pub(super) enum Transport {
    Tcp(Tcp),
    JumpChannel(Box<JumpChannel>),
    Command(Box<ProxyCommand>),
}

/// A channel of a jump host, which ends with the login there.
pub(super) struct JumpChannel {
    stream: ChannelStream<Msg>,
    opened: Stamp,
    traffic: Traffic,
    /// Last: it ends the jump host's connection after everything else is dropped.
    _session: SshSession,
}

impl JumpChannel {
    pub(super) fn new(stream: ChannelStream<Msg>, session: SshSession) -> Self {
        Self { stream, opened: clock::now(), traffic: Traffic::default(), _session: session }
    }
}

impl Transport {
    pub(super) fn opening(&self) -> Opening {
        match self {
            Self::Tcp(tcp) => tcp.opening(),
            Self::JumpChannel(hop) => Opening { connected: Some(hop.opened), ..Opening::default() },
            Self::Command(command) => command.opening(),
        }
    }

    /// How a tracer at the host knows the connection.
    pub(super) fn mark(&self) -> Option<LineMark> {
        match self {
            Self::Tcp(tcp) => tcp.mark(),
            Self::JumpChannel(_) | Self::Command(_) => None,
        }
    }

    /// A duplicate of the socket of a connection that is followed.
    pub(super) fn probe(&self) -> Option<OwnedFd> {
        match self {
            Self::Tcp(tcp) => tcp.probe_socket()?.0.try_clone_to_owned().ok(),
            Self::JumpChannel(_) | Self::Command(_) => None,
        }
    }

    pub(super) fn traffic(&self) -> Traffic {
        match self {
            Self::Tcp(tcp) => tcp.traffic(),
            Self::JumpChannel(hop) => hop.traffic,
            Self::Command(command) => command.traffic(),
        }
    }

    /// Reads. Returns the length and the instant.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<(usize, Stamp)>> {
        match self {
            Self::Tcp(tcp) => tcp.poll_receive(cx, into).map_ok(|received| (received.len, received.at)),
            Self::Command(command) => command.poll_receive(cx, into).map_ok(|received| (received.len, received.at)),
            Self::JumpChannel(hop) => {
                let mut buffer = ReadBuf::new(into);
                ready!(Pin::new(&mut hop.stream).poll_read(cx, &mut buffer))?;
                let len = buffer.filled().len();
                hop.traffic.received += len as u64;
                Poll::Ready(Ok((len, clock::now())))
            }
        }
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(tcp) => tcp.poll_send(cx, bytes),
            Self::Command(command) => command.poll_send(cx, bytes),
            Self::JumpChannel(hop) => {
                let len = ready!(Pin::new(&mut hop.stream).poll_write(cx, bytes))?;
                hop.traffic.sent += len as u64;
                Poll::Ready(Ok(len))
            }
        }
    }

    /// The last error message of a command.
    pub(super) fn last_error_row(&mut self) -> Option<String> {
        match self {
            Self::Command(command) => Some(command.last_error_row()).filter(|text| !text.is_empty()),
            Self::Tcp(_) | Self::JumpChannel(_) => None,
        }
    }
}
