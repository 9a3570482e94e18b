//! Input of programs that show it, that hide it, and that take it as commands.

use std::time::Duration;

use cuesta_cast::{Cast, Event, EventKind, InputLocation, Secrets};

fn output(text: &str) -> EventKind {
    EventKind::Output(text.into())
}

fn input(text: &str) -> EventKind {
    EventKind::Input { text: text.into(), echoes: None }
}

fn seen(text: &str, echoes: bool) -> EventKind {
    EventKind::Input { text: text.into(), echoes: Some(echoes) }
}

fn cast(events: &[EventKind]) -> Cast {
    let event = |(number, kind): (usize, &EventKind)| Event {
        at: Duration::from_millis(100 * number as u64),
        kind: kind.clone(),
    };
    Cast { events: events.iter().enumerate().map(event).collect(), ..Cast::default() }
}

/// The input without secrets.
fn left(events: &[EventKind]) -> Vec<String> {
    let kept = cast(events).without_secrets();
    let input = |event: Event| match event.kind {
        EventKind::Input { text, .. } => Some(text),
        EventKind::Secret(column) => Some(format!("<{column}>")),
        _ => None,
    };
    kept.events.into_iter().filter_map(input).collect()
}

/// The output without secrets.
fn join_output(events: &[EventKind]) -> String {
    let kept = cast(events).without_secrets();
    let text = |event: Event| if let EventKind::Output(text) = event.kind { text } else { String::new() };
    kept.events.into_iter().map(text).collect()
}

#[test]
fn echoed_text_is_no_secret() {
    assert_eq!(left(&[output("$ "), input("l"), output("l"), input("s\r"), output("s\r\nfile\r\n$ ")]), ["l", "s\r"]);
}

#[test]
fn input_that_the_line_did_not_echo_is_secret() {
    let events = [
        output("name: "),
        seen("hun", false),
        seen("t\x7fter2\r", false),
        output("\r\n$ "),
        seen("l", true),
        output("l"),
    ];
    assert_eq!(left(&events), ["<secret_1>", "\r", "l"]);
}

#[test]
fn text_that_was_not_shown_is_secret() {
    assert_eq!(left(&[output("Code? "), input("hunter2"), input("\r"), output("\r\nok\r\n")]), ["<secret_1>", "\r"]);
    assert_eq!(
        left(&[output("Passphrase: "), input("a"), output("*"), input("b"), output("*"), input("\r")]),
        ["<password>", "\r"]
    );
    // Interrupted before Enter.
    assert_eq!(left(&[output("Password: "), input("hun"), input("\x03"), output("\r\n$ ")]), ["<password>", "\x03"]);
}

#[test]
fn events_during_a_secret_share_one_instant() {
    let events = [
        output("Password: "),
        input("a"),
        output("*"),
        input("b"),
        output("*\r\nmail\r\n"),
        input("c"),
        input("\r"),
        output("\r\n$ "),
    ];
    let kept = cast(&events).without_secrets();
    let instants: Vec<u128> = kept.events.iter().map(|event| event.at.as_millis()).collect();
    assert_eq!(instants, [0, 600, 600, 600, 600, 700]);
    assert_eq!(left(&events), ["<password>", "\r"]);
    // A second question begins another entry.
    let twice = [output("PIN: "), input("12"), output("\r\nPIN again: "), input("12"), output("\r\nok")];
    assert_eq!(left(&twice), ["<password>", "<password>"]);
}

#[test]
fn a_secret_and_later_keys_in_one_input_are_separated() {
    let events = [output("Password: "), input("hunter2\rls\r"), output("\r\n$ ls\r\nfile\r\n$ ")];
    assert_eq!(left(&events)[..2], ["<password>", "\r"]);
    assert_eq!(left(&events)[2..].concat(), "ls\r");
    let pasted = [output("$ "), input("ls\rpwd\r"), output("ls\r\nfile\r\n$ pwd\r\n/\r\n$ ")];
    assert_eq!(left(&pasted), ["ls\rpwd\r"]);
}

#[test]
fn single_key_commands_of_a_full_screen_program_are_no_secret() {
    let page = "\x1b[H\x1b[2J1\r\n2\r\n3\r\n4\r\n";
    let events = [
        output("\x1b[?1049h~\r\n~"),
        input("d"),
        input("d"),
        output(page),
        input("j"),
        output("\x1b[H"),
        input("ZZ"),
        output("\x1b[?1049l"),
        input("\r"),
        output("$ "),
    ];
    assert_eq!(left(&events), ["d", "d", "j", "ZZ", "\r"]);
    let asked = [output("\x1b[?1049hPIN: "), input("1"), output("\x1b[H"), input("\r"), output("ok")];
    assert_eq!(left(&asked), ["<password>", "\r"]);
    // Keys without an answer, or with a star each, are secret.
    let quiet = [output("\x1b[?1049h Code "), input("a"), input("b"), input("c"), input("\r"), output("ok")];
    assert_eq!(left(&quiet), ["<secret_1>", "\r"]);
    let stars = [output("\x1b[?1049hCode "), input("a"), output("*"), input("\t"), output("\x1b[H")];
    assert_eq!(left(&stars), ["<secret_1>", "\t"]);
}

#[test]
fn a_key_before_a_resize_that_brings_rows_back_is_read() {
    let grown = EventKind::Resize { columns: 80, rows: 40 };
    assert_eq!(left(&[output(&"row\r\n".repeat(50)), input("a"), grown, input("b")]), ["<secret_1>"]);
}

#[test]
fn more_than_three_different_unshown_keys_are_secret() {
    let mut events = vec![output("\x1b[?1049h\r\nmain: main\x1b[H")];
    for (number, key) in ["h", "u", "n", "t"].iter().enumerate() {
        // A strength meter elsewhere on the screen changes with every key.
        events.extend([input(key), output(&format!("\x1b[9;1Hstrength {number}\x1b[H"))]);
    }
    assert_eq!(left(&events[..7]), ["h", "u", "n"]);
    assert_eq!(left(&events), ["<secret_1>"]);
    let again: Vec<_> =
        events.iter().cloned().map(|kind| if let EventKind::Input { .. } = kind { input("j") } else { kind }).collect();
    assert_eq!(left(&again), ["j"; 4]);
}

#[test]
fn keys_that_are_shown_only_for_a_moment_are_secret() {
    let events = [
        output("Code: "),
        input("a"),
        output("a"),
        input("b"),
        output("\x08*b"),
        input("c"),
        output("\x08*c"),
        input("\r"),
        output("\x08*\r\nok"),
    ];
    assert_eq!(left(&events), ["<secret_1>", "\r"]);
    assert_eq!(join_output(&events), "Code: *\x08**\x08**\x08*\r\nok");
    // The whole text, until a timer removes it.
    let timed = [output("Code: "), input("a"), output("a"), input("b"), output("b"), output("\x08\x08**"), input("\r")];
    assert_eq!(left(&timed), ["<secret_1>", "\r"]);
}

#[test]
fn the_effect_of_escape_does_not_hide_the_text_before_it() {
    let events = [
        output("\x1b[?1049hwords\x1b[H\x1b[4h"),
        input("j"),
        output("j"),
        input("u"),
        output("u"),
        input("\x1b"),
        output("\x08"),
        input("k"),
    ];
    assert_eq!(left(&events), ["j", "u", "\x1b", "k"]);
}

#[test]
fn a_secret_printed_in_the_answer_is_no_echo() {
    let events = [
        output("Code: "),
        input("hunter2"),
        input("\r"),
        output("\r\nhunter2 is wrong\r\n$ "),
        input("l"),
        output("l"),
    ];
    assert_eq!(left(&events), ["<secret_1>", "\r", "l"]);
    let kept = cast(&events).without_secrets();
    assert_eq!(kept.events[3].kind, output("\r\n******* is wrong\r\n$ "));
}

#[test]
fn a_secret_printed_at_the_cursor_after_enter_is_no_echo() {
    // `dialog` prints the text at the cursor after Enter.
    let printed = "hunter2\x1b[19;7H\x1b[?1049l\r";
    let at_once = [output("\x1b[?1049h Code "), input("hunter2\r"), output(printed)];
    assert_eq!(left(&at_once), ["<secret_1>", "\r"]);
    let pieces = [output("\x1b[?1049h Code "), input("hun"), input("ter2"), input("\r"), output("hunter2\r\n")];
    assert_eq!(left(&pieces), ["<secret_1>", "\r"]);
    // The echo of the latest key may come with the answer to Enter.
    let late = [output("$ "), input("l"), output("l"), input("s"), input("\r"), output("s\r\nfile\r\n$ ")];
    assert_eq!(left(&late), ["l", "s", "\r"]);
}

#[test]
fn keys_painted_after_the_end_of_a_secret_are_stars() {
    // The keys are typed faster than the program reads: it paints each after later keys, and one after the key that ends them.
    let latest = |key: &str| output(&format!("\x1b7\x1b[9;1Hlatest key: {key}\x1b8"));
    let asked = output("\x1b[3;5HCode: ");
    let mut events = vec![asked.clone(), input("Q"), input("z"), latest("Q"), input("XX"), input("v\x1b"), latest("z")];
    events.extend([latest("X"), input("q"), latest("X"), latest("v"), output("\r\nread 5 keys\r\n")]);
    let stars = "\x1b7\x1b[9;1H****** **** *\x1b8".repeat(5);
    assert_eq!(join_output(&events), format!("\x1b[3;5HCode: {stars}\r\nread 5 keys\r\n"));
    assert_eq!(left(&events), ["<secret_1>", "\x1b", "q"]);
    // Side by side, with or without a cell between them, and one below the other.
    let places: [fn(usize) -> (usize, usize); 3] = [|n| (9, n), |n| (9, 2 * n), |n| (n, 7)];
    for place in places {
        let key = |(n, key)| {
            let (row, column) = place(n + 5);
            output(&format!("*\x1b7\x1b[{row};{column}H{key}\x1b8"))
        };
        let mut events = vec![asked.clone(), input("Qz"), input("Xv\r")];
        events.extend("QzXv".chars().enumerate().map(key));
        events.push(output("\r\nread 4 keys, not Q\r\n"));
        let text = join_output(&events);
        assert!(text.ends_with("\r\nread 4 keys, not Q\r\n"), "{text:?}");
        assert!(!text.replace("not Q", "").contains(['Q', 'z', 'X', 'v']), "{text:?}");
    }
}

#[test]
fn a_key_painted_twice_in_a_cell_is_a_star_twice() {
    let latest = |key: &str| output(&format!("\x1b7\x1b[9;1H{key}\x1b8"));
    let events = [output("Code: "), input("a"), latest("a"), input("a"), latest("a"), input("\r"), output("\r\nok")];
    assert_eq!(join_output(&events), "Code: \x1b7\x1b[9;1H*\x1b8\x1b7\x1b[9;1H*\x1b8\r\nok");
}

#[test]
fn an_answer_behind_a_secret_stays() {
    let events =
        [output("$ \r\nPassword: "), input("hunter2"), input("\r"), output("\x1b[m$ "), input("ls"), output("ls")];
    let kept = cast(&events).without_secrets();
    assert_eq!(kept.events[3].kind, output("\x1b[m$ "));
}

#[test]
fn a_text_that_is_hidden_once_is_hidden_everywhere() {
    let events = [
        output("$ "),
        input("login -p hunter2"),
        output("login -p hunter2"),
        input("\r"),
        output("\r\nPassword: "),
        input("hunter2"),
        input("\r"),
        output("\r\n$ "),
    ];
    assert_eq!(left(&events), ["<secret_1>", "\r", "<password>", "\r"]);
    let mut cast = cast(&events);
    cast.header.command = Some("login -phunter2".into());
    let kept = cast.without_secrets();
    assert_eq!(kept.header.command.as_deref(), Some("login -p${password}"));
    let shown: Vec<_> = kept
        .events
        .iter()
        .filter(|event| matches!(&event.kind, EventKind::Output(text) if text.contains("hunter")))
        .collect();
    assert!(shown.is_empty(), "{shown:?}");
}

#[test]
fn a_value_assigned_to_a_secrets_name_is_secret() {
    let events = [output(":"), input("set key=abc"), output("set key=abc"), input("\r"), output("\r\n")];
    assert_eq!(left(&events), ["<secret_1>", "\r"]);
}

#[test]
fn entries_are_reported_with_instant_row_and_text_before() {
    let events = [
        output("hi\r\nCode: "),
        input("hunter2"),
        input("\r"),
        output("\r\n$ "),
        input("ls"),
        output("ls"),
        input("\r"),
    ];
    let secrets = Secrets::find(&cast(&events));
    let place = InputLocation { at: Duration::from_millis(100), row: 2, behind: "Code:".into() };
    assert_eq!((&secrets.hidden[0].location, secrets.hidden[0].keys, secrets.shown), (&place, 7, (1, 2)));
    assert_eq!(secrets.commands, []);
}

#[test]
fn commands_of_a_pager_on_the_main_screen_are_no_secret() {
    let events = [
        output("--More--"),
        input(" "),
        output("\r\nrow\r\n--More--"),
        input("q"),
        output("\r\n$ "),
        input("ls\r"),
        output("ls\r\n"),
    ];
    assert_eq!(left(&events), [" ", "q", "ls\r"]);
}

#[test]
fn a_secret_marker_stays_one() {
    assert_eq!(
        left(&[output("Password: "), EventKind::Secret("password".into()), input("\r"), output("\r\n$ ")]),
        ["<password>", "\r"]
    );
}

#[test]
fn credentials_in_a_shown_command_are_in_no_part_of_the_session() {
    for command in [
        "mysql -phunter2x",
        "export AWS_SECRET_ACCESS_KEY=hunter2x",
        "curl -u joe:hunter2x http://h/",
        "curl -H 'Authorization: Bearer hunter2x'",
        "tool --password hunter2x",
        "git clone https://joe:hunter2x@h/r",
        r#"curl -d '{"pin": "hunter2x"}' h"#,
    ] {
        let answer = output("\r\ndenied: hunter2x\r\n$ ");
        let events = [output("$ "), input(command), output(command), input("\r"), answer, input("ls"), output("ls")];
        assert_eq!(left(&events), ["<secret_1>", "\r", "ls"], "{command}");
        assert!(!join_output(&events).contains("hunter2x"), "{command}");
        let mut cast = cast(&events[..1]);
        cast.header.command = Some(command.into());
        let kept = cast.without_secrets().header.command.unwrap_or_default();
        assert!(kept.contains('…') && !kept.contains("hunter2x"), "{kept}");
    }
}

#[test]
fn an_answer_to_a_question_for_a_secret_is_secret_though_it_is_shown() {
    for question in
        ["PIN: ", "Enter your PIN (4 digits): ", "Code PIN ? ", "Wachtwoord: ", "パスワード：", "Mail. Token: ", "PIN>"]
    {
        let events = [output(question), input("4711"), output("4711"), input("\r"), output("\r\n4711 is wrong\r\n")];
        assert_eq!(left(&events)[1..], ["\r"], "{question}");
        assert!(!join_output(&events).contains("4711"), "{question}");
    }
    for row in ["joe@token:~$ ", "/srv/secrets> ", "the token is old\r\nName: ", "Pins: ", "spinning? "] {
        let events = [output(row), input("ls"), output("ls"), input("\r"), output("\r\n$ ")];
        assert_eq!(left(&events), ["ls", "\r"], "{row}");
    }
}
