//! How a host counts the columns of a character, as its target says: `?width=wcwidth`, on any line that ends at a video terminal.

use std::borrow::Cow;

use crate::target::{TargetError, TerminalKind, kind_of};

/// Whose table of widths a host goes by where tables differ.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Widths {
    /// xterm's, which most programs have too.
    #[default]
    Xterm,
    /// That of Python's wcwidth and JavaScript's string-width: an emoji takes two columns.
    Wcwidth,
}

const SETTING: &str = "width=";

/// How the host of a target counts; as xterm if the target is not one.
pub fn widths_of(target: &str) -> Widths {
    split(target).ok().and_then(|(_, widths)| widths).unwrap_or_default()
}

/// A target without this setting, and the setting.
pub(crate) fn split(text: &str) -> Result<(Cow<'_, str>, Option<Widths>), TargetError> {
    let unchanged = Ok((Cow::Borrowed(text), None));
    let Some((before, settings)) = text.rsplit_once('?') else { return unchanged };
    let Some(kind) = kind_of(text).filter(|kind| kind.terminal == TerminalKind::Vt) else { return unchanged };
    // A command may hold anything: only exactly this at its end is no part of it.
    if kind.starts_program && !matches!(settings, "width=xterm" | "width=wcwidth") {
        return unchanged;
    }
    let (ours, others): (Vec<&str>, Vec<&str>) = settings.split('&').partition(|setting| setting.starts_with(SETTING));
    let widths = match ours[..] {
        [] => return unchanged,
        ["width=xterm"] => Widths::Xterm,
        ["width=wcwidth"] => Widths::Wcwidth,
        [setting, ..] => {
            let expected = "width=xterm or width=wcwidth, once";
            return Err(TargetError::BadSetting { setting: setting.to_owned(), expected });
        }
    };
    let rest = if others.is_empty() { before.to_owned() } else { format!("{before}?{}", others.join("&")) };
    Ok((Cow::Owned(rest), Some(widths)))
}

/// A target with the setting, if it is not the usual one.
pub(crate) fn with(target: &str, widths: Widths) -> String {
    match widths {
        Widths::Wcwidth => {
            let is_program = kind_of(target).is_some_and(|kind| kind.starts_program);
            let mark = if !is_program && target.contains('?') { '&' } else { '?' };
            format!("{target}{mark}width=wcwidth")
        }
        Widths::Xterm => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn the_setting_may_stand_among_others() {
        for (text, written) in [
            ("tcp://h:23?width=wcwidth", "tcp://h:23?width=wcwidth"),
            ("telnet://h?width=xterm", "telnet://h:23"),
            ("ssh://h?width=wcwidth&obscure=off", "ssh://h?obscure=off&width=wcwidth"),
            ("pty:app --what?width=wcwidth", "pty:app --what?width=wcwidth"),
            ("pty:curl h/x?width=100", "pty:curl h/x?width=100"),
        ] {
            assert_eq!(canonical(text).unwrap(), written);
            assert_eq!(widths_of(text) == Widths::Wcwidth, written.contains("wcwidth"), "{text}");
        }
    }

    #[test]
    fn other_values_are_refused_and_a_3270_has_no_such_setting() {
        for text in ["tcp://h:23?width=2", "ssh://h?width=xterm&width=wcwidth", "tn3270://h?width=wcwidth"] {
            assert!(canonical(text).unwrap_err().to_string().contains("width="), "{text}");
        }
    }
}
