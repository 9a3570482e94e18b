//! A `bsc:` target: an address, the station's role, code and framing, and its timers and limits.

use std::fmt;
use std::time::Duration;

use crate::target::{Address, TargetError, name_in, named, query};
use crate::wire::bisync::{AfterBlockWait, Code, Framing, Profile, Role, Transparency};

/// `bsc://HOST:PORT[?settings]`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BisyncTarget {
    /// Where.
    pub address: Address,
    /// `role=primary`; none = primary at the terminal's end, secondary at the host's.
    pub role: Option<Role>,
    /// `code=ebcdic`
    pub code: Code,
    /// `framing=line`
    pub framing: Framing,
    /// `baud=9600`: bits a second, eight to a character; 0 = the line's speed in the plan.
    pub baud: u32,
    /// All other settings, under the names of its fields: `block_size=250`, `reply_timeout=3s`.
    pub profile: Profile,
}

const EXPECTED: &str = "code, role, framing, baud, or a timer or limit of docs/lines.md, as in \
                        bsc://127.0.0.1:2703?code=ebcdic&role=primary&block_size=250&reply_timeout=3s";

/// A field of a profile.
enum Field<'a> {
    Time(&'a mut Duration),
    Limit(&'a mut u32),
    Size(&'a mut usize),
    /// A size, or `off`.
    Optional(&'a mut Option<usize>),
    Switch(&'a mut bool),
    AfterBlockWait(&'a mut AfterBlockWait),
    Transparency(&'a mut Transparency),
}

const ROLES: [(&str, Role); 2] = [("primary", Role::Primary), ("secondary", Role::Secondary)];
const CODES: [(&str, Code); 2] = [("ebcdic", Code::Ebcdic), ("ascii", Code::Ascii)];
const FRAMINGS: [(&str, Framing); 2] = [("line", Framing::Line), ("hercules", Framing::Hercules)];
const SWITCH: [(&str, bool); 2] = [("yes", true), ("no", false)];
const AFTER_BLOCK_WAIT: [(&str, AfterBlockWait); 2] =
    [("control", AfterBlockWait::Control), ("disconnect", AfterBlockWait::Disconnect)];
const TRANSPARENCY: [(&str, Transparency); 3] =
    [("auto", Transparency::Auto), ("always", Transparency::Always), ("never", Transparency::Never)];

type Row = (&'static str, fn(&mut Profile) -> Field<'_>);

/// The settings by name.
static PROFILE: [Row; 21] = [
    ("reply_timeout", |profile| Field::Time(&mut profile.reply_timeout)),
    ("primary_bid_timeout", |profile| Field::Time(&mut profile.primary_bid_timeout)),
    ("block_wait", |profile| Field::Time(&mut profile.block_wait)),
    ("after_block_wait", |profile| Field::AfterBlockWait(&mut profile.after_block_wait)),
    ("text_gap", |profile| Field::Time(&mut profile.text_gap)),
    ("wack_delay", |profile| Field::Time(&mut profile.wack_delay)),
    ("wack_pause", |profile| Field::Time(&mut profile.wack_pause)),
    ("wack_limit", |profile| Field::Limit(&mut profile.wack_limit)),
    ("ttd_time", |profile| Field::Time(&mut profile.ttd_time)),
    ("ttd_limit", |profile| Field::Limit(&mut profile.ttd_limit)),
    ("nak_limit", |profile| Field::Limit(&mut profile.nak_limit)),
    ("enq_limit", |profile| Field::Limit(&mut profile.enq_limit)),
    ("bid_limit", |profile| Field::Limit(&mut profile.bid_limit)),
    ("rebid_pause", |profile| Field::Time(&mut profile.rebid_pause)),
    ("yields_always", |profile| Field::Switch(&mut profile.yields_always)),
    ("interrupts", |profile| Field::Switch(&mut profile.interrupts)),
    ("conversational", |profile| Field::Switch(&mut profile.conversational)),
    ("block_size", |profile| Field::Size(&mut profile.block_size)),
    ("record_size", |profile| Field::Optional(&mut profile.record_size)),
    ("fill_every", |profile| Field::Optional(&mut profile.fill_every)),
    ("transparency", |profile| Field::Transparency(&mut profile.transparency)),
];

/// Text that waits for one line: a message and the next.
const QUEUE: usize = 4096;

impl BisyncTarget {
    /// Parses what follows the scheme.
    pub(crate) fn parse(rest: &str) -> Result<Self, TargetError> {
        let (address, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let mut target = Self {
            address: Address::parse("bsc", address, None)?,
            role: None,
            code: Code::Ebcdic,
            framing: Framing::Line,
            baud: 0,
            profile: profile(),
        };
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            let set = setting.split_once('=').is_some_and(|(name, value)| target.set(name, value).is_some());
            if !set {
                return Err(TargetError::BadSetting { setting: setting.to_owned(), expected: EXPECTED });
            }
        }
        target.profile.check().map_err(|error| TargetError::Inconsistent(error.to_string()))?;
        Ok(target)
    }

    /// Sets one of its settings; `None` if there is none of this name, or it has no such value.
    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "role" => self.role = Some(named(&ROLES, value)?),
            "code" => self.code = named(&CODES, value)?,
            "framing" => self.framing = named(&FRAMINGS, value)?,
            "baud" => self.baud = value.parse().ok().filter(|baud| *baud > 0)?,
            name => named(&PROFILE, name)?(&mut self.profile).read(value)?,
        }
        Some(())
    }
}

/// The profile of a target that sets nothing.
fn profile() -> Profile {
    Profile { queue_limit: QUEUE, ..Profile::default() }
}

impl fmt::Display for BisyncTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut settings = Vec::new();
        if self.code == Code::Ascii {
            settings.push("code=ascii".to_owned());
        }
        settings.extend(self.role.map(|role| format!("role={}", name_in(&ROLES, role))));
        if self.framing == Framing::Hercules {
            settings.push("framing=hercules".to_owned());
        }
        if self.baud > 0 {
            settings.push(format!("baud={}", self.baud));
        }
        let (mut own, mut plain) = (self.profile.clone(), profile());
        for (name, field) in &PROFILE {
            let value = field(&mut own).to_string();
            if value != field(&mut plain).to_string() {
                settings.push(format!("{name}={value}"));
            }
        }
        write!(f, "bsc://{}{}", self.address, query(&settings))
    }
}

impl Field<'_> {
    fn read(self, text: &str) -> Option<()> {
        match self {
            Self::Time(time) => *time = duration(text)?,
            Self::Limit(limit) => *limit = text.parse().ok()?,
            Self::Size(size) => *size = text.parse().ok()?,
            Self::Optional(size) => *size = if text == "off" { None } else { Some(text.parse().ok()?) },
            Self::Switch(switch) => *switch = named(&SWITCH, text)?,
            Self::AfterBlockWait(after) => *after = named(&AFTER_BLOCK_WAIT, text)?,
            Self::Transparency(transparency) => *transparency = named(&TRANSPARENCY, text)?,
        }
        Some(())
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{}ms", time.as_millis()),
            Self::Limit(limit) => write!(f, "{limit}"),
            Self::Size(size) => write!(f, "{size}"),
            Self::Optional(None) => f.write_str("off"),
            Self::Optional(Some(size)) => write!(f, "{size}"),
            Self::Switch(switch) => f.write_str(name_in(&SWITCH, **switch)),
            Self::AfterBlockWait(after) => f.write_str(name_in(&AFTER_BLOCK_WAIT, **after)),
            Self::Transparency(transparency) => f.write_str(name_in(&TRANSPARENCY, **transparency)),
        }
    }
}

/// A time in seconds or milliseconds: `3s`, `200ms`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    let milliseconds = number.parse::<u32>().ok()?.checked_mul(unit)?;
    Some(Duration::from_millis(milliseconds.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_reads_back_as_written() {
        for settings in [
            "",
            "?code=ascii&role=primary&framing=hercules&baud=9600",
            "?role=secondary&reply_timeout=2500ms&primary_bid_timeout=2000ms&nak_limit=7&block_size=250&fill_every=1200",
            "?after_block_wait=disconnect&yields_always=yes&interrupts=no&conversational=yes&transparency=always",
        ] {
            let text = format!("//127.0.0.1:2703{settings}");
            assert_eq!(BisyncTarget::parse(&text).unwrap().to_string(), format!("bsc:{text}"));
        }
        let same = BisyncTarget::parse("//h:1?code=ebcdic&framing=line&reply_timeout=3s&record_size=off").unwrap();
        assert_eq!(same.to_string(), "bsc://h:1");
    }

    #[test]
    fn a_mistake_is_named() {
        for (settings, part) in [
            ("code=morse", "\"code=morse\" is no setting"),
            ("baud=0", "\"baud=0\""),
            ("reply_timeout=3", "\"reply_timeout=3\""),
            ("polls=3", "\"polls=3\""),
            ("block_size=0", "block_size must not be zero"),
            ("enq_limit=9", "block_wait is 20s; it must exceed 32s"),
        ] {
            let error = BisyncTarget::parse(&format!("//h:1?{settings}")).unwrap_err().to_string();
            assert!(error.contains(part), "{settings}: {error}");
        }
    }
}
