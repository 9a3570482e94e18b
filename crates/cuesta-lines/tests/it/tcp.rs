//! Lines over real TCP.

use std::future::poll_fn;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cuesta_lines::{Line, Listener, Options, Target, failure_of, open, receive, send};
use cuesta_record::clock;
use tokio::task::spawn_local;

use crate::real::{play, refused};

pub(crate) fn listen(kind: &str) -> Listener {
    Listener::bind(&format!("{kind}://127.0.0.1:0").parse().expect("a target")).expect("a free port")
}

/// The terminal's end of a line, and the host's.
pub(crate) async fn pair(listener: &Listener, options: &Options) -> (Box<dyn Line>, Box<dyn Line>) {
    let near = open(&listener.target(), options).await.expect("it listens");
    (near, listener.accept().await.expect("a connection"))
}

/// Sends back everything it receives.
pub(crate) async fn echo(mut line: Box<dyn Line>) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let received = receive(&mut line, &mut buffer).await?;
        if received.len == 0 {
            return Ok(());
        }
        send(&mut line, &buffer[..received.len]).await?;
    }
}

async fn receive_exactly(line: &mut Box<dyn Line>, len: usize) -> Vec<u8> {
    let mut buffer = vec![0; 4096];
    let mut all = Vec::new();
    while all.len() < len {
        let received = receive(line, &mut buffer).await.expect("no fault");
        assert!(received.len > 0, "closed after {}", all.len());
        all.extend_from_slice(&buffer[..received.len]);
    }
    all
}

#[test]
fn characters_come_back() {
    for kind in ["tcp", "telnet"] {
        play(async move {
            let listener = listen(kind);
            let (mut near, far) = pair(&listener, &Options::default()).await;
            spawn_local(echo(far));
            for key in 0..=255 {
                let before = clock::now();
                send(&mut near, &[key]).await.unwrap();
                let mut buffer = [0; 16];
                let received = receive(&mut near, &mut buffer).await.unwrap();
                assert_eq!(&buffer[..received.len], [key]);
                assert!(before < received.at && received.at <= clock::now());
                assert_eq!((received.per_character, received.stamped), (Duration::ZERO, None));
            }
            let text: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
            let sent = text.clone();
            send(&mut near, &sent).await.unwrap();
            assert_eq!(receive_exactly(&mut near, text.len()).await, text);
            let traffic = near.traffic();
            assert!(traffic.sent >= 100_256 && traffic.received >= 100_256);
        });
    }
}

#[test]
fn closing_with_unread_input_does_not_lose_the_last_output() {
    play(async {
        let listener = listen("telnet");
        let (mut near, mut far) = pair(&listener, &Options::default()).await;
        send(&mut far, b"goodbye").await.unwrap();
        send(&mut near, b"unread").await.unwrap();
        drop(far);
        assert_eq!(receive_exactly(&mut near, 7).await, b"goodbye");
        assert_eq!(receive(&mut near, &mut [0; 9]).await.unwrap().len, 0);
    });
}

/// Sends until the line accepts no more, and returns what was sent.
fn fill(far: &mut Box<dyn Line>) -> Vec<u8> {
    let piece: Vec<u8> = (0..10_000_u32).map(|n| (n % 251) as u8).collect();
    let mut cx = Context::from_waker(Waker::noop());
    let mut sent = Vec::new();
    while let Poll::Ready(len) = far.poll_send(&mut cx, &piece) {
        sent.extend_from_slice(&piece[..len.expect("no fault")]);
        assert!(sent.len() < 10_000_000, "the line never fills");
    }
    sent
}

#[test]
fn a_slow_reader_holds_the_writer_and_loses_nothing() {
    for kind in ["tcp", "telnet"] {
        play(async move {
            let listener = listen(kind);
            let (mut near, mut far) = pair(&listener, &Options::default()).await;
            let sent = fill(&mut far);
            assert!(sent.len() < 1_000_000, "the kernel buffers {} characters", sent.len());
            assert!(receive_exactly(&mut near, sent.len()).await == sent);
            drop(far);
            assert_eq!(receive(&mut near, &mut [0; 9]).await.unwrap().len, 0);
        });
    }
}

#[test]
fn the_kernel_buffers_little_for_a_slow_line() {
    play(async {
        let listener = listen("telnet");
        let (mut near, mut far) = pair(&listener, &Options { line_speed: 9600, ..Options::default() }).await;
        let sent = fill(&mut far);
        assert!(sent.len() < 32_000, "the kernel buffers {} characters", sent.len());
        assert_eq!(receive_exactly(&mut near, 50).await[..50], sent[..50]);
    });
}

#[test]
fn closed_and_reset_connections_are_distinguished() {
    play(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target: Target = format!("telnet://{}", listener.local_addr().unwrap()).parse().unwrap();
        // Closed within a negotiation.
        let mut near = open(&target, &Options::default()).await.unwrap();
        let mut peer = listener.accept().unwrap().0;
        io::Write::write_all(&mut peer, b"bye\xff\xfa\x18").unwrap();
        drop(peer);
        assert_eq!(receive_exactly(&mut near, 3).await, b"bye");
        let error = receive(&mut near, &mut [0; 9]).await.unwrap_err();
        assert_eq!(failure_of(&error).name(), "half-sequence");
        // Closed without an error.
        let mut near = open(&target, &Options::default()).await.unwrap();
        drop(listener.accept().unwrap().0);
        assert_eq!(receive(&mut near, &mut [0; 9]).await.unwrap().len, 0);
        // Reset: the peer closes its socket with unread input.
        let mut near = open(&target, &Options::default()).await.unwrap();
        let peer = listener.accept().unwrap().0;
        send(&mut near, b"unread").await.unwrap();
        wait_for_input(&peer);
        drop(peer);
        assert_eq!(failure_of(&receive(&mut near, &mut [0; 9]).await.unwrap_err()).name(), "reset");
        assert_eq!(failure_of(&send(&mut near, b"more").await.unwrap_err()).name(), "closed");
    });
}

/// Waits until something can be read.
fn wait_for_input(peer: &TcpStream) {
    peer.set_nonblocking(false).expect("a socket");
    peer.peek(&mut [0]).expect("input");
}

#[test]
fn a_flood_of_negotiation_does_not_block_the_line() {
    play(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target: Target = format!("telnet://{}", listener.local_addr().unwrap()).parse().unwrap();
        let mut near = open(&target, &Options::default()).await.unwrap();
        let mut peer = listener.accept().unwrap().0;
        // The peer never reads the answers.
        let flood = std::thread::spawn(move || {
            let question = b"\xff\xfd\x27".repeat(100_000);
            for _ in 0..20 {
                io::Write::write_all(&mut peer, &question).expect("it is read");
            }
            io::Write::write_all(&mut peer, b"over").expect("it is read");
            peer
        });
        assert_eq!(receive_exactly(&mut near, 4).await, b"over");
        flood.join().unwrap();
    });
}

#[test]
fn errors_of_opening_have_a_name_and_a_remedy() {
    play(async {
        let closed = listen("tcp").target().to_string();
        for (target, name, text) in [
            (&*closed, "refused", "(refused): start the host, or check the address"),
            ("telnet://no-such-host.invalid", "unresolved", "\"no-such-host.invalid\" has no address ("),
            ("host:", "no-address", "start the built-in host"),
        ] {
            let error = refused(target, &Options::default()).await;
            assert!(error.0 == name && error.1.contains(text), "{error:?}");
        }
    });
}

#[test]
fn connecting_to_a_host_that_never_accepts_times_out() {
    play(async {
        // A backlog of 0 is full after one or two connections; the kernel then drops connection requests silently.
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
        socket.listen(0).unwrap();
        let target = format!("tcp://{}", socket.local_addr().unwrap().as_socket().unwrap()).parse().unwrap();
        let options = Options { connect_timeout: Duration::from_millis(100), ..Options::default() };
        let mut lines = Vec::new();
        let error = loop {
            match open(&target, &options).await {
                Ok(line) => lines.push(line),
                Err(error) => break error,
            }
            assert!(lines.len() < 10, "the queue never fills");
        };
        assert_eq!(error.failure().name(), "timeout");
        assert!(error.to_string().contains("did not answer within 0.1 s"), "{error}");
    });
}

#[test]
fn an_address_can_be_bound_only_once() {
    let first = listen("tcp");
    let again = Listener::bind(&first.target()).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
    assert!(again.to_string().contains("another program listens there"), "{again}");
    assert!(Listener::bind(&Target::Host).is_err());
}

#[test]
fn two_listeners_on_one_socket_accept_all_lines() {
    play(async {
        let listener = listen("tcp");
        let listeners = [Rc::new(listener.try_clone().unwrap()), Rc::new(listener)];
        let target = listeners[0].target();
        let mut lines = Vec::new();
        for _ in 0..10 {
            lines.push(open(&target, &Options::default()).await.unwrap());
        }
        for _ in 0..10 {
            let mut waits = listeners.iter().map(|listener| Box::pin(listener.accept())).collect::<Vec<_>>();
            poll_fn(|cx| {
                let accepted = waits.iter_mut().find_map(|wait| match wait.as_mut().poll(cx) {
                    Poll::Ready(line) => Some(line),
                    Poll::Pending => None,
                });
                accepted.map_or(Poll::Pending, Poll::Ready)
            })
            .await
            .unwrap();
        }
    });
}
