//! Settings: VHS's, of which most matter only to a video, and ours.

use std::time::Duration;

use cuesta_distributions::KeyDistribution;

use super::{Action, Arguments, Holds, Parser};
use crate::Echo;
use crate::error::{TapeError, did_you_mean};
use crate::script::Settings;
use crate::token::{Kind, OUR_SETTINGS, SETTINGS, Token, UNITS, shown};

const LEAST_CPS: f64 = 0.01;
const MOST_CPS: f64 = 10_000.0;
const MOST_BAUD: u32 = 1_000_000_000;
pub(super) const LARGEST_TERMINAL: u16 = 1000;

impl Parser<'_> {
    pub(crate) fn set(&mut self) -> Result<Arguments, TapeError> {
        let setting = self.peek().clone();
        let named = |kind, names: &[&str]| setting.kind == kind && names.contains(&setting.text.as_ref());
        if named(Kind::Keyword, &SETTINGS) {
            self.take();
            self.vhs_setting(&setting)
        } else if named(Kind::Bare, &OUR_SETTINGS) {
            self.take();
            self.our_setting(&setting)
        } else {
            let hint = did_you_mean(
                &setting.text,
                SETTINGS.into_iter().chain(OUR_SETTINGS),
                "write for example Set KeyRate 2cps",
            );
            Err(self.error(&setting, format!("{} is no setting", setting.shown()), hint))
        }
    }

    fn vhs_setting(&mut self, setting: &Token) -> Result<Arguments, TapeError> {
        let (args, settings, holds) = match setting.text.as_ref() {
            "TypingSpeed" => self.typing_speed()?,
            "WaitTimeout" => {
                let time = self.time()?;
                (time.text, Settings { wait_timeout: time.means, ..Settings::default() }, Holds::FromHereUnlikeVhs)
            }
            "WaitPattern" => {
                let value = self.value()?;
                let given = Some(&value).filter(|value| value.kind != Kind::End);
                let wait_pattern = given.map(|value| self.pattern(value)).transpose()?;
                let settings = Settings { wait_pattern, ..Settings::default() };
                (value.text.into_owned(), settings, Holds::FromHereUnlikeVhs)
            }
            name => return self.video_setting(name).map(|args| Arguments::new(name, args, Action::Nothing)),
        };
        Ok(set(setting, args, settings, holds))
    }

    /// A time without minutes. VHS accepts any word here and fails later, so a wrong one is accepted with a note.
    fn typing_speed(&mut self) -> Result<(String, Settings, Holds), TapeError> {
        let value = self.value()?;
        let unit = self.take_if(|token| token.is_keyword(&UNITS[..2])).map_or("s".into(), |unit| unit.text);
        let text = format!("{}{unit}", value.text);
        let key_gap = self.duration(&value, &text)?;
        Ok((text, Settings { key_gap, ..Settings::default() }, Holds::FromHere))
    }

    /// Any value that VHS does not refuse.
    fn video_setting(&mut self, name: &str) -> Result<String, TapeError> {
        let value = self.value()?;
        let text = value.text.as_ref();
        match name {
            "WindowBar" if !["", "Colorful", "ColorfulRight", "Rings", "RingsRight"].contains(&text) => {
                let hint = "write Colorful, ColorfulRight, Rings or RingsRight";
                Err(self.error(&value, format!("{} is no window bar", value.shown()), hint))
            }
            "CursorBlink" if !value.is_keyword(&["true", "false"]) => {
                let message = format!("{} is neither true nor false", value.shown());
                Err(self.error(&value, message, "write true or false"))
            }
            "MarginFill" if text.starts_with('#') && !is_colour(text) => {
                Err(self.error(&value, format!("{} is no colour", value.shown()), "write for example \"#6b50ff\""))
            }
            "LoopOffset" => {
                self.take_if(|token| token.is_symbol("%"));
                Ok(format!("{text}%"))
            }
            _ => Ok(value.text.into_owned()),
        }
    }

    fn our_setting(&mut self, setting: &Token) -> Result<Arguments, TapeError> {
        let mut settings = Settings::default();
        let mut holds = Holds::FromHere;
        let args = match setting.text.as_ref() {
            "KeyRate" => self.key_rate(&mut settings)?,
            "KeyLaw" => {
                let (text, distribution) = self.rest_of_row(setting, KeyDistribution::parse)?;
                settings.key_distribution = Some(distribution);
                text
            }
            "Echo" => self.echo(&mut settings)?,
            "EchoMap" => self.echo_map(&mut settings)?,
            "Prompt" => self.prompt(&mut settings)?,
            name => {
                holds = Holds::Throughout;
                self.terminal(name, &mut settings)?
            }
        };
        Ok(set(setting, args, settings, holds))
    }

    /// `2cps`, or `2`: keys a second; 0 = without any pause.
    fn key_rate(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let rate = self.peek().clone();
        let gap = match rate.text.parse::<f64>() {
            _ if rate.kind != Kind::Number => None,
            Ok(0.0) => Some(Duration::ZERO),
            Ok(cps) if (LEAST_CPS..=MOST_CPS).contains(&cps) => Some(Duration::from_secs_f64(cps.recip())),
            _ => None,
        };
        if gap.is_none() {
            let message = format!("{} is no key rate", rate.shown());
            let hint = "write keys a second from 0.01 to 10000, for example 2cps; 0 is as fast as the line goes";
            return Err(self.error(&rate, message, hint));
        }
        self.take();
        self.take_if(|token| token.kind == Kind::Bare && token.text == "cps");
        settings.key_gap = gap;
        Ok(format!("{}cps", rate.text))
    }

    fn echo(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        settings.echo = Some(match value.text.as_ref() {
            "timed" => Echo::Timed,
            "screen" => Echo::Screen,
            "off" => Echo::Untimed,
            _ => {
                let message = format!("{} is no way to treat echoes", value.shown());
                let hint = "write `timed` (every key to its own echo), `screen` (to its cell on the screen) or `off`";
                return Err(self.error(&value, message, hint));
            }
        });
        Ok(self.take().text.into_owned())
    }

    /// Pairs of what is typed and what is shown for it.
    fn echo_map(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        let pairs = value.text.as_bytes();
        if !value.is_text() || !value.text.is_ascii() || pairs.is_empty() || pairs.len() % 2 == 1 {
            let message = format!("{} is no echo map", value.shown());
            let hint = "write pairs, each what is typed and what is shown: \"a0\", \"a0b1\"";
            return Err(self.error(&value, message, hint));
        }
        settings.echo_map = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Ok(self.take().text.into_owned())
    }

    fn prompt(&mut self, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        if value.kind != Kind::Regex && !value.is_text() {
            let message = format!("{} is no prompt", value.shown());
            return Err(self.error(&value, message, "a pattern stands between slashes: Set Prompt /[$#] $/"));
        }
        settings.prompt = Some(self.pattern(&value)?);
        Ok(self.take().text.into_owned())
    }

    /// `LineSpeed`, `Columns`, `Rows`: what the line is when it opens.
    fn terminal(&mut self, name: &str, settings: &mut Settings) -> Result<String, TapeError> {
        let value = self.peek().clone();
        let number = value.text.parse::<u32>().ok().filter(|_| value.kind == Kind::Number);
        let size = number.and_then(|n| u16::try_from(n).ok()).filter(|n| (1..=LARGEST_TERMINAL).contains(n));
        let speed = number.filter(|n| *n == 0 || (50..=MOST_BAUD).contains(n));
        match name {
            "Columns" => settings.columns = size,
            "Rows" => settings.rows = size,
            _ => settings.line_speed = speed,
        }
        if *settings == Settings::default() {
            let hint = match name {
                "LineSpeed" => "write bits a second, for example 9600, at least 50; 0 is as fast as the line goes",
                _ => "write a whole number from 1 to 1000",
            };
            let message = format!("{} is no value for {}", value.shown(), shown(name));
            return Err(self.error(&value, message, hint));
        }
        Ok(self.take().text.into_owned())
    }
}

/// A setting. One without a value, which a note has reported, does nothing.
fn set(setting: &Token, args: String, settings: Settings, holds: Holds) -> Arguments {
    let empty = settings == Settings::default();
    let action = if empty { Action::Nothing } else { Action::Set { settings: Box::new(settings), holds } };
    Arguments::new(setting.text.clone(), args, action)
}

fn is_colour(text: &str) -> bool {
    text.len() == 7 && text[1..].bytes().all(|b| b.is_ascii_hexdigit())
}
