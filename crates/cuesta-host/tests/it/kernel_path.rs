//! The in-kernel path: characters take it, and both ends receive the same as by the user path. Needs root.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use cuesta_host::Host;
use cuesta_record::clock;
use proptest::prelude::*;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use serde_json::{Value, json};

use crate::programs::{
    self, TYPIST_ECHO, connect, pause, receive_all, receive_until, start_program, wait_for_close, wait_for_zombies,
    wait_until,
};

const KERNEL: (&str, &str) = ("kernel", "socket");
const IAC: u8 = 255;

/// A host with the in-kernel path, and a line to its program.
fn start(command: &str, kind: &str) -> (Host, TcpStream) {
    let host = start_program(KERNEL, command, kind);
    let mut line = connect(&host);
    skip_offers(&mut line, kind);
    (host, line)
}

/// Lines and characters by the way that they took.
fn relayed(host: &Host) -> Value {
    host.meters()["kernel_path"].clone()
}

fn in_kernel(host: &Host) -> (u64, u64) {
    let kernel_path = relayed(host);
    let way = |name: &str| kernel_path[name]["kernel"].as_u64().expect("a number");
    (way("input"), way("output"))
}

fn key(line: &mut TcpStream) {
    line.write_all(b"a").expect("the host reads");
    let mut echo = [0];
    line.read_exact(&mut echo).expect("an echo");
    assert_eq!(&echo, b"0");
}

/// Types keys until they pass within the kernel.
fn settle(host: &Host, line: &mut TcpStream) {
    let before = in_kernel(host);
    wait_until("keys pass within the kernel", || {
        key(line);
        let now = in_kernel(host);
        now.0 > before.0 && now.1 > before.1
    });
}

/// CPU time of the host's thread, by the scheduler's own count; nanoseconds.
fn cpu_of_the_host(host: &Host) -> u64 {
    (host.meters()["cpu"]["threads"][0]["seconds"].as_f64().expect("schedstat") * 1e9).round() as u64
}

/// Waits until the host's thread has done all that a new line takes: it sleeps and has not run for a while.
fn wait_for_sleep(host: &Host) {
    let mut before = 0;
    wait_until("the host sleeps", || {
        (0..20).for_each(|_| pause());
        let earlier = std::mem::replace(&mut before, cpu_of_the_host(host));
        earlier == before && sleeps("cuesta-host-0")
    });
}

/// Whether a thread of this process waits for something other than a CPU.
fn sleeps(name: &str) -> bool {
    let stats = fs::read_dir("/proc/self/task").expect("Linux").filter_map(Result::ok);
    let mut stats = stats.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    stats.any(|stat| stat.contains(&format!("({name}) S ")))
}

#[test]
fn keys_and_their_echoes_pass_while_the_host_sleeps() {
    for kind in ["tcp", "telnet"] {
        let (host, mut line) = start(TYPIST_ECHO, kind);
        settle(&host, &mut line);
        wait_for_sleep(&host);
        let before = (in_kernel(&host), cpu_of_the_host(&host), relayed(&host)["input"]["commands"].clone());
        for _ in 0..200 {
            key(&mut line);
        }
        let after = (in_kernel(&host), cpu_of_the_host(&host), relayed(&host)["input"]["commands"].clone());
        assert_eq!(after.0, (before.0.0 + 200, before.0.1 + 200), "{kind}");
        assert_eq!((after.1, after.2), (before.1, before.2), "{kind}: the host's thread must not have run");
        let meters = host.meters();
        assert_eq!(meters["characters"]["typed"], meters["characters"]["out"]);
        assert_eq!(meters["messages"]["in"], meters["characters"]["in"]);
        assert_eq!(meters["kernel_path"]["lines"], json!({"joined": 1, "refused": {}}));
    }
}

/// Reads the host's offers, which come first on a telnet line.
fn skip_offers(line: &mut TcpStream, kind: &str) {
    if kind == "telnet" {
        line.read_exact(&mut [0; 12]).expect("four offers");
    }
}

#[test]
fn escapes_go_through_the_host_and_the_keys_after_them_do_not() {
    let (host, mut line) = start(TYPIST_ECHO, "telnet");
    settle(&host, &mut line);
    for (sent, wanted) in [
        (&b"x\r\0y"[..], &b"x\r\0y"[..]),
        (b"\r\nz", b"\r\0z"),
        (b"\xff\xff", b"\xff\xff"),
        (b"b\xff\xf1c", b"bc"),
        // TIMING-MARK is answered each time.
        (b"\xff\xfd\x06", b"\xff\xfb\x06"),
        (b"row\nrow\n", b"row\nrow\n"),
    ] {
        line.write_all(sent).unwrap();
        let mut back = vec![0; wanted.len()];
        line.read_exact(&mut back).unwrap();
        assert_eq!(back, wanted);
        settle(&host, &mut line);
    }
    let left = relayed(&host);
    assert_eq!((&left["input"]["commands"], &left["output"]["user"]["escape"]), (&json!(5), &json!(6)), "{left}");
}

#[test]
fn an_unfinished_command_holds_up_neither_output_nor_its_end() {
    let program = "perl -e '$|=1; sysread STDIN, $_, 1; syswrite STDOUT, \"\\xff\"; \
         until (-e \"GO\") { select undef, undef, undef, 0.005; syswrite STDOUT, \"0\" } print \"1\" x 150000'";
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let (host, mut line) = start(&program.replace("GO", &go.display().to_string()), "telnet");
    set_socket_recv_buffer_size(&line, 4096).unwrap();
    // The rest of the subnegotiation never comes.
    line.write_all(&[b'g', IAC, 250, 24]).unwrap();
    let mut text = vec![0; 2];
    line.read_exact(&mut text).unwrap();
    assert_eq!(text, [IAC, IAC]);
    wait_until("messages without an escape pass within the kernel", || {
        let mut zero = [0];
        line.read_exact(&mut zero).unwrap();
        assert_eq!(&zero, b"0");
        in_kernel(&host).1 > 100
    });
    // The program ends while its last output waits.
    fs::write(&go, "").unwrap();
    let (mut received, mut buffer) = (0, [0; 1024]);
    while let Ok(len @ 1..) = line.read(&mut buffer) {
        received += buffer[..len].iter().map(|byte| usize::from(*byte == b'1')).sum::<usize>();
        pause();
    }
    assert_eq!(received, 150_000);
    wait_for_close(&host, &json!({"ended": 1}));
}

#[test]
fn commands_that_come_before_the_program_starts_do_not_end_its_first_read() {
    let host = start_program(KERNEL, TYPIST_ECHO, "telnet");
    let mut lines = Vec::new();
    // The host starts a program for each in turn, so that most send all this before they are accepted.
    for _ in 0..50 {
        let mut line = connect(&host);
        line.set_nodelay(true).unwrap();
        // The kernel joins what it receives, at most 17 writes together.
        let early = [&[IAC, 241][..]; 100].into_iter().chain([&[IAC, 253, 6][..], b"\r", b"\0"]);
        for piece in early {
            line.write_all(piece).unwrap();
        }
        lines.push(line);
    }
    for line in &mut lines {
        let mut back = [0; 18];
        line.read_exact(&mut back[..16]).unwrap_or_else(|error| panic!("{error} {back:?} {}", host.meters()));
        line.write_all(b"a").unwrap();
        line.read_exact(&mut back[16..]).expect("a NUL after the carriage return, and the next echo");
        assert_eq!((decoded(&back), back[17]), (b"\r0".to_vec(), b'0'));
    }
    assert_eq!(host.meters()["lines"]["connected"], 50);
}

#[test]
fn a_line_that_floods_the_host_with_commands_holds_up_no_other() {
    let host = start_program(KERNEL, TYPIST_ECHO, "telnet");
    let (mut flooding, mut line) = (connect(&host), connect(&host));
    skip_offers(&mut line, "telnet");
    settle(&host, &mut line);
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    let flood = thread::spawn(move || {
        let commands = [IAC, 241].repeat(32 << 10);
        while !stopping.load(Ordering::Relaxed) && flooding.write_all(&commands).is_ok() {}
    });
    for _ in 0..200 {
        line.write_all(&[IAC, 253, 6]).unwrap();
        let mut mark = [0; 3];
        line.read_exact(&mut mark).unwrap_or_else(|error| panic!("{error} {}", host.meters()));
        assert_eq!(mark, [IAC, 251, 6]);
        pause();
    }
    stop.store(true, Ordering::Relaxed);
    flood.join().unwrap();
    let commands = &relayed(&host)["input"]["commands"];
    assert!(commands.as_u64() > Some(10_000), "{commands} bytes of commands are no flood");
    settle(&host, &mut line);
    // The host is fast enough for the flood, or ends the line.
    let end = if relayed(&host)["input"]["lost"] == 0 { "closed" } else { "aborted" };
    wait_for_close(&host, &json!({ end: 1 }));
}

/// docs/host.md says so under *What a program can notice*. Where this fails because the kernel has learned better, the sentence can go.
#[test]
fn a_line_is_always_readable_to_a_program_that_polls_once_telnet_was_taken_out() {
    let program = "perl -e '$|=1; while (sysread STDIN, $_, 100) { $in = \"\\1\"; \
         print select($in, undef, undef, 0.2) ? \"ready\\n\" : \"empty\\n\" }'";
    for (path, kind, after_enter) in
        [("user", "telnet", "empty\n"), ("kernel", "tcp", "empty\n"), ("kernel", "telnet", "ready\n")]
    {
        let host = start_program((path, "socket"), program, kind);
        let mut line = connect(&host);
        skip_offers(&mut line, kind);
        let enter = if kind == "telnet" { &b"\r\0"[..] } else { b"\r" };
        // Reads that wait are not affected.
        for (keys, wanted) in [(&b"a"[..], "empty\n"), (enter, after_enter), (b"b", after_enter)] {
            line.write_all(keys).unwrap();
            assert_eq!(receive_until(&mut line, "\n"), wanted, "{path} {kind}");
        }
    }
}

#[test]
fn five_hundred_lines_at_once_and_again() {
    let host = start_program(KERNEL, TYPIST_ECHO, "telnet");
    for round in 1..=2 {
        let mut lines: Vec<TcpStream> = (0..500).map(|_| connect(&host)).collect();
        for line in &mut lines {
            skip_offers(line, "telnet");
        }
        for _ in 0..3 {
            for line in &mut lines {
                line.write_all(b"a").unwrap();
            }
            for line in &mut lines {
                let mut echo = [0];
                line.read_exact(&mut echo).unwrap();
                assert_eq!(&echo, b"0");
            }
        }
        drop(lines);
        wait_for_close(&host, &json!({"closed": 500 * round}));
        let meters = host.meters();
        assert_eq!(meters["kernel_path"]["lines"], json!({"joined": 500 * round, "refused": {}}));
        let typed = json!(1500 * round);
        let characters = &meters["characters"];
        assert_eq!((&characters["typed"], &characters["in"], &characters["out"]), (&typed, &typed, &typed));
        assert_eq!(meters["pool"]["used"], 0);
    }
    wait_for_zombies();
}

#[test]
fn without_privilege_lines_are_relayed_in_user_space_and_the_host_says_why() {
    let notes = thread::spawn(|| {
        let mut sets = capabilities(None).unwrap();
        sets.effective = CapabilitySet::empty();
        set_capabilities(None, sets).unwrap();
        let spec = json!({
            "listen": ["telnet://127.0.0.1:0"], "service": { "socket": { "command": TYPIST_ECHO } }, "path": "kernel",
        });
        let host = programs::start(&spec.to_string()).unwrap();
        let mut line = connect(&host);
        skip_offers(&mut line, "telnet");
        key(&mut line);
        assert!(relayed(&host).is_null());
        host.notes().join("\n")
    });
    let notes = notes.join().unwrap();
    assert!(notes.contains("in user space") && notes.contains("only root, or a process with CAP_BPF"), "{notes}");
}

#[test]
fn lines_that_need_the_host_are_refused_by_name() {
    let spec = json!({
        "listen": ["tcp://127.0.0.1:0"], "service": { "socket": { "command": "cat" } }, "path": "kernel",
        "input": "canonical", "echo": false,
    });
    let host = programs::start(&spec.to_string()).unwrap();
    let mut line = connect(&host);
    line.write_all(b"wrong@right\r").unwrap();
    line.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receive_all(line), "right\n");
    assert_eq!(relayed(&host)["lines"], json!({"joined": 0, "refused": {"discipline": 1}}));
}

#[test]
fn a_program_that_does_not_read_holds_its_line_up_and_loses_nothing() {
    for kind in ["tcp", "telnet"] {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        let command = format!("mkfifo {0}; echo ready; read go <{0}; exec tr a 0", go.display());
        let (host, mut line) = start(&command, kind);
        receive_until(&mut line, "ready\n");
        line.set_nonblocking(true).unwrap();
        let (mut sent, mut full) = (0, 0);
        // Single keys first, which the kernel relays; then as much as the line takes.
        while full < 100 {
            let piece = if sent < 2_000 { &[b'a'][..] } else { &[b'a'; 8192] };
            match line.write(piece) {
                Ok(len) => (sent, full) = (sent + len, 0),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    full += 1;
                    pause();
                }
                Err(error) => panic!("{error}"),
            }
            assert!(sent < 32 << 20, "the line takes all that comes");
        }
        let left = relayed(&host);
        fs::write(&go, "go\n").unwrap();
        line.set_nonblocking(false).unwrap();
        line.shutdown(Shutdown::Write).unwrap();
        let back = receive_all(line);
        assert!(
            back.len() == sent && back.bytes().all(|byte| byte == b'0'),
            "{kind}: {} of {sent}, {left}",
            back.len()
        );
        assert!(
            left["input"]["kernel"].as_u64() < Some(512 << 10),
            "{kind}: nothing bounds what the kernel holds: {left}"
        );
        wait_for_close(&host, &json!({"closed": 1}));
    }
}

#[test]
fn output_waits_for_a_line_that_does_not_read() {
    for kind in ["tcp", "telnet"] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let (host, line) = start(&format!("seq 1 2000000 | tee {}", log.display()), kind);
        let written = || fs::metadata(&log).map_or(0, |about| about.len());
        let wakes = || host.meters()["wakes"]["count"].as_u64().expect("a number");
        let mut last = (0, 0);
        wait_until("the program is held up and the host hardly wakes", || {
            let until = clock::now() + Duration::from_secs(1);
            wait_until("a second has passed", || clock::now() >= until);
            let before = std::mem::replace(&mut last, (written(), wakes()));
            last.0 > 0 && last.0 == before.0 && last.1 - before.1 < 100
        });
        assert!(written() < 14_000_000, "{kind}: the program wrote {} characters although nobody reads", written());
        let text = receive_all(line);
        assert!(
            text.ends_with("\n1999999\n2000000\n") && text.len() == 14_888_896,
            "{kind}: {} characters",
            text.len()
        );
        // On a telnet line such long pieces go through the host.
        assert!(in_kernel(&host).1 > 0 || kind == "telnet");
        wait_for_close(&host, &json!({"ended": 1}));
    }
}

/// Receives until `end`, with pauses between reads.
fn receive_slowly(line: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let text = receive_slowly_while(line, |text| !text.ends_with(end));
    assert!(text.ends_with(end), "ended after {} characters", text.len());
    text
}

fn receive_slowly_to_the_end(line: &mut TcpStream) -> Vec<u8> {
    receive_slowly_while(line, |_| true)
}

fn receive_slowly_while(line: &mut TcpStream, goes_on: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let (mut text, mut buffer) = (Vec::new(), [0; 1024]);
    while goes_on(&text) {
        let Ok(len @ 1..) = line.read(&mut buffer) else { break };
        text.extend_from_slice(&buffer[..len]);
        if text.len() % 7 == 0 {
            pause();
        }
    }
    text
}

#[test]
fn a_program_that_was_held_up_can_wait_for_input() {
    for kind in ["tcp", "telnet"] {
        let rows =
            "perl -e '$|=1; while (sysread STDIN, $_, 1) { print \"$_\\n\" x 100000, \"end\\n\" }; print \"over $!\"'";
        let (_host, mut line) = start(rows, kind);
        for _ in 0..20 {
            line.write_all(b"a").unwrap();
            let text = receive_slowly(&mut line, b"end\n");
            assert_eq!(text.len(), 200_004, "{kind}: …{}", String::from_utf8_lossy(&text[text.len() - 20..]));
        }
    }
}

#[test]
fn replies_of_telnet_are_whole_among_output_that_a_slow_line_holds_up() {
    let (_host, mut line) = start("seq 1 400000; exec cat", "telnet");
    let mut marks = line.try_clone().unwrap();
    let asking = thread::spawn(move || {
        for _ in 0..300 {
            marks.write_all(&[IAC, 253, 6]).expect("the kernel reads");
            pause();
        }
    });
    let mut text = receive_slowly(&mut line, b"\n399999\n400000\n");
    asking.join().unwrap();
    line.write_all(b"z").unwrap();
    text.extend(receive_slowly(&mut line, b"z"));
    let replies = text.windows(3).filter(|window| *window == [IAC, 251, 6]).count();
    let text = decoded(&text);
    let wanted: String = (1..=400_000).map(|n| format!("{n}\n")).chain(["z".to_owned()]).collect();
    assert_eq!((text == wanted.as_bytes(), text.len()), (true, wanted.len()));
    assert!((1..=300).contains(&replies), "{replies}");
}

#[test]
fn one_process_may_read_while_another_is_held_up_writing() {
    for kind in ["tcp", "telnet"] {
        let (_host, mut line) = start("seq 1 300000 & exec cat <&0", kind);
        line.write_all(b"x").unwrap();
        let text = receive_slowly(&mut line, b"\n299999\n300000\n");
        assert_eq!(text.split(|byte| *byte == b'x').count(), 2, "{kind}");
        line.write_all(b"y").unwrap();
        assert_eq!(receive_slowly(&mut line, b"y"), b"y", "{kind}");
    }
}

#[test]
fn a_program_that_does_not_wait_loses_nothing() {
    let log = "perl -e 'use Fcntl; fcntl STDOUT, F_SETFL, O_NONBLOCK; for $n (1..60000) { $_ = $n % 50 ? \"$n\\n\" : \"\\xff\\r\"; \
         while (length) { $w = syswrite STDOUT, $_; \
         if (defined $w) { substr($_, 0, $w) = \"\" } else { $!{EAGAIN} or die $!; select undef, $o = \"\\2\", undef, 0.001 } } }'";
    let (_host, mut line) = start(log, "telnet");
    let text = decoded(receive_slowly_to_the_end(&mut line).as_slice());
    let wanted: Vec<u8> = (1..=60_000)
        .flat_map(|n| if n % 50 == 0 { b"\xff\r".to_vec() } else { format!("{n}\n").into_bytes() })
        .collect();
    assert_eq!((text == wanted, text.len()), (true, wanted.len()));
}

#[test]
fn a_process_that_stays_behind_and_writes_does_not_keep_the_line_open() {
    for kind in ["tcp", "telnet"] {
        let (host, mut line) = start("yes & head -c 1 >/dev/null", kind);
        receive_until(&mut line, "y\n");
        line.write_all(b"x").unwrap();
        receive_slowly_to_the_end(&mut line);
        wait_for_close(&host, &json!({"ended": 1}));
    }
}

/// Messages of random bytes, of which some have no escape and some are long; a log has what was written.
const RANDOM_OUTPUT: &str = "perl -e 'srand(SEED); $|=1; binmode STDOUT; open L, \">\", \"LOG\"; binmode L; for (1..3000) { \
     $n = rand() < 0.1 ? int rand 9000 : 1 + int rand 40; $c = rand() < 0.5; \
     $_ = join \"\", map { chr($c ? 32 + rand 90 : rand() < 0.2 ? 13 : rand() < 0.2 ? 10 : rand() < 0.2 ? 255 : rand 256) } 1..$n; \
     select undef, undef, undef, 0.002 if rand() < 0.1; print L; while (length) { $w = syswrite STDOUT, $_; defined $w or die; substr($_, 0, $w) = \"\" } } close L; exec \"true\"'";

#[test]
fn random_output_arrives_in_order() {
    for seed in 1..=4 {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let command = RANDOM_OUTPUT.replace("SEED", &seed.to_string()).replace("LOG", &log.display().to_string());
        let host = start_program(KERNEL, &command, "telnet");
        let mut line = connect(&host);
        let (mut back, mut buffer) = (Vec::new(), [0; 3000]);
        while let Ok(len @ 1..) = line.read(&mut buffer) {
            back.extend_from_slice(&buffer[..len]);
            if seed % 2 == 0 && back.len() % 5 == 0 {
                pause();
            }
        }
        let (back, wrote) = (decoded(&back), fs::read(log).unwrap());
        let same = back.iter().zip(&wrote).take_while(|(back, wrote)| back == wrote).count();
        assert_eq!((same, back.len()), (wrote.len(), wrote.len()), "seed {seed}: {}", relayed(&host));
        let left = relayed(&host)["output"].clone();
        assert!(left["kernel"].as_u64() > Some(10_000) && left["user"]["escape"].as_u64() > Some(10_000), "{left}");
    }
}

/// A piece of what a terminal sends.
#[derive(Debug, Clone)]
enum Piece {
    /// Plain characters, in one write.
    Keys(Vec<u8>),
    /// The Enter key.
    Enter,
    /// A character 255.
    Last,
    /// A command that needs no answer.
    Nothing,
    /// DO TIMING-MARK, which the host answers each time.
    TimingMark,
    /// As many characters as a paste has.
    Paste(usize),
    /// Waits until as much has come back as was typed.
    Wait,
}

impl Piece {
    /// The characters that the program gets, and the bytes on a telnet line.
    fn forms(&self) -> (Vec<u8>, Vec<u8>) {
        let both = |bytes: Vec<u8>| (bytes.clone(), bytes);
        match self {
            Self::Keys(keys) => both(keys.clone()),
            Self::Enter => (b"\r".to_vec(), b"\r\0".to_vec()),
            Self::Last => (vec![IAC], vec![IAC, IAC]),
            Self::Nothing => (Vec::new(), vec![IAC, 241]),
            Self::TimingMark => (Vec::new(), vec![IAC, 253, 6]),
            Self::Paste(len) => both((0..*len).map(|at| b' ' + (at % 95) as u8).collect()),
            Self::Wait => both(Vec::new()),
        }
    }
}

/// Takes telnet's commands and escapes out of what a host sends.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let (mut characters, mut rest) = (Vec::new(), bytes);
    while let [byte, after @ ..] = rest {
        rest = match (*byte, after) {
            (IAC, [IAC, after @ ..]) => {
                characters.push(IAC);
                after
            }
            (IAC, [251..=254, _, after @ ..] | [_, after @ ..]) => after,
            (IAC, []) => &[],
            (b'\r', [0, after @ ..]) => {
                characters.push(b'\r');
                after
            }
            (byte, after) => {
                characters.push(byte);
                after
            }
        };
    }
    characters
}

/// Types pieces, cut into writes at `cuts`, at a program that logs its input and sends it back. Returns the log, and the output that
/// the line received.
fn typed(path: &str, kind: &str, pieces: &[Piece], cuts: &[usize]) -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let host = start_program((path, "socket"), &format!("tee {}", log.display()), kind);
    let mut line = connect(&host);
    let mut reading = line.try_clone().expect("a descriptor");
    // The output that the line received, and whether that was all.
    let (back, arrived) = (Arc::new(Mutex::new((Vec::new(), false))), Arc::new(Condvar::new()));
    let (shared, announced) = (Arc::clone(&back), Arc::clone(&arrived));
    let reader = thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(len @ 1..) = reading.read(&mut buffer) {
            shared.lock().expect("no panic").0.extend_from_slice(&buffer[..len]);
            announced.notify_all();
        }
        shared.lock().expect("no panic").1 = true;
        announced.notify_all();
    });
    let (mut wanted, mut cut) = (0, cuts.iter().cycle());
    for piece in pieces {
        let (characters, bytes) = piece.forms();
        let mut rest = if kind == "telnet" { &bytes[..] } else { &characters[..] };
        wanted += characters.len();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(*cut.next().unwrap_or(&rest.len())));
            // If the line has ended too early, its output is too short.
            let _ = line.write_all(now);
            rest = later;
        }
        if matches!(piece, Piece::Wait) {
            let length = |bytes: &[u8]| if kind == "telnet" { decoded(bytes).len() } else { bytes.len() };
            let missing = |(bytes, all): &mut (Vec<u8>, bool)| length(bytes) < wanted && !*all;
            drop(arrived.wait_while(back.lock().expect("no panic"), missing).expect("no panic"));
        }
    }
    let _ = line.shutdown(Shutdown::Write);
    reader.join().expect("no panic");
    wait_until("the line is closed", || host.meters()["lines"]["connected"] == 0);
    let back = std::mem::take(&mut back.lock().expect("no panic").0);
    (fs::read(log).expect("the program wrote it"), if kind == "telnet" { decoded(&back) } else { back })
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(any::<u8>().prop_filter("no escape", |byte| ![IAC, b'\r'].contains(byte)), 1..5).prop_map(Piece::Keys),
        2 => Just(Piece::Enter),
        1 => Just(Piece::Last),
        1 => Just(Piece::Nothing),
        1 => Just(Piece::TimingMark),
        1 => (1..20_000_usize).prop_map(Piece::Paste),
        4 => Just(Piece::Wait),
    ];
    prop::collection::vec(piece, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_can_tell_which_path_characters_took(
        pieces in pieces(),
        cuts in prop::collection::vec(1..2000_usize, 1..8),
        telnet in any::<bool>(),
    ) {
        let kind = if telnet { "telnet" } else { "tcp" };
        let wanted: Vec<u8> = pieces.iter().flat_map(|piece| piece.forms().0).collect();
        for path in ["kernel", "user"] {
            let (log, back) = typed(path, kind, &pieces, &cuts);
            let end = String::from_utf8_lossy(&back[back.len().saturating_sub(100)..]).into_owned();
            prop_assert!(log == wanted, "{path}: the program read {} characters of {}: …{end}", log.len(), wanted.len());
            prop_assert!(back == wanted, "{path}: {} characters of {} came back: …{end}", back.len(), wanted.len());
        }
    }
}
