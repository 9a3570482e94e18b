//! The smallest possible host, so that it does not limit the measurement.

use std::error::Error;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::thread;

use cuesta_host::{Host, Service, Spec};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, sockopt};
use rustls::ServerConfig;

use crate::certificate::{self, Files};
use crate::job::{ANSWER, Framing, HostJob, Work};
use crate::web_server::WebLine;
use crate::{process, ssh_server};

/// `WILL ECHO`, `WILL SGA`, `DO NAWS` (RFC 854, 857, 858, 1073).
const OFFERS: &[u8] = &[255, 251, 1, 255, 251, 3, 255, 253, 31];
/// Every telnet command begins with it.
const IAC: u8 = 255;
/// Length of the terminal's answer: `DO ECHO`, `DO SGA`, `WILL NAWS`, and its window.
const ACCEPTANCE: usize = 18;
/// Lines that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// Serves until it is killed; prints its address first.
pub(crate) fn serve(job: &str) -> Result<(), Box<dyn Error>> {
    let job: HostJob = serde_json::from_str(job)?;
    process::pin(job.cpu)?;
    if job.built_in || job.relays.is_some() {
        return built_in(job);
    }
    if job.framing == Framing::Ssh {
        return ssh_server::serve();
    }
    let tls = if job.framing.is_tls() { Some(certificate::host_config()?) } else { None };
    let listener = listen(&job)?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    Server { job, tls, epoll: epoll::create(CreateFlags::CLOEXEC)?, lines: Vec::new() }.run(&listener)
}

fn listen(job: &HostJob) -> io::Result<TcpListener> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    if job.shared_port.is_some() {
        // Of the listeners at one port the kernel takes the one of the CPU that receives the connection: on loopback, the driver's.
        sockopt::set_socket_reuseport(&socket, true)?;
        sockopt::set_socket_incoming_cpu(&socket, job.cpu as u32)?;
    }
    rustix::net::bind(&socket, &SocketAddr::from((job.address, job.shared_port.unwrap_or(0))))?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// Runs the built-in host instead.
fn built_in(job: HostJob) -> Result<(), Box<dyn Error>> {
    let (scheme, settings) = match job.framing {
        Framing::Tcp => ("tcp", String::new()),
        Framing::Ws => ("ws", String::new()),
        Framing::Wss => {
            let Files { certificate, key, .. } = Files::find()?;
            ("wss", format!("#cert={}&key={}", certificate.display(), key.display()))
        }
        _ => ("telnet", String::new()),
    };
    let service = match job.work {
        _ if job.relays.is_some() => Service::Socket { command: "exec cat".to_owned() },
        Work::Typists | Work::Screens => Service::Echo {},
        Work::Closed | Work::Echoed => Service::Transaction { reply: ANSWER as u64 },
    };
    let listen = vec![format!("{scheme}://{}:0{settings}", job.address)];
    let delay = (!job.delay.is_zero()).then(|| format!("{}us", job.delay.as_micros()));
    let (path, cpus) = (job.relays.unwrap_or_default(), Some(vec![job.cpu]));
    // Beyond loopback, programs are served only to named networks: the wire's, of two addresses.
    let allow = vec![format!("{}/30", job.address)];
    let host = Host::start(&Spec { listen, allow, service, path, delay, cpus, ..Spec::default() })?;
    if let Some(note) = host.notes().iter().find(|note| note.contains("in-kernel")) {
        return Err(note.clone().into());
    }
    for address in host.addresses() {
        let address = address.trim_start_matches(scheme).trim_start_matches("://");
        writeln!(io::stdout(), "{}", address.split(['/', '#']).next().unwrap_or_default())?;
    }
    loop {
        thread::park();
    }
}

struct Server {
    job: HostJob,
    /// What lines over TLS are shown.
    tls: Option<Arc<ServerConfig>>,
    epoll: OwnedFd,
    /// By descriptor.
    lines: Vec<Option<Line>>,
}

struct Line {
    stream: TcpStream,
    /// Bytes of the answer to our offers that are still to come.
    negotiation: usize,
    /// A line over a WebSocket.
    web: Option<WebLine>,
}

impl Line {
    /// Removes the answer to our offers, which arrives in one piece between characters, and returns the remaining length.
    fn without_negotiation(&mut self, received: &mut [u8]) -> usize {
        let Some(begin) = received.iter().position(|byte| *byte == IAC || (1..ACCEPTANCE).contains(&self.negotiation))
        else {
            return received.len();
        };
        let skipped = self.negotiation.min(received.len() - begin);
        self.negotiation -= skipped;
        received.copy_within(begin + skipped.., begin);
        received.len() - skipped
    }
}

impl Server {
    fn run(mut self, listener: &TcpListener) -> Result<(), Box<dyn Error>> {
        epoll::add(&self.epoll, listener, EventData::new_u64(u64::MAX), EventFlags::IN)?;
        let mut events = [MaybeUninit::<Event>::uninit(); 256];
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let events = match epoll::wait(&self.epoll, &mut events, None) {
                Ok((events, _)) => events,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            for event in events {
                match event.data.u64() {
                    u64::MAX => self.accept(listener)?,
                    number => self.answer(number as usize, &mut buffer),
                }
            }
        }
    }

    fn accept(&mut self, listener: &TcpListener) -> io::Result<()> {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut negotiation = 0;
        if self.job.framing == Framing::Negotiated {
            (&stream).write_all(OFFERS)?;
            negotiation = ACCEPTANCE;
        }
        let number = stream.as_raw_fd() as usize;
        epoll::add(&self.epoll, &stream, EventData::new_u64(number as u64), EventFlags::IN)?;
        if self.lines.len() <= number {
            self.lines.resize_with(number + 1, || None);
        }
        let web = if self.job.framing.is_web() { Some(WebLine::new(self.tls.as_ref())?) } else { None };
        self.lines[number] = Some(Line { stream, negotiation, web });
        Ok(())
    }

    fn answer(&mut self, number: usize, buffer: &mut [u8]) {
        let Some(line) = &mut self.lines[number] else { return };
        if let Some(web) = &mut line.web {
            if web.answer(&line.stream, buffer).is_err() {
                self.lines[number] = None;
            }
            return;
        }
        let Ok((len @ 1.., _)) = rustix::net::recv(&line.stream, &mut *buffer, RecvFlags::empty()) else {
            self.lines[number] = None;
            return;
        };
        let len = line.without_negotiation(&mut buffer[..len]);
        let received = &buffer[..len];
        // A driver that hung up shows at the next read.
        match self.job.work {
            Work::Typists | Work::Screens if received.is_empty() => {}
            Work::Typists | Work::Screens => _ = rustix::net::send(&line.stream, received, SendFlags::NOSIGNAL),
            // It neither prompts nor echoes: that is for the built-in host.
            Work::Closed | Work::Echoed => {
                for _ in received.iter().filter(|byte| **byte == b'\r') {
                    let _ = rustix::net::send(&line.stream, &[b'.'; ANSWER], SendFlags::NOSIGNAL);
                }
            }
        }
    }
}
