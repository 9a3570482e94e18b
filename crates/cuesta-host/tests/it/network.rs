//! The host on its own threads, over real sockets.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};

use crate::programs::{connect, pause, receive, receive_all, start, wait_for_close, wait_for_meters};

#[test]
fn many_lines_at_once_are_all_served() {
    // Both ends of each line are in this process.
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let number = usize::try_from(limit.saturating_sub(100) / 2).unwrap().min(1000);
    for threads in [1, 2] {
        let spec = format!(
            r#"{{"listen":["tcp://127.0.0.1:0"],"threads":{threads},"service":{{"transaction":{{"reply":150}}}},
                "service_time":"fixed 10us","servers":2,"delay":"1ms"}}"#
        );
        let host = start(&spec).unwrap();
        let mut lines: Vec<TcpStream> = (0..number).map(|_| connect(&host)).collect();
        for line in &mut lines {
            line.write_all(b"hello\r").unwrap();
        }
        for line in &lines {
            let text = receive(line, 2 + 7 + 150);
            assert!(text.starts_with(b"> hello\r\n") && text.ends_with(b"\r\n> "));
        }
        let meters = wait_for_meters(&host, |meters| meters["characters"]["line_out"] == (2 + 7 + 150) * number);
        assert_eq!(meters["lines"]["connected"], number);
        assert_eq!(meters["messages"], json!({"in": number, "out": number}));
        assert_eq!(meters["characters"]["typed"], 6 * number);
        assert_eq!(meters["cpu"]["threads"].as_array().unwrap().len(), threads);
        assert!(meters["cpu"]["threads"][0]["seconds"].as_f64().unwrap() > 0.0);
        drop(lines);
        wait_for_close(&host, &json!({"closed": number}));
    }
}

#[test]
fn stopping_closes_the_lines_and_frees_the_port() {
    let host = start(r#"{"listen":["tcp://127.0.0.1:0","telnet://127.0.0.1:0"],"service":{"echo":{}}}"#).unwrap();
    let address = host.addresses()[0].clone();
    let mut line = connect(&host);
    line.write_all(b"x").unwrap();
    assert_eq!(receive(&line, 1), b"x");
    host.stop();
    assert_eq!(line.read(&mut [0; 1]).unwrap(), 0);
    assert_eq!(
        TcpStream::connect(address.trim_start_matches("tcp://")).unwrap_err().kind(),
        ErrorKind::ConnectionRefused
    );
    drop(start(&format!(r#"{{"listen":["{address}"]}}"#)).unwrap());
}

#[test]
fn input_before_a_hangup_is_still_answered() {
    let host = start(r#"{"listen":["tcp://127.0.0.1:0"],"delay":"20ms","echo":false}"#).unwrap();
    let mut line = connect(&host);
    line.write_all(b"one\rtwo\rnever ended").unwrap();
    line.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receive_all(line).len(), 2 + 2 * 150);
    wait_for_close(&host, &json!({"closed": 1}));
}

#[test]
fn telnet_lines_are_negotiated_and_hidden() {
    let host = start(r#"{"listen":["telnet://127.0.0.1:0"],"service":{"echo":{}},"echo_map":"a0"}"#).unwrap();
    let mut line = connect(&host);
    // IAC NOP, and an escaped 255.
    line.write_all(b"a\xff\xf1b\xff\xff").unwrap();
    let mut text = Vec::new();
    while !text.ends_with(b"0b\xff\xff") {
        text.extend(receive(&line, 1));
    }
    assert!(text.len() > 4 && text[0] == 255, "the host's offers come first: {text:?}");
    assert_eq!(host.meters()["characters"]["typed"], 3);
}

#[test]
fn a_reader_that_never_reads_does_not_grow_the_host() {
    let host = start(r#"{"listen":["tcp://127.0.0.1:0"],"service":{"output":{"rows":1000}},"pool":65536}"#).unwrap();
    let lines: Vec<TcpStream> = (0..50).map(|_| connect(&host)).collect();
    let meters = wait_for_meters(&host, |meters| meters["output_blocks"]["count"].as_u64() >= Some(50));
    assert!(meters["pool"]["used"].as_u64().unwrap() <= 65536 + 50 * 64, "{meters}");
    // A user who reads still gets the listing.
    let mut reader = connect(&host);
    for _ in 0..20 {
        assert!(receive(&reader, 1000 * 74).ends_with(b"\r\n"));
    }
    reader.write_all(b"ignored\r").unwrap();
    drop((lines, reader));
    wait_for_meters(&host, |meters| meters["lines"]["connected"] == 0 && meters["pool"]["used"] == 0);
}

#[test]
fn the_series_has_whole_rows_that_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("run/host");
    let spec = format!(r#"{{"listen":["tcp://127.0.0.1:0"],"service":{{"echo":{{}}}},"meters":{inner:?}}}"#);
    let host = start(&spec).unwrap();
    let mut line = connect(&host);
    let file = inner.join("series.jsonl");
    while fs::read_to_string(&file).unwrap().lines().count() < 2 {
        line.write_all(b"xyz").unwrap();
        receive(&line, 3);
        pause();
    }
    let typed = host.meters()["characters"]["typed"].as_u64().unwrap();
    host.stop();
    let text = fs::read_to_string(&file).unwrap();
    let rows: Vec<Value> = text.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert!(text.ends_with('\n') && rows.len() >= 3);
    assert_eq!(rows.iter().map(|row| row["characters"]["typed"].as_u64().unwrap()).sum::<u64>(), typed);
    assert!(rows.windows(2).all(|pair| pair[0]["at"].as_u64() < pair[1]["at"].as_u64()));
    assert!(rows.iter().all(|row| row["cpu"]["threads"][0]["idle"].is_number()), "{text}");
    assert!(rows[0]["cpu"]["process"].as_f64().unwrap() > 0.0);
}

#[test]
fn an_address_that_cannot_be_bound_is_reported_with_a_remedy() {
    let host = start(r#"{"listen":["tcp://127.0.0.1:0"]}"#).unwrap();
    let taken = host.addresses()[0].clone();
    for (spec, parts) in [
        (format!(r#"{{"listen":["{taken}"]}}"#), ["in use", "port 0"]),
        (r#"{"listen":["pty:bash"]}"#.to_owned(), ["pty:bash", "telnet://HOST:PORT"]),
        (r#"{"listen":["host:"]}"#.to_owned(), ["host:", "listen"]),
        (r#"{"listen":[]}"#.to_owned(), ["listen", "telnet://127.0.0.1:0"]),
        (r#"{"cpus":[1000000]}"#.to_owned(), ["cpus", "1000000"]),
        (r#"{"meters":"/dev/null/x"}"#.to_owned(), ["/dev/null/x", "name a folder"]),
    ] {
        let error = start(&spec).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{spec}: {error}");
    }
}

#[test]
fn the_hosts_threads_are_pinned() {
    let cpus = rustix::thread::sched_getaffinity(None).unwrap();
    let cpu = (0..rustix::thread::CpuSet::MAX_CPU).find(|&cpu| cpus.is_set(cpu)).unwrap();
    let spec = format!(r#"{{"listen":["tcp://127.0.0.1:0"],"service":{{"echo":{{}}}},"cpus":[{cpu}]}}"#);
    let host = start(&spec).unwrap();
    let mut line = connect(&host);
    line.write_all(b"x").unwrap();
    assert_eq!(receive(&line, 1), b"x");
    let pinned = fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok).any(|task| {
        let read = |file| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let status = read("status");
        let allowed = status.lines().find_map(|row| row.strip_prefix("Cpus_allowed_list:"));
        read("comm").trim() == "cuesta-host-0" && allowed.map(str::trim) == Some(&cpu.to_string())
    });
    assert!(pinned);
}

#[test]
fn a_shell_beyond_this_machine_is_refused_unless_networks_are_named() {
    let shell =
        |more: &str| format!(r#"{{"listen":["tcp://0.0.0.0:0"],"service":{{"shell":{{"command":"cat"}}}}{more}}}"#);
    let error = start(&shell("")).unwrap_err().to_string();
    assert!(error.contains("would give a shell to anybody who connects") && error.contains("--allow"), "{error}");
    let error = start(&shell(r#","allow":["everyone"]"#)).unwrap_err().to_string();
    assert!(error.contains("\"everyone\" is no network"), "{error}");

    let host = start(&shell(r#","allow":["127.0.0.1"]"#)).unwrap();
    assert!(host.notes()[0].contains("gives `cat` as user") && host.notes()[0].contains("to 127.0.0.1"));
    let line = connect(&host);
    (&line).write_all(b"x").unwrap();
    assert_eq!(receive(&line, 1), b"x");

    let host = start(&shell(r#","allow":["10.1.2.0/24"]"#)).unwrap();
    assert_eq!(receive_all(connect(&host)), "", "the line must be closed without output");
    wait_for_meters(&host, |meters| meters["lines"]["refused"] == 1 && meters["lines"]["opened"] == 0);
}

#[test]
fn a_host_reachable_from_other_machines_warns() {
    let notes = |listen: &str| start(&format!(r#"{{"listen":["{listen}"]}}"#)).unwrap().notes().join("\n");
    assert!(
        notes("tcp://0.0.0.0:0")
            .contains("listens beyond this machine: anybody who reaches this machine can type at it")
    );
    assert!(!notes("tcp://127.0.0.1:0").contains("beyond"));
    let error = start(r#"{"listen":["ssh://127.0.0.1:0"]}"#).unwrap_err().to_string();
    assert!(error.contains("cannot listen at \"ssh://127.0.0.1:0\"; this service speaks tcp://HOST:PORT"), "{error}");
    let error = start(r#"{"service":{"form":{"reply":9}}}"#).unwrap_err().to_string();
    assert!(error.contains("telnet://127.0.0.1:0\"; this service speaks tn3270://HOST:PORT"), "{error}");
}
