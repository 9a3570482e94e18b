//! Programs on pseudo-terminals: their output; and that no program stays, however it runs.

use std::io::{Read, Write};
use std::net::TcpStream;

use cuesta_lines::{Options, Target, open};
use cuesta_record::clock::{self, Time};
use serde_json::json;

use crate::programs::{
    WAYS, connect, mark, processes, receive_all, receive_until, start_program, wait_for_close, wait_for_zombies,
    wait_until,
};
use crate::user::User;

const SHELL: (&str, &str) = ("user", "shell");

#[test]
fn a_program_shows_its_output_and_its_end_closes_the_line() {
    let host = start_program(SHELL, "stty size; echo $TERM; tty >/dev/null && echo terminal; exit 3", "tcp");
    assert_eq!(receive_all(connect(&host)), "24 80\r\nxterm\r\nterminal\r\n");
    wait_for_close(&host, &json!({"ended": 1}));
    wait_for_zombies();
}

#[test]
fn keys_reach_the_program() {
    let rows = "stty -echo; echo ready; while read row; do echo \"got $row\"; done; echo over";
    let host = start_program(SHELL, rows, "tcp");
    let mut line = connect(&host);
    receive_until(&mut line, "ready\r\n");
    line.write_all(b"one\rtwo\n").unwrap();
    assert_eq!(receive_until(&mut line, "two\r\n"), "got one\r\ngot two\r\n");
    // The program's terminal turns Ctrl+D into an end of file.
    line.write_all(b"\x04").unwrap();
    assert_eq!(receive_all(line), "over\r\n");
}

#[test]
fn much_output_and_much_input_arrive_whole() {
    let host = start_program(SHELL, "stty raw -echo; echo ready; exec cat", "tcp");
    let mut line = connect(&host);
    receive_until(&mut line, "ready\n");
    let text: Vec<u8> = (0..300_000_u32).map(|n| b'a' + (n % 23) as u8).collect();
    let mut typing = line.try_clone().unwrap();
    let typed = text.clone();
    let typist = std::thread::spawn(move || typing.write_all(&typed));
    let mut back = vec![0; text.len()];
    line.read_exact(&mut back).unwrap();
    typist.join().unwrap().unwrap();
    assert!(back == text);
}

#[test]
fn a_telnet_line_gives_its_window_and_name() {
    let host = start_program(SHELL, "stty -echo; stty size; echo $TERM; read row", "telnet");
    let target: Target = host.addresses()[0].parse().unwrap();
    let text = clock::run(Time::Real, async move {
        let options = Options { columns: 100, rows: 30, terminal: "vt220".to_owned(), ..Options::default() };
        let mut user = User { line: open(&target, &options).await.unwrap() };
        user.receive_until(b"vt220\r\n").await.unwrap()
    });
    assert_eq!(String::from_utf8_lossy(&text.unwrap()), "30 100\r\nvt220\r\n");
}

#[test]
fn hanging_up_ends_even_a_program_that_ignores_it_and_reads_nothing() {
    for way in WAYS {
        for (mark, ignore) in [(&mark("listens"), ""), (&mark("deaf"), "trap '' HUP; ")] {
            let command = format!("{ignore}: {mark}; echo ready; while :; do sleep 3600; done");
            let host = start_program(*way, &command, "tcp");
            let mut line = connect(&host);
            receive_until(&mut line, "\n");
            // While a shell forks, two processes match.
            wait_until("it runs", || processes(mark) == 1);
            drop(line);
            wait_for_close(&host, &json!({"closed": 1}));
            assert_eq!(processes(mark), 0);
            wait_for_zombies();
        }
    }
}

#[test]
fn stopping_the_host_ends_all_programs() {
    for way in WAYS {
        let mark = &mark("stopped");
        let command = format!(": {mark}; trap '' HUP; echo ready; while :; do sleep 3600; done");
        let host = start_program(*way, &command, "tcp");
        let mut lines: Vec<TcpStream> = (0..5).map(|_| connect(&host)).collect();
        for line in &mut lines {
            receive_until(line, "\n");
        }
        wait_until("all run", || processes(mark) == 5);
        host.stop();
        assert_eq!(processes(mark), 0);
        wait_for_zombies();
    }
}

#[test]
fn a_missing_program_is_reported_on_the_line() {
    let host = start_program(SHELL, "no-such-program-anywhere", "tcp");
    let text = receive_all(connect(&host));
    assert!(text.contains("no-such-program-anywhere") && text.contains("not found"), "{text}");
}
