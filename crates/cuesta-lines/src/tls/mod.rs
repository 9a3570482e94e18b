//! TLS over another line, the terminal's end, with `rustls`, which only this folder uses.

mod target;
mod trust;

use std::future::poll_fn;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use cuesta_record::{Stamp, clock};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};

pub(crate) use target::TELNETS;
pub use target::TlsSettings;

use crate::{Address, Line, OpenError, Opening, Received};

/// Most sessions that a client may resume; a host gives a few for each connection.
const MOST_SESSIONS: usize = 4;

/// Bytes that one read of the line below takes.
const PIECE: usize = 4096;

/// A line whose bytes are encrypted.
pub(crate) struct Tls<L> {
    line: L,
    connection: Box<Connection>,
    /// Encrypted bytes that the line below has not taken.
    outgoing: Vec<u8>,
    /// When the line below was last read.
    at: Stamp,
    secured: Option<Stamp>,
}

/// One client of a host: its connections may resume one another's sessions.
#[derive(Clone)]
pub(crate) struct TlsClient {
    address: Address,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsClient {
    /// A client of a host, whose certificate is checked against its name in the address.
    pub(crate) fn new(address: &Address, settings: &TlsSettings) -> Result<Self, OpenError> {
        let failed = |cause: String| OpenError::Tls { address: address.to_string(), cause };
        let config = trust::config(settings).map_err(failed)?;
        let host = settings.name.as_ref().unwrap_or(&address.host);
        let name = ServerName::try_from(host.clone()).map_err(|error| failed(error.to_string()))?;
        Ok(Self { address: address.clone(), config, name })
    }

    /// The same client as a browser: it offers HTTP/1.1, and resumes its sessions if `resumes`.
    pub(crate) fn into_browser(self, resumes: bool) -> Self {
        let mut config = (*self.config).clone();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption =
            if resumes { Resumption::in_memory_sessions(MOST_SESSIONS) } else { Resumption::disabled() };
        Self { config: Arc::new(config), ..self }
    }

    /// Shakes hands over a line.
    pub(crate) async fn connect<L: Line>(&self, line: L) -> Result<Tls<L>, OpenError> {
        let failed = |cause: String| OpenError::Tls { address: self.address.to_string(), cause };
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        let connection = Box::new(Connection::from(connection.map_err(|error| failed(error.to_string()))?));
        let mut tls = Tls { line, connection, outgoing: Vec::new(), at: Stamp::ZERO, secured: None };
        poll_fn(|cx| tls.poll_handshake(cx)).await.map_err(|error| failed(describe(&error)))?;
        tls.secured = Some(clock::now());
        Ok(tls)
    }
}

/// What an error of a handshake means, where `rustls` says it in code.
fn describe(error: &io::Error) -> String {
    let text = error.to_string();
    if text.contains("CaUsedAsEndEntity") {
        return "its certificate is an authority's, not a host's (CA:TRUE), and can only be trusted by itself"
            .to_owned();
    }
    text
}

/// A host with a certificate.
#[derive(Debug, Clone)]
pub(crate) struct TlsHost(Arc<ServerConfig>);

impl TlsHost {
    /// A host that shows its `cert=FILE`.
    pub(crate) fn new(settings: &TlsSettings) -> io::Result<Self> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        Ok(Self(Arc::new(trust::host_config(settings).map_err(invalid)?)))
    }

    /// Speaks TLS at a connection; its handshake is part of the first reads and writes.
    pub(crate) fn accept<L: Line>(&self, line: L) -> io::Result<Tls<L>> {
        let connection = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        let connection = Box::new(Connection::from(connection));
        Ok(Tls { line, connection, outgoing: Vec::new(), at: Stamp::ZERO, secured: None })
    }
}

impl<L: Line> Tls<L> {
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
        loop {
            // What TLS itself has to say. An error in sending is reported by receiving, after what the host sent before.
            let _ = self.poll_flush(cx);
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

    fn sent_up_to(&self) -> Option<u64> {
        self.line.sent_up_to().filter(|_| self.outgoing.is_empty())
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut self.line)
    }

    fn opening(&self) -> Opening {
        Opening { secured: self.secured, ..self.line.opening() }
    }
}
