//! The control socket: one agent per network namespace, and what others may ask of it.
//!
//! The socket's name is abstract: the kernel keeps such names apart by network namespace, gives one to one socket only, and frees
//! it when the agent dies. So it is the lock as well. A client sends one row and gets one row.

use std::io::{self, BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::Shutdown;
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use serde_json::{Value, json};

use super::EndpointError;
use super::requests::{Request, Requests};
use super::routing::remove_stale_rules;

const NAME: &[u8] = b"cuesta-tmux";
/// A client that sends nothing for so long is left.
const PATIENCE: Duration = Duration::from_secs(1);
/// An agent that does not answer for so long has a defect; to end takes some `ip` commands.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// The bound socket: no other agent can start here while it lives.
#[derive(Debug)]
pub(crate) struct Lock(UnixListener);

/// The thread that answers clients. Dropping it ends it; then the lock is free.
#[derive(Debug)]
pub(crate) struct Control {
    listener: Weak<UnixListener>,
    thread: Option<JoinHandle<()>>,
}

impl Lock {
    pub(crate) fn take() -> Result<Self, EndpointError> {
        let address =
            SocketAddr::from_abstract_name(NAME).map_err(EndpointError::system("naming the control socket"))?;
        UnixListener::bind_addr(&address).map(Self).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => EndpointError::Running,
            _ => EndpointError::system("binding the control socket")(error),
        })
    }

    /// Begins to answer clients.
    pub(crate) fn serve(self, requests: Requests) -> Result<Control, EndpointError> {
        let listener = Arc::new(self.0);
        let weak = Arc::downgrade(&listener);
        let thread = thread::Builder::new()
            .name("tmux-control".to_owned())
            .spawn(move || serve(listener, &requests))
            .map_err(EndpointError::system("starting a thread"))?;
        Ok(Control { listener: weak, thread: Some(thread) })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.upgrade() {
            let _ = rustix::net::shutdown(&*listener, Shutdown::Both); // ends `accept`
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: Arc<UnixListener>, requests: &Requests) {
    while let Some(client) = next_client(&listener) {
        let Ok(request) = read_request(&client) else { continue };
        let (answer, is_end) = answer(&request, requests);
        if is_end {
            drop(listener); // before the client learns of the end, so that it can start another agent at once
            let _ = reply(&client, &answer);
            return;
        }
        let _ = reply(&client, &answer);
    }
}

/// The next client; none once the listener is shut down. Another error, such as too many open files, is of this client alone.
fn next_client(listener: &UnixListener) -> Option<UnixStream> {
    loop {
        match listener.accept() {
            Ok((client, _)) => return Some(client),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return None,
            Err(_) => {
                let until_shut_down = &mut [PollFd::new(listener, PollFlags::empty())];
                let _ = poll(until_shut_down, Timespec::try_from(PATIENCE).ok().as_ref());
            }
        }
    }
}

/// Refuses whom the other end may not be: neither root nor this user.
fn check_user(stream: &UnixStream) -> io::Result<()> {
    let user = socket_peercred(stream)?.uid;
    if user.is_root() || user == geteuid() { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// The request of a client that may make one: root, or the user whose agent this is.
fn read_request(client: &UnixStream) -> io::Result<String> {
    check_user(client)?;
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut row = String::new();
    BufReader::new(io::Read::take(client, 64)).read_line(&mut row)?;
    Ok(row.trim_end().to_owned())
}

/// The answer, and whether the agent has ended.
fn answer(request: &str, requests: &Requests) -> (Value, bool) {
    let answer = match request {
        "status" => requests.ask(Request::Status),
        "reset" => requests.ask(Request::Reset),
        "down" => return (requests.ask(Request::Stop).unwrap_or_default(), true),
        _ => Ok(json!({ "error": format!("expected status, reset or down, got {request:?}") })),
    };
    (answer.unwrap_or_else(|error| json!({ "error": error.to_string() })), false)
}

fn reply(mut client: &UnixStream, answer: &Value) -> io::Result<()> {
    client.write_all(format!("{answer}\n").as_bytes())
}

/// What the agent of this network namespace does and has counted.
pub fn status_of_running() -> Result<Value, EndpointError> {
    ask_running("status")
}

/// Ends the agent of this network namespace; returns its last status. If there is only what a killed one has left behind, this is
/// removed, and the status is null.
pub fn stop_running() -> Result<Value, EndpointError> {
    match ask_running("down") {
        Err(EndpointError::NotRunning) => {
            let _lock = Lock::take()?; // the rules are not those of an agent that starts now
            if remove_stale_rules()? { Ok(Value::Null) } else { Err(EndpointError::NotRunning) }
        }
        other => other,
    }
}

fn ask_running(request: &str) -> Result<Value, EndpointError> {
    let connected = SocketAddr::from_abstract_name(NAME).and_then(|address| UnixStream::connect_addr(&address));
    let mut stream = connected.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => EndpointError::NotRunning,
        _ => EndpointError::NoAnswer(error),
    })?;
    let mut row = String::new();
    check_user(&stream) // any user can have taken the name
        .and_then(|()| stream.set_read_timeout(Some(ANSWER_TIME)))
        .and_then(|()| stream.write_all(format!("{request}\n").as_bytes()))
        .and_then(|()| BufReader::new(&stream).read_line(&mut row))
        .map_err(EndpointError::NoAnswer)?;
    if row.is_empty() {
        return Err(EndpointError::NoAnswer(io::ErrorKind::PermissionDenied.into()));
    }
    Ok(serde_json::from_str(&row)?)
}
