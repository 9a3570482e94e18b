//! The host's end: a socket that accepts lines.

use std::cell::OnceCell;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};

use ipnet::IpNet;
use socket2::{Domain, Protocol, Socket, Type};

use crate::tcp::Tcp;
use crate::tls::TlsHost;
use crate::web::WebHostLine;
use crate::wire::bisync::Role;
use crate::{Address, Bisync, BisyncTarget, Line, Target, Telnet, TelnetTarget, Tn3270, Tn3270Target, WebTarget};

/// The backlog of the socket: thousands of users may connect at once.
const BACKLOG: i32 = 4096;

/// A listening address.
#[derive(Debug)]
pub struct Listener {
    target: Target,
    socket: TcpListener,
    /// What it shows, if it speaks TLS.
    tls: Option<TlsHost>,
    /// The networks that lines may come from; empty = any.
    allowed: Vec<IpNet>,
    /// The socket, on the event queue of the thread that accepts.
    registered: OnceCell<tokio::net::TcpListener>,
}

impl Listener {
    /// Listens at `target`; port 0 takes any free port. Needs no runtime.
    pub fn bind(target: &Target) -> io::Result<Self> {
        let mut target = target.clone();
        let (Target::Tcp(address)
        | Target::Telnet(TelnetTarget { address, tls: None, .. })
        | Target::Tn3270(Tn3270Target { address, tls: None, .. })
        | Target::Bisync(BisyncTarget { address, .. })
        | Target::Web(WebTarget { address, .. })) = &mut target
        else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "nothing can listen at {target}: expected tcp://, telnet://, tn3270://, bsc:// or a web terminal's, with \
                     HOST:PORT"
                ),
            ));
        };
        let socket = listen(address).map_err(|cause| not_bound(address, &cause))?;
        address.port = socket.local_addr()?.port();
        let tls = match &target {
            Target::Web(WebTarget { tls: Some(settings), .. }) => Some(TlsHost::new(settings)?),
            _ => None,
        };
        Ok(Self { target, socket, tls, allowed: Vec::new(), registered: OnceCell::new() })
    }

    /// Accepts lines only from these networks; an empty list allows all.
    #[must_use]
    pub fn allow(self, allowed: Vec<IpNet>) -> Self {
        Self { allowed, ..self }
    }

    /// Whether only this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        self.socket.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback())
    }

    /// The address at which it listens, with the actual port, as the terminal's end opens it: a bisync station there has the other role, and
    /// a browser trusts the certificate.
    pub fn target(&self) -> Target {
        let mut target = self.target.clone();
        match &mut target {
            Target::Bisync(BisyncTarget { role, .. }) => *role = role.map(Role::other),
            Target::Web(WebTarget { tls: Some(settings), .. }) => {
                (settings.certificate, settings.own_key) = (settings.own_certificate.take(), None);
            }
            _ => {}
        }
        target
    }

    /// The same socket for another thread.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            target: self.target.clone(),
            socket: self.socket.try_clone()?,
            tls: self.tls.clone(),
            allowed: self.allowed.clone(),
            registered: OnceCell::new(),
        })
    }

    /// Waits for the next line: the host's end of it. Only under [`cuesta_record::clock::run`], always on one thread.
    ///
    /// # Errors
    /// When the process or the machine has no descriptor or memory left, the peer hung up at once
    /// ([`io::ErrorKind::ConnectionAborted`]), or its address is not allowed ([`io::ErrorKind::PermissionDenied`]; its line is
    /// closed). Call again for later lines; wait a while first where descriptors or memory are short.
    pub async fn accept(&self) -> io::Result<Box<dyn Line>> {
        if self.registered.get().is_none() {
            let listener = tokio::net::TcpListener::from_std(self.socket.try_clone()?)?;
            self.registered.get_or_init(|| listener);
        }
        let listener = self.registered.get().expect("was just set");
        let (stream, from) = listener.accept().await?;
        if !self.is_allowed(from.ip()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{from} is not allowed")));
        }
        let line = Tcp::accepted(stream)?;
        Ok(match &self.target {
            Target::Telnet(_) => Box::new(Telnet::host(line)),
            Target::Bisync(target) => Box::new(Bisync::new(line, target, Role::Secondary, 0)),
            Target::Tn3270(_) => Box::new(Tn3270::host(line)),
            Target::Web(target) => {
                let line: Box<dyn Line> = match &self.tls {
                    Some(tls) => Box::new(tls.accept(line)?),
                    None => Box::new(line),
                };
                Box::new(WebHostLine::new(line, (target.kind.host)()))
            }
            _ => Box::new(line),
        })
    }

    fn is_allowed(&self, from: IpAddr) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|network| network.contains(&from.to_canonical()))
    }
}

fn listen(address: &Address) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for socket_address in (address.host.as_str(), address.port).to_socket_addrs()? {
        match listen_at(socket_address) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn not_bound(address: &Address, cause: &io::Error) -> io::Error {
    let remedy = match cause.kind() {
        io::ErrorKind::AddrInUse => "another program listens there: stop it, or take port 0 for any that is free",
        io::ErrorKind::PermissionDenied => "ports below 1024 need privilege: take a higher one",
        io::ErrorKind::AddrNotAvailable => "this machine has no such address",
        _ => "check the address",
    };
    io::Error::new(cause.kind(), format!("cannot listen at {address} ({cause}): {remedy}"))
}
