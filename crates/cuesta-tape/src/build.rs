//! Commands → tape: nests blocks, places settings, and refuses what makes no sense.

use std::collections::BTreeMap;

use crate::command::{Action, Block, Holds};
use crate::error::{SourceSpan, TapeError};
use crate::parse::{Item, ParsedTape};
use crate::script::{Script, Settings, Step};
use crate::totals::Totals;
use crate::typed_rows::TypedRows;
use crate::{Command, Echo, Keys, Note, Piece, Tape, TapeErrors};

/// How deep blocks nest.
const DEEPEST: usize = 16;
/// Most keys, and most steps, of a pass, all parts and repetitions included.
const MOST: u64 = 1_000_000;
/// Most named transactions: each has histograms of its own.
const MOST_CLASSES: usize = 1000;

/// At most this many notes are reported.
const MOST_NOTES: usize = 100;

/// Builds a tape that is called `name`.
pub(crate) fn tape(name: &str, parsed: ParsedTape) -> Result<Tape, TapeErrors> {
    if !parsed.errors.is_empty() {
        return Err(TapeErrors(parsed.errors));
    }
    let script = Script { name: name.to_owned(), ..Script::default() };
    let mut builder = Builder { script, notes: parsed.notes, ..Builder::default() };
    for item in parsed.items {
        builder.item(item);
    }
    builder.finish()
}

/// A block that is not closed yet.
#[derive(Debug)]
struct Open {
    block: Block,
    place: SourceSpan,
    steps: Vec<Step>,
    totals: Totals,
}

#[derive(Debug, Default)]
struct Builder {
    commands: Vec<Command>,
    script: Script,
    open: Vec<Open>,
    /// Totals of the steps at the top, since `Forever` if there is one.
    totals: Totals,
    /// Totals of the steps before `Forever`.
    before: Totals,
    parts: BTreeMap<char, Totals>,
    clipboard: Option<Vec<Piece>>,
    /// What has been typed since the last wait.
    typed: TypedRows,
    /// Whether a setting asks for the echoes of keys to be timed.
    times_echoes: bool,
    /// Commands that were accepted and ignored, each once.
    ignored: Vec<String>,
    errors: Vec<TapeError>,
    notes: Vec<Note>,
}

impl Builder {
    fn item(&mut self, Item { command, place }: Item) {
        if command.is_ignored() {
            let shown =
                if command.word == "Set" { format!("Set {}", command.options) } else { command.word.to_owned() };
            if !self.ignored.contains(&shown) {
                self.ignored.push(shown);
            }
        }
        let result = match command.action.clone() {
            Action::Nothing | Action::Source => Ok(()),
            Action::Step(step) => self.step(step, &place),
            Action::Set { settings, holds } => {
                self.set(settings, holds, &place, &format!("{} {}", command.word, command.options))
            }
            Action::Copy(pieces) => {
                self.clipboard = Some(pieces);
                Ok(())
            }
            Action::Paste => self.paste(&place),
            Action::Open(block) => {
                if matches!(block, Block::Part(_)) {
                    self.typed.forget();
                }
                self.open(block, place)
            }
            Action::Close => self.close(),
        };
        self.errors.extend(result.err());
        self.commands.push(command);
    }

    /// Adds a step to the open block, else at the top.
    fn step(&mut self, step: Step, place: &SourceSpan) -> Result<(), TapeError> {
        if let Step::Play(letters) = &step {
            self.check_parts(letters, place)?;
        }
        if matches!(step, Step::Ready { .. }) && self.is_in_transaction() {
            let hint = "move it before the transaction, where nothing is timed";
            return Err(place.error("`Wait+Ready` within a transaction", hint));
        }
        self.notes.extend(self.typed.step(&step).map(|note| place.note(note)));
        if self.open.is_empty() && matches!(self.script.steps.last(), Some(Step::Forever(_))) {
            return Err(place.error("nothing is played after `Forever … End`", "move this into it or before it"));
        }
        let totals = Totals::of_step(&step, &self.parts);
        let (steps, sum) = match self.open.last_mut() {
            Some(open) => (&mut open.steps, &mut open.totals),
            None => (&mut self.script.steps, &mut self.totals),
        };
        steps.push(step);
        let was_more = sum.keys > MOST || sum.steps > MOST;
        *sum = sum.then(totals);
        // An error once, at the step that exceeds the limit.
        if !was_more && (sum.keys > MOST || sum.steps > MOST) {
            let message = format!("that makes more than {MOST} keys or steps in one pass");
            return Err(place.error(message, "repeat less, or let the pass begin again with Forever"));
        }
        Ok(())
    }

    fn check_parts(&self, letters: &[char], place: &SourceSpan) -> Result<(), TapeError> {
        if let Some(unknown) = letters.iter().find(|letter| !self.parts.contains_key(letter)) {
            let hint = format!("write Part {unknown} … End somewhere above");
            return Err(place.error(format!("there is no part {unknown}"), hint));
        }
        let named = letters.iter().any(|letter| self.parts.get(letter).is_some_and(|part| part.transactions > 0));
        if named && self.is_in_transaction() {
            let hint = "play it outside of the transaction, or leave out one of the names";
            return Err(place.error("a part with a transaction is played within a transaction", hint));
        }
        Ok(())
    }

    fn is_in_transaction(&self) -> bool {
        self.open.iter().any(|open| matches!(open.block, Block::Transaction(_)))
    }

    fn set(&mut self, settings: Box<Settings>, holds: Holds, place: &SourceSpan, name: &str) -> Result<(), TapeError> {
        self.times_echoes |= settings.echo.is_some_and(|echo| echo != Echo::Untimed) || !settings.echo_map.is_empty();
        self.typed.set(&settings);
        if self.open.is_empty() && self.script.steps.is_empty() {
            self.script.settings.merge(&settings);
            return Ok(());
        }
        match holds {
            Holds::Throughout => {
                let message = format!("`{name}` holds for the whole session");
                return Err(place.error(message, "move it before the first command that types or waits"));
            }
            Holds::FromHereUnlikeVhs => {
                self.notes.push(place.note(format!("VHS ignores `{name}` here; Cuesta obeys it from here on")));
            }
            Holds::FromHere => {}
        }
        self.step(Step::Set(settings), place)
    }

    fn paste(&mut self, place: &SourceSpan) -> Result<(), TapeError> {
        match self.clipboard.clone() {
            Some(pieces) if !pieces.is_empty() => self.step(Step::Keys { keys: Keys::Paste(pieces), gap: None }, place),
            _ => {
                self.notes.push(place.note("`Paste` types nothing, since no `Copy` stands above it"));
                Ok(())
            }
        }
    }

    fn open(&mut self, block: Block, place: SourceSpan) -> Result<(), TapeError> {
        let fault = match &block {
            _ if self.open.len() >= DEEPEST => Some(("blocks are more than 16 deep", "use Part and Play")),
            Block::Transaction(_) if self.is_in_transaction() => {
                Some(("a transaction within a transaction", "close the outer one with End first"))
            }
            Block::Part(_) if !self.open.is_empty() => {
                Some(("a part within another block", "parts stand at the top: close that block with End first"))
            }
            Block::Part(letter) if self.parts.contains_key(letter) => {
                Some(("this letter already names a part", "use another letter"))
            }
            Block::Forever if !self.open.is_empty() => {
                Some(("`Forever` within another block", "it stands at the top, as the last of the tape"))
            }
            _ => None,
        };
        // Opened in any case: otherwise its End would be an error too.
        let error = fault.map(|(message, hint)| place.error(message, hint));
        self.open.push(Open { block, place, steps: Vec::new(), totals: Totals::default() });
        error.map_or(Ok(()), Err)
    }

    fn close(&mut self) -> Result<(), TapeError> {
        // The parser has refused an End without a block.
        let Some(open) = self.open.pop() else { return Ok(()) };
        if open.steps.is_empty() {
            return Err(open.place.error("this block does nothing", "write commands between it and its End"));
        }
        let (steps, place) = (open.steps, open.place);
        match open.block {
            Block::Part(letter) => {
                self.parts.insert(letter, open.totals);
                self.script.parts.insert(letter, steps);
                Ok(())
            }
            Block::Repeat(count) => self.step(Step::Repeat { count, body: steps }, &place),
            Block::Forever => {
                self.before = self.totals;
                self.totals = Totals::default();
                self.step(Step::Forever(steps), &place)
            }
            Block::Transaction(name) => {
                check_transaction(&open.totals, &place)?;
                let class = self.class(name, &place)?;
                self.step(Step::Transaction { class, body: steps }, &place)
            }
        }
    }

    /// The index of a transaction's name.
    fn class(&mut self, name: String, place: &SourceSpan) -> Result<usize, TapeError> {
        let names = &mut self.script.transactions;
        if let Some(class) = names.iter().position(|known| *known == name) {
            return Ok(class);
        }
        if names.len() >= MOST_CLASSES {
            return Err(place.error("more than 1000 names of transactions", "give alike ones the same name"));
        }
        names.push(name);
        Ok(names.len() - 1)
    }

    fn finish(mut self) -> Result<Tape, TapeErrors> {
        for open in &self.open {
            let hint = "write End behind its last command";
            self.errors.push(open.place.error("this block has no `End`", hint));
        }
        let all = self.parts.values().fold(self.before.then(self.totals), |sum, part| sum.then(*part));
        if all.keys > 0 && all.waits == 0 && !self.times_echoes {
            self.whole_note(
                "it types but never waits and times no echo, so nothing will be timed: add Wait… or Set Echo timed",
            );
        }
        if !self.ignored.is_empty() {
            let ignored = format!(
                "accepted and ignored, since they matter only to a video or to the machine that records one: {}",
                self.ignored.join(", ")
            );
            self.whole_note(&ignored);
        }
        let Self { commands, script, before, totals: pass, times_echoes, errors, mut notes, .. } = self;
        if !errors.is_empty() {
            return Err(TapeErrors(errors));
        }
        // Those about the whole tape first, the others in its order.
        notes.sort_by_key(|note| note.row);
        notes.truncate(MOST_NOTES);
        let answers_outside = all.outside.has_answers;
        Ok(Tape { commands, script, times_echoes, answers_outside, notes, before, pass })
    }

    fn whole_note(&mut self, message: &str) {
        self.notes.push(Note { row: None, message: message.to_owned() });
    }
}

/// A transaction runs from its last key to the end of its last wait, so it must have both, in this order.
fn check_transaction(totals: &Totals, place: &SourceSpan) -> Result<(), TapeError> {
    let (message, hint) = if totals.keys == 0 {
        ("this transaction types nothing", "a transaction begins with its last key: add Type or a key")
    } else if totals.waits == 0 {
        ("this transaction waits for nothing", "a transaction ends with its last wait: add for example Wait+Prompt")
    } else if totals.ends_waiting != Some(true) {
        (
            "this transaction types after its last wait",
            "a transaction ends with its last wait: add one, or move the End",
        )
    } else {
        return Ok(());
    };
    Err(place.error(message, hint))
}
