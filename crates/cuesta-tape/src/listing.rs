//! A tape as it was understood, printed: itself a tape, which parses to the same script.

use cuesta_distributions::duration;

use crate::totals::Totals;
use crate::words::{self, Word};
use crate::{Command, Tape};

/// One command a row, bodies indented, what is ignored left out, totals at the end as comments.
pub fn listing(tape: &Tape) -> String {
    let mut rows = vec![format!("# {}", tape.script.name)];
    let mut depth = 0_usize;
    for command in tape.commands.iter().filter(|command| !command.is_ignored() && !is_void(command)) {
        if command.word == "End" {
            depth = depth.saturating_sub(1);
        }
        rows.push(format!("{}{command}", "  ".repeat(depth)));
        depth += usize::from(words::word(command.word).is_some_and(Word::opens_block));
    }
    if tape.before != Totals::default() {
        rows.push(format!("# once a session: {}", totals(&tape.before)));
    }
    rows.push(format!("# a pass: {}", totals(&tape.pass)));
    for (what, names) in [("transactions", tape.script.transactions.clone()), ("columns", tape.script.columns())] {
        if !names.is_empty() {
            rows.push(format!("# {what}: {}", names.join(", ")));
        }
    }
    rows.join("\n") + "\n"
}

/// A setting with a value that VHS's parser lets pass and that means nothing; a note has said so.
fn is_void(command: &Command) -> bool {
    let missing = command.args.starts_with('\0');
    let no_time = command.options == "TypingSpeed" && duration::parse(&command.args).is_err();
    command.word == "Set" && (missing || no_time)
}

fn totals(totals: &Totals) -> String {
    let count = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let mut said =
        vec![count(totals.keys, "key"), count(totals.waits, "wait"), count(totals.transactions, "transaction")];
    said.push(format!("think {}", duration::show(totals.think())));
    if totals.sleep_s > 0.0 {
        said.push(format!("sleep {}", duration::show(totals.sleep())));
    }
    said.join(", ")
}
