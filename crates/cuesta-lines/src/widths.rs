//! How a host counts the columns of a character, as its target says: `?width=wcwidth`, on any line that ends at a video terminal.

use std::borrow::Cow;

use crate::target::{TargetError, TerminalKind, kind_of};

const SETTING: &str = "width=";

/// Whether the host of a target gives an emoji two columns, as Python's wcwidth and JavaScript's string-width do, and not those of its
/// character, as xterm does. Xterm's table is the usual one, also for a text that is no target.
pub fn has_wide_emoji(target: &str) -> bool {
    split(target).ok().and_then(|(_, is_wide)| is_wide).unwrap_or(false)
}

/// A target without this setting, and whether the setting says that an emoji is wide.
pub(crate) fn split(text: &str) -> Result<(Cow<'_, str>, Option<bool>), TargetError> {
    let unchanged = Ok((Cow::Borrowed(text), None));
    let Some((before, settings)) = text.rsplit_once('?') else { return unchanged };
    let Some(kind) = kind_of(text).filter(|kind| kind.terminal == TerminalKind::Vt) else { return unchanged };
    // A command may hold anything: only exactly this at its end is no part of it.
    if kind.starts_program && !matches!(settings, "width=xterm" | "width=wcwidth") {
        return unchanged;
    }
    let (ours, others): (Vec<&str>, Vec<&str>) = settings.split('&').partition(|setting| setting.starts_with(SETTING));
    let is_wide = match ours[..] {
        [] => return unchanged,
        ["width=xterm"] => false,
        ["width=wcwidth"] => true,
        [setting, ..] => {
            let expected = "width=xterm or width=wcwidth, once";
            return Err(TargetError::BadSetting { setting: setting.to_owned(), expected });
        }
    };
    let rest = if others.is_empty() { before.to_owned() } else { format!("{before}?{}", others.join("&")) };
    Ok((Cow::Owned(rest), Some(is_wide)))
}

/// A target with the setting, if it is not the usual one.
pub(crate) fn with(target: &str, is_wide: bool) -> String {
    if !is_wide {
        return target.to_owned();
    }
    let is_program = kind_of(target).is_some_and(|kind| kind.starts_program);
    let mark = if !is_program && target.contains('?') { '&' } else { '?' };
    format!("{target}{mark}width=wcwidth")
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
            assert_eq!(has_wide_emoji(text), written.contains("wcwidth"), "{text}");
        }
    }

    #[test]
    fn other_values_are_refused_and_a_3270_has_no_such_setting() {
        for text in ["tcp://h:23?width=2", "ssh://h?width=xterm&width=wcwidth", "tn3270://h?width=wcwidth"] {
            assert!(canonical(text).unwrap_err().to_string().contains("width="), "{text}");
        }
    }
}
