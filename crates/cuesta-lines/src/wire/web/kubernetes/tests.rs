use super::*;
use crate::wire::web::WebHost as _;
use crate::wire::web::pairs::{Pair, place};

fn pod(settings: &[(&str, &str)]) -> Place {
    let mut place = place();
    place.base = "/default/web-1".to_owned();
    place.settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    place
}

fn receive(terminal: &mut Terminal, message: &[u8]) -> Result<Range<usize>, SessionError> {
    terminal.receive(MessageKind::Binary, &mut message.to_vec(), &mut Messages::default())
}

#[test]
fn keys_and_output_pass_by_each_protocol() {
    let every_byte: Vec<_> = (0..=255).collect();
    let output = "\u{1b}[1m😀 ä\0".as_bytes();
    for (setting, name) in [("", "v5."), ("v5", "v5."), ("v4", "v4."), ("base64", "v4.base64.")] {
        let mut pair = Pair::open(Terminal::new(pod(&[("protocol", setting)])), Host::default());
        assert_eq!(pair.terminal.protocol.name, format!("{name}channel.k8s.io"));
        assert!(pair.terminal.is_ready());
        assert_eq!(pair.host.window(), Some((80, 24)));
        assert_eq!(pair.type_keys(&every_byte), every_byte);
        assert_eq!(pair.type_keys(&every_byte.repeat(200)), every_byte.repeat(200));
        assert_eq!(pair.send_from_host(output), output);
        pair.resize(100, 30);
        assert_eq!(pair.host.window(), Some((100, 30)));
        pair.host.status = 3;
        assert_eq!(pair.end_program(), Some(1000));
        assert!(pair.terminal.has_ended() && pair.terminal.exit() == Some(ExitStatus::Exited(3)));
    }
}

#[test]
fn the_path_names_the_pod_and_its_command() {
    let path = |base: &str, settings: &[(&str, &str)]| {
        let place = Place { base: base.to_owned(), ..pod(settings) };
        Terminal::new(place).path()
    };
    let query = "stdin=true&stdout=true&tty=true";
    let at = "/api/v1/namespaces/default/pods/web-1";
    assert_eq!(path("/default/web-1", &[]).unwrap(), format!("{at}/exec?command=sh&{query}"));
    let command = [("command", "bash"), ("command", "-c"), ("command", "a b&c")];
    let expected = format!("{at}/exec?command=bash&command=-c&command=a%20b%26c&container=c&{query}");
    assert_eq!(path("/default/web-1/c", &command).unwrap(), expected);
    assert_eq!(path("/default/web-1", &[("attach", "")]).unwrap(), format!("{at}/attach?{query}"));
    assert!(matches!(path("/default", &[]), Err(SessionError::Refused(_))));
}

#[test]
fn a_token_is_sent_as_bearer() {
    let host = || Host { token: Some("T".to_owned()), ..Host::default() };
    let mut place = pod(&[]);
    place.account.token = Some("T".to_owned());
    drop(Pair::open(Terminal::new(place.clone()), host()));
    place.account.token = None;
    let refused = Pair::try_open(Terminal::new(place), host()).err();
    assert_eq!(refused, Some(SessionError::Refused("upgrade 401".to_owned())));
}

#[test]
fn a_failure_before_any_output_is_a_refusal() {
    for protocol in ["v5", "v4", "base64"] {
        let host = Host { failure: Some("executable file not found in $PATH".to_owned()), ..Host::default() };
        let refused = Pair::try_open(Terminal::new(pod(&[("protocol", protocol)])), host).err();
        assert_eq!(refused, Some(SessionError::Refused("executable file not found in $PATH".to_owned())));
    }
    let mut terminal = Terminal::new(pod(&[]));
    let reason = br#"{"metadata":{},"status":"Failure","message":"","reason":"Timeout","details":null}"#;
    let refused = receive(&mut terminal, &[b"\x03", &reason[..]].concat());
    assert_eq!(refused, Err(SessionError::Refused("Timeout".to_owned())));
    assert!(!terminal.is_ready());
}

#[test]
fn a_failure_after_output_is_the_end_without_a_status() {
    let mut terminal = Terminal::new(pod(&[]));
    assert_eq!(receive(&mut terminal, b"\x01"), Ok(1..1));
    assert_eq!(receive(&mut terminal, b"\x01$ "), Ok(1..3));
    let killed = br#"{"status":"Failure","message":"container was deleted","reason":"InternalError","code":500}"#;
    assert_eq!(receive(&mut terminal, &[b"\x03", &killed[..]].concat()), Ok(0..0));
    assert!(terminal.has_ended() && terminal.exit().is_none());
}

#[test]
fn the_status_of_an_old_protocol_is_a_text() {
    let old = &PROTOCOLS[3];
    let exit = |text: &str| Status::parse(text.as_bytes(), old).unwrap().exit();
    let said = "command terminated with non-zero exit code: exit status 3";
    assert_eq!(exit(said), Some(ExitStatus::Exited(3)));
    assert_eq!(exit("command terminated with exit code 137"), Some(ExitStatus::Exited(137)));
    assert_eq!(exit("the container has gone"), None);
    let mut pair = Pair::open(Terminal::new(pod(&[("protocol", "base64")])), Host::default());
    pair.terminal.begin(Some(old.name), &mut Messages::default()).unwrap();
    let mut text = b"3dGhlIGNvbnRhaW5lciBoYXMgZ29uZQ==".to_vec();
    let refused = pair.terminal.receive(MessageKind::Text, &mut text, &mut Messages::default());
    assert_eq!(refused, Err(SessionError::Refused("the container has gone".to_owned())));
}

#[test]
fn a_shell_is_typed_to_its_end_but_not_a_program_that_others_share() {
    let sent = |settings: &[(&str, &str)]| {
        let mut messages = Messages::default();
        Terminal::new(pod(settings)).finish(&mut messages);
        messages.0.into_iter().map(|(_, payload)| payload).collect::<Vec<_>>()
    };
    let ends = [b"\0\x03".to_vec(), b"\0exit\r".to_vec(), b"\0exit\r".to_vec(), b"\0\x04".to_vec()];
    assert_eq!(sent(&[]), [&ends[..], &[vec![255, 0]]].concat());
    assert_eq!(sent(&[("protocol", "v4")]), ends);
    assert_eq!(sent(&[("protocol", "base64")]), [&b"0Aw=="[..], b"0ZXhpdA0=", b"0ZXhpdA0=", b"0BA=="]);
    assert_eq!(sent(&[("attach", "")]), [[0; 0]; 0]);
    let mut host = Host::default();
    let close = host.receive(MessageKind::Binary, &mut [255, 0], &mut Messages::default());
    assert!(close == Ok(0..0) && host.is_input_closed());
}

#[test]
fn other_protocols_are_named() {
    let mut terminal = Terminal::new(pod(&[]));
    let named = |result: Result<(), _>| matches!(result, Err(SessionError::OtherProtocol(_)));
    for chosen in [None, Some("v3.channel.k8s.io"), Some("base64.channel.k8s.io")] {
        assert!(named(terminal.begin(chosen, &mut Messages::default())));
    }
    for message in [&b""[..], b"\x00x", b"\x05", b"hello", b"\x03{}", b"\x03<html>"] {
        assert!(named(receive(&mut terminal, message).map(drop)), "{message:?}");
    }
    let text = terminal.receive(MessageKind::Text, &mut [1], &mut Messages::default());
    assert!(named(text.map(drop)));
    terminal.begin(Some("v4.channel.k8s.io"), &mut Messages::default()).unwrap();
    let long = format!(r#"{{"status":"Failure","message":"{}"}}"#, "x".repeat(1 << 20));
    let refused = receive(&mut terminal, &[b"\x03", long.as_bytes()].concat()).unwrap_err();
    assert!(refused.to_string().len() < 1000);
}
