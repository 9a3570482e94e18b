//! Programs with pipes in place of a terminal.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use crate::real::{line, play, to_the_end, typed, up_to};
use cuesta_record::clock;

#[test]
fn enter_is_a_line_feed_and_nothing_is_echoed() {
    play(async {
        let mut line = line("pipe:read row; echo \"got $row\"; read row; echo \"and $row\" >&2").await;
        typed(&mut *line, "one two\r").await;
        assert_eq!(up_to(&mut *line, "\n").await, "got one two\r\n");
        typed(&mut *line, "three\r").await;
        assert_eq!(up_to(&mut *line, "\n").await, "and three\r\n");
        assert_eq!(to_the_end(&mut *line).await, (String::new(), None));
        assert_eq!(line.traffic().sent, 14);
    });
}

#[test]
fn there_is_no_terminal() {
    play(async {
        let mut line = line("pipe:tty; test -t 1 || echo no terminal; echo $TERM").await;
        let (said, fault) = to_the_end(&mut *line).await;
        assert_eq!(said, "not a tty\r\nno terminal\r\nxterm-256color\r\n");
        assert_eq!(fault, None);
        assert!(line.terminal().is_none());
    });
}

#[test]
fn more_output_than_a_pipe_holds_arrives() {
    play(async {
        let mut line = line("pipe:wc -c").await;
        let row = "x".repeat(999) + "\r";
        for _ in 0..300 {
            typed(&mut *line, &row).await;
        }
        drop(line);
        let mut both = crate::real::line("pipe:head -c 300000 | tail -c 5").await;
        for _ in 0..300 {
            typed(&mut *both, &row).await;
        }
        assert_eq!(to_the_end(&mut *both).await, ("xxxx\r\n".to_owned(), None));
    });
}

#[test]
fn rows_end_with_cr_lf_however_small_the_reads() {
    for room in [1, 2, 3, 7, 4096] {
        play(async move {
            let mut line = line("pipe:printf 'a\\n\\n\\nbc\\r\\nd\\n'").await;
            let (mut buffer, mut came) = (vec![0; room], Vec::new());
            loop {
                let received = cuesta_lines::receive(&mut *line, &mut buffer).await.expect("the line holds");
                if received.len == 0 {
                    break;
                }
                came.extend_from_slice(&buffer[..received.len]);
            }
            assert_eq!(String::from_utf8_lossy(&came), "a\r\n\r\n\r\nbc\r\r\nd\r\n", "{room} at once");
            assert_eq!(line.traffic().received, 10);
        });
    }
}

#[test]
fn a_program_that_does_not_read_holds_the_writer() {
    play(async {
        let mut line = line("pipe:sleep 600").await;
        let row = [b'x'; 4096];
        let mut taken = 0;
        loop {
            let mut patience = clock::sleep_until(clock::now() + Duration::from_millis(300));
            let sent = poll_fn(|cx| match line.poll_send(cx, &row) {
                Poll::Ready(sent) => Poll::Ready(Some(sent)),
                Poll::Pending => Pin::new(&mut patience).poll(cx).map(|()| None),
            });
            match sent.await {
                Some(sent) => taken += sent.expect("the program lives"),
                None => break,
            }
        }
        assert!((4096..1 << 21).contains(&taken), "what a pipe holds: {taken}");
    });
    cuesta_lines::wait_for_ended_programs();
}
