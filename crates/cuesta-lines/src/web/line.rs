//! The terminal's end of an open session.

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_record::clock::{self, Sleep};

use super::error::Break;
use super::frames::{End, Frames};
use super::removal::RemovalAtDrop;
use crate::wire::web::{Messages, WebTerminal};
use crate::wire::websocket::{Receiver, Sender};
use crate::{ExitStatus, Line, LineTerminal, Opening, Received, StampPair};

/// How long a host may leave pings unanswered.
const PONG_TIMEOUT: Duration = Duration::from_secs(60);

/// What a browser says that leaves a page (RFC 6455 §7.4.1).
const GOING_AWAY: u16 = 1001;

/// A session at a web terminal.
pub(crate) struct WebLine {
    frames: Frames<dyn WebTerminal>,
    pings: Option<Box<Pings>>,
    pub(super) opening: Opening,
    window: (u16, u16),
    /// Last, so that the connection is closed first.
    pub(super) removal: RemovalAtDrop,
}

/// The pings of this end.
struct Pings {
    interval: Duration,
    next: Sleep,
    /// When the first ping was sent that is not answered, and how many were answered before.
    unanswered: Option<(Stamp, u32)>,
}

impl WebLine {
    /// A session whose WebSocket was just opened, in a window of this size.
    pub(super) fn new(
        line: Box<dyn Line>,
        terminal: Box<dyn WebTerminal>,
        frames: (Receiver, Sender),
        answers_pings: bool,
        window: (u16, u16),
    ) -> Self {
        let opening = line.opening();
        let frames = Frames::new(line, terminal, frames, answers_pings);
        Self { frames, pings: None, opening, window, removal: RemovalAtDrop::default() }
    }

    /// Takes bytes that came with the answer that opened the WebSocket, sends the first messages, and receives until the session is ready.
    /// Then starts its pings, at intervals of `every` seconds (0 = never; none = as the kind does).
    pub(super) async fn get_ready(&mut self, bytes: Vec<u8>, first: Messages, every: Option<u64>) -> Result<(), Break> {
        self.frames.send_messages(&first);
        self.frames.take_early(bytes);
        std::future::poll_fn(|cx| self.frames.poll_ready(cx)).await;
        if !self.frames.session.is_ready() {
            let end = self.frames.end.take();
            return Err(end.map_or(Break::Hangup, End::into_break));
        }
        let every = every.or_else(|| self.frames.session.keep_alive_interval()).filter(|every| *every > 0);
        self.pings = every.map(Duration::from_secs).map(|interval| {
            Box::new(Pings { interval, next: clock::sleep_until(clock::now() + interval), unanswered: None })
        });
        Ok(())
    }

    /// Pings when that is due.
    fn keep_alive(&mut self, cx: &mut Context<'_>) {
        let (Some(pings), frames) = (&mut self.pings, &mut self.frames) else { return };
        while Pin::new(&mut pings.next).poll(cx).is_ready() {
            let now = clock::now();
            pings.next.reset(pings.next.due().max(now) + pings.interval);
            let mut messages = Messages::default();
            frames.session.put_keep_alive(&mut messages);
            if !messages.0.is_empty() {
                frames.send_messages(&messages);
                continue;
            }
            let (since, before) =
                pings.unanswered.filter(|(_, pongs)| *pongs == frames.pongs).unwrap_or((now, frames.pongs));
            if now.since(since) > PONG_TIMEOUT {
                frames.end.get_or_insert(End::Broken(Break::NoPong));
            }
            pings.unanswered = Some((since, before));
            frames.sender.put_ping(b"", &mut frames.replies);
        }
    }
}

impl End {
    /// How the session broke, before it was ready.
    fn into_break(self) -> Break {
        match self {
            Self::Broken(broken) => broken,
            Self::Closed | Self::SessionOver => Break::Hangup,
            Self::ByCode(code, reason) => Break::Closed { code: code.unwrap_or(NO_CODE), reason },
            Self::Failed(kind) => Break::Failed(kind),
        }
    }
}

/// What stands for the code of a close frame without one (RFC 6455 §7.4.1).
const NO_CODE: u16 = 1005;

impl Line for WebLine {
    fn poll_receive(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<Received>> {
        self.keep_alive(cx);
        if let Some(received) = ready!(self.frames.poll_receive(cx, into)) {
            return Poll::Ready(Ok(received));
        }
        if let Some(End::ByCode(code, reason)) = &mut self.frames.end {
            let (code, reason) = (code.unwrap_or(NO_CODE), mem::take(reason));
            let is_usual = self.frames.session.note_close(code);
            self.frames.end = Some(if is_usual { End::Closed } else { End::Broken(Break::Closed { code, reason }) });
        }
        Poll::Ready(match &self.frames.end {
            Some(End::Broken(broken)) => Err(io::Error::other(broken.clone())),
            Some(End::Failed(kind)) => Err((*kind).into()),
            _ => Ok(Received { at: self.frames.at, ..Received::default() }),
        })
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.frames.poll_send(cx, bytes)
    }

    fn inner(&self) -> Option<&dyn Line> {
        Some(&*self.frames.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Line> {
        Some(&mut *self.frames.line)
    }

    fn kernel_sent(&mut self) -> Option<StampPair> {
        if self.frames.replied { None } else { self.frames.line.kernel_sent() }
    }

    fn poll_exit(&mut self, _: &mut Context<'_>) -> Poll<Option<ExitStatus>> {
        Poll::Ready(self.frames.session.exit())
    }

    fn end_reason(&self) -> Option<String> {
        match &self.frames.end {
            Some(End::Broken(broken)) => Some(broken.to_string()),
            _ => None,
        }
    }

    fn opening(&self) -> Opening {
        self.opening
    }

    fn terminal(&mut self) -> Option<&mut dyn LineTerminal> {
        Some(self)
    }
}

impl LineTerminal for WebLine {
    fn window(&self) -> Option<(u16, u16)> {
        Some(self.window)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if (columns, rows) == self.window {
            return;
        }
        self.window = (columns, rows);
        let mut messages = Messages::default();
        self.frames.session.resize(columns, rows, &mut messages);
        self.frames.send_messages(&messages);
        self.frames.flush_once();
    }
}

impl Drop for WebLine {
    /// Closes the session as a page does that is left, and has what the session leaves at the host removed.
    fn drop(&mut self) {
        if matches!(self.frames.end, None | Some(End::SessionOver)) {
            let mut messages = Messages::default();
            self.frames.session.finish(&mut messages);
            self.frames.send_messages(&messages);
            self.frames.sender.put_close(Some(GOING_AWAY), &mut self.frames.replies);
        }
        self.frames.flush_once();
    }
}

#[cfg(test)]
mod tests {
    use cuesta_record::Failure;
    use cuesta_record::clock::Time;

    use super::*;
    use crate::wire::http::{CookieJar, Response};
    use crate::wire::web::{Account, Place, SessionError, attach, cockpit, jupyter};
    use crate::wire::websocket::{Content, Event, MessageKind, Role};
    use crate::{failure_of, loopback, receive, send};

    #[test]
    fn a_line_is_small() {
        assert!(size_of::<WebLine>() <= 480, "{}", size_of::<WebLine>());
    }

    /// How a session of bare characters breaks that pings each 5 s at a host that answers the first `pongs` pings, and after how long.
    fn break_by_silence(pongs: usize) -> (Failure, Duration) {
        let ended = clock::run(Time::Virtual, async move {
            let (near, mut far) = loopback::pair(4096);
            let host = tokio::task::spawn_local(async move {
                let (mut receiver, mut sender) = (Receiver::new(Role::Server), Sender::new(Role::Server, 0));
                let (mut piece, mut answered) = ([0; 4096], 0);
                while let Ok(received) = receive(&mut far, &mut piece).await {
                    let (_, event) = receiver.receive(&mut piece[..received.len]).unwrap();
                    if matches!(event, Some(Event::Ping(_))) && answered < pongs {
                        answered += 1;
                        let mut pong = Vec::new();
                        sender.put_pong(b"", &mut pong);
                        send(&mut far, &pong).await.unwrap();
                    }
                }
            });
            let ends = (Receiver::new(Role::Client), Sender::new(Role::Client, 0));
            let terminal = Box::new(attach::Bare::new(Place::default()));
            let mut line = WebLine::new(Box::new(near), terminal, ends, true, (80, 24));
            line.get_ready(Vec::new(), Messages::default(), Some(5)).await.unwrap();
            let begun = clock::now();
            let error = receive(&mut line, &mut [0; 100]).await.unwrap_err();
            host.abort();
            (failure_of(&error), clock::now().since(begun))
        });
        ended.unwrap()
    }

    #[test]
    fn a_host_that_answers_no_ping_for_a_minute_is_given_up() {
        assert_eq!(break_by_silence(0), (Failure::PingTimeout, Duration::from_secs(70)));
        assert_eq!(break_by_silence(10), (Failure::PingTimeout, Duration::from_secs(120)));
    }

    /// A session at Cockpit that is ready, of a user who has logged in; and the host's end of its connection.
    async fn open_cockpit() -> (WebLine, crate::Loopback) {
        let (near, mut far) = loopback::pair(1024 * 1024);
        let account = Account { user: Some("joe".into()), password: Some("geheim".into()), ..Account::default() };
        let mut terminal = cockpit::Terminal::new(Place { account, ..Place::default() });
        let logged_in = Response { status: 200, ..Response::default() };
        terminal.prepare(None, &CookieJar::default()).unwrap();
        terminal.prepare(Some(&logged_in), &CookieJar::default()).unwrap();
        say(&mut far, r#"{"command":"init","channel-seed":"1:"}"#).await;
        say(&mut far, r#"{"command":"ready","channel":"1:1"}"#).await;
        let ends = (Receiver::new(Role::Client), Sender::new(Role::Client, 0));
        let mut line = WebLine::new(Box::new(near), Box::new(terminal), ends, true, (80, 24));
        line.get_ready(Vec::new(), Messages::default(), Some(0)).await.unwrap();
        (line, far)
    }

    async fn say(far: &mut crate::Loopback, control: &str) {
        let mut message = Vec::new();
        Sender::new(Role::Server, 0).put_message(MessageKind::Text, format!("\n{control}").as_bytes(), &mut message);
        send(far, &message).await.unwrap();
    }

    #[test]
    fn who_ends_the_program_logs_out_as_who_leaves_the_page() {
        let heard = clock::run(Time::Virtual, async {
            let (mut line, mut far) = open_cockpit().await;
            say(&mut far, r#"{"command":"close","channel":"1:1"}"#).await;
            assert_eq!(receive(&mut line, &mut [0; 100]).await.unwrap().len, 0);
            drop(line);
            let (mut receiver, mut piece, mut heard) = (Receiver::new(Role::Server), vec![0; 64 * 1024], Vec::new());
            while let Ok(Received { len: len @ 1.., .. }) = receive(&mut far, &mut piece).await {
                let mut at = 0;
                while at < len {
                    let (taken, event) = receiver.receive(&mut piece[at..len]).unwrap();
                    heard.push(match event {
                        Some(Event::Message(_, Content::Here(range))) => {
                            String::from_utf8(piece[at..][range].to_vec()).unwrap()
                        }
                        other => format!("{other:?}"),
                    });
                    at += taken;
                }
            }
            heard
        });
        let heard = heard.unwrap();
        assert!(heard[heard.len() - 2].contains("logout"), "{heard:?}");
        assert_eq!(heard[heard.len() - 1], "Some(Close(Some(1001), \"\"))");
    }

    #[test]
    fn a_host_that_wants_answers_and_reads_none_is_given_up() {
        let error = clock::run(Time::Virtual, async {
            let (mut line, mut far) = open_cockpit().await;
            let ping = format!(r#"{{"command":"ping","channel":"1:1","message":"{}"}}"#, "x".repeat(60_000));
            let host = tokio::task::spawn_local(async move {
                loop {
                    say(&mut far, &ping).await;
                }
            });
            let error = receive(&mut line, &mut [0; 4096]).await.unwrap_err();
            host.abort();
            error
        });
        assert_eq!(failure_of(&error.unwrap()), Failure::OtherWebTerminal);
    }

    #[test]
    fn a_host_that_sends_without_end_before_the_session_is_ready_is_given_up() {
        let broken = clock::run(Time::Real, async {
            let (near, mut far) = loopback::pair(64 * 1024);
            let output = format!("[\"stdout\",\"{}\"]", "x".repeat(30_000));
            let mut message = Vec::new();
            Sender::new(Role::Server, 0).put_message(MessageKind::Text, output.as_bytes(), &mut message);
            let host = tokio::task::spawn_local(async move { while send(&mut far, &message).await.is_ok() {} });
            let ends = (Receiver::new(Role::Client), Sender::new(Role::Client, 0));
            let terminal = Box::new(jupyter::Terminal::new(Place::default()));
            let mut line = WebLine::new(Box::new(near), terminal, ends, true, (80, 24));
            let broken = line.get_ready(Vec::new(), Messages::default(), None).await.unwrap_err();
            host.abort();
            broken
        });
        assert!(matches!(broken.unwrap(), Break::Session(SessionError::OtherProtocol(_))));
    }
}
