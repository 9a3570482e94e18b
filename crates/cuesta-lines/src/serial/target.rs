//! A `serial:` target: a device and its line settings.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serial2_tokio::{CharSize, FlowControl, Parity, Settings, StopBits};

use crate::TargetError;
use crate::target::{name_in, named};

/// `serial:DEVICE[?settings]`. The defaults are 9600 bits a second, 8 bits, no parity, one stop bit, no flow control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SerialTarget {
    pub device: PathBuf,
    /// `baud=9600`: bits a second.
    pub baud: u32,
    /// `data=8`: bits of a character.
    pub data: CharSize,
    /// `parity=none`
    pub parity: Parity,
    /// `stop=1`
    pub stop: StopBits,
    /// `flow=none`: how one end stops the other; the characters of `xonxoff` (DC3, DC1) cannot be typed.
    pub flow: FlowControl,
}

const DATA: [(&str, CharSize); 4] =
    [("5", CharSize::Bits5), ("6", CharSize::Bits6), ("7", CharSize::Bits7), ("8", CharSize::Bits8)];
const PARITY: [(&str, Parity); 3] = [("none", Parity::None), ("odd", Parity::Odd), ("even", Parity::Even)];
const STOP: [(&str, StopBits); 2] = [("1", StopBits::One), ("2", StopBits::Two)];
const FLOW: [(&str, FlowControl); 3] =
    [("none", FlowControl::None), ("xonxoff", FlowControl::XonXoff), ("rtscts", FlowControl::RtsCts)];

const SETTINGS: &str = "baud, data, parity, stop or flow, as in serial:/dev/ttyUSB0?baud=9600&parity=even";

impl FromStr for SerialTarget {
    type Err = TargetError;

    /// Reads what follows `serial:`.
    fn from_str(rest: &str) -> Result<Self, TargetError> {
        let (device, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !device.starts_with('/') || device.starts_with("//") {
            return Err(TargetError::NoDevice(device.to_owned()));
        }
        let mut target = Self {
            device: device.into(),
            baud: 9600,
            data: CharSize::Bits8,
            parity: Parity::None,
            stop: StopBits::One,
            flow: FlowControl::None,
        };
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            target
                .set(setting)
                .map_err(|expected| TargetError::BadSetting { setting: setting.to_owned(), expected })?;
        }
        Ok(target)
    }
}

impl SerialTarget {
    /// Applies one setting of the query. The error is what was expected.
    fn set(&mut self, setting: &str) -> Result<(), &'static str> {
        let (key, value) = setting.split_once('=').ok_or(SETTINGS)?;
        match key {
            "baud" => {
                self.baud = value.parse().ok().filter(|baud| *baud > 0).ok_or("bits a second, as in baud=9600")?;
            }
            "data" => self.data = named(&DATA, value).ok_or("5, 6, 7 or 8 data bits, as in data=8")?,
            "parity" => self.parity = named(&PARITY, value).ok_or("none, odd or even, as in parity=none")?,
            "stop" => self.stop = named(&STOP, value).ok_or("1 or 2 stop bits, as in stop=1")?,
            "flow" => self.flow = named(&FLOW, value).ok_or("none, xonxoff or rtscts, as in flow=none")?,
            _ => return Err(SETTINGS),
        }
        Ok(())
    }

    /// Applies the settings to a device.
    pub(super) fn apply(&self, settings: &mut Settings) -> std::io::Result<()> {
        settings.set_raw();
        settings.set_baud_rate(self.baud)?;
        settings.set_char_size(self.data);
        settings.set_parity(self.parity);
        settings.set_stop_bits(self.stop);
        settings.set_flow_control(self.flow);
        Ok(())
    }
}

impl fmt::Display for SerialTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "serial:{}?baud={}", self.device.display(), self.baud)?;
        for (key, value, usual) in [
            ("data", name_in(&DATA, self.data), "8"),
            ("parity", name_in(&PARITY, self.parity), "none"),
            ("stop", name_in(&STOP, self.stop), "1"),
            ("flow", name_in(&FLOW, self.flow), "none"),
        ] {
            if value != usual {
                write!(f, "&{key}={value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Target;

    fn read_back(text: &str) -> String {
        text.parse::<Target>().map_or_else(|error| error.to_string(), |target| target.to_string())
    }

    #[test]
    fn a_target_reads_back_as_written() {
        let all = "serial:/dev/ttyUSB0?baud=300&data=7&parity=even&stop=2&flow=xonxoff";
        assert_eq!(read_back(all), all);
        assert_eq!(read_back("serial:/dev/ttyS1"), "serial:/dev/ttyS1?baud=9600");
        assert_eq!(
            read_back("serial:/dev/ttyS1?flow=none&stop=1&parity=none&data=8&baud=115200"),
            "serial:/dev/ttyS1?baud=115200"
        );
        assert_eq!(read_back("serial:/d?parity=odd&flow=rtscts"), "serial:/d?baud=9600&parity=odd&flow=rtscts");
    }

    #[test]
    fn errors_give_a_correct_example() {
        let texts = [
            "serial:",
            "serial:ttyS0",
            "serial:///dev/ttyS0",
            "serial:/dev/ttyS0?9600",
            "serial:/dev/ttyS0?baud=fast",
            "serial:/dev/ttyS0?baud=0",
            "serial:/dev/ttyS0?data=9",
            "serial:/dev/ttyS0?parity=mark",
            "serial:/dev/ttyS0?stop=1.5",
            "serial:/dev/ttyS0?flow=dtr",
            "serial:/dev/ttyS0?speed=9600",
        ];
        let errors: Vec<String> = texts.iter().map(|text| format!("{text:28} {}", read_back(text))).collect();
        insta::assert_snapshot!(errors.join("\n"));
    }
}
