//! Error messages for mistakes in tapes.

use cuesta_tape::{Tape, TapeErrors, parse};

fn load(path: &str) -> Result<String, String> {
    match path {
        "broken.tape" => Ok("Type \"a\" Tab\nEntr\nSleep\n".to_owned()),
        "nested.tape" => Ok("Source other.tape\n".to_owned()),
        "empty.tape" => Ok(String::new()),
        "times.txt" => Ok("1s\n2s\nsoon\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

fn parsed(text: &str) -> Result<Tape, TapeErrors> {
    parse(text, "login.tape", &load)
}

/// Each tape followed by its error message.
fn rendered(tapes: &[&str]) -> String {
    let said = |tape: &&str| match parsed(tape) {
        Ok(_) => panic!("the tape parses: {tape}"),
        Err(errors) => errors.to_string(),
    };
    tapes.iter().map(said).collect::<Vec<_>>().join("\n\n────────\n\n")
}

#[test]
fn in_words_and_values() {
    insta::assert_snapshot!(rendered(&[
        "Type \"who\" Enter\nenter\n",
        "Transcation \"log in\"\n",
        "Type 日本語",
        "Type $HOME",
        "  Sleep 1h",
        "Ctrl+s",
        "Ctrl+C 3",
        "Home",
        "Set Fontsize 12",
        "Set KeyRate fast",
        "Set LineSpeed -1",
        "Set EchoMap \"a0b\"",
        "Set Rows 0",
        "Set KeyLaw lognormal",
        "Wait+Ekho@2s",
        "Wait \"ready\"",
        "Wait+Bytes many",
        "Wait+Cursor 12",
        "Wait+Cursor 12.40",
        "Wait+Cursor 0,40",
        "Wait+Cursor 30,200@1s",
        "Wait+Ready Down",
        "Wait+Ready Down Up@5s",
        "Wait+Ready \"\" Up",
        "Transaction \"a\"\nEnter\nWait+Ready\nWait+Echo\nEnd",
        "Wait /x/@3",
        "Wait@2s  /x/ @soon",
        "Expect+Line /x/",
        "Set Echo shown",
        "Set KeyRate 10001",
        "Press Home2",
        "Press \"\\q\"",
        "F5",
        "Wait /(/",
        "Enter 2000000",
        "Sleep 99999999999999999999m",
        "Output /tmp/x.gif",
    ]));
}

#[test]
fn in_distributions() {
    insta::assert_snapshot!(rendered(&[
        "Think",
        "Think   # of what?",
        "Think gauss 1s",
        "Think exp -5s",
        "Think uniform 3s 1s   # the wrong way round",
        "Think exp 5s Type \"x\"",
        "Think empirical times.txt",
        "Think empirical nowhere.txt",
    ]));
}

#[test]
fn in_blocks() {
    insta::assert_snapshot!(rendered(&[
        "Type \"x\"\nEnd\n",
        "Transaction \"a\"\n  Enter\n  Wait\n",
        "Transaction \"a\" Enter End",
        "Transaction \"a\" Wait End",
        "Transaction \"a\" Wait Enter End",
        "Transaction \"a\"\n  Transaction \"b\" Enter Wait End\n  Enter Wait\nEnd",
        "Transaction",
        "Part A Enter End\nPart A Tab End",
        "Repeat 2\n  Part A Enter End\n  Enter\nEnd",
        "Play AB",
        "Part A Transaction \"t\" Enter Wait End End\nTransaction \"u\" Play A Enter Wait End",
        "Part AB Enter End",
        "Repeat 0 Enter End",
        "Repeat 2 End",
        "Repeat 1000 Repeat 1001 Enter End End",
        "Forever Enter End\nTab",
        "Repeat 2 Forever Enter End End",
        "Enter\nSet LineSpeed 300",
        "Enter\nEnv TERM \"vt220\"",
        "Env TERM \"a b\"",
    ]));
}

#[test]
fn in_sourced_tapes() {
    insta::assert_snapshot!(rendered(&[
        "Enter\nSource broken.tape\nTab",
        "Source nested.tape",
        "Source empty.tape",
        "Source missing.tape",
        "Source notes.txt",
    ]));
}

#[test]
fn many_in_one_tape() {
    let many = "Entr\n".repeat(300);
    insta::assert_snapshot!(rendered(&["Set Foo Bar\n\nFoo\n\nType Enter\n\nBar Backspace@\n\nfoo"]));
    let errors = parsed(&many).unwrap_err();
    assert_eq!(errors.0.len(), 100);
    assert!(errors.to_string().ends_with("100 errors, of which 10 are shown"), "{errors}");
}

#[test]
fn a_long_row_is_cropped_about_the_error() {
    let tape = format!("Type \"{}\" ? \"{}\"", "x".repeat(500), "y".repeat(500));
    insta::assert_snapshot!(rendered(&[&tape]));
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let said = rendered(&["\x1b[31mType\x07", "Type \"\x1b]0;x\" ?"]);
    assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "{said:?}");
}

#[test]
fn tapes_too_long_or_too_deep_are_refused() {
    assert!(parsed(&" ".repeat(1 << 20)).is_ok());
    let long = parsed(&" ".repeat((1 << 20) + 1)).unwrap_err();
    assert!(long.to_string().contains("at most 1 MiB"), "{long}");
    let nested = |depth: usize| "Repeat 1\n".repeat(depth) + "Enter\n" + &"End\n".repeat(depth);
    assert!(parsed(&nested(16)).is_ok());
    let deep = parsed(&nested(17)).unwrap_err();
    assert!(deep.to_string().contains("17:1: blocks are more than 16 deep"), "{deep}");
    let doubled = ('A'..='Z').zip('B'..='Z').map(|(a, b)| format!("Part {b} Play {a}{a}{a}{a} End"));
    let parts: Vec<String> = std::iter::once("Part A Enter End".to_owned()).chain(doubled).collect();
    let exploding = parsed(&parts.join("\n")).unwrap_err();
    assert!(exploding.to_string().contains("more than 1000000 keys"), "{exploding}");
}
