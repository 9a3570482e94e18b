//! The scripts that tapes parse to: our words, and those of VHS's words that are easily misread.

use std::time::Duration;

use cuesta_tape::{
    Echo, ExpectSource, Held, Key, Keys, Op, Pattern, Piece, Probe, Script, Settings, Step, Tape, TapePlace,
    WaitCondition, listing, parse,
};

fn load(path: &str) -> Result<String, String> {
    match path {
        "log-in.tape" => Ok("Output in.gif\nType \"${user}\"\nEnter\nWait+Prompt\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

fn tape(text: &str) -> Tape {
    parse(text, "tapes/session.tape", &load).unwrap_or_else(|errors| panic!("{errors}"))
}

fn script(text: &str) -> Script {
    tape(text).script
}

fn typed(text: &str) -> Step {
    Step::Keys { keys: Keys::Text(vec![Piece::Literal(text.to_owned())]), gap: None }
}

fn pressed(key: Key, count: u32) -> Step {
    Step::Keys { keys: Keys::Press { key, count }, gap: None }
}

fn expect(pattern: &str, source: ExpectSource) -> Step {
    let pattern = Pattern::new(pattern).expect("a pattern");
    Step::Op(Op::Expect { pattern, source, place: TapePlace::default() })
}

fn wait(condition: WaitCondition<Option<Pattern>>) -> Step {
    Step::Wait { condition, timeout: None, place: TapePlace::default() }
}

/// A session with every word of ours.
const SESSION: &str = r#"# Editing, as in 1981
Set KeyRate 2cps
Set KeyLaw human
Set LineSpeed 4800
Set EchoMap "a0"
Set Prompt /[$#] $/
Set Columns 80 Set Rows 24
Set FontSize 20
Output edit.gif
Part A
  Transaction "open"
    Type "e ${file}" Enter
    Wait+Silence@10s 200ms
  End
End
Part B
  Ctrl+C
  Wait+Prompt@5s
End
Source log-in.tape
Barrier "all in"
Forever
  Play ABA
  Repeat 3
    Transaction "line"
      Type `say 'x' "y"`
      Enter
      Wait+Bytes 150
    End
  End
  Expect /ok\/done/
  Expect+Screen /ok/
  Set Echo screen
  Press@1s F5 3
  Set Echo change
  Press '\e[1;5H'
  Wait+Cursor@2s 1,1
  Set Echo timed
  Think loglogistic 2s 3 max 1m  # reading
  Sleep 1.5
End
"#;

#[test]
fn a_listing_is_a_tape_that_means_the_same() {
    let first = tape(SESSION);
    let shown = listing(&first);
    insta::assert_snapshot!(shown);
    let again = parse(&shown, "session.tape", &load).unwrap();
    assert_eq!(again.script, first.script);
    assert_eq!(listing(&again), shown);
}

#[test]
fn a_variable_of_the_recording_machine_matters_only_if_it_names_the_terminal() {
    let tape = tape("Env HOME \"/root\"\nEnv TERM \"vt220\"\nEnter\n");
    assert_eq!(tape.script.settings.terminal.as_deref(), Some("vt220"));
    assert_eq!(tape.commands.iter().map(cuesta_tape::Command::is_ignored).collect::<Vec<_>>(), [true, false, false]);
    let listing = listing(&tape);
    assert!(listing.contains("Env TERM \"vt220\"\n") && !listing.contains("HOME"), "{listing}");
}

#[test]
fn a_tape_as_json() {
    insta::assert_snapshot!(tape("Type@1s \"${user}\"\nEnter 2\nScrollUp\nThink exp 2s\n").to_json());
}

#[test]
fn a_script_is_called_by_its_tape() {
    assert_eq!(script("Enter").name, "session");
}

#[test]
fn settings_before_the_first_key_are_the_scripts_settings() {
    let script = script(
        "Set KeyRate 2cps\nSet WaitTimeout 3\nSet WaitPattern \"x+\"\nSet LineSpeed 0\nSet Echo off\nSet EchoMap \"a0b1\"\n\
         Part A Tab End\nSet Columns 132\nHide\nSet Rows 50\nSet Prompt /> /",
    );
    let wanted = Settings {
        key_gap: Some(Duration::from_millis(500)),
        wait_timeout: Some(Duration::from_secs(3)),
        wait_pattern: Pattern::new("x+").ok(),
        line_speed: Some(0),
        echo: Some(Echo::Untimed),
        echo_map: vec![(b'a', b'0'), (b'b', b'1')],
        columns: Some(132),
        rows: Some(50),
        prompt: Pattern::new("> ").ok(),
        key_distribution: None,
        terminal: None,
    };
    assert_eq!(script.settings, wanted);
    assert!(script.steps.is_empty());
}

#[test]
fn later_settings_take_effect_at_their_place() {
    let script = script("Set TypingSpeed 50ms\nEnter\nSet TypingSpeed 100ms\nEnter");
    assert_eq!(script.settings.key_gap, Some(Duration::from_millis(50)));
    let changed = Settings { key_gap: Some(Duration::from_millis(100)), ..Settings::default() };
    assert_eq!(script.steps, [pressed(Key::Enter, 1), Step::Set(Box::new(changed)), pressed(Key::Enter, 1)]);
}

#[test]
fn our_words_are_words_only_where_a_command_may_stand() {
    for (text, steps) in [
        ("Type Think", vec![typed("Think")]),
        ("Type\nThink", vec![typed("Think")]),
        ("Type \"a\" Barrier \"b\"", vec![typed("a Barrier b")]),
        ("Type hello\nThink", vec![typed("hello Think")]),
        ("Type \"a\"\nplain", vec![typed("a plain")]),
        ("Type \"a\"\nBarrier \"b\"", vec![typed("a"), Step::Barrier("b".to_owned())]),
        (
            "Type a\nThink 2s",
            vec![typed("a"), Step::Think(cuesta_distributions::Distribution::fixed(Duration::from_secs(2)))],
        ),
        ("Type a\nExpect /b/", vec![typed("a"), expect("b", ExpectSource::Response)]),
        ("Type a\nExpect+Screen /b/", vec![typed("a"), expect("b", ExpectSource::Screen)]),
        ("Type a\nPress Home", vec![typed("a"), pressed(Key::Home, 1)]),
        ("Type a\nPress", vec![typed("a Press")]),
        ("Type a\nForever\nEnter\nEnd", vec![typed("a"), Step::Forever(vec![pressed(Key::Enter, 1)])]),
        ("Type a\nRepeat 2 Enter End", vec![typed("a"), Step::Repeat { count: 2, body: vec![pressed(Key::Enter, 1)] }]),
        ("Part A Enter End\nType a\nPlay A", vec![typed("a"), Step::Play(vec!['A'])]),
    ] {
        assert_eq!(script(text).steps, steps, "{text}");
    }
}

#[test]
fn waits() {
    let pattern = |text: &str| Pattern::new(text).ok();
    for (text, rule) in [
        ("Wait", WaitCondition::Line(None)),
        ("Wait /a/", WaitCondition::Line(pattern("a"))),
        ("Wait+Screen /a\\/b/", WaitCondition::Screen(pattern("a/b"))),
        ("Wait+Echo", WaitCondition::Echo),
        ("Wait+Bytes 150", WaitCondition::Bytes(150)),
        ("Wait+Silence 200ms", WaitCondition::Silence(Duration::from_millis(200))),
        ("Wait+Silence 2", WaitCondition::Silence(Duration::from_secs(2))),
        ("Wait+Prompt", WaitCondition::Prompt(None)),
        ("Wait+Cursor 12,40", WaitCondition::Cursor { row: 12, column: 40 }),
        ("Wait+Cursor 1 , 1000", WaitCondition::Cursor { row: 1, column: 1000 }),
        ("Wait+Disconnect", WaitCondition::Disconnect),
    ] {
        assert_eq!(script(text).steps, [wait(rule)], "{text}");
    }
    let timeout = Some(Duration::from_millis(500));
    let timed = Step::Wait { condition: WaitCondition::Bytes(5), timeout, place: TapePlace::default() };
    assert_eq!(script("Wait+Bytes@500ms 5").steps, [timed]);
}

#[test]
fn a_program_is_ready_by_a_letter_or_by_two_keys() {
    let ready = |probe, timeout| Step::Ready { probe, timeout, place: TapePlace::default() };
    let keys = |key, undo| Probe::Keys { key, undo };
    let bytes = |bytes: &[u8]| Key::Bytes(bytes.to_vec());
    let timeout = Some(Duration::from_secs(30));
    for (text, step) in [
        ("Wait+Ready", ready(Probe::Character('j'), None)),
        ("Wait+Ready@30s", ready(Probe::Character('j'), timeout)),
        ("Wait+Ready \"x\"", ready(Probe::Character('x'), None)),
        ("Wait+Ready \"x\" Backspace", ready(Probe::Character('x'), None)),
        ("Wait+Ready@30s Down Up", ready(keys(Key::Down, Key::Up), timeout)),
        ("Wait+Ready \"x\" \"\\x0c\"", ready(keys(Key::Character('x'), bytes(b"\x0c")), None)),
        ("Wait+Ready Home End", ready(keys(Key::Home, Key::End), None)),
    ] {
        let tape = tape(text);
        assert_eq!(tape.script.steps, [step], "{text}");
        assert_eq!(script(&listing(&tape)), tape.script, "{text}");
    }
    // The keys stand in its row.
    assert_eq!(script("Wait+Ready\nDown 2").steps, [ready(Probe::Character('j'), None), pressed(Key::Down, 2)]);
    assert_eq!(tape("Wait+Ready\nWait+Echo").outline(), [("Ready".to_owned(), None), ("Wait+Echo".to_owned(), None)]);
}

#[test]
fn keys_and_chords() {
    let chord = |held, key| pressed(Key::Chord { held, keys: vec![key] }, 1);
    let none = Held::default();
    let (shift, alt, ctrl) = (Held { shift: true, ..none }, Held { alt: true, ..none }, Held { ctrl: true, ..none });
    let script = script("Enter 2 Ctrl+Alt+C Alt+x Shift+Tab Ctrl+Left Enter 0 ScrollUp 3 Ctrl+Shift");
    let steps = [
        pressed(Key::Enter, 2),
        chord(Held { alt: true, ..ctrl }, Key::Character('C')),
        chord(alt, Key::Character('x')),
        chord(shift, Key::Tab),
        chord(ctrl, Key::Left),
    ];
    assert_eq!(script.steps, steps);
}

#[test]
fn keys_without_a_word_of_vhs() {
    let chord = |bytes: &[u8]| pressed(Key::Bytes(bytes.to_vec()), 1);
    let script = script(r#"Press Home Press End Press F12 2 Press "\e[1;5H" Press "\x1eé\\" Press Up Press F1 0"#);
    let steps = [
        pressed(Key::Home, 1),
        pressed(Key::End, 1),
        pressed(Key::Function(12), 2),
        chord(b"\x1b[1;5H"),
        chord(b"\x1e\xc3\xa9\\"),
        pressed(Key::Up, 1),
    ];
    assert_eq!(script.steps, steps);
}

#[test]
fn a_key_rate_of_zero_makes_no_pause() {
    assert_eq!(script("Set KeyRate 0").settings.key_gap, Some(Duration::ZERO));
    assert_eq!(script("Set KeyRate 0cps").settings.key_gap, Some(Duration::ZERO));
    assert!(parse("Set KeyRate 0.009", "slow.tape", &load).is_err());
}

#[test]
fn speeds_belong_to_their_keys() {
    let second = Some(Duration::from_secs(1));
    let script = script("Type@1 \"x\" Enter@1s");
    let gaps: Vec<_> =
        script.steps.iter().map(|step| if let Step::Keys { gap, .. } = step { *gap } else { None }).collect();
    assert_eq!(gaps, [second, second]);
}

#[test]
fn paste_types_the_last_copied_text() {
    let pasted = |text: &str| Step::Keys { keys: Keys::Paste(vec![Piece::Literal(text.to_owned())]), gap: None };
    assert_eq!(script("Copy a Copy b Paste Copy c Paste").steps, [pasted("b"), pasted("c")]);
}

#[test]
fn columns_of_users_are_found_wherever_they_are_typed() {
    let script = script("Part A Type \"${b}\" End\nCopy \"${a}\"\nForever\nRepeat 2 Paste Type \"${c}$x\" End End");
    assert_eq!(script.columns(), ["a", "b", "c"]);
}

#[test]
fn a_script_without_keys_and_waits_is_idle() {
    for idle in
        ["Set KeyRate 2cps", "Type \"\" Sleep 0s", "Part A Expect /x/ End Play AA", "Enter\nForever\nExpect /x/\nEnd"]
    {
        assert!(script(idle).is_idle(), "{idle}");
    }
    for busy in
        ["Enter", "Sleep 1ms", "Barrier b", "Part A Wait End Play A", "Forever\nRepeat 2\nThink exp 1s\nEnd\nEnd"]
    {
        assert!(!script(busy).is_idle(), "{busy}");
    }
}

#[test]
fn transactions_of_one_name_are_one_class() {
    let script =
        script("Repeat 2 Transaction \"a\" Tab Wait End End Transaction b Tab Wait End Transaction a Tab Wait End");
    assert_eq!(script.transactions, ["a", "b"]);
    let classes = script.steps.iter().filter_map(|step| match step {
        Step::Transaction { class, .. } => Some(*class),
        _ => None,
    });
    assert_eq!(classes.collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn totals_count_one_pass() {
    let tape = tape(SESSION);
    assert_eq!((tape.before.keys, tape.before.waits), (2, 1));
    let pass = tape.pass;
    // Play ABA: two opens of 4 keys ("e ", a column, Enter) and one chord; three lines of 12 keys; four keys pressed.
    assert_eq!((pass.keys, pass.waits, pass.transactions), (2 * 4 + 1 + 3 * 12 + 4, 7, 5));
    assert_eq!(pass.sleep(), Duration::from_millis(1500));
}

#[test]
fn a_sourced_tape_replaces_its_command_without_its_output() {
    let tape = tape("Tab\nSource log-in.tape\nTab");
    let words: Vec<_> = tape.commands.iter().map(|c| (c.word, c.source.as_deref(), c.row)).collect();
    let inner = Some("log-in.tape");
    assert_eq!(
        words,
        [("Tab", None, 1), ("Type", inner, 2), ("Enter", inner, 3), ("Wait", inner, 4), ("Tab", None, 3)]
    );
}

#[test]
fn notes_say_what_an_author_may_not_expect() {
    let notes = |text: &str| tape(text).notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(
        [
            "Set FontSize 12\nSet Width 800\nSet FontSize 13\nOutput x.gif\nHide\nWait\nShow",
            "Type \"x\"\nEnter",
            "Set Echo timed\nType \"x\"",
            "Type \"unclosed\nWait",
            "Type \"a\"\nenter\nWait",
            "Type \"a\" Barrier \"b\"\nWait",
            "Enter 1.5\nWait",
            "Sleep 1.2.3",
            "Paste",
            "Ctrl+Shift\nWait",
            "Wait\nSet WaitTimeout 5s",
            "Set TypingSpeed fast",
            "Set Shell",
            "Type \"echo DONE\"\nEnter\nWait+Screen /DONE/",
        ]
        .map(|text| format!("{text}\n→ {}", notes(text)))
        .join("\n\n")
    );
}
