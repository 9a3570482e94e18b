//! Casts of other recorders, and invalid casts.

use cuesta_cast::{Cast, EventKind, Timing, tape};

fn read(text: &str) -> Result<Cast, String> {
    Cast::read(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn version_1_holds_output_only() {
    let cast = read("{\n \"version\": 1, \"width\": 80, \"height\": 24, \"duration\": 1.5, \"command\": \"/bin/zsh\",\n \"title\": null,\n \"env\": {\"TERM\": \"xterm\", \"SHELL\": null},\n \"stdout\": [[0.25, \"$ \"], [1.25, \"bye\\r\\n\"]]\n}\n").expect("a cast");
    let events: Vec<_> = cast.events.iter().map(|event| (event.at.as_millis(), event.kind.clone())).collect();
    assert_eq!(events, [(250, EventKind::Output("$ ".into())), (1500, EventKind::Output("bye\r\n".into()))]);
    assert_eq!((cast.header.terminal.as_deref(), cast.header.command.as_deref()), (Some("xterm"), Some("/bin/zsh")));
    let error = tape(&cast, Timing::Closed, "").expect_err("a cast without input").to_string();
    assert!(error.contains("nothing that was typed"), "{error}");
}

#[test]
fn optional_parts_of_versions_2_and_3_are_read() {
    let second = "{\"version\":2,\"width\":0,\"height\":0,\"env\":{\"TERM\":null},\"later\":{}}\n\n[0.5,\"o\",\"a\"]\n[0.4,\"z\",\"?\"]\n[1,\"r\",\"132x50\"]\n[1e0,\"m\",\"\"]\n";
    let cast = read(second).expect("a cast");
    assert_eq!((cast.header.columns, cast.header.rows), (80, 24));
    let kinds: Vec<_> = cast.events.iter().map(|event| event.kind.clone()).collect();
    assert_eq!(
        kinds,
        [EventKind::Output("a".into()), EventKind::Resize { columns: 132, rows: 50 }, EventKind::Marker(String::new())]
    );
    let third = "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}}\n# said by hand\n[0.5,\"o\",\"a\"]\n[0.25,\"i\",\"b\"]\n[0.25,\"x\",\"0\"]\n";
    let instants: Vec<_> = read(third).expect("a cast").events.iter().map(|event| event.at.as_millis()).collect();
    assert_eq!(instants, [500, 750, 1000]);
}

#[test]
fn a_mistake_is_shown_with_its_row_and_a_remedy() {
    const HEAD: &str = "{\"version\":2,\"width\":80,\"height\":24}\n";
    for (rows, wanted) in [
        ("[0.5,\"o\"]", "row 2: it is no event"),
        ("[0.5,\"o\",\"a\"]\n[\"x\",\"o\",\"a\"]", "row 3: it is no event"),
        ("[-1,\"o\",\"a\"]", "row 2: -1 is no time"),
        ("[1e99,\"o\",\"a\"]", "is no time; a row is [seconds, code, data]"),
        ("[1e999,\"o\",\"a\"]", "row 2: it is no event"),
        ("[4000000,\"o\",\"a\"]", "row 2: the session lasts over 30 days"),
        ("[1,\"o\",5]", "row 2: its data is no text"),
        ("[1,\"r\",\"80\"]", "is no size of a terminal"),
        ("[1,\"r\",\"99999x24\"]", "99999 by 24 is no size of a terminal; columns and rows run from 1 to 1000"),
        ("{\"version\":2,\"width\":80,\"height\":24}", "row 2: it is no event"),
        ("[1,\"o\",\"\\ud800\"]", "row 2: it is no event"),
    ] {
        let error = read(&format!("{HEAD}{rows}\n")).expect_err(rows);
        assert!(error.contains(wanted), "{rows}: {error}");
    }
    let error = read("{\"version\":2,\"width\":\"80\",\"height\":24}\n").expect_err("a text for a size");
    assert!(error.starts_with("row 1: \"80\" by 24 is no size"), "{error}");
    let error = read("{\"version\":1,\n\"stdout\":[[1]]}").expect_err("half an event");
    assert!(error.starts_with("row 2: it is no cast"), "{error}");
}

#[test]
fn a_cast_of_a_killed_recorder_is_read_up_to_its_last_row() {
    const WHOLE: &str = "{\"version\":2,\"width\":80,\"height\":24}\n[0.5,\"i\",\"l\"]\n[0.6,\"o\",\"l\u{e9}\"]\n";
    let whole = read(WHOLE).expect("a cast");
    let begin = WHOLE.find("[0.6").expect("there");
    assert!(!whole.cut && !read(WHOLE.trim_end()).expect("only its line end is missing").cut);
    for length in begin + 1..WHOLE.len() - 1 {
        let cast = Cast::read(&WHOLE.as_bytes()[..length]).expect("a cast");
        assert_eq!((cast.events.len(), cast.cut, cast.was_stopped()), (1, true, true), "{length}");
    }
    assert!(
        !tape(&Cast::read(&WHOLE.as_bytes()[..begin + 5]).expect("a cast"), Timing::Closed, "")
            .expect("a tape")
            .contains("Disconnect")
    );
    for text in ["{\"version\":2,\"wid", "{\"version\":1,\n\"stdout\":[[1,\"a\"],\n[2,"] {
        let error = read(text).expect_err("its end is missing");
        assert!(error.contains("its end is missing; half an object cannot be read"), "{error}");
    }
}

#[test]
fn too_large_casts_are_refused() {
    let typed = format!("{{\"version\":2,\"width\":80,\"height\":24}}\n[1,\"i\",\"{}\"]\n", "x".repeat(300_000));
    assert!(read(&typed).expect_err("too much").contains("over 256 KiB were typed"));
    let long = vec![b' '; (64 << 20) + 1];
    assert!(Cast::read(&long).expect_err("too long").to_string().contains("over 64 MiB"));
    let days = "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}}\n".to_owned() + &"[2000000,\"o\",\"\"]\n".repeat(3);
    assert!(read(&days).expect_err("too long").starts_with("row 3: the session lasts over 30 days"));
}
