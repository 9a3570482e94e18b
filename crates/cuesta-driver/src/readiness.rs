//! Whether a program is ready for keys: seen, not assumed (`Wait+Ready`).
//!
//! A program is ready once it has stopped drawing, shows a harmless key where one types, and takes it back. `obstacles` has what is
//! told by its look alone before any key is pressed: a login screen, a pager, a dialog.
//!
//! The terminal driver of a host (a tty) echoes keys before the program reads them, and while it starts. Its echo is known by its form,
//! and counts once the line has stayed still for longer, and only if a program waits for input, where the line knows that.
//!
//! Pure: instants and the screen are arguments.

use std::fmt;
use std::time::Duration;

use cuesta_record::Stamp;
use cuesta_screen::vt::{Appearance, Cause, Difference, FrameChanges, Screen, Snapshot};
use cuesta_tape::{Key, Probe};

mod obstacles;

/// A frame has ended once nothing has come for this long, or after `MOST_FRAME_TIME`.
const FRAME_GAP: Duration = Duration::from_millis(20);
const MOST_FRAME_TIME: Duration = Duration::from_millis(100);
/// A program has stopped drawing once nothing has come for this long,
const QUIET_TIME: Duration = Duration::from_millis(300);
/// or once only what changes by itself has changed for this long.
const NEARLY_QUIET_TIME: Duration = Duration::from_secs(1);
/// A program that has drawn nothing is waited for this long before a key is tried.
const BLANK: Duration = Duration::from_secs(2);
/// An obstacle is told once it has stood for this long: an answered login prompt goes.
const STANDS: Duration = Duration::from_secs(2);
/// How long the first key may take to be shown; each try is given twice as long as the one before.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
const MOST_TRIES: u32 = 3;
/// How long the key may take to be taken back.
const TAKES_BACK: Duration = Duration::from_secs(5);
/// For how long nothing may be drawn after an echo of the terminal driver: behind a prompt or if a program is known to read, and else.
const STILL: Duration = Duration::from_secs(2);
const STILL_WITHOUT_PROMPT: Duration = Duration::from_secs(5);
/// A program that reads nothing yet is looked at again after this long.
const READS_LATER: Duration = Duration::from_millis(500);

/// What is known of a program that may not be ready.
pub(crate) struct Readiness<'a> {
    probe: &'a Probe,
    began: Stamp,
    changes: FrameChanges,
    /// What came last that belongs to a frame that has ended, and when the frame began that has not.
    framed: Stamp,
    frame_begun: Option<Stamp>,
    /// When the last frame ended that differed.
    changed: Stamp,
    stage: Stage,
    tries: u32,
    /// What the screen showed when the key was pressed.
    snapshot: Option<Snapshot>,
    /// Where the key was shown instead.
    elsewhere: Option<(u16, u16)>,
    /// The terminal driver has echoed, and no program has waited for input.
    is_unread: bool,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// That the program stops drawing.
    Settling,
    /// That the key, pressed at an instant, is shown.
    Shown(Stamp),
    /// That it is taken back; it was shown.
    TakenBack(Stamp),
    /// That the program stops drawing, after a key that was not shown and the key that takes it back.
    Forgotten,
    /// That nothing more is drawn, since an instant, and that a program waits for input.
    Still(Stamp),
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<'a> {
    /// Look again when something has come, and at this instant.
    LookAt(Stamp),
    /// Press a key of the probe, then look again.
    Press(ProbeKey<'a>),
    Ready,
    NotReady(Obstacle),
}

/// A key of the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeKey<'a> {
    Character(char),
    Key(&'a Key),
}

/// What is seen instead of a program that takes keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    pub(crate) kind: ObstacleKind,
    /// The row of the screen that shows it.
    pub(crate) row: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObstacleKind {
    Login,
    Pager,
    Dialog,
    /// Nothing was ever drawn.
    Blank,
    /// The program does not stop drawing.
    Restless,
    /// The key is not shown.
    NoEcho,
    /// It is shown at this row and column, away from the cursor and any caret.
    Elsewhere(u16, u16),
    /// The second key does not take the first one back.
    NotTakenBack,
    /// Only the terminal driver echoes, and it is not known yet whether a program reads.
    EchoOfTty,
    /// Only the terminal driver echoes; no program reads.
    Unread,
}

/// What has come by now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received<'a> {
    /// When the last character came, or the last reply to a query of the host was sent; the beginning if there was none.
    pub(crate) last: Stamp,
    /// What has come since the first key of the probe.
    pub(crate) since_key: &'a [u8],
    /// Whether a program waits for input that the terminal driver echoes, if the line was [asked](Readiness::asks_the_line) and knows.
    pub(crate) is_awaited: Option<bool>,
}

impl<'a> Readiness<'a> {
    /// Begins to look at a program at an instant.
    pub(crate) fn new(probe: &'a Probe, began: Stamp) -> Self {
        Self {
            probe,
            began,
            changes: FrameChanges::default(),
            framed: Stamp::ZERO,
            frame_begun: None,
            changed: began,
            stage: Stage::Settling,
            tries: 0,
            snapshot: None,
            elsewhere: None,
            is_unread: false,
        }
    }

    /// Whether the next look needs to know if a program waits for input.
    pub(crate) fn asks_the_line(&self) -> bool {
        matches!(self.stage, Stage::Still(_))
    }

    /// Looks at the screen, on which all that came is drawn.
    pub(crate) fn look(&mut self, screen: &Screen, received: Received<'_>, now: Stamp) -> Next<'a> {
        if let Some(ends) = self.end_frame(screen, received.last, now) {
            return Next::LookAt(ends);
        }
        match self.stage {
            Stage::Settling => self.settle(screen, received, now),
            Stage::Shown(pressed) => self.look_for_key(screen, pressed, now),
            Stage::TakenBack(pressed) => self.look_whether_taken_back(screen, pressed, received, now),
            Stage::Forgotten => self.forget(screen, received, now),
            Stage::Still(since) => self.stay_still(screen, since, received, now),
        }
    }

    /// What is seen of a program that was not ready in time.
    pub(crate) fn obstacle(&self, screen: &Screen) -> Obstacle {
        if let Some(obstacle) = obstacles::find(screen, obstacles::Certainty::Likely) {
            return obstacle;
        }
        let kind = match (self.stage, self.elsewhere) {
            (Stage::Still(_), _) if self.is_unread => ObstacleKind::Unread,
            (Stage::Still(_), _) => ObstacleKind::EchoOfTty,
            _ if is_blank(screen) => ObstacleKind::Blank,
            (Stage::Settling, _) => ObstacleKind::Restless,
            _ if self.changes.hides_most() => ObstacleKind::Restless,
            (Stage::TakenBack(_), _) => ObstacleKind::NotTakenBack,
            (_, Some((row, column))) => ObstacleKind::Elsewhere(row + 1, column + 1),
            _ => ObstacleKind::NoEcho,
        };
        let row = match self.elsewhere {
            Some((row, _)) if matches!(kind, ObstacleKind::Elsewhere(..)) => screen.row(row).trim().to_owned(),
            _ => obstacles::cursor_row(screen),
        };
        Obstacle { kind, row }
    }

    /// Ends the frame that has come, or says when it ends.
    fn end_frame(&mut self, screen: &Screen, last: Stamp, now: Stamp) -> Option<Stamp> {
        if last <= self.framed {
            return None;
        }
        let ends = (last + FRAME_GAP).min(*self.frame_begun.get_or_insert(last) + MOST_FRAME_TIME);
        if now < ends {
            return Some(ends);
        }
        (self.framed, self.frame_begun) = (last, None);
        let cause = match self.stage {
            Stage::Settling | Stage::Still(_) => Cause::Itself,
            Stage::Shown(_) | Stage::TakenBack(_) | Stage::Forgotten => Cause::Key,
        };
        if self.changes.end_frame(screen, now.since(self.began), cause) != Difference::None {
            self.changed = last;
        }
        None
    }

    /// Since when the program has been quiet; an instant to come if it is not.
    fn quiet_from(&self, last: Stamp) -> Stamp {
        (last.max(self.began) + QUIET_TIME).min(self.changed + NEARLY_QUIET_TIME)
    }

    fn settle(&mut self, screen: &Screen, received: Received<'_>, now: Stamp) -> Next<'a> {
        let mut quiet = self.quiet_from(received.last);
        if is_blank(screen) {
            quiet = quiet.max(self.began + BLANK);
        }
        if now < quiet {
            return Next::LookAt(quiet);
        }
        // Who writes down keys of his own knows the screen.
        let obstacle = (*self.probe == Probe::DEFAULT).then(|| obstacles::find(screen, obstacles::Certainty::Certain));
        match obstacle.flatten() {
            Some(_) if now < self.changed + STANDS => Next::LookAt(self.changed + STANDS),
            Some(obstacle) => Next::NotReady(obstacle),
            None => self.press(screen, now),
        }
    }

    fn press(&mut self, screen: &Screen, now: Stamp) -> Next<'a> {
        self.snapshot = Some(Snapshot::new(screen));
        self.tries += 1;
        self.stage = Stage::Shown(now);
        Next::Press(match self.probe {
            Probe::Character(character) => ProbeKey::Character(*character),
            Probe::Keys { key, .. } => ProbeKey::Key(key),
        })
    }

    fn look_for_key(&mut self, screen: &Screen, pressed: Stamp, now: Stamp) -> Next<'a> {
        let Some(snapshot) = &self.snapshot else { return Next::LookAt(now) };
        let is_shown = match self.probe {
            Probe::Character(character) => match snapshot.find_typed(screen, *character) {
                Appearance::Typed => true,
                Appearance::Elsewhere(at) => {
                    self.elsewhere = Some(at);
                    false
                }
                Appearance::Nowhere => false,
            },
            Probe::Keys { .. } => self.changes.differs_from(snapshot, screen, now.since(self.began)),
        };
        let given_up = pressed + FIRST_PATIENCE * 2_u32.pow(self.tries - 1);
        if !is_shown && now < given_up {
            return Next::LookAt(given_up);
        }
        self.stage = if is_shown { Stage::TakenBack(now) } else { Stage::Forgotten };
        Next::Press(match self.probe {
            Probe::Character(_) => ProbeKey::Key(&Key::Backspace),
            Probe::Keys { undo, .. } => ProbeKey::Key(undo),
        })
    }

    fn look_whether_taken_back(
        &mut self,
        screen: &Screen,
        pressed: Stamp,
        received: Received<'_>,
        now: Stamp,
    ) -> Next<'a> {
        let Some(snapshot) = &self.snapshot else { return Next::LookAt(now) };
        let is_taken_back = match self.probe {
            Probe::Character(character) => snapshot.is_taken_back(screen, *character),
            Probe::Keys { .. } => !self.changes.differs_from(snapshot, screen, now.since(self.began)),
        };
        if is_taken_back {
            if !self.is_echo_of_tty(received.since_key) {
                return Next::Ready;
            }
            self.stage = Stage::Still(received.last);
            return Next::LookAt(received.last + STILL);
        }
        if snapshot.is_other_screen(screen) {
            // A terminal driver has echoed; the program itself has begun only now.
            (self.stage, self.tries) = (Stage::Settling, 0);
            return self.settle(screen, received, now);
        }
        // The first keys may change a status row for good.
        let may_try_again = matches!(self.probe, Probe::Keys { .. }) && self.tries < MOST_TRIES;
        let given_up = pressed + if may_try_again { FIRST_PATIENCE } else { TAKES_BACK };
        if now < given_up {
            return Next::LookAt(given_up);
        }
        if may_try_again {
            self.stage = Stage::Forgotten;
            return self.forget(screen, received, now);
        }
        Next::NotReady(self.obstacle(screen))
    }

    /// Whether the key was taken back as a terminal driver does it, which some programs leave to it, or do alike.
    fn is_echo_of_tty(&self, since_key: &[u8]) -> bool {
        const ERASE: &[u8] = b"\x08 \x08";
        matches!(self.probe, Probe::Character(_)) && since_key.windows(ERASE.len()).any(|bytes| bytes == ERASE)
    }

    fn forget(&mut self, screen: &Screen, received: Received<'_>, now: Stamp) -> Next<'a> {
        let quiet = self.quiet_from(received.last);
        if now < quiet {
            return Next::LookAt(quiet);
        }
        if self.snapshot.as_ref().is_some_and(|snapshot| snapshot.is_superseded(screen)) {
            self.tries = 0;
        }
        if self.tries >= MOST_TRIES {
            return Next::NotReady(self.obstacle(screen));
        }
        self.stage = Stage::Settling;
        self.settle(screen, received, now)
    }

    /// Only the terminal driver may have echoed: the program is ready if nothing more is drawn and a program reads.
    fn stay_still(&mut self, screen: &Screen, since: Stamp, received: Received<'_>, now: Stamp) -> Next<'a> {
        // A clock may go on, if it is known and is not most of what is shown.
        let is_clock = self.changes.set_aside() > 0 && !self.changes.hides_most();
        if self.changed > since || received.last > since && !is_clock {
            (self.stage, self.tries) = (Stage::Settling, 0);
            return self.settle(screen, received, now);
        }
        let is_awaited = received.is_awaited;
        let has_prompt = screen.is_alternate() || !screen.text_before(screen.next_cell()).trim().is_empty();
        let still = since + if has_prompt || is_awaited == Some(true) { STILL } else { STILL_WITHOUT_PROMPT };
        self.is_unread = is_awaited == Some(false);
        match is_awaited {
            _ if now < still => Next::LookAt(still),
            Some(false) => Next::LookAt(now + READS_LATER),
            _ => Next::Ready,
        }
    }
}

fn is_blank(screen: &Screen) -> bool {
    screen.rows().all(|row| row.is_empty())
}

impl fmt::Display for ObstacleKind {
    /// What the program does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Login => f.write_str("shows a login screen"),
            Self::Pager => f.write_str("shows a pager"),
            Self::Dialog => f.write_str("asks a question"),
            Self::Blank => f.write_str("has drawn nothing"),
            Self::Restless => f.write_str("does not stop drawing"),
            Self::NoEcho => f.write_str("does not show what is typed"),
            Self::Elsewhere(row, column) => {
                write!(f, "shows what is typed in row {row}, column {column}, and not at the cursor")
            }
            Self::NotTakenBack => f.write_str("shows what is typed, and does not delete it"),
            Self::EchoOfTty => f.write_str("may not read yet: its terminal echoes what is typed"),
            Self::Unread => f.write_str("reads nothing: its terminal echoes what is typed"),
        }
    }
}
