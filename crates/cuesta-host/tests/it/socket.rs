//! Programs on sockets: what passes both ways, how each side's end reaches the other, and that none of them stays.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use serde_json::json;

use crate::programs::{
    PATHS, connect, mark, processes, receive_all, receive_until, start_on, wait_for_close, wait_until, zombies,
};

/// Answers each `a` with a `0`, as the host program of the 1993 tests did.
const TYPIST_ECHO: &str = "perl -e '$|=1; while (sysread STDIN, $_, 4096) { y/a/0/; syswrite STDOUT, $_ }'";

#[test]
fn a_program_answers_keys_and_reads_the_end_of_its_input() {
    for (kind, path) in ["tcp", "telnet"].into_iter().flat_map(|kind| PATHS.iter().map(move |path| (kind, path))) {
        let host = start_on(path, "socket", &format!("{TYPIST_ECHO}; echo over"), kind);
        let mut line = connect(&host);
        line.write_all(b"abc").unwrap();
        receive_until(&mut line, "0bc");
        line.shutdown(Shutdown::Write).unwrap();
        assert_eq!(receive_all(line), "over\n", "{kind}");
        wait_for_close(&host, &json!({"closed": 1}));
        wait_until("no zombie is left", || zombies() == 0);
    }
}

#[test]
fn the_programs_end_closes_the_line_after_its_last_output() {
    for path in PATHS {
        let host =
            start_on(path, "socket", "test -t 0 || echo \"$TERM has no terminal\"; no-such-program; exit 3", "tcp");
        let text = receive_all(connect(&host));
        assert!(text.starts_with("dumb has no terminal\n") && text.contains("no-such-program"), "{text}");
        wait_for_close(&host, &json!({"ended": 1}));
    }
}

#[test]
fn input_that_a_program_leaves_unread_does_not_cost_its_output() {
    for path in PATHS {
        let host = start_on(path, "socket", "head -c 2 >/dev/null; seq 1 100000", "tcp");
        let mut line = connect(&host);
        line.write_all(b"ab and more that nothing reads").unwrap();
        let text = receive_all(line);
        assert!(text.starts_with("1\n2\n") && text.ends_with("\n99999\n100000\n"), "{} characters", text.len());
    }
}

#[test]
fn much_output_and_much_input_arrive_whole_before_a_half_close() {
    for path in PATHS {
        let host = start_on(path, "socket", "cat", "tcp");
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
fn hanging_up_ends_even_a_program_that_reads_nothing() {
    for path in PATHS {
        for (mark, ignore) in [(&mark("listens"), ""), (&mark("deaf"), "trap '' HUP; ")] {
            let host =
                start_on(path, "socket", &format!("{ignore}: {mark}; echo ready; while :; do sleep 3600; done"), "tcp");
            let mut line = connect(&host);
            receive_until(&mut line, "ready\n");
            wait_until("it runs", || processes(mark) == 1);
            drop(line);
            wait_for_close(&host, &json!({"closed": 1}));
            assert_eq!(processes(mark), 0);
            wait_until("no zombie is left", || zombies() == 0);
        }
    }
}

#[test]
fn stopping_the_host_ends_programs_on_sockets() {
    for path in PATHS {
        let mark = &mark("stopped");
        let command = format!(": {mark}; trap '' HUP; echo ready; while :; do sleep 3600; done");
        let host = start_on(path, "socket", &command, "tcp");
        let mut lines: Vec<_> = (0..5).map(|_| connect(&host)).collect();
        for line in &mut lines {
            receive_until(line, "ready\n");
        }
        wait_until("all run", || processes(mark) == 5);
        host.stop();
        assert_eq!(processes(mark), 0);
        wait_until("no zombie is left", || zombies() == 0);
    }
}

#[test]
fn a_reset_line_ends_its_program() {
    for path in PATHS {
        let mark = &mark("reset");
        let command = format!(": {mark}; while read row; do echo $row; done; sleep 3600");
        let host = start_on(path, "socket", &command, "tcp");
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
    for path in PATHS {
        let host = start_on(path, "socket", "sleep 3600 & echo over", "tcp");
        assert_eq!(receive_all(connect(&host)), "over\n");
        wait_for_close(&host, &json!({"ended": 1}));
    }
}
