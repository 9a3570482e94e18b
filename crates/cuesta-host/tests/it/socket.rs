//! Programs on sockets: how each side's end reaches the other.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use serde_json::json;

use crate::programs::{
    TYPIST_ECHO, WAYS, connect, mark, processes, receive_all, receive_until, start_program, wait_for_close,
    wait_for_zombies,
};

/// The ways to a program on a socket.
fn ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    WAYS.iter().copied().filter(|(_, service)| *service == "socket")
}

#[test]
fn a_program_answers_keys_and_reads_the_end_of_its_input() {
    for (kind, way) in ["tcp", "telnet"].into_iter().flat_map(|kind| ways().map(move |way| (kind, way))) {
        let host = start_program(way, &format!("{TYPIST_ECHO}; echo over"), kind);
        let mut line = connect(&host);
        line.write_all(b"abc").unwrap();
        receive_until(&mut line, "0bc");
        line.shutdown(Shutdown::Write).unwrap();
        assert_eq!(receive_all(line), "over\n", "{kind}");
        wait_for_close(&host, &json!({"closed": 1}));
        wait_for_zombies();
    }
}

#[test]
fn the_programs_end_closes_the_line_after_its_last_output() {
    for way in ways() {
        let host = start_program(way, "test -t 0 || echo \"$TERM has no terminal\"; no-such-program; exit 3", "tcp");
        let text = receive_all(connect(&host));
        assert!(text.starts_with("dumb has no terminal\n") && text.contains("no-such-program"), "{text}");
        wait_for_close(&host, &json!({"ended": 1}));
    }
}

#[test]
fn input_that_a_program_leaves_unread_does_not_cost_its_output() {
    for way in ways() {
        let host = start_program(way, "head -c 2 >/dev/null; seq 1 100000", "tcp");
        let mut line = connect(&host);
        line.write_all(b"ab and more that nothing reads").unwrap();
        let text = receive_all(line);
        assert!(text.starts_with("1\n2\n") && text.ends_with("\n99999\n100000\n"), "{} characters", text.len());
    }
}

#[test]
fn much_output_and_much_input_arrive_whole_before_a_half_close() {
    for way in ways() {
        let host = start_program(way, "cat", "tcp");
        let mut line = connect(&host);
        let text: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let mut typing = line.try_clone().unwrap();
        let typed = text.clone();
        let typist = thread::spawn(move || {
            typing.write_all(&typed).unwrap();
            typing.shutdown(Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        line.read_to_end(&mut back).unwrap();
        typist.join().unwrap();
        assert!(back == text, "{} of {} characters", back.len(), text.len());
    }
}

#[test]
fn a_reset_line_ends_its_program() {
    for way in ways() {
        let mark = &mark("reset");
        let command = format!(": {mark}; while read row; do echo $row; done; sleep 3600");
        let host = start_program(way, &command, "tcp");
        let mut line = connect(&host);
        line.write_all(b"row\n").unwrap();
        receive_until(&mut line, "row\n");
        // Closing resets the connection.
        set_socket_linger(&line, Some(Duration::ZERO)).unwrap();
        drop(line);
        wait_for_close(&host, &json!({"reset": 1}));
        assert_eq!(processes(mark), 0);
    }
}

#[test]
fn a_process_that_stays_behind_does_not_keep_the_line_open() {
    for way in ways() {
        let host = start_program(way, "sleep 3600 & echo over", "tcp");
        assert_eq!(receive_all(connect(&host)), "over\n");
        wait_for_close(&host, &json!({"ended": 1}));
    }
}
