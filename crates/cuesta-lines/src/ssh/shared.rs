//! State shared by the two tasks of an ssh line: the protocol's, which reads and decrypts, and the user's.
//!
//! Both run on the same thread, so the lock is never contended; it is there because `russh` requires `Send`.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use cuesta_record::Stamp;

use crate::{ExitStatus, LoginParts, Opening, Received, SshError, Traffic};

/// Bytes of a host's first output, and of what it sent last before the key exchange, that are kept for the error message.
const MOST_OUTPUT: usize = 160;
/// Capacity that an empty inbox keeps.
const SPARE: usize = 512;

#[derive(Debug)]
pub(super) struct Shared(Mutex<SharedState>);

#[derive(Debug)]
pub(super) struct SharedState {
    /// Received characters that were not taken yet.
    bytes: VecDeque<u8>,
    /// The instants at which they were received, each with a number of characters.
    pieces: VecDeque<(Stamp, usize)>,
    /// While this many characters wait, the connection is not read.
    most: usize,
    /// When the connection was last read.
    pub(super) at: Stamp,
    pub(super) traffic: Traffic,
    /// How many bytes were written with the last keys of a line that is followed; `None` while these wait for the protocol's task.
    pub(super) key_written: Option<u64>,
    /// The host's first bytes.
    first_output: Vec<u8>,
    /// Its last bytes before the key exchange.
    last_output: Vec<u8>,
    /// The host has sent its version.
    pub(super) speaks_ssh: bool,
    /// The phases of the opening that have ended.
    pub(super) opening: Opening,
    /// The parts of the login that have ended.
    pub(super) login: LoginParts,
    /// Why the host's key is not trusted.
    pub(super) distrust: Option<SshError>,
    /// The last error message of the `ProxyCommand`.
    pub(super) command_error: Option<String>,
    end: Option<LineEnd>,
    /// How the program there ended, once the host has said so.
    exit: Option<ExitStatus>,
    /// The channel is closed: the host will not say so any more.
    is_channel_closed: bool,
    /// Wakes the user's task, which waits for characters.
    user: Option<Waker>,
    /// Wakes the protocol's task, which waits for the connection or for room.
    reader: Option<Waker>,
    shutdown: Shutdown,
}

#[derive(Debug, Clone)]
pub(super) enum LineEnd {
    /// The host closed the channel, as it does when the program ends.
    Closed,
    Broken(io::ErrorKind, String),
}

/// Whether the user has closed the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shutdown {
    None,
    /// The protocol's task may still send its last messages.
    Requested,
    /// They were sent.
    Flushed,
}

/// Whether the connection may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadPermission {
    Yes,
    NoRoom,
    Over,
}

impl Shared {
    pub(super) fn new(most: usize) -> Self {
        Self(Mutex::new(SharedState {
            bytes: VecDeque::new(),
            pieces: VecDeque::new(),
            most,
            at: Stamp::ZERO,
            traffic: Traffic::default(),
            key_written: Some(0),
            first_output: Vec::new(),
            last_output: Vec::new(),
            speaks_ssh: false,
            opening: Opening::default(),
            login: LoginParts::default(),
            distrust: None,
            command_error: None,
            end: None,
            exit: None,
            is_channel_closed: false,
            user: None,
            reader: None,
            shutdown: Shutdown::None,
        }))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, SharedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has ended of the opening.
    pub(super) fn progress(&self) -> (Opening, LoginParts) {
        let state = self.state();
        (state.opening, state.login)
    }

    /// Ends the line; the first reason counts.
    pub(super) fn end(&self, end: LineEnd) {
        let mut state = self.state();
        state.end.get_or_insert(end);
        let user = state.user.take();
        drop(state);
        user.inspect(Waker::wake_by_ref);
    }

    /// The program there has ended.
    pub(super) fn note_exit(&self, exit: ExitStatus) {
        let mut state = self.state();
        state.exit = Some(exit);
        state.user.take().inspect(Waker::wake_by_ref);
    }

    /// The channel is closed: nothing more comes, not even how the program ended.
    pub(super) fn note_channel_closed(&self) {
        let mut state = self.state();
        state.is_channel_closed = true;
        state.user.take().inspect(Waker::wake_by_ref);
    }

    /// How the program there ended, once that is known, or will never be.
    pub(super) fn poll_exit(&self, cx: &Context<'_>) -> Poll<Option<ExitStatus>> {
        let mut state = self.state();
        if state.exit.is_some() || state.is_channel_closed {
            return Poll::Ready(state.exit);
        }
        keep_waker(&mut state.user, cx);
        Poll::Pending
    }

    /// Adds decrypted characters, stamped with the last read.
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut state = self.state();
        let at = state.at;
        state.bytes.extend(bytes);
        match state.pieces.back_mut() {
            Some((stamp, len)) if *stamp == at => *len += bytes.len(),
            _ => state.pieces.push_back((at, bytes.len())),
        }
        let user = state.user.take();
        drop(state);
        user.inspect(Waker::wake_by_ref);
    }

    /// Takes the next characters of one instant.
    pub(super) fn poll_take(&self, cx: &Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        let mut state = self.state();
        let Some((at, len)) = state.pieces.front().copied() else { return state.poll_end(cx) };
        let len = len.min(into.len());
        for (to, byte) in into.iter_mut().zip(state.bytes.drain(..len)) {
            *to = byte;
        }
        match &mut state.pieces[0] {
            (_, left) if *left > len => *left -= len,
            _ => drop(state.pieces.pop_front()),
        }
        if state.bytes.is_empty() && state.bytes.capacity() > SPARE {
            state.bytes = VecDeque::new();
        }
        let reader = if state.bytes.len() < state.most { state.reader.take() } else { None };
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        Poll::Ready(Ok(Received { len, at, ..Received::default() }))
    }

    /// Closes the line: the protocol's task ends as soon as it has sent its last messages, whatever the host does.
    pub(super) fn shut_down(&self) {
        let mut state = self.state();
        state.shutdown = Shutdown::Requested;
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
    }

    pub(super) fn is_shutting_down(&self) -> bool {
        self.state().shutdown != Shutdown::None
    }

    /// The error that broke the line, if one did.
    pub(super) fn broken(&self) -> Option<io::Error> {
        match &self.state().end {
            Some(LineEnd::Broken(kind, why)) => Some(io::Error::new(*kind, why.clone())),
            _ => None,
        }
    }

    /// The host's first bytes as one printable row.
    pub(super) fn first_output(&self) -> String {
        let state = self.state();
        let text = String::from_utf8_lossy(&state.first_output);
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    }

    /// Whether the last that the host sent before the key exchange is a text.
    pub(super) fn last_output_has(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.state().last_output).contains(text)
    }
}

impl SharedState {
    fn poll_end(&mut self, cx: &Context<'_>) -> Poll<io::Result<Received>> {
        match &self.end {
            Some(LineEnd::Closed) => Poll::Ready(Ok(Received { at: self.at, ..Received::default() })),
            Some(LineEnd::Broken(kind, why)) => Poll::Ready(Err(io::Error::new(*kind, why.clone()))),
            None => {
                keep_waker(&mut self.user, cx);
                Poll::Pending
            }
        }
    }

    /// Whether the connection may be read now; the caller is woken when that changes.
    pub(super) fn read_permission(&mut self, cx: &Context<'_>) -> ReadPermission {
        keep_waker(&mut self.reader, cx);
        match self.shutdown {
            Shutdown::None if self.bytes.len() < self.most => ReadPermission::Yes,
            Shutdown::None => ReadPermission::NoRoom,
            Shutdown::Requested => {
                // Polled once more, so that messages in the queue are sent first.
                self.shutdown = Shutdown::Flushed;
                cx.waker().wake_by_ref();
                ReadPermission::NoRoom
            }
            Shutdown::Flushed => ReadPermission::Over,
        }
    }

    /// The connection was read.
    pub(super) fn note_read(&mut self, at: Stamp, bytes: &[u8], traffic: Traffic) {
        self.at = at;
        self.traffic = traffic;
        if self.opening.negotiated.is_none() {
            let len = bytes.len().min(MOST_OUTPUT - self.first_output.len());
            self.first_output.extend(&bytes[..len]);
            self.last_output.extend(&bytes[bytes.len().saturating_sub(MOST_OUTPUT)..]);
            self.last_output.drain(..self.last_output.len().saturating_sub(MOST_OUTPUT));
        }
    }

    /// The key exchange ended: the host speaks ssh.
    pub(super) fn note_key_exchange(&mut self, at: Stamp) {
        if self.opening.logged_in.is_none() {
            self.opening.negotiated = Some(at);
        }
        (self.first_output, self.last_output) = (Vec::new(), Vec::new());
    }
}

fn keep_waker(slot: &mut Option<Waker>, cx: &Context<'_>) {
    if !slot.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
        *slot = Some(cx.waker().clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn taken(shared: &Shared, room: usize) -> Option<(Stamp, Vec<u8>)> {
        let mut into = vec![0; room];
        match shared.poll_take(&Context::from_waker(Waker::noop()), &mut into) {
            Poll::Ready(received) => {
                let received = received.unwrap();
                Some((received.at, into[..received.len].to_vec()))
            }
            Poll::Pending => None,
        }
    }

    #[test]
    fn characters_keep_the_instant_of_their_own_piece() {
        let shared = Shared::new(100);
        let [one, two] = [1, 2].map(|seconds| Stamp::ZERO + Duration::from_secs(seconds));
        shared.state().note_read(one, b"?", Traffic::default());
        shared.push(b"ab");
        shared.push(b"c");
        shared.state().note_read(two, b"?", Traffic::default());
        shared.push(b"d");
        assert_eq!(taken(&shared, 2), Some((one, b"ab".to_vec())));
        assert_eq!(taken(&shared, 9), Some((one, b"c".to_vec())));
        shared.end(LineEnd::Closed);
        assert_eq!(taken(&shared, 9), Some((two, b"d".to_vec())));
        assert_eq!(taken(&shared, 9), Some((two, Vec::new())));
    }

    #[test]
    fn the_inbox_stops_reading_when_the_user_does_not_take() {
        let shared = Shared::new(3);
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(shared.state().read_permission(&cx), ReadPermission::Yes);
        shared.push(b"abc");
        assert_eq!(shared.state().read_permission(&cx), ReadPermission::NoRoom);
        taken(&shared, 1);
        assert_eq!(shared.state().read_permission(&cx), ReadPermission::Yes);
        shared.shut_down();
        assert_eq!(shared.state().read_permission(&cx), ReadPermission::NoRoom);
        assert_eq!(shared.state().read_permission(&cx), ReadPermission::Over);
    }
}
