use super::*;
use crate::wire::web::WebHost as _;
use crate::wire::web::pairs::{Pair, place};

const NAME: &str = "cuesta_b54f5f3c000040008000000000000001";

fn with_token() -> Place {
    let mut place = place();
    place.account.token = Some("T".to_owned());
    place
}

fn with_password(password: &str) -> Place {
    let mut place = place();
    place.account.password = Some(password.to_owned());
    place
}

fn set(mut place: Place, name: &str, value: &str) -> Place {
    place.settings.push((name.to_owned(), value.to_owned()));
    place
}

fn host() -> Host {
    Host { token: Some("T".to_owned()), password: Some("ge heim&".to_owned()), ..Host::default() }
}

fn take(terminal: &mut Terminal, message: &str) -> Result<String, SessionError> {
    let mut message = message.as_bytes().to_vec();
    let range = terminal.receive(MessageKind::Text, &mut message, &mut Messages::default())?;
    Ok(String::from_utf8(message[range].to_vec()).unwrap())
}

/// Removes what a session leaves; returns the status of the answer.
fn remove(pair: &mut Pair<Terminal, Host>) -> Option<u16> {
    let request = pair.terminal.removal(&pair.cookies)?;
    let cookies = pair.cookies.header_for(&request.path).unwrap_or_default();
    Some(pair.host.answer(&request.with("Cookie", cookies)).status)
}

#[test]
fn keys_and_output_pass_as_json() {
    let mut pair = Pair::open(Terminal::new(with_token()), host());
    let websocket = format!("GET /base/terminals/websocket/{NAME}");
    assert_eq!(pair.paths, ["POST /base/api/terminals", &websocket]);
    assert!(pair.terminal.is_ready());
    assert_eq!(pair.host.window(), Some((80, 24)));
    let text: String = (0..128).map(char::from).chain("äß😀\u{fffd}".chars()).collect();
    assert_eq!(pair.type_keys(text.as_bytes()), text.as_bytes());
    assert_eq!(pair.send_from_host(text.as_bytes()), text.as_bytes());
    assert_eq!(pair.send_from_host(b"a\xff\xc3"), "a\u{fffd}\u{fffd}".as_bytes());
    pair.resize(100, 30);
    assert_eq!(pair.host.window(), Some((100, 30)));
    assert_eq!(pair.terminal.encode(b"\xff", &mut Vec::new()), Err(SessionError::NotText));
    assert_eq!(pair.end_program(), Some(1005));
    assert!(pair.terminal.has_ended() && pair.terminal.exit().is_none());
}

#[test]
fn output_is_decoded_however_the_host_writes_it() {
    let mut terminal = Terminal::new(place());
    assert_eq!(take(&mut terminal, r#"["stdout", "\u001b[1m\ud83d\ude00 \u00e4\r\n"]"#).unwrap(), "\u{1b}[1m😀 ä\r\n");
    assert_eq!(take(&mut terminal, r#"["stdout","😀"]"#).unwrap(), "😀");
    assert!(!terminal.is_ready());
    assert_eq!(take(&mut terminal, r#"["setup", {"new": 1}]"#).map(|_| terminal.is_ready()), Ok(true));
}

#[test]
fn a_password_is_sent_by_the_form_with_the_cookie_repeated() {
    let mut pair = Pair::open(Terminal::new(with_password("ge heim&")), host());
    assert_eq!(pair.paths[..3], ["GET /base/login", "POST /base/login", "POST /base/api/terminals"]);
    assert_eq!(pair.host.terminals, [NAME]);
    assert_eq!((remove(&mut pair), pair.host.terminals.len()), (Some(204), 0));
    let refused = Pair::try_open(Terminal::new(with_password("falsch")), host()).err();
    assert_eq!(refused, Some(SessionError::Refused("the password was not accepted".to_owned())));
    let page = Response::new(200, "text/html", r#"<input type="password" name="password">"#);
    assert!(check_login(&page).is_err() && check_login(&Response::new(404, "text/html", "")).is_ok());
}

#[test]
fn a_host_without_accounts_wants_its_cookie_all_the_same() {
    let mut pair = Pair::open(Terminal::new(place()), Host::default());
    assert_eq!(pair.paths[..2], ["GET /base/", "POST /base/api/terminals"]);
    assert_eq!(remove(&mut pair), Some(204));
}

#[test]
fn who_has_logged_in_before_does_not_do_it_again() {
    let mut place = with_password("ge heim&");
    place.account.is_logged_in = true;
    let mut terminal = Terminal::new(place);
    let cookies = CookieJar::from_header("_xsrf=2|x; username-host=joe");
    let Step::Request(request) = terminal.prepare(None, &cookies).unwrap() else { panic!() };
    assert_eq!((request.path.as_str(), request.headers.get("X-XSRFToken")), ("/base/api/terminals", Some("2|x")));
}

#[test]
fn only_a_new_terminal_is_removed_unless_it_shall_be_kept() {
    let mut pair = Pair::open(Terminal::new(with_token()), host());
    assert_eq!((remove(&mut pair), pair.host.terminals.len()), (Some(204), 0));
    let mut kept = Pair::open(Terminal::new(set(with_token(), "keep", "")), host());
    assert_eq!(remove(&mut kept), None);
    let host = Host { terminals: vec!["1".to_owned()], ..host() };
    let mut attached = Pair::open(Terminal::new(set(with_token(), "attach", "1")), host);
    assert_eq!(attached.paths, ["GET /base/terminals/websocket/1"]);
    assert_eq!(remove(&mut attached), None);
}

#[test]
fn a_wrong_token_and_another_terminal_are_refused() {
    let mut place = with_token();
    place.account.token = Some("falsch".to_owned());
    let refused = Pair::try_open(Terminal::new(place), host()).err();
    let expected = "/api/terminals was answered by status 403: no or a wrong token or login";
    assert_eq!(refused, Some(SessionError::Refused(expected.to_owned())));
    let refused = Pair::try_open(Terminal::new(set(with_token(), "attach", "none")), host()).err();
    assert_eq!(refused, Some(SessionError::Refused("upgrade 404".to_owned())));
}

#[test]
fn other_protocols_are_named() {
    let named = |result: Result<(), _>| matches!(result, Err(SessionError::OtherProtocol(_)));
    for body in ["<html>", "{}", r#"{"name":5}"#, r#"{"name":""}"#, r#"{"name":"../lab"}"#] {
        assert!(named(read_name(&Response::new(200, "text/html", body)).map(drop)), "{body}");
    }
    let mut terminal = Terminal::new(place());
    for message in ["", "0x", "{}", "[]", r#"["stdout",5]"#, r#"["stdout","x""#] {
        assert!(named(take(&mut terminal, message).map(drop)), "{message}");
    }
    let binary = terminal.receive(MessageKind::Binary, &mut br#"["setup",{}]"#.to_owned(), &mut Messages::default());
    assert!(named(binary.map(drop)));
    assert!(named(terminal.begin(Some("tty"), &mut Messages::default())));
}

#[test]
fn a_long_paste_is_cut_so_that_the_host_takes_it() {
    let mut pair = Pair::open(Terminal::new(with_token()), host());
    let paste = vec![b'\x01'; 2_500_000];
    let mut payload = Vec::new();
    pair.terminal.encode(&paste, &mut payload).unwrap();
    assert!(payload.len() < 10 * 1024 * 1024);
    assert_eq!(pair.type_keys(&paste), paste);
}
