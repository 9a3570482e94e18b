//! A line of the smallest possible host over a WebSocket, with or without TLS: it echoes.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustix::net::{RecvFlags, SendFlags};
use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use crate::websocket::Host;

#[derive(Debug, Default)]
pub(crate) struct WebLine {
    tls: Option<Box<ServerConnection>>,
    host: Host,
}

impl WebLine {
    pub(crate) fn new(tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        let tls = tls.map(|config| ServerConnection::new(Arc::clone(config)).map(Box::new)).transpose();
        Ok(Self { tls: tls.map_err(io::Error::other)?, host: Host::default() })
    }

    /// Reads the connection once, and answers.
    ///
    /// # Errors
    /// When the driver has hung up.
    pub(crate) fn answer(&mut self, stream: &TcpStream, buffer: &mut [u8]) -> io::Result<()> {
        let mut out = Vec::new();
        let Some(tls) = &mut self.tls else {
            let (len, _) = rustix::net::recv(stream, &mut *buffer, RecvFlags::empty())?;
            self.host.take(&mut buffer[..has_come(len)?], &mut out);
            rustix::net::send(stream, &out, SendFlags::NOSIGNAL)?;
            return Ok(());
        };
        has_come(tls.read_tls(&mut &*stream)?)?;
        tls.process_new_packets().map_err(io::Error::other)?;
        // The bytes of a handshake hold no character.
        let len = tls.reader().read(buffer).unwrap_or_default();
        self.host.is_resumed = tls.handshake_kind() == Some(HandshakeKind::Resumed);
        self.host.take(&mut buffer[..len], &mut out);
        tls.writer().write_all(&out)?;
        while tls.wants_write() {
            tls.write_tls(&mut &*stream)?;
        }
        Ok(())
    }
}

fn has_come(len: usize) -> io::Result<usize> {
    if len == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(len) }
}
