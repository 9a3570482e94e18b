//! Programs on pseudo-terminals: their terminal, and how they and their lines end.

use std::cell::RefCell;
use std::future::poll_fn;
use std::process::Command;
use std::time::Duration;

use cuesta_lines::{ExitStatus, Options, Target, last_rows, open};
use cuesta_record::clock;
use rustix::process::{Pid, Signal, kill_process};

use crate::real::{line, line_with, number, play, status, to_the_end, typed, up_to, wait_until};

#[test]
fn a_program_has_a_terminal_with_a_window_and_a_name() {
    play(async {
        let options = Options { columns: 100, rows: 30, terminal: "vt100".to_owned(), ..Options::default() };
        let mut line = line_with("pty:stty size; echo \"$TERM/$COLUMNS/$LINES\"; tty", &options).await;
        assert_eq!(line.terminal().unwrap().window(), Some((100, 30)));
        assert!(line.opening().connected.is_some());
        let (shown, fault) = to_the_end(&mut *line).await;
        assert!(shown.starts_with("30 100\r\nvt100//\r\n/dev/pts/"), "{shown:?}");
        assert_eq!(fault, None);
    });
}

#[test]
fn a_window_is_never_empty() {
    play(async {
        let options = Options { columns: 0, rows: 0, ..Options::default() };
        let mut line = line_with("pty:stty size", &options).await;
        assert_eq!(to_the_end(&mut *line).await.0, "1 1\r\n");
    });
}

#[test]
fn a_program_learns_a_new_window_size() {
    play(async {
        let mut line = line("pty:trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done").await;
        up_to(&mut *line, "ready").await;
        let terminal = line.terminal().unwrap();
        terminal.resize(132, 43);
        assert_eq!(terminal.window(), Some((132, 43)));
        assert!(to_the_end(&mut *line).await.0.contains("43 132"));
    });
}

#[test]
fn keys_are_echoed_and_enter_ends_a_row() {
    play(async {
        let mut line = line("pty:cat").await;
        assert_eq!(line.terminal().unwrap().echoes(), Some(true));
        let before = clock::now();
        typed(&mut *line, "hello\r").await;
        assert_eq!(up_to(&mut *line, "hello\r\nhello\r\n").await, "hello\r\nhello\r\n");
        assert!(line.opening().connected.unwrap() <= before);
        assert_eq!(line.traffic().sent, 6);
        assert_eq!(line.traffic().received, 14);
        // Ctrl+D ends the input, the program and the line.
        typed(&mut *line, "\x04").await;
        assert_eq!(to_the_end(&mut *line).await.1, None);
    });
}

#[test]
fn input_without_echo_is_reported() {
    play(async {
        let mut line = line("pty:stty -echo; echo ready; cat").await;
        up_to(&mut *line, "ready").await;
        assert_eq!(line.terminal().unwrap().echoes(), Some(false));
        let mut raw = crate::real::line("pty:stty raw; echo ready; cat").await;
        up_to(&mut *raw, "ready").await;
        assert_eq!(raw.terminal().unwrap().echoes(), None, "the program decides");
    });
}

#[test]
fn a_program_that_waits_for_echoed_input_is_told_from_one_that_does_not() {
    let python =
        |code: &str| format!("pty:python3 -c 'import os, select, sys, threading as t\nprint(\"ready\")\n{code}'");
    let (reads, hangs) = (Some(true), Some(false));
    let cases = [
        ("pty:echo ready; cat".to_owned(), reads),
        ("pty:echo ready; head -c1 < /dev/tty; true".to_owned(), reads),
        (python("select.select([0], [], [])"), reads),
        (python("p = select.poll(); p.register(0, select.POLLIN); p.poll()"), reads),
        (python("p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()"), reads),
        (python("t.Thread(target=sys.stdin.readline).start()"), reads),
        ("pty:echo ready; sleep 1000".to_owned(), hangs),
        ("pty:echo ready; sleep 1000; true".to_owned(), hangs),
        (python("os.read(os.pipe()[0], 1)"), hangs),
        (python("select.select([], [], [], 1000)"), hangs),
        (python("select.select([os.pipe()[0]], [], [], 1000)"), hangs),
        (python("p = select.poll(); p.register(os.pipe()[0]); p.register(0, 0); p.poll()"), hangs),
        (python("p = select.epoll(); p.register(os.pipe()[0]); p.register(0, 0); p.poll()"), hangs),
        ("pty:stty -echo; echo ready; cat".to_owned(), None),
        ("pty:stty raw; echo ready; cat".to_owned(), None),
    ];
    for (target, expected) in cases {
        play(async move {
            let mut line = line(&target).await;
            up_to(&mut *line, "ready").await;
            let line = RefCell::new(line);
            let is_awaited = || line.borrow_mut().terminal().unwrap().awaits_echoed_input();
            // It may do something else before it waits; what never reads must never seem to.
            wait_until(&target, || is_awaited() == expected).await;
            assert!((0..50).all(|_| is_awaited() == expected), "{target}");
        });
    }
}

#[test]
fn a_command_is_read_as_a_shell_reads_it() {
    play(async {
        let mut quoted = line("pty:printf '%s|' 'two words' \"it's\" a\\ b").await;
        assert_eq!(to_the_end(&mut *quoted).await.0, "two words|it's|a b|");
        let mut with_variable = line("pty:CUESTA_X=7 sh -c 'echo $CUESTA_X'").await;
        assert_eq!(to_the_end(&mut *with_variable).await.0, "7\r\n");
    });
}

#[test]
fn a_program_leads_a_session_on_its_terminal() {
    play(async {
        let mut line = line("pty:cat /proc/self/stat").await;
        let shown = to_the_end(&mut *line).await.0;
        // pid (comm) state ppid pgrp session tty_nr tpgid
        let fields: Vec<&str> = shown.split_whitespace().collect();
        assert_eq!(fields[1], "(cat)", "a shell is still there: {shown}");
        assert_eq!((fields[0], fields[0], fields[0]), (fields[4], fields[5], fields[7]), "{shown}");
        assert_eq!(fields[3], std::process::id().to_string());
        assert_ne!(fields[6], "0");
    });
}

#[test]
fn control_keys_send_signals() {
    play(async {
        let mut line = line("pty:bash --norc -c 'trap \"echo interrupted\" INT; cat; cat'").await;
        // The program prints the second copy, so it runs.
        typed(&mut *line, "one\r").await;
        up_to(&mut *line, "one\r\none").await;
        typed(&mut *line, "\x03").await;
        up_to(&mut *line, "interrupted").await;
        typed(&mut *line, "two\r").await;
        up_to(&mut *line, "two\r\ntwo").await;
        typed(&mut *line, "\x1c").await;
        assert_eq!(to_the_end(&mut *line).await.1, None);
    });
}

#[test]
fn the_last_output_before_the_end_is_received() {
    play(async {
        for _ in 0..30 {
            let mut line = line("pty:seq 2000").await;
            let (shown, fault) = to_the_end(&mut *line).await;
            assert_eq!((shown.lines().count(), shown.lines().last(), fault), (2000, Some("2000"), None));
        }
    });
}

#[test]
fn background_programs_do_not_hold_a_line() {
    play(async {
        let mut line = line("pty:trap '' HUP; sleep 600 & echo $!").await;
        let (shown, fault) = to_the_end(&mut *line).await;
        assert_eq!(fault, None);
        drop(line);
        cuesta_lines::wait_for_ended_programs();
        let pid = number(&shown);
        wait_until_dead(pid, "what a program left in its group ends with it").await;
    });
}

#[test]
fn jobs_of_an_interactive_shell_are_hung_up_with_it() {
    play(async {
        // The shell waits and does not read: a reader may find the terminal closed before the hangup, and exit.
        let mut line = line("pty:bash --norc --noprofile -ic '{ sleep 600 & } 2>/dev/null; echo $!; wait'").await;
        let job = number(&up_to(&mut *line, "\n").await);
        // Before the exec it is a bash too, which may handle the hangup itself.
        wait_until("it is a job", || status(job, "Name").as_deref() == Some("sleep")).await;
        drop(line);
        cuesta_lines::wait_for_ended_programs();
        wait_until_dead(job, "bash hands on what hung it up").await;
    });
}

#[test]
fn a_program_in_its_own_session_survives_the_hangup() {
    play(async {
        let mut line = line("pty:setsid sh -c 'echo $$; exec sleep 600' & read x").await;
        let daemon = number(&up_to(&mut *line, "\n").await);
        drop(line);
        cuesta_lines::wait_for_ended_programs();
        assert!(status(daemon, "State").is_some_and(|state| !state.starts_with('Z')));
        kill_process(Pid::from_raw(daemon).expect("a process"), Signal::KILL).expect("ours");
    });
}

/// Waits until a process has ended, reaped or not.
async fn wait_until_dead(pid: i32, why: &str) {
    wait_until(why, || status(pid, "State").is_none_or(|state| state.starts_with('Z'))).await;
}

#[test]
fn a_missing_program_has_its_own_error() {
    play(async {
        for target in ["pty:cuesta-no-such-program", "pty:/etc/passwd", "pipe:cuesta-no-such-program"] {
            let mut line = line(target).await;
            let (shown, fault) = to_the_end(&mut *line).await;
            assert_eq!(fault, Some("no-program"), "{target}: {shown}");
            assert!(shown.contains("not found") || shown.contains("denied"), "the shell's own words: {shown:?}");
        }
        // After input the same exit status has another meaning.
        let mut line = line("pty:read x; exit 127").await;
        typed(&mut *line, "x\r").await;
        assert_eq!(to_the_end(&mut *line).await.1, None);
    });
}

#[test]
fn a_programs_exit_and_last_output_are_reported() {
    play(async {
        for (target, how, last) in [
            ("pty:echo oops; exit 3", ExitStatus::Exited(3), "oops\r\n"),
            ("pipe:echo oops >&2; exit 3", ExitStatus::Exited(3), "oops\r\n"),
            ("pipe:false", ExitStatus::Exited(1), ""),
            ("pty:kill -SEGV $$", ExitStatus::Killed(11), ""),
            ("pty:true", ExitStatus::Exited(0), ""),
        ] {
            let mut line = line(target).await;
            to_the_end(&mut *line).await;
            let ended = poll_fn(|cx| line.poll_exit(cx)).await.expect("a program was there");
            assert_eq!((ended, String::from_utf8_lossy(&last_rows(&mut *line)).as_ref()), (how, last), "{target}");
        }
        // Unread output counts too; the line is slow.
        let slow = Options { line_speed: 10, ..Options::default() };
        let mut line = line_with("pty:echo a long reason; exit 4", &slow).await;
        let ended = poll_fn(|cx| line.poll_exit(cx)).await.expect("a program was there");
        assert_eq!((ended, &*last_rows(&mut *line)), (ExitStatus::Exited(4), b"a long reason\r\n".as_slice()));
    });
}

#[test]
fn a_program_is_hung_up_and_a_stubborn_one_killed() {
    const LOOP: &str = "echo $$; while :; do sleep 0.05; done";
    let programs = play(async {
        let mut programs = Vec::new();
        for begin in ["pty:trap 'exit 0' HUP;", "pty:trap '' HUP TERM;", "pipe:", "pipe:trap '' HUP TERM;"] {
            programs.push(number(&up_to(&mut *line(&format!("{begin} {LOOP}")).await, "\n").await));
        }
        programs
    });
    cuesta_lines::wait_for_ended_programs();
    play(wait_until("all are gone and reaped", move || programs.iter().all(|pid| status(*pid, "State").is_none())));
}

#[test]
fn orphans_are_adopted_and_reaped() {
    let daemon = play(async {
        let mut line = line("pty:(setsid sh -c 'echo $$; exec sleep 60' &); cat").await;
        number(&up_to(&mut *line, "\n").await)
    });
    let own = std::process::id().to_string();
    play(wait_until("its parent has ended", move || status(daemon, "PPid").as_deref() == Some(&own)));
    kill_process(Pid::from_raw(daemon).unwrap(), Signal::KILL).unwrap();
    play(wait_until("it is reaped", move || status(daemon, "State").is_none()));
}

/// Processes are in session 0 if no ancestor began a session, as under a minimal init, or if their session began outside their
/// PID namespace.
#[test]
fn orphans_are_reaped_in_session_0_too() {
    let test = "pty::orphans_are_adopted_and_reaped";
    let unshare = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    let binary = std::env::current_exe().unwrap();
    let run = Command::new("unshare").args(unshare).arg(binary).args(["--exact", test]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"));
}

#[test]
fn a_line_speed_holds_over_a_terminal() {
    play(async {
        let options = Options { line_speed: 9600, ..Options::default() };
        let mut line = line_with("pty:head -c 960 /dev/zero | tr '\\0' x", &options).await;
        let begun = clock::now();
        let (shown, _) = to_the_end(&mut *line).await;
        assert_eq!(shown.len(), 960);
        // 960 characters of ten bits, less those that may be read ahead of time.
        assert!(clock::now().since(begun) >= Duration::from_millis(900));
    });
}

#[test]
fn input_for_an_ended_program_fails_as_closed() {
    play(async {
        let mut line = line("pty:true").await;
        to_the_end(&mut *line).await;
        let error = cuesta_lines::send(&mut *line, b"x").await.unwrap_err();
        assert_eq!(cuesta_lines::failure_of(&error).name(), "closed");
    });
}

#[test]
fn hundreds_of_terminals_at_once() {
    play(async {
        let mut lines = Vec::new();
        for _ in 0..300 {
            lines.push(line("pty:cat").await);
        }
        for line in &mut lines {
            typed(&mut **line, "x\r").await;
        }
        for line in &mut lines {
            assert_eq!(up_to(&mut **line, "x\r\nx\r\n").await, "x\r\nx\r\n");
        }
    });
    cuesta_lines::wait_for_ended_programs();
}

#[test]
fn a_command_with_a_nul_is_refused() {
    assert!("pty:".parse::<Target>().is_err());
    play(async {
        let target = Target::Pty("a\0b".to_owned());
        let error = open(&target, &Options::default()).await.err().expect("no such command can be");
        assert_eq!(error.failure().name(), "not-started");
    });
}
