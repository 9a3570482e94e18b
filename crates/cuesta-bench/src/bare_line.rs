//! A line of the bare loop: bare characters, or a WebSocket that is framed here, over TLS by `rustls` alone.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::net::{RecvFlags, SendFlags};
use rustls::{ClientConfig, ClientConnection};

use crate::certificate;
use crate::job::Framing;
use crate::websocket::{self, Terminal};

pub(crate) struct BareLine {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    web: Option<Terminal>,
}

/// Opens the lines of one kind, one after another.
pub(crate) struct Opener {
    framing: Framing,
    tls: Option<Arc<ClientConfig>>,
}

impl Opener {
    pub(crate) fn new(framing: Framing) -> Result<Self, Box<dyn Error>> {
        let tls = if framing.is_tls() { Some(Arc::new(certificate::client_config()?)) } else { None };
        Ok(Self { framing, tls })
    }

    pub(crate) fn open(&self, address: &str, number: u32) -> Result<BareLine, Box<dyn Error>> {
        let line = match self.framing {
            Framing::Ws | Framing::Wss => open_websocket(address, number, self.tls.as_ref())?,
            Framing::TtydWss => self.open_ttyd(address, number)?,
            _ => connect(address, None)?,
        };
        line.stream.set_nonblocking(true)?;
        Ok(line)
    }

    /// Asks for a token, and opens a WebSocket whose TLS session is that of the first request.
    fn open_ttyd(&self, address: &str, number: u32) -> Result<BareLine, Box<dyn Error>> {
        let tls = self.tls.as_deref().map(|config| Arc::new(certificate::resuming(config.clone())));
        let mut page = connect(address, tls.as_ref())?;
        page.ask(&websocket::token_request(address), "HTTP/1.1 200 ", "}")?;
        let mut line = connect(address, tls.as_ref())?;
        line.ask(&websocket::open_request(address, true), "HTTP/1.1 101 ", "\r\n\r\n")?;
        line.web = Some(Terminal::new(number));
        line.send(websocket::FIRST, &mut [0; 64])?;
        let mut room = [0; 64];
        while line.receive(&mut room)? == 0 {}
        Ok(line)
    }
}

fn open_websocket(address: &str, number: u32, tls: Option<&Arc<ClientConfig>>) -> Result<BareLine, Box<dyn Error>> {
    let mut line = connect(address, tls)?;
    line.ask(&websocket::open_request(address, false), "HTTP/1.1 101 ", "\r\n\r\n")?;
    Ok(BareLine { web: Some(Terminal::new(number)), ..line })
}

fn connect(address: &str, tls: Option<&Arc<ClientConfig>>) -> Result<BareLine, Box<dyn Error>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let Some(config) = tls else { return Ok(BareLine { stream, tls: None, web: None }) };
    let ip: IpAddr = address.parse::<SocketAddr>()?.ip();
    let mut tls = Box::new(ClientConnection::new(Arc::clone(config), ip.into())?);
    while tls.is_handshaking() {
        tls.complete_io(&mut stream)?;
    }
    Ok(BareLine { stream, tls: Some(tls), web: None })
}

impl AsFd for BareLine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl BareLine {
    /// Sends characters. `room`: where a frame of them is made.
    pub(crate) fn send(&mut self, characters: &[u8], room: &mut [u8]) -> io::Result<()> {
        match &mut self.web {
            Some(terminal) => {
                let frame = terminal.frame(characters, room);
                self.write(frame)
            }
            None => self.write(characters),
        }
    }

    /// Reads once, and returns the number of characters that came.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.read(buffer)?;
        Ok(if self.web.is_some() { websocket::count_characters(&buffer[..len]) } else { len })
    }

    /// Sends a request, and reads an answer with this beginning and end.
    fn ask(&mut self, request: &str, begin: &str, end: &str) -> Result<(), Box<dyn Error>> {
        self.write(request.as_bytes())?;
        let (mut answer, mut len) = ([0; 1024], 0);
        while !answer[..len].ends_with(end.as_bytes()) {
            len += self.read(&mut answer[len..])?;
        }
        if answer.starts_with(begin.as_bytes()) {
            return Ok(());
        }
        Err(format!("a host answers {:?}", String::from_utf8_lossy(&answer[..len])).into())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.tls {
            None => _ = rustix::net::send(&self.stream, bytes, SendFlags::NOSIGNAL)?,
            Some(tls) => {
                tls.writer().write_all(bytes)?;
                tls.write_tls(&mut &self.stream)?;
            }
        }
        Ok(())
    }

    /// Reads the connection once. Over TLS the bytes may hold no character.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let hung_up = || Err(io::ErrorKind::UnexpectedEof.into());
        let Some(tls) = &mut self.tls else {
            let (len, _) = rustix::net::recv(&self.stream, buffer, RecvFlags::empty())?;
            return if len == 0 { hung_up() } else { Ok(len) };
        };
        if tls.read_tls(&mut &self.stream)? == 0 {
            return hung_up();
        }
        tls.process_new_packets().map_err(io::Error::other)?;
        match tls.reader().read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            read => read,
        }
    }
}
