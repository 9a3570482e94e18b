//! The metrics of a `node_exporter` as a [`CounterSnapshot`]: text in, counters out. The caller fetches the text.
//!
//! It has less than the files it reads: no tasks, no control groups, interrupts of the machine only. Seconds are turned back
//! into clock ticks.

use std::collections::BTreeMap;

use cuesta_meters_report::Figure;

use crate::CounterSnapshot;
use crate::kernel::diskstats::{DeviceCounters, SECTOR};
use crate::kernel::net_dev::InterfaceCounters;
use crate::kernel::pressure::Pressure;
use crate::kernel::sched::RunQueue;
use crate::kernel::stat::Stat;
use crate::kernel::vmstat::FaultCounters;
use crate::snapshot::tasks::tick;

const PROGRAM: &str = "this node_exporter";

/// The text is not from a `node_exporter`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no metrics of a node_exporter: there is no node_cpu_seconds_total in it")]
pub struct NoMetrics;

/// A row of the text: `name{label="value"} 1.5`.
#[derive(Debug, PartialEq)]
struct Row<'a> {
    name: &'a str,
    labels: BTreeMap<&'a str, String>,
    value: f64,
}

impl CounterSnapshot {
    /// Reads the metrics of a `node_exporter`, as of now. The subject is its whole machine.
    pub fn of_node_exporter(text: &str) -> Result<Self, NoMetrics> {
        let rows: Vec<Row> = text.lines().filter_map(row).collect();
        let metrics = Metrics(&rows);
        let no_counters = Self::without_counters(PROGRAM);
        let devices = metrics.devices();
        Ok(Self {
            boot: metrics.one("node_boot_time_seconds").map(|seconds| seconds.to_string()).unwrap_or_default(),
            stat: Figure::plain(metrics.stat().ok_or(NoMetrics)?),
            vmstat: or_missing(metrics.vmstat()),
            stacked: devices.keys().filter(|name| is_stacked(name)).cloned().collect(),
            devices: or_missing(Some(devices).filter(|devices| !devices.is_empty())),
            interfaces: metrics.interfaces(),
            interface_speeds: metrics.interface_speeds(),
            queues: or_missing(metrics.queues()),
            pressure: metrics.pressure(),
            load: or_missing(metrics.one("node_load1")),
            ..no_counters
        })
    }
}

fn or_missing<T>(value: Option<T>) -> Figure<T> {
    value.map_or_else(|| Figure::absent(format!("{PROGRAM} does not tell")), Figure::plain)
}

/// Whether a device is on top of others (loops, volumes, arrays), by its name: the metrics have nothing else.
fn is_stacked(name: &str) -> bool {
    ["loop", "dm-", "md"].iter().any(|kind| name.starts_with(kind))
}

struct Metrics<'a>(&'a [Row<'a>]);

impl Metrics<'_> {
    fn all(&self, name: &str) -> impl Iterator<Item = &Row<'_>> {
        self.0.iter().filter(move |row| row.name == name)
    }

    fn one(&self, name: &str) -> Option<f64> {
        self.all(name).next().map(|row| row.value)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.one(name).map(|count| count as u64)
    }

    fn stat(&self) -> Option<Stat> {
        let mut stat = Stat {
            interrupts: self.count("node_intr_total"),
            switches: self.count("node_context_switches_total"),
            forks: self.count("node_forks_total"),
            ..Stat::default()
        };
        for row in self.all("node_cpu_seconds_total") {
            let Some(cpu) = row.labels.get("cpu").and_then(|cpu| cpu.parse().ok()) else { continue };
            let Some(mode) = row.labels.get("mode") else { continue };
            let ticks = stat.cpus.entry(cpu).or_default();
            let use_ = match mode.as_str() {
                "user" => &mut ticks.user,
                "nice" => &mut ticks.nice,
                "system" => &mut ticks.system,
                "idle" => &mut ticks.idle,
                "iowait" => &mut ticks.iowait,
                "irq" => &mut ticks.irq,
                "softirq" => &mut ticks.softirq,
                "steal" => &mut ticks.steal,
                _ => continue,
            };
            *use_ = (row.value * 1e9 / tick() as f64).round() as u64;
        }
        (!stat.cpus.is_empty()).then_some(stat)
    }

    fn vmstat(&self) -> Option<FaultCounters> {
        Some(FaultCounters {
            faults: self.one("node_vmstat_pgfault")? as u64,
            major: self.one("node_vmstat_pgmajfault")? as u64,
        })
    }

    fn devices(&self) -> BTreeMap<String, DeviceCounters> {
        let mut devices = BTreeMap::<String, DeviceCounters>::new();
        for row in self.0 {
            let (Some(counter), Some(device)) = (row.name.strip_prefix("node_disk_"), row.labels.get("device")) else {
                continue;
            };
            let (count, ms) = (row.value as u64, (row.value * 1e3).round() as u64);
            let device = devices.entry(device.clone()).or_default();
            match counter {
                "reads_completed_total" => device.reads = count,
                "writes_completed_total" => device.writes = count,
                "read_bytes_total" => device.sectors_read = count / SECTOR,
                "written_bytes_total" => device.sectors_written = count / SECTOR,
                "read_time_seconds_total" => device.read_ms = ms,
                "write_time_seconds_total" => device.write_ms = ms,
                "io_time_seconds_total" => device.busy_ms = ms,
                "io_time_weighted_seconds_total" => device.queue_ms = ms,
                _ => {}
            }
        }
        devices.retain(|_, device| device.reads > 0 || device.writes > 0);
        devices
    }

    fn interfaces(&self) -> Figure<BTreeMap<String, InterfaceCounters>> {
        let mut interfaces = BTreeMap::<String, InterfaceCounters>::new();
        for (counter, name, count) in self.of_network() {
            let interface = interfaces.entry(name.to_owned()).or_default();
            match counter {
                "receive_bytes_total" => interface.received_bytes = count,
                "receive_packets_total" => interface.received = count,
                "transmit_bytes_total" => interface.sent_bytes = count,
                "transmit_packets_total" => interface.sent = count,
                "receive_drop_total" | "transmit_drop_total" => interface.dropped += count,
                _ => {}
            }
        }
        or_missing(Some(interfaces).filter(|interfaces| !interfaces.is_empty()))
    }

    fn interface_speeds(&self) -> BTreeMap<String, u64> {
        let speeds = self.of_network().filter(|(counter, _, speed)| *counter == "speed_bytes" && *speed > 0);
        speeds.map(|(_, name, speed)| (name.to_owned(), speed)).collect()
    }

    /// The metrics of interfaces but `lo`: what it is of, the interface, its value.
    fn of_network(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.0.iter().filter_map(|row| {
            let name = row.labels.get("device").filter(|name| *name != "lo")?;
            Some((row.name.strip_prefix("node_network_")?, name.as_str(), row.value as u64))
        })
    }

    fn queues(&self) -> Option<BTreeMap<usize, RunQueue>> {
        let mut queues = BTreeMap::<usize, RunQueue>::new();
        for row in self.0 {
            let Some(counter) = row.name.strip_prefix("node_schedstat_") else { continue };
            let Some(cpu) = row.labels.get("cpu").and_then(|cpu| cpu.parse().ok()) else { continue };
            let queue = queues.entry(cpu).or_default();
            match counter {
                "waiting_seconds_total" => queue.wait = (row.value * 1e9) as u64,
                "timeslices_total" => queue.slices = row.value as u64,
                _ => {}
            }
        }
        (!queues.is_empty()).then_some(queues)
    }

    fn pressure(&self) -> BTreeMap<String, Figure<Pressure>> {
        let stalls = |resource: &str| {
            let micros = |kind| {
                self.one(&format!("node_pressure_{resource}_{kind}_seconds_total")).map(|s| (s * 1e6).round() as u64)
            };
            let pressure = Pressure { some: micros("waiting"), full: micros("stalled") };
            (pressure != Pressure::default()).then(|| (resource.to_owned(), Figure::plain(pressure)))
        };
        ["cpu", "io", "memory", "irq"].into_iter().filter_map(stalls).collect()
    }
}

fn row(text: &str) -> Option<Row<'_>> {
    let end = text.find(['{', ' ']).filter(|end| *end > 0 && !text.starts_with('#'))?;
    let (name, mut rest) = text.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (key, value) = rest.trim_start_matches([',', ' ']).split_once("=\"")?;
            let (value, behind) = quoted(value)?;
            labels.insert(key, value);
            rest = behind;
        }
        rest = &rest[1..];
    }
    let value: f64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Row { name, labels, value })
}

/// The text before the closing quotes, unescaped, and the text after.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[place + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::kernel::stat::Ticks;

    const CAPTURED: &str = include_str!("../tests/captured/node_exporter");

    #[test]
    fn rows() {
        let labels = BTreeMap::from([("a", "x\"},\\y\n".to_owned()), ("b", String::new())]);
        let expected = Row { name: "up", labels, value: 1e3 };
        assert_eq!(row(r#"up{a="x\"},\\y\n", b=""} 1e+03 1700000000"#), Some(expected));
        assert_eq!(row("up 5").map(|row| row.value), Some(5.0));
        for text in ["", "# HELP up x", "up", "up{", "up{a=", "up{a=\"x", "up{a=\"x\"} y", "{} 5"] {
            assert_eq!(row(text), None, "{text:?}");
        }
    }

    #[test]
    fn interfaces_but_lo() {
        let text = "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1\n\
            node_network_receive_bytes_total{device=\"eth0\"} 1.5e+06\n\
            node_network_receive_drop_total{device=\"eth0\"} 2\n\
            node_network_transmit_drop_total{device=\"eth0\"} 3\n\
            node_network_transmit_packets_total{device=\"lo\"} 9\n\
            node_network_speed_bytes{device=\"eth0\"} 1.25e+08\n\
            node_network_speed_bytes{device=\"veth1\"} -125000\n";
        let snapshot = CounterSnapshot::of_node_exporter(text).unwrap();
        let eth0 = InterfaceCounters { received_bytes: 1_500_000, dropped: 5, ..InterfaceCounters::default() };
        assert_eq!(snapshot.interfaces.value().unwrap()["eth0"], eth0);
        assert!(!snapshot.interfaces.value().unwrap().contains_key("lo"));
        assert_eq!(snapshot.interface_speeds, BTreeMap::from([("eth0".to_owned(), 125_000_000)]));
    }

    #[test]
    fn reads_what_a_node_exporter_writes() {
        let snapshot = CounterSnapshot::of_node_exporter(CAPTURED).unwrap();
        let stat = snapshot.stat.value().unwrap();
        assert_eq!(stat.cpus[&1], Ticks::from([575_485, 51_349, 140_742, 708_127, 7712, 0, 46_259, 1529]));
        assert_eq!((stat.switches, stat.forks), (Some(95_561_230), Some(321_087)));
        assert_eq!(snapshot.vmstat.value(), Some(&FaultCounters { faults: 333_716_420, major: 46_325 }));
        let vda = snapshot.devices.value().unwrap()["vda"];
        assert_eq!((vda.reads, vda.busy_ms, vda.sectors_written), (3_297_255, 246_124, 170_064_528));
        assert_eq!(
            snapshot.pressure["io"].value(),
            Some(&Pressure { some: Some(121_256_518), full: Some(67_059_237) })
        );
        assert_eq!(CounterSnapshot::of_node_exporter("up 1\n"), Err(NoMetrics));
    }

    #[test]
    fn unreported_counts_are_missing_without_a_remedy() {
        let untold = ["node_context", "node_intr", "node_forks", "node_disk"];
        let is_told = |row: &&str| !untold.iter().any(|name| row.starts_with(name));
        let text: Vec<&str> = CAPTURED.lines().filter(is_told).collect();
        let earlier = CounterSnapshot::of_node_exporter(&text.join("\n")).unwrap();
        let later = CounterSnapshot { at: earlier.at + Duration::from_secs(1), ..earlier.clone() };
        let report = serde_json::to_value(crate::Delta::compare(&earlier, &later).unwrap().report()).unwrap();
        for count in ["switches", "interrupts", "softirqs", "forks", "wakeups", "ios", "execs", "system_calls"] {
            assert_eq!(report["counts"][count]["why"], "this node_exporter does not tell", "{count}");
        }
        let text = report.to_string();
        for remedy in
            ["sysctl", "cuesta meters", "pid:N", "cgroup", "sampler", "sampled tier", "traced tier", "CONFIG_"]
        {
            assert!(!text.contains(remedy), "{remedy}: {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_or_is_refused(text in "(node_cpu_seconds_total|[a-z_]|[{}\",=\\\\0-9 \n.e-]){0,60}") {
            let _ = CounterSnapshot::of_node_exporter(&text);
        }
    }
}
