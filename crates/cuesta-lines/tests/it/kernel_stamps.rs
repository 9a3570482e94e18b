//! Instants at which the kernel sends and receives, on lines over TCP.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use cuesta_lines::{Line, Options, receive, send};
use cuesta_record::clock;
use tokio::task::spawn_local;

use crate::real::play;
use crate::tcp::{echo, listen, pair};

fn stamped() -> Options {
    Options { stamped: true, ..Options::default() }
}

#[test]
fn the_kernel_stamps_keys_and_echoes() {
    play(async {
        let listener = listen("telnet");
        let (mut near, far) = pair(&listener, &stamped()).await;
        spawn_local(echo(far));
        let mut stamped = 0;
        // The kernel starts to stamp received packets a little after the request.
        while stamped < 50 {
            let wall = clock::wall();
            send(&mut near, b"k").await.unwrap();
            let received = receive(&mut near, &mut [0; 16]).await.unwrap();
            // It gives no send stamp for a key if a reply of the negotiation was sent after it.
            let (Some(sent), Some(echoed)) = (near.kernel_sent(), received.stamped) else { continue };
            let order = [wall, sent.kernel, echoed.kernel, clock::wall()];
            assert!(order.is_sorted(), "{order:?}");
            let (kernel, ours) = (echoed.kernel - sent.kernel, echoed.ours.since(sent.ours).as_nanos() as u64);
            assert!(kernel <= ours, "the kernel saw {kernel} ns, we {ours} ns");
            stamped += 1;
        }
        // Before another key, the same stamp is returned again.
        assert_eq!(near.kernel_sent(), near.kernel_sent());
    });
}

#[test]
fn a_stamped_line_that_is_full_does_not_spin() {
    play(async {
        let listener = listen("tcp");
        let (mut near, mut far) = pair(&listener, &stamped()).await;
        send(&mut near, b"k").await.unwrap();
        let mut polls = 0;
        let text = vec![b'x'; 100_000];
        // The socket is full, because the far end does not read, and send stamps are pending.
        let mut fill = pin!(clock::sleep_until(clock::now() + Duration::from_millis(300)));
        let mut sent = 0;
        poll_fn(|cx| {
            polls += 1;
            while let Poll::Ready(len) = near.poll_send(cx, &text) {
                sent += len.unwrap();
            }
            fill.as_mut().poll(cx)
        })
        .await;
        assert!(polls < 1000, "{polls} polls in 300 ms");
        // When the far end reads, there is room again.
        let reader = spawn_local(async move {
            let mut left = sent + 1 + 100_000;
            let mut buffer = vec![0; 100_000];
            while left > 0 {
                left -= receive(&mut far, &mut buffer).await.unwrap().len;
            }
        });
        send(&mut near, &text).await.unwrap();
        reader.await.unwrap();
    });
}

#[test]
fn a_stamped_line_that_waits_for_input_does_not_spin() {
    play(async {
        let listener = listen("tcp");
        let (mut near, mut far) = pair(&listener, &stamped()).await;
        send(&mut near, b"k").await.unwrap();
        receive(&mut far, &mut [0; 9]).await.unwrap();
        let mut polls = 0;
        let mut wait = pin!(clock::sleep_until(clock::now() + Duration::from_millis(200)));
        let mut buffer = [0; 9];
        poll_fn(|cx| {
            polls += 1;
            assert!(near.poll_receive(cx, &mut buffer).is_pending());
            wait.as_mut().poll(cx)
        })
        .await;
        assert!(polls < 10, "{polls} polls in 200 ms with nothing to read");
    });
}
