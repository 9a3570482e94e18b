//! An hour of 96 lines, with drops at random instants: whatever a user typed is answered exactly once, or its line was dropped.
//!
//! Taps at both ends of each line keep what passes there. The driver's counts, the host's meters and the taps must agree to the
//! last character.
#![allow(clippy::unwrap_used)] // A failed unwrap fails the test.
#![allow(clippy::float_cmp)] // Counts are exact.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use crate::harness::{Ends, RunRecords, play_between, spec};
use cuesta_distributions::{Distribution, SeededRng};
use cuesta_driver::RunSpec;
use cuesta_host::FrontEnd;
use cuesta_lines::{Direction, Disconnection, Faults, Faulty, Line, RateLimited, Tap};
use cuesta_record::{Stamp, clock};
use serde_json::{Value, json};

const USERS: usize = 96;
const HOUR: Duration = Duration::from_secs(3600);
/// After the hour no line is dropped and users only think, so that nothing is on its way when the accounts are closed.
const REST: Duration = Duration::from_secs(300);
/// Mean time until a line is dropped.
const LIFE: Duration = Duration::from_secs(480);
const SEED: u64 = 1979;
/// The names of drops.
const NAMES: [&str; 2] = ["closed", "reset"];

const ROW: usize = 12;
const ANSWER: usize = 150;
const TAPE: &str = "Set TypingSpeed 200ms\nSet KeyLaw human\nSet Echo timed\nWait+Bytes 2\nForever\nType \"${row}\"\nEnter\n\
                    Wait+Bytes 150\nThink exp 8s\nEnd\n";

/// One line, and what passed at its ends.
#[derive(Default)]
struct LineAccount {
    /// The name of its drop, if it was dropped.
    dropped: Option<&'static str>,
    /// Sent by the user, and what of it the host received.
    sent: Vec<u8>,
    taken: Vec<u8>,
    /// Sent by the host, and what of it the user received.
    written: Vec<u8>,
    heard: Vec<u8>,
}

/// The accounts of all lines, and the host's meters before the end.
#[derive(Default)]
struct Ledger {
    lines: Vec<LineAccount>,
    meters: Value,
}

/// When the next line is dropped, and how. `number`: how many lines were opened before.
fn drop_of(number: usize, begin: Stamp) -> Option<(Stamp, Disconnection)> {
    let mut rng = SeededRng::new(SEED, number as u64);
    let at = clock::now() + LIFE.mul_f64(-(1.0 - rng.unit()).ln());
    (at < begin + HOUR).then_some((at, [Disconnection::Close, Disconnection::Reset][rng.below(2) as usize]))
}

/// An hour's load, and then one transaction at most for each user.
fn hour() -> RunSpec {
    let rows: Vec<Value> = (0..USERS).map(|user| json!({"row": format!("terminal {user:03}")})).collect();
    let mut spec = spec(USERS as u32, 0.0, HOUR.as_secs_f64(), &json!({"group": {"data": rows}}));
    let mut rest = spec.steps[0].clone();
    rest.measure = REST.as_nanos() as u64;
    rest.groups[0].think = Some(Distribution::fixed(HOUR));
    spec.steps.push(rest);
    spec
}

/// Plays the hour.
fn play_the_hour() -> Hour {
    let ledger = Rc::new(RefCell::new(Ledger::default()));
    let accounts = Rc::clone(&ledger);
    let begin = OnceCell::new();
    let host = json!({"service": {"transaction": {"reply": ANSWER}}, "service_time": "exp 20ms", "delay": "500ms"});
    let wrap = move |ends: Ends, _, front: &Rc<FrontEnd>| {
        let begin = *begin.get_or_init(|| {
            tokio::task::spawn_local(read_meters(Rc::clone(front), Rc::clone(&accounts)));
            clock::now()
        });
        Ok(open(ends, &accounts, begin))
    };
    let played = play_between(hour(), TAPE, &host, wrap, Vec::new());
    let Ledger { lines, meters } = ledger.take();
    Hour { played, lines, meters }
}

/// Reads the host's meters at the end, while the users still have their lines.
async fn read_meters(front: Rc<FrontEnd>, ledger: Rc<RefCell<Ledger>>) {
    clock::sleep_until(clock::now() + HOUR + REST - Duration::from_secs(1)).await;
    ledger.borrow_mut().meters = front.meters();
}

/// A line of 1200 bits a second that is dropped at both ends at the same instant, with an account of its own.
fn open([ours, theirs]: Ends, ledger: &Rc<RefCell<Ledger>>, begin: Stamp) -> Ends {
    let number = ledger.borrow().lines.len();
    let cut = drop_of(number, begin);
    let dropped = cut.map(|(_, ending)| NAMES[usize::from(ending == Disconnection::Reset)]);
    ledger.borrow_mut().lines.push(LineAccount { dropped, ..LineAccount::default() });
    let faults = || Faults { cut, ..Faults::default() };
    let ours = Faulty::new(RateLimited::new(ours, 1200), faults());
    [
        tapped(ours, ledger, number, |line| [&mut line.sent, &mut line.heard]),
        tapped(Faulty::new(theirs, faults()), ledger, number, |line| [&mut line.written, &mut line.taken]),
    ]
}

/// A line whose traffic is kept in its account: what it sends and what it receives, in these two places.
fn tapped(
    line: impl Line + 'static,
    ledger: &Rc<RefCell<Ledger>>,
    number: usize,
    places: fn(&mut LineAccount) -> [&mut Vec<u8>; 2],
) -> Box<dyn Line> {
    let ledger = Rc::clone(ledger);
    Box::new(Tap::new(line, move |event| {
        let mut ledger = ledger.borrow_mut();
        let [sends, receives] = places(&mut ledger.lines[number]);
        let into = if event.direction == Direction::Sent { sends } else { receives };
        into.extend_from_slice(event.bytes);
    }))
}

impl LineAccount {
    /// What the host owes for what it received: a prompt, the echoes, and an answer to each row.
    fn owed(&self, answer: &[u8]) -> Vec<u8> {
        let mut owed = b"> ".to_vec();
        for character in &self.taken {
            match character {
                b'\r' => owed.extend([b"\r\n", answer].concat()),
                _ => owed.push(*character),
            }
        }
        owed
    }

    /// How many answers of those owed are whole in `output`, which is the beginning of what is owed.
    fn answers_in(&self, output: &[u8]) -> usize {
        let each = ROW + 2 + ANSWER;
        (output.len().saturating_sub(2) / each).min(rows(&self.taken))
    }

    /// How many answers the user received.
    fn answered(&self) -> usize {
        self.answers_in(&self.heard)
    }

    fn unanswered(&self) -> usize {
        rows(&self.sent) - self.answered()
    }

    /// How many keys have no whole echo in what the user received.
    fn unechoed(&self) -> usize {
        let mut end = 2;
        let ends = self.taken.iter().map(|key| {
            let (echo, answer) = if *key == b'\r' { (2, ANSWER) } else { (1, 0) };
            end += echo + answer;
            end - answer
        });
        self.sent.len() - ends.filter(|end| *end <= self.heard.len()).count()
    }
}

fn rows(typed: &[u8]) -> usize {
    typed.split(|character| *character == b'\r').count() - 1
}

/// What is compared: the driver's records, the host's meters, and what passed at both ends of each line.
struct Hour {
    played: RunRecords,
    lines: Vec<LineAccount>,
    meters: Value,
}

impl Hour {
    fn sum(&self, of: fn(&LineAccount) -> usize) -> usize {
        self.lines.iter().map(of).sum()
    }

    /// The sum over the lines that were dropped in this way.
    fn on_dropped(&self, name: &str, of: fn(&LineAccount) -> usize) -> usize {
        self.lines.iter().filter(|line| line.dropped == Some(name)).map(of).sum()
    }

    /// Each end has, in order, what the other end sent: all of it, or all up to the drop.
    fn texts_agree(&self) {
        let answer = self.lines[0].written[2 + ROW + 2..][..ANSWER].to_vec();
        assert!(answer.ends_with(b"\r\n> "));
        for line in &self.lines {
            let owed = line.owed(&answer);
            assert!(line.sent.starts_with(&line.taken) && owed.starts_with(&line.written));
            assert!(line.written.starts_with(&line.heard));
            if line.dropped.is_none() {
                assert_eq!((&line.sent, &owed, &line.written), (&line.taken, &line.written, &line.heard));
            }
            assert!(line.unanswered() <= 1, "{:?}", line.dropped);
        }
    }

    /// Each drop is counted once by its name at both ends, and each user comes back.
    fn lines_agree(&self) {
        let by_name = NAMES.map(|name| (name.to_owned(), self.on_dropped(name, |_| 1)));
        let drops: usize = by_name.iter().map(|(_, count)| count).sum();
        assert!(drops > 5 * USERS && by_name.iter().all(|(_, count)| *count > USERS), "{by_name:?}");
        let by_name: BTreeMap<String, usize> = by_name.into();
        let mut errors: BTreeMap<String, u64> = self.played.errors().into_iter().collect();
        // The driver misses the echoes that were lost with a line, and no others.
        let unechoed = errors.remove("unechoed");
        assert_eq!(
            unechoed,
            Some(NAMES.map(|name| self.on_dropped(name, LineAccount::unechoed)).iter().sum::<usize>() as u64)
        );
        assert_eq!(json!(errors), json!(by_name));
        let meters = &self.meters["lines"];
        assert_eq!(meters["closes"], json!(by_name));
        assert_eq!(self.lines.len(), USERS + drops);
        assert_eq!(self.played.histogram("g/line/connect").len(), self.lines.len() as u64);
        let figures = ["opened", "connected", "peak", "refused"].map(|name| meters[name].as_u64().unwrap() as usize);
        assert_eq!(figures, [self.lines.len(), USERS, USERS, 0]);
        let last = self.played.last_measured();
        assert_eq!([&last["users"], &last["unfinished"]], [&json!(USERS), &json!(0)]);
        let at_the_end: Vec<_> = self.played.users.iter().filter(|user| user["step"] == 1).collect();
        assert!(at_the_end.len() == USERS && at_the_end.iter().all(|user| user["lost"].is_null()));
    }

    /// Each complete message was taken and answered exactly once, or it is counted as unanswered and its line was dropped.
    fn messages_agree(&self) {
        let typed = self.sum(|line| rows(&line.sent));
        let taken = self.sum(|line| rows(&line.taken));
        let [written, heard] = [self.sum(|line| line.answers_in(&line.written)), self.sum(LineAccount::answered)];
        assert_eq!(self.meters["messages"], json!({"in": taken, "out": written + self.to_nobody()}));
        assert_eq!(self.meters["read_ahead"]["messages"], 0);
        assert_eq!(self.played.sum("transactions"), heard as f64);
        let unanswered = NAMES.map(|name| self.on_dropped(name, LineAccount::unanswered));
        assert_eq!(unanswered.iter().sum::<usize>(), typed - heard);
        assert_eq!(self.played.sum("unanswered"), (typed - heard) as f64);
        // Lines were dropped while the host worked, and while its answer was on the way.
        assert!(taken > written && written > heard && self.to_nobody() > 0);
        assert!(unanswered.iter().all(|count| *count > 20), "{unanswered:?}");
    }

    /// What one side counts and the other does not was on a line that was dropped.
    fn characters_agree(&self) {
        let [sent, taken] = [self.sum(|line| line.sent.len()), self.sum(|line| line.taken.len())];
        let [written, heard] = [self.sum(|line| line.written.len()), self.sum(|line| line.heard.len())];
        assert_eq!(
            ["in", "out"].map(|name| self.played.sum(&format!("characters/{name}"))),
            [sent, heard].map(|n| n as f64)
        );
        let meter = |name: &str| self.meters["characters"][name].as_u64().unwrap() as usize;
        assert_eq!((meter("typed"), meter("in")), (taken, ROW * self.sum(|line| rows(&line.taken))));
        assert_eq!(meter("out") + meter("echoed"), written + ANSWER * self.to_nobody());
        let prompts = 2 * self.lines.len();
        assert_eq!(meter("out"), prompts + ANSWER * self.meters["messages"]["out"].as_u64().unwrap() as usize);
        assert_eq!([&self.meters["pool"]["used"], &self.meters["lines"]["blocked"]], [0, 0]);
        assert!(sent > taken && written > heard, "characters were on their way");
    }

    /// Number of answers that the host wrote after the user had hung up. It answers all input that it received before.
    fn to_nobody(&self) -> usize {
        self.on_dropped("closed", |line| rows(&line.taken) - line.answers_in(&line.written))
    }
}

#[test]
fn an_hour_of_dropped_and_reopened_lines_loses_nothing() {
    let hour = play_the_hour();
    hour.texts_agree();
    hour.lines_agree();
    hour.messages_agree();
    hour.characters_agree();
}
