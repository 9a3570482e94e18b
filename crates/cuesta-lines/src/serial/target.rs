//! A `serial:` target: a device and its line settings.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serial2_tokio::{CharSize, Settings, StopBits};

use crate::TargetError;

/// `serial:DEVICE[?settings]`. The defaults are 9600 bits a second, 8 bits, no parity, one stop bit, no flow control.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SerialTarget {
    /// The device's path.
    pub device: PathBuf,
    /// `baud=9600`: bits a second.
    pub baud: u32,
    /// `data=8`: bits of a character, 5 to 8.
    pub data: u8,
    /// `parity=none`
    pub parity: Parity,
    /// `stop=1`: stop bits, 1 or 2.
    pub stop: u8,
    /// `flow=none`
    pub flow: FlowControl,
}

/// The parity bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parity {
    /// There is none.
    None,
    /// It makes the number of ones odd.
    Odd,
    /// It makes the number of ones even.
    Even,
}

/// Flow control: how one end stops the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowControl {
    /// Not at all.
    None,
    /// By characters (DC3, DC1), which then cannot be typed.
    XonXoff,
    /// By the wires RTS and CTS.
    RtsCts,
}

const SETTINGS: &str = "baud, data, parity, stop or flow, as in serial:/dev/ttyUSB0?baud=9600&parity=even";

impl FromStr for SerialTarget {
    type Err = TargetError;

    /// Reads what follows `serial:`.
    fn from_str(rest: &str) -> Result<Self, TargetError> {
        let (device, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !device.starts_with('/') || device.starts_with("//") {
            return Err(TargetError::NoDevice(device.to_owned()));
        }
        let mut target =
            Self { device: device.into(), baud: 9600, data: 8, parity: Parity::None, stop: 1, flow: FlowControl::None };
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
        match setting.split_once('=').ok_or(SETTINGS)? {
            ("baud", rate) => {
                self.baud = rate.parse().ok().filter(|baud| *baud > 0).ok_or("bits a second, as in baud=9600")?;
            }
            ("data", "5" | "6" | "7" | "8") => self.data = setting.as_bytes()[5] - b'0',
            ("data", _) => return Err("5, 6, 7 or 8 data bits, as in data=8"),
            ("parity", "none") => self.parity = Parity::None,
            ("parity", "odd") => self.parity = Parity::Odd,
            ("parity", "even") => self.parity = Parity::Even,
            ("parity", _) => return Err("none, odd or even, as in parity=none"),
            ("stop", "1") => self.stop = 1,
            ("stop", "2") => self.stop = 2,
            ("stop", _) => return Err("1 or 2 stop bits, as in stop=1"),
            ("flow", "none") => self.flow = FlowControl::None,
            ("flow", "xonxoff") => self.flow = FlowControl::XonXoff,
            ("flow", "rtscts") => self.flow = FlowControl::RtsCts,
            ("flow", _) => return Err("none, xonxoff or rtscts, as in flow=none"),
            _ => return Err(SETTINGS),
        }
        Ok(())
    }

    /// Applies the settings to a device.
    pub(super) fn apply(&self, settings: &mut Settings) -> std::io::Result<()> {
        settings.set_raw();
        settings.set_baud_rate(self.baud)?;
        settings.set_char_size(match self.data {
            5 => CharSize::Bits5,
            6 => CharSize::Bits6,
            7 => CharSize::Bits7,
            _ => CharSize::Bits8,
        });
        settings.set_parity(match self.parity {
            Parity::None => serial2_tokio::Parity::None,
            Parity::Odd => serial2_tokio::Parity::Odd,
            Parity::Even => serial2_tokio::Parity::Even,
        });
        settings.set_stop_bits(if self.stop == 2 { StopBits::Two } else { StopBits::One });
        settings.set_flow_control(match self.flow {
            FlowControl::None => serial2_tokio::FlowControl::None,
            FlowControl::XonXoff => serial2_tokio::FlowControl::XonXoff,
            FlowControl::RtsCts => serial2_tokio::FlowControl::RtsCts,
        });
        Ok(())
    }
}

impl fmt::Display for SerialTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "serial:{}?baud={}", self.device.display(), self.baud)?;
        if self.data != 8 {
            write!(f, "&data={}", self.data)?;
        }
        f.write_str(match self.parity {
            Parity::None => "",
            Parity::Odd => "&parity=odd",
            Parity::Even => "&parity=even",
        })?;
        if self.stop != 1 {
            write!(f, "&stop={}", self.stop)?;
        }
        f.write_str(match self.flow {
            FlowControl::None => "",
            FlowControl::XonXoff => "&flow=xonxoff",
            FlowControl::RtsCts => "&flow=rtscts",
        })
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
        let said: Vec<String> = texts.iter().map(|text| format!("{text:28} {}", read_back(text))).collect();
        insta::assert_snapshot!(said.join("\n"));
    }
}
