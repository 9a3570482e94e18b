//! TLS over another line, the terminal's end, with `rustls`, which only this folder uses.

mod target;
mod trust;

use std::future::poll_fn;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use cuesta_record::{Stamp, clock};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

pub(crate) use target::TELNETS;
pub use target::TlsSettings;

use crate::{Address, Line, OpenError, Opening, Received};

/// Bytes that one read of the line below takes.
const PIECE: usize = 4096;

/// A line whose bytes are encrypted.
pub(crate) struct Tls<L> {
    line: L,
    connection: Box<ClientConnection>,
    /// Encrypted bytes that the line below has not taken.
    outgoing: Vec<u8>,
    /// When the line below was last read.
    at: Stamp,
    negotiated: Option<Stamp>,
}

impl<L: Line> Tls<L> {
    /// Shakes hands with a host, and checks its certificate against its name in the address.
    pub(crate) async fn connect(line: L, address: &Address, settings: &TlsSettings) -> Result<Self, OpenError> {
        let failed = |cause: String| OpenError::Tls { address: address.to_string(), cause };
        let config = trust::config(settings).map_err(failed)?;
        let mut tls = Self::new(line, config, &address.host).map_err(failed)?;
        poll_fn(|cx| tls.poll_handshake(cx)).await.map_err(|error| failed(error.to_string()))?;
        tls.negotiated = Some(clock::now());
        Ok(tls)
    }

    fn new(line: L, config: ClientConfig, host: &str) -> Result<Self, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let connection = ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())?;
        Ok(Self { line, connection: Box::new(connection), outgoing: Vec::new(), at: Stamp::ZERO, negotiated: None })
    }

    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_flush(cx))?;
            if !self.connection.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            if ready!(self.poll_read(cx))? == 0 {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the host closed the connection",
                )));
            }
        }
    }

    /// Sends what is encrypted.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.outgoing)?;
        }
        while !self.outgoing.is_empty() {
            let len = ready!(self.line.poll_send(cx, &self.outgoing))?;
            self.outgoing.drain(..len);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads the line below and decrypts; returns the number of encrypted bytes, 0 = its end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut piece = [0; PIECE];
        let received = ready!(self.line.poll_receive(cx, &mut piece))?;
        self.at = received.at;
        let mut rest = &piece[..received.len];
        while !rest.is_empty() {
            self.connection.read_tls(&mut rest)?;
            if let Err(error) = self.connection.process_new_packets() {
                // The alert that tells the host why.
                let _ = self.poll_flush(cx);
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
            }
        }
        Poll::Ready(Ok(received.len))
    }
}

impl<L: Line> Line for Tls<L> {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        // An error in sending is reported by receiving, after what the host sent before.
        let _ = self.poll_flush(cx);
        loop {
            let len = match self.connection.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => match ready!(self.poll_read(cx))? {
                    // Many hosts close without saying so in TLS.
                    0 => 0,
                    _ => continue,
                },
                read => read?,
            };
            return Poll::Ready(Ok(Received { len, at: self.at, ..Received::default() }));
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx))?;
        let len = self.connection.writer().write(bytes)?;
        // What the line below does not take now goes with the next read or write.
        if let Poll::Ready(Err(error)) = self.poll_flush(cx) {
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(len))
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }

    fn opening(&self) -> Opening {
        Opening { negotiated: self.negotiated, ..self.line.opening() }
    }
}
