//! Users whose screens people look at while the run goes on, and what these show.
//!
//! Whoever looks chooses users; the driving threads see at intervals whom, and wake them: a user that waits draws nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuesta_record::record;
use cuesta_screen::vt::{Attributes, Colour, Screen, Span, Style};

use crate::shown::{hide_secrets, make_printable};

/// How often a screen that is looked at is shown again.
pub(crate) const SHOW_EVERY: Duration = Duration::from_millis(500);

record! {
    /// What people look at, beside the figures of all users.
    WatchOrder: Read {
        /// the users whose screens they see
        #[serde(default)]
        users: Vec<u32> = Unitless | [];
        /// whether snapshots have each series
        #[serde(default)]
        series: bool = Unitless | false;
    }
}

record! {
    /// What a user's terminal showed at an instant. Rows that hold a part of a secret are hidden.
    UserScreen {
        /// number of the user
        user: u32 = Unitless;
        /// from the start of the segment to that instant
        seconds: f64 = Seconds;
        /// the width of the screen
        columns: u16 = Number;
        /// from the top, each as runs of text in one style
        rows: Vec<Vec<ScreenSpan>> = Unitless;
        /// row and column of the cursor, from 0; null where it is hidden
        cursor: Option<(u16, u16)> = Unitless;
        /// whether it is the user's own screen; if no tape looks at it there is none, and this shows what has come since somebody looked
        is_whole: bool = Unitless;
    }
}

record! {
    /// Text of a row in one style.
    #[derive(Eq)]
    ScreenSpan {
        /// the text, without what would control a terminal
        text: String = Unitless;
        /// its colour: a number of the palette, or `#rrggbb`; null: the terminal's own
        #[serde(skip_serializing_if = "Option::is_none")]
        foreground: Option<String> = Unitless | none;
        /// the colour behind it
        #[serde(skip_serializing_if = "Option::is_none")]
        background: Option<String> = Unitless | none;
        /// of `bold`, `faint`, `italic`, `underlined`, `blinking`, `inverse`, `crossed_out`
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attributes: Vec<&'static str> = Unitless | [];
    }
}

/// What a terminal shows.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) columns: u16,
    pub(crate) rows: Vec<Vec<Span>>,
    pub(crate) cursor: Option<(u16, u16)>,
    pub(crate) is_whole: bool,
}

impl Picture {
    /// Of a video terminal's screen.
    pub(crate) fn take(screen: &Screen, is_whole: bool) -> Self {
        let (columns, rows) = screen.size();
        let cursor = (!screen.modes().hidden_cursor).then(|| screen.cursor());
        Self { columns, rows: (0..rows).map(|row| screen.spans(row)).collect(), cursor, is_whole }
    }

    /// As people may see it.
    pub(crate) fn show(self, user: u32, seconds: f64, secrets: &[&str]) -> UserScreen {
        let texts: Vec<String> =
            self.rows.iter().map(|row| row.iter().map(|span| span.text.as_str()).collect()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let rows = self.rows.iter().zip(hide_secrets(&texts, secrets));
        let shown = rows.map(|(row, hidden)| match hidden {
            Some(text) => vec![ScreenSpan::new(text, Style::default())],
            None => row.iter().map(ScreenSpan::from_span).collect(),
        });
        let Self { columns, cursor, is_whole, .. } = self;
        UserScreen { user, seconds, columns, rows: shown.collect(), cursor, is_whole }
    }
}

impl ScreenSpan {
    /// As people may see it.
    pub(crate) fn from_span(span: &Span) -> Self {
        Self::new(&span.text, span.style)
    }

    fn new(text: &str, style: Style) -> Self {
        const NAMES: [(Attributes, &str); 8] = [
            (Attributes::BOLD, "bold"),
            (Attributes::FAINT, "faint"),
            (Attributes::ITALIC, "italic"),
            (Attributes::UNDERLINED, "underlined"),
            (Attributes::DOUBLY_UNDERLINED, "underlined"),
            (Attributes::BLINKING, "blinking"),
            (Attributes::INVERSE, "inverse"),
            (Attributes::CROSSED_OUT, "crossed_out"),
        ];
        let named = NAMES.iter().filter(|(attribute, _)| style.attributes.contains(*attribute));
        Self {
            text: make_printable(text),
            foreground: name_of(style.foreground),
            background: name_of(style.background),
            attributes: named.map(|(_, name)| *name).collect(),
        }
    }
}

fn name_of(colour: Colour) -> Option<String> {
    match colour {
        Colour::Default => None,
        Colour::Palette(index) => Some(index.to_string()),
        Colour::Direct(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

/// What people look at and hold, and what the screens of users showed last. Shared by the driving threads and whoever looks.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Whether snapshots have each series.
    pub(crate) shows_series: Arc<AtomicBool>,
    /// Whether users who have not started wait.
    pub(crate) holds_starts: AtomicBool,
    users: Mutex<BTreeSet<u32>>,
    changes: AtomicU64,
    screens: Mutex<BTreeMap<u32, UserScreen>>,
}

impl Watch {
    /// Looks at these users from now on, and at no others.
    pub(crate) fn choose(&self, users: impl IntoIterator<Item = u32>) {
        let users: BTreeSet<u32> = users.into_iter().collect();
        locked(&self.screens).retain(|user, _| users.contains(user));
        *locked(&self.users) = users;
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// How often other users were chosen.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    pub(crate) fn users(&self) -> BTreeSet<u32> {
        locked(&self.users).clone()
    }

    /// A user's screen shows this now.
    pub(crate) fn show(&self, screen: UserScreen) {
        // The user may not be looked at any more.
        if locked(&self.users).contains(&screen.user) {
            locked(&self.screens).insert(screen.user, screen);
        }
    }

    /// A user has no line.
    pub(crate) fn forget(&self, user: u32) {
        locked(&self.screens).remove(&user);
    }

    /// The screens of those who are looked at and have a line.
    pub(crate) fn screens(&self) -> Vec<UserScreen> {
        locked(&self.screens).values().cloned().collect()
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen_after(output: &str, secrets: &[&str]) -> UserScreen {
        let mut screen = Screen::new(20, 3);
        screen.feed(output.as_bytes());
        Picture::take(&screen, true).show(7, 1.5, secrets)
    }

    fn texts(screen: &UserScreen) -> Vec<String> {
        screen.rows.iter().map(|row| row.iter().map(|span| span.text.as_str()).collect()).collect()
    }

    #[test]
    fn a_screen_is_shown_with_its_colours_and_cursor() {
        let screen = screen_after("a \x1b[1;31;48;2;1;2;3mred\x1b[m\r\n\x1b[7m>", &[]);
        assert_eq!((screen.user, screen.columns, screen.cursor), (7, 20, Some((1, 1))));
        assert_eq!(texts(&screen), ["a red", ">", ""]);
        let red = &screen.rows[0][1];
        assert_eq!((red.foreground.as_deref(), red.background.as_deref()), (Some("1"), Some("#010203")));
        assert_eq!((&red.attributes, &screen.rows[1][0].attributes), (&vec!["bold"], &vec!["inverse"]));
        assert_eq!(screen_after("\x1b[?25l", &[]).cursor, None);
    }

    #[test]
    fn a_secret_is_hidden_also_across_styles_and_rows() {
        let screen = screen_after("say hun\x1b[1mter\x1b[m2\r\n...........correct ho\r\nrse", &["hunter2", "horse"]);
        assert_eq!(texts(&screen), ["(hidden)", "(hidden)", "(hidden)"]);
    }

    #[test]
    fn only_who_is_looked_at_is_shown() {
        let watch = Watch::default();
        watch.show(screen_after("x", &[]));
        assert!(watch.screens().is_empty());
        watch.choose([7, 8]);
        watch.show(screen_after("x", &[]));
        assert_eq!((watch.screens().len(), watch.changes()), (1, 1));
        watch.forget(7);
        assert!(watch.screens().is_empty());
        watch.show(screen_after("x", &[]));
        watch.choose([8]);
        assert!(watch.screens().is_empty());
    }
}
