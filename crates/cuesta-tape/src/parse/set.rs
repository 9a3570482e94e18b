//! Settings: VHS's, of which most matter only to a video, and ours.

use std::time::Duration;

use cuesta_distributions::KeyDistribution;

use super::{Arguments, Parser};
use crate::Echo;
use crate::command::Action;
use crate::error::{TapeError, did_you_mean};
use crate::lex::{Kind, Token, UNITS};
use crate::script::Settings;
use crate::words::{self, SettingKind};

const LEAST_CPS: f64 = 0.01;
const MOST_CPS: f64 = 10_000.0;
const MOST_BAUD: u32 = 1_000_000_000;
pub(super) const LARGEST_TERMINAL: u16 = 1000;

impl Parser<'_> {
    pub(crate) fn set(&mut self) -> Result<Arguments, TapeError> {
        let name = self.peek().clone();
        let known = words::setting(&name.text);
        let known = known.filter(|setting| name.kind == if setting.is_own() { Kind::Bare } else { Kind::Keyword });
        let Some(setting) = known else {
            let hint = did_you_mean(&name.text, words::setting_names(), "write for example Set KeyRate 2cps");
            return Err(self.error(&name, format!("{} is no setting", name.quote()), hint));
        };
        self.take();
        let mut settings = Settings::default();
        let args = (setting.parse)(self, &name, &mut settings)?;
        let action = match setting.kind {
            // A value that is left out, which a note has reported, does nothing.
            SettingKind::Vhs(holds) | SettingKind::Own(holds) if settings != Settings::default() => {
                Action::Set { settings: Box::new(settings), holds }
            }
            _ => Action::Nothing,
        };
        Ok(Arguments::new(name.text, args, action))
    }

    pub(crate) fn wait_timeout(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let time = self.time()?;
        settings.wait_timeout = time.means;
        Ok(time.text)
    }

    pub(crate) fn wait_pattern(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.value()?;
        if value.kind != Kind::End {
            settings.wait_pattern = Some(self.pattern(&value)?);
        }
        Ok(value.text.into_owned())
    }

    /// A time without minutes. VHS accepts any word here and fails later, so a wrong one is accepted with a note.
    pub(crate) fn typing_speed(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.value()?;
        let unit = self.take_if(|token| token.is_keyword(&UNITS[..2])).map_or("s".into(), |unit| unit.text);
        let text = format!("{}{unit}", value.text);
        settings.key_gap = self.duration(&value, &text)?;
        Ok(text)
    }

    pub(crate) fn any_value(&mut self) -> Result<String, TapeError> {
        Ok(self.value()?.text.into_owned())
    }

    pub(crate) fn window_bar(&mut self) -> Result<String, TapeError> {
        let value = self.value()?;
        if !["", "Colorful", "ColorfulRight", "Rings", "RingsRight"].contains(&value.text.as_ref()) {
            let hint = "write Colorful, ColorfulRight, Rings or RingsRight";
            return Err(self.error(&value, format!("{} is no window bar", value.quote()), hint));
        }
        Ok(value.text.into_owned())
    }

    pub(crate) fn cursor_blink(&mut self) -> Result<String, TapeError> {
        let value = self.value()?;
        if !value.is_keyword(&["true", "false"]) {
            let message = format!("{} is neither true nor false", value.quote());
            return Err(self.error(&value, message, "write true or false"));
        }
        Ok(value.text.into_owned())
    }

    pub(crate) fn margin_fill(&mut self) -> Result<String, TapeError> {
        let value = self.value()?;
        if value.text.starts_with('#') && !is_colour(&value.text) {
            let message = format!("{} is no colour", value.quote());
            return Err(self.error(&value, message, "write for example \"#6b50ff\""));
        }
        Ok(value.text.into_owned())
    }

    pub(crate) fn loop_offset(&mut self) -> Result<String, TapeError> {
        let value = self.value()?;
        self.take_if(|token| token.is_symbol("%"));
        Ok(format!("{}%", value.text))
    }

    /// How the gaps between keys vary: the rest of the row.
    pub(crate) fn key_law(&mut self, name: &Token, settings: &mut Settings) -> Result<String, TapeError> {
        let (text, distribution) = self.rest_of_row(name, KeyDistribution::parse)?;
        settings.key_distribution = Some(distribution);
        Ok(text)
    }

    /// `2cps`, or `2`: keys a second; 0 = without any pause.
    pub(crate) fn key_rate(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let rate = self.peek().clone();
        let gap = match rate.text.parse::<f64>() {
            _ if rate.kind != Kind::Number => None,
            Ok(0.0) => Some(Duration::ZERO),
            Ok(cps) if (LEAST_CPS..=MOST_CPS).contains(&cps) => Some(Duration::from_secs_f64(cps.recip())),
            _ => None,
        };
        if gap.is_none() {
            let message = format!("{} is no key rate", rate.quote());
            let hint = "write keys a second from 0.01 to 10000, for example 2cps; 0 is as fast as the line goes";
            return Err(self.error(&rate, message, hint));
        }
        self.take();
        self.take_if(|token| token.kind == Kind::Bare && token.text == "cps");
        settings.key_gap = gap;
        Ok(format!("{}cps", rate.text))
    }

    pub(crate) fn echo(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        settings.echo = Some(match value.text.as_ref() {
            "timed" => Echo::Timed,
            "screen" => Echo::Screen,
            "change" => Echo::Change,
            "off" => Echo::Untimed,
            _ => {
                let message = format!("{} is no way to treat echoes", value.quote());
                let hint = "write `timed` (every key to its own echo), `screen` (to its text on the screen), `change` (to the first \
                            frame that differs) or `off`";
                return Err(self.error(&value, message, hint));
            }
        });
        Ok(self.take().text.into_owned())
    }

    /// Pairs of what is typed and what is shown for it.
    pub(crate) fn echo_map(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        let pairs = value.text.as_bytes();
        if !value.is_text() || !value.text.is_ascii() || pairs.is_empty() || pairs.len() % 2 == 1 {
            let message = format!("{} is no echo map", value.quote());
            let hint = "write pairs, each what is typed and what is shown: \"a0\", \"a0b1\"";
            return Err(self.error(&value, message, hint));
        }
        settings.echo_map = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Ok(self.take().text.into_owned())
    }

    pub(crate) fn prompt(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        if value.kind != Kind::Regex && !value.is_text() {
            let message = format!("{} is no prompt", value.quote());
            return Err(self.error(&value, message, "a pattern stands between slashes: Set Prompt /[$#] $/"));
        }
        settings.prompt = Some(self.pattern(&value)?);
        Ok(self.take().text.into_owned())
    }

    /// `LineSpeed`, `Columns`, `Rows`: what the line is when it opens.
    pub(crate) fn terminal(&mut self, name: &Token, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        let number = value.text.parse::<u32>().ok().filter(|_| value.kind == Kind::Number);
        let size = number.and_then(|n| u16::try_from(n).ok()).filter(|n| (1..=LARGEST_TERMINAL).contains(n));
        let speed = number.filter(|n| *n == 0 || (50..=MOST_BAUD).contains(n));
        match name.text.as_ref() {
            "Columns" => settings.columns = size,
            "Rows" => settings.rows = size,
            _ => settings.line_speed = speed,
        }
        if *settings == Settings::default() {
            let hint = match name.text.as_ref() {
                "LineSpeed" => "write bits a second, for example 9600, at least 50; 0 is as fast as the line goes",
                _ => "write a whole number from 1 to 1000",
            };
            let message = format!("{} is no value for {}", value.quote(), name.text);
            return Err(self.error(&value, message, hint));
        }
        Ok(self.take().text.into_owned())
    }
}

fn is_colour(text: &str) -> bool {
    text.len() == 7 && text[1..].bytes().all(|b| b.is_ascii_hexdigit())
}
