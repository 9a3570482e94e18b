//! What a target says of the terminal at this end, on any line that ends at a video terminal: `?width=wcwidth&charset=cp437&terminal=vt220`.

use std::borrow::Cow;

use crate::Charset;
use crate::kinds::{TerminalKind, kind_of};
use crate::target::TargetError;

/// The settings of the terminal in a target's query. The default is that of a target without any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalSettings {
    /// `width=`: whether the host gives an emoji two columns, as Python's wcwidth and JavaScript's string-width do, and not those of its
    /// character, as xterm does.
    pub has_wide_emoji: Option<bool>,
    /// `charset=`: the host's character set of eight bits, in place of UTF-8.
    pub charset: Option<Charset>,
    /// `terminal=`: the terminal's name (`TERM`).
    pub name: Option<String>,
}

impl TerminalSettings {
    /// The settings of a target; none for a text that is no target.
    pub fn from_target(target: &str) -> Self {
        split(target).map(|(_, settings)| settings).unwrap_or_default()
    }

    /// Takes a setting; says whether it is one of these.
    fn take(&mut self, setting: &str) -> Result<bool, TargetError> {
        let Some((key, value)) = setting.split_once('=') else { return Ok(false) };
        let (is_taken, expected) = match key {
            "width" => (self.take_width(value), "width=xterm or width=wcwidth, once"),
            "charset" => {
                let taken = Charset::named(value).is_some_and(|charset| self.charset.replace(charset).is_none());
                (
                    taken,
                    "a set of eight bits, once: charset=cp437, latin-1, iso-8859-15, koi8-r, windows-1252 and so on",
                )
            }
            "terminal" => {
                let taken = is_name(value) && self.name.replace(value.to_owned()).is_none();
                (taken, "the terminal's name, once, as in terminal=vt220")
            }
            _ => return Ok(false),
        };
        let error = TargetError::BadSetting { setting: setting.to_owned(), expected };
        if is_taken { Ok(true) } else { Err(error) }
    }

    fn take_width(&mut self, value: &str) -> bool {
        let is_wide = value == "wcwidth";
        (is_wide || value == "xterm") && self.has_wide_emoji.replace(is_wide).is_none()
    }
}

/// Whether a text can be a terminal's name.
fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte);
    (1..=40).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// A target without these settings, and the settings.
pub(crate) fn split(text: &str) -> Result<(Cow<'_, str>, TerminalSettings), TargetError> {
    let unchanged = || Ok((Cow::Borrowed(text), TerminalSettings::default()));
    let Some(kind) = kind_of(text).filter(|kind| kind.terminal == TerminalKind::Vt) else { return unchanged() };
    let mark = kind.settings_mark;
    let Some((before, query)) = text.rsplit_once(mark) else { return unchanged() };
    let mut settings = TerminalSettings::default();
    let mut others = Vec::new();
    for setting in query.split('&') {
        match settings.take(setting) {
            Ok(true) => {}
            // A command may hold anything: only exactly these settings at its end are no part of it.
            _ if kind.starts_program => return unchanged(),
            Ok(false) => others.push(setting),
            Err(error) => return Err(error),
        }
    }
    if settings == TerminalSettings::default() {
        return unchanged();
    }
    let rest = if others.is_empty() { before.to_owned() } else { format!("{before}{mark}{}", others.join("&")) };
    Ok((Cow::Owned(rest), settings))
}

/// A target with the settings that are not the usual ones.
pub(crate) fn add_to(target: &str, settings: &TerminalSettings) -> String {
    let width = (settings.has_wide_emoji == Some(true)).then(|| "width=wcwidth".to_owned());
    let charset = settings.charset.as_ref().map(|charset| format!("charset={}", charset.name()));
    let name = settings.name.as_ref().map(|name| format!("terminal={name}"));
    let written: Vec<_> = [width, charset, name].into_iter().flatten().collect();
    if written.is_empty() {
        return target.to_owned();
    }
    let (is_program, mark) = kind_of(target).map_or((false, '?'), |kind| (kind.starts_program, kind.settings_mark));
    let mark = if !is_program && target.contains(mark) { '&' } else { mark };
    format!("{target}{mark}{}", written.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn the_settings_may_stand_among_others() {
        for (text, written) in [
            ("tcp://h:23?width=wcwidth", "tcp://h:23?width=wcwidth"),
            ("telnet://h?width=xterm", "telnet://h:23"),
            ("telnet://h?terminal=vt220&charset=CP437", "telnet://h:23?charset=cp437&terminal=vt220"),
            (
                "ssh://h?width=wcwidth&obscure=off&charset=latin-1",
                "ssh://h?obscure=off&width=wcwidth&charset=iso-8859-1",
            ),
            ("pty:app --what?width=wcwidth&terminal=vt100", "pty:app --what?width=wcwidth&terminal=vt100"),
            ("pty:curl h/x?width=100", "pty:curl h/x?width=100"),
            ("pty:curl h/x?charset=cp437&y=1", "pty:curl h/x?charset=cp437&y=1"),
        ] {
            assert_eq!(canonical(text).unwrap(), written);
            assert_eq!(
                TerminalSettings::from_target(text).has_wide_emoji == Some(true),
                written.contains("wcwidth"),
                "{text}"
            );
        }
        assert_eq!(TerminalSettings::from_target("pty:curl h/x?charset=cp437&y=1"), TerminalSettings::default());
        assert_eq!(
            TerminalSettings::from_target("serial:/dev/ttyS0?baud=300&terminal=vt52").name.as_deref(),
            Some("vt52")
        );
    }

    #[test]
    fn other_values_are_refused_and_a_3270_has_no_such_settings() {
        for text in [
            "tcp://h:23?width=2",
            "ssh://h?width=xterm&width=wcwidth",
            "tn3270://h?width=wcwidth",
            "tcp://h:23?charset=utf-8",
            "tcp://h:23?charset=cp437&charset=cp850",
            "telnet://h?terminal=",
            "telnet://h?terminal=a%20b",
        ] {
            let error = canonical(text).unwrap_err().to_string();
            assert!(["width=", "charset=", "terminal="].iter().any(|key| error.contains(key)), "{error}");
        }
    }
}
