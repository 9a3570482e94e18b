//! A chosen user's session as a cast, so that a person can watch what the host did.
//!
//! The user's thread passes received characters through a queue of fixed length to a thread that writes them. Characters
//! that find the queue full are left out, and the cast says how many. Typed characters are left out too, because they may
//! hold a password of the users' table; where the host prints the user's secret cells, the cast has stars.

use std::cell::Cell;
use std::io::{self, BufWriter};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cuesta_cast::{EventKind, Header, Writer};
use cuesta_lines::{Direction, Line, Tap, TapEvent, TerminalKind};
use cuesta_record::{Stamp, clock, private_file};

use crate::connect::Connect;
use crate::error::RunError;
use crate::group::Group;
use crate::secret_columns::SecretCells;
use crate::spec::RunSpec;

/// At most this many reads, of at most 16 KiB each, wait to be written.
const QUEUE: usize = 256;

/// A message to the writer.
#[derive(Debug)]
enum CastEvent {
    /// A line was opened.
    Opened(Stamp),
    /// Characters came.
    Received(Stamp, Box<[u8]>),
    /// This many characters found no room.
    Lost(Stamp, u64),
}

/// The writing thread. It ends when all taps are gone.
#[derive(Debug)]
pub(crate) struct CastWriter(JoinHandle<io::Result<()>>);

/// The user's side of it.
#[derive(Debug, Clone)]
pub(crate) struct CastTap {
    user: u32,
    queue: SyncSender<CastEvent>,
    /// Characters that have found no room since the last message.
    lost: Cell<u64>,
}

impl CastWriter {
    /// Starts writing into an agent's folder, if the chosen user is one of that agent's.
    ///
    /// # Errors
    /// When the file cannot be written, or the user has a 3270: a cast is what a video terminal shows.
    pub(crate) fn start(
        spec: &RunSpec,
        groups: &[Group],
        run_began: Stamp,
        folder: &Path,
    ) -> Result<Option<(Self, CastTap)>, RunError> {
        let Some(user) = spec.cast else { return Ok(None) };
        let Some(number) = (0..groups.len()).find(|number| user < spec.first_user(number + 1)) else { return Ok(None) };
        let rank = user - spec.first_user(number);
        if spec.players(number).agent_and_thread(rank).0 != spec.agent {
            return Ok(None);
        }
        if groups[number].terminal == TerminalKind::Block {
            return Err(RunError::Plan(format!(
                "no cast can be made of user {user}, who has a 3270: choose another user"
            )));
        }
        let file = private_file(&folder.join(format!("user-{user}.cast")))?;
        let writer = Writer::new(BufWriter::new(file), &header(spec, groups, number, user))?;
        let secrets = groups[number].secret_cells(rank);
        let (queue, events) = sync_channel(QUEUE);
        let thread = thread::Builder::new().name("cuesta-cast".into());
        let thread = thread.spawn(move || write(writer, run_began, &events, Some(&secrets)))?;
        Ok(Some((Self(thread), CastTap { user, queue, lost: Cell::new(0) })))
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// When something could not be written.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.join().unwrap_or_else(|_| Err(io::Error::other("the writer of the cast panicked")))
    }
}

fn header(spec: &RunSpec, groups: &[Group], number: usize, user: u32) -> Header {
    let (group, line) = (&spec.groups[number], &groups[number].line);
    Header {
        columns: line.columns,
        rows: line.rows,
        timestamp: Some(spec.started_wall.unwrap_or_else(clock::wall) / 1_000_000_000),
        command: Some(group.target.clone()),
        title: Some(format!("user {user} of {}", group.name)),
        terminal: Some(line.terminal.clone()),
    }
}

/// Opens lines as `connect` does, with a tap on the line of the chosen user.
pub(crate) fn with_tap(connect: Connect, tap: Option<CastTap>) -> Connect {
    let Some(tap) = tap.map(Rc::new) else { return connect };
    Rc::new(move |group, user| {
        let opening = connect(group, user);
        if user != tap.user {
            return opening;
        }
        let tap = Rc::clone(&tap);
        Box::pin(async move {
            let line = opening.await?;
            tap.send(CastEvent::Opened(clock::now()));
            Ok(Box::new(Tap::new(line, move |event: TapEvent<'_>| tap.observe(event))) as Box<dyn Line>)
        })
    })
}

impl CastTap {
    fn observe(&self, event: TapEvent<'_>) {
        if event.direction == Direction::Sent || event.bytes.is_empty() {
            return;
        }
        let lost = self.lost.get();
        let is_queued = (lost == 0 || self.send(CastEvent::Lost(event.at, lost))) && {
            self.lost.set(0);
            self.send(CastEvent::Received(event.at, event.bytes.into()))
        };
        if !is_queued {
            self.lost.set(self.lost.get() + event.bytes.len() as u64);
        }
    }

    /// Queues an event without waiting; says whether there was room.
    fn send(&self, event: CastEvent) -> bool {
        self.queue.try_send(event).is_ok()
    }
}

fn write<W: io::Write>(
    mut writer: Writer<W>,
    run_began: Stamp,
    events: &Receiver<CastEvent>,
    secrets: Option<&SecretCells>,
) -> io::Result<()> {
    let mut sessions = 0;
    let mut last = Duration::ZERO;
    while let Ok(first) = events.recv() {
        for event in std::iter::once(first).chain(events.try_iter()) {
            // A column may have become secret since the last event.
            secrets.into_iter().flat_map(SecretCells::now).for_each(|cell| writer.hide(cell));
            last = last.max(write_event(&mut writer, run_began, &mut sessions, &event)?);
        }
        // The queue is empty: flush, so that the cast so far can be watched while the run goes on.
        writer.flush()?;
    }
    writer.finish(last)
}

fn write_event<W: io::Write>(
    writer: &mut Writer<W>,
    run_began: Stamp,
    sessions: &mut u32,
    event: &CastEvent,
) -> io::Result<Duration> {
    let at = match event {
        CastEvent::Opened(at) | CastEvent::Received(at, _) | CastEvent::Lost(at, _) => at.since(run_began),
    };
    match event {
        CastEvent::Opened(_) => {
            *sessions += 1;
            if *sessions > 1 {
                // A new session has a new terminal: reset the screen and modes of the one before.
                writer.output(at, b"\x1bc")?;
            }
            writer.event(at, &EventKind::Marker(format!("session {sessions}")))?;
        }
        CastEvent::Received(_, bytes) => writer.output(at, bytes)?,
        CastEvent::Lost(_, count) => {
            writer.event(at, &EventKind::Marker(format!("{count} characters are missing here")))?;
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuesta_cast::Cast;

    fn at(ms: u64) -> Stamp {
        Stamp::from_nanos(ms * 1_000_000)
    }

    fn tap() -> (CastTap, Receiver<CastEvent>) {
        let (queue, events) = sync_channel(QUEUE);
        (CastTap { user: 0, queue, lost: Cell::new(0) }, events)
    }

    fn written(events: &Receiver<CastEvent>) -> Vec<(u128, EventKind)> {
        let mut bytes = Vec::new();
        let writer = Writer::new(&mut bytes, &Header::default()).expect("writes");
        write(writer, at(1000), events, None).expect("writes");
        let cast = Cast::read(&bytes).expect("reads");
        cast.events.into_iter().map(|event| (event.at.as_millis(), event.kind)).collect()
    }

    #[test]
    fn output_is_in_the_cast_and_input_is_not() {
        let (tap, events) = tap();
        tap.send(CastEvent::Opened(at(1500)));
        tap.observe(TapEvent { direction: Direction::Received, at: at(1600), bytes: b"login: \xc3" });
        tap.observe(TapEvent { direction: Direction::Sent, at: at(1700), bytes: b"hunter2" });
        tap.observe(TapEvent { direction: Direction::Received, at: at(1800), bytes: b"\xa9" });
        tap.send(CastEvent::Opened(at(1900)));
        drop(tap);
        let output = |text: &str| EventKind::Output(text.to_owned());
        let marker = |text: &str| EventKind::Marker(text.to_owned());
        let wanted = [
            (500, marker("session 1")),
            (600, output("login: ")),
            (800, output("é")),
            (900, output("\x1bc")),
            (900, marker("session 2")),
        ];
        assert_eq!(written(&events), wanted);
    }

    #[test]
    fn characters_that_do_not_fit_into_the_queue_are_counted() {
        let (tap, events) = tap();
        for number in 0..QUEUE as u64 + 2 {
            tap.observe(TapEvent { direction: Direction::Received, at: at(1000 + number), bytes: b"abc" });
        }
        let taken: Vec<CastEvent> = events.try_iter().collect();
        assert_eq!((taken.len(), tap.lost.get()), (QUEUE, 6));
        tap.observe(TapEvent { direction: Direction::Received, at: at(2000), bytes: b"d" });
        drop(tap);
        let missing = EventKind::Marker("6 characters are missing here".into());
        assert_eq!(written(&events), [(1000, missing), (1000, EventKind::Output("d".into()))]);
    }
}
