//! A user's terminal: a line, and what has come over it since the last key.
//!
//! Whatever the user does, the terminal listens: every wait here also reads the line, so that an instant is taken when a
//! character comes and not when somebody looks. A user who looks at a screen has one (see `view`): it is drawn after all
//! lines that were ready have been read, a piece at a time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use cuesta_lines::{Crossed, Line, Received, Stamped, fault};
use cuesta_record::{Stamp, clock};
use cuesta_screen::ModeWatch;
use cuesta_tape::Echo;

use crate::answer::{Answer, Done, Rule};
use crate::barrier::Meet;
use crate::crew::Crew;
use crate::echo::{Echoes, Seen};
use crate::opening::Opened;
use crate::pacing::Arrivals;
use crate::program::Program;
use crate::view::{Typed, View};

mod drawing;

/// A line with a user at it.
pub(crate) struct Terminal {
    line: Box<dyn Line>,
    /// None once its opening is counted.
    opened: Option<Opened>,
    alarm: clock::Sleep,
    crew: Rc<Crew>,
    /// The user's seat.
    seat: usize,
    /// The user's group.
    group: usize,
    echoes: Echoes,
    answer: Answer,
    /// What is or will be waited for.
    rule: Option<Rc<Rule>>,
    /// Whether nothing but echoes may come while one is awaited.
    strict: bool,
    /// When something first came after the last key, by two clocks, where the kernel stamps the line.
    came: Option<Stamped>,
    /// Whether an echo of an earlier key could be what came first.
    mixed: bool,
    /// What had crossed the line when it was last counted.
    counted: Crossed,
    /// What the user sees, if it looks.
    view: Option<Box<View>>,
    /// The modes that its keys depend on, if they do and it does not look.
    modes: Option<ModeWatch>,
    /// A key is on its way: nothing may come between its characters.
    sending: bool,
}

/// A key, or a text that is sent at once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stroke<'a> {
    /// One character of a text.
    Character(&'a str),
    /// A key with a name.
    Key(&'a cuesta_tape::Key),
    Paste(&'a str),
}

/// Why a line can be used no more: the name under which it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost(pub(crate) &'static str);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    Done(Done),
    /// The deadline came first.
    TimedOut,
}

impl Terminal {
    pub(crate) fn new(
        line: Box<dyn Line>,
        opened: Opened,
        crew: Rc<Crew>,
        seat: usize,
        group: usize,
        program: &Program,
    ) -> Self {
        let mut terminal = Self {
            line,
            opened: Some(opened),
            alarm: clock::sleep_until(Stamp::FAR),
            crew,
            seat,
            group,
            echoes: Echoes::default(),
            answer: Answer::new(program.reads_text),
            rule: None,
            strict: false,
            came: None,
            mixed: false,
            counted: Crossed::default(),
            view: None,
            modes: None,
            sending: false,
        };
        terminal.play(program);
        terminal
    }

    /// A pass of a program will be played, which may be another one than before.
    pub(crate) fn play(&mut self, program: &Program) {
        self.strict = !program.echo_map.is_empty();
        self.answer.keep_text(program.reads_text);
        if program.looks && self.view.is_none() {
            let mut view = View::new(self.crew.groups[self.group].size);
            self.crew.has_screen(view.grown());
            self.view = Some(Box::new(view));
        }
        // What the host set before it was watched is not known.
        self.modes =
            self.modes.or_else(|| program.needs_modes.then(ModeWatch::default)).filter(|_| self.view.is_none());
    }

    /// The instant from which the line can carry the next character.
    pub(crate) fn free_at(&self) -> Stamp {
        self.line.free_at()
    }

    /// Keys that still wait for their echo.
    pub(crate) fn unechoed(&self) -> usize {
        self.echoes.pending() + self.view.as_ref().map_or(0, |view| view.pending())
    }

    /// What has come since the last key.
    pub(crate) fn text(&self) -> &[u8] {
        self.answer.text()
    }

    /// When the last key went and when something first came after it, by two clocks, where the kernel stamps the line.
    pub(crate) fn stamped(&mut self) -> Option<(Stamped, Stamped)> {
        let (sent, came) = self.line.kernel_sent().zip(self.came)?;
        (!self.mixed && sent.ours <= came.ours && sent.kernel <= came.kernel).then_some((sent, came))
    }

    /// Listens until an instant.
    pub(crate) async fn listen_until(&mut self, due: Stamp) -> Result<(), Lost> {
        self.listen(due, |_, _| Poll::<()>::Pending).await.map(|_| ())
    }

    /// Listens until no echo is awaited any more, or an instant.
    pub(crate) async fn listen_for_echoes(&mut self, until: Stamp) -> Result<(), Lost> {
        let over = |terminal: &Self, _: &mut Context<'_>| {
            if terminal.unechoed() == 0 { Poll::Ready(()) } else { Poll::Pending }
        };
        self.listen(until, over).await.map(|_| ())
    }

    /// Listens until something arrives for the user to do, or an instant.
    pub(crate) async fn listen_for(&mut self, arrivals: &Arrivals, until: Stamp) -> Result<Option<Stamp>, Lost> {
        self.listen(until, |_, cx| arrivals.poll_next(cx.waker())).await
    }

    /// Listens until all have met, or an instant; says whether they met.
    pub(crate) async fn listen_at(&mut self, mut meet: Meet<'_>, until: Stamp) -> Result<bool, Lost> {
        Ok(self.listen(until, |_, cx| meet.poll(cx)).await?.is_some())
    }

    /// Listens until an event, or an instant: then there is none.
    async fn listen<T>(
        &mut self,
        until: Stamp,
        mut event: impl FnMut(&Self, &mut Context<'_>) -> Poll<T>,
    ) -> Result<Option<T>, Lost> {
        self.alarm.reset(until);
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(event) = event(self, cx) {
                    return Poll::Ready(Ok(Some(event)));
                }
                if Pin::new(&mut self.alarm).poll(cx).is_ready() {
                    return Poll::Ready(Ok(None));
                }
                ready!(self.poll_listen(cx))?;
            }
        })
        .await
    }

    /// Sends a key: what comes from now on is judged by `rule`. `echoed`: when it was due, if its echo is awaited, and
    /// how. `last`: no other key may come before what is waited for. Gives the instant at which it went.
    pub(crate) async fn send(
        &mut self,
        stroke: Stroke<'_>,
        echoed: Option<(Stamp, Echo)>,
        rule: Option<&Rc<Rule>>,
        last: bool,
        program: &Program,
    ) -> Result<Stamp, Lost> {
        self.count_opening();
        let (key, typed) = self.encode(stroke).await;
        self.rule = rule.cloned();
        self.answer.restart();
        self.came = None;
        self.mixed = self.unechoed() > 0 || self.echoes.are_awaited();
        let sent = clock::now();
        if let Some((due, Echo::Timed)) = echoed {
            self.echoes.await_key(typed, &program.echo_map, due, sent);
        }
        if let Some(view) = &mut self.view {
            let shown = echoed.filter(|(_, echo)| *echo == Echo::Screen);
            let looks = last && rule.is_some_and(|rule| rule.looks());
            view.sent(Typed::new(typed, &program.echo_map, shown.map(|(due, _)| (due, sent))), looks);
        }
        if echoed.is_some() {
            self.crew.waits_for_echo(self.seat, self.oldest());
        }
        self.alarm.reset(sent + program.patience);
        let mut rest = &*key;
        self.sending = true;
        let gone = poll_fn(|cx| {
            while !rest.is_empty() {
                match self.line.poll_send(cx, rest) {
                    Poll::Ready(taken) => rest = &rest[taken.map_err(|error| lost(&error))?..],
                    // A host that does not read may wait for us to read.
                    Poll::Pending => {
                        if Pin::new(&mut self.alarm).poll(cx).is_ready() {
                            return Poll::Ready(Err(Lost("blocked")));
                        }
                        ready!(self.poll_listen(cx))?;
                    }
                }
            }
            Poll::Ready(Ok(()))
        })
        .await;
        self.sending = false;
        gone?;
        self.crew.tally(|tally| tally.counts.characters.sent += key.len() as u64);
        self.count_crossed();
        Ok(sent)
    }

    /// Waits for the complete answer, or a deadline.
    pub(crate) async fn wait(&mut self, rule: &Rc<Rule>, deadline: Stamp) -> Result<Waited, Lost> {
        if !self.rule.as_ref().is_some_and(|awaited| Rc::ptr_eq(awaited, rule)) {
            self.rule = Some(Rc::clone(rule));
            // What came so far was judged by another rule, or by none.
            let seen = self.view.as_mut().is_some_and(|view| view.is_drawn() && view.holds(rule));
            self.answer.judge_again(rule, seen);
        }
        let begun = matches!(**rule, Rule::Silence(_)).then(clock::now);
        poll_fn(|cx| {
            loop {
                if let Some(done) = self.answer.done() {
                    return Poll::Ready(Ok(Waited::Done(done)));
                }
                let silence = match (&**rule, begun) {
                    (Rule::Silence(length), Some(begun)) => Some(self.answer.fell_silent(begun, *length)),
                    _ => None,
                };
                let silence = silence.filter(|done| done.at + done.silence <= deadline);
                self.alarm.reset(silence.map_or(deadline, |done| done.at + done.silence));
                match self.poll_listen(cx) {
                    Poll::Ready(Ok(())) => continue,
                    Poll::Ready(Err(Lost("closed"))) if matches!(**rule, Rule::Disconnect) => {
                        return Poll::Ready(Ok(Waited::Done(self.answer.closed(clock::now()))));
                    }
                    Poll::Ready(Err(_)) if self.answer.done().is_some() => continue,
                    Poll::Ready(Err(lost)) => return Poll::Ready(Err(lost)),
                    Poll::Pending => {}
                }
                ready!(Pin::new(&mut self.alarm).poll(cx));
                if self.draw_all() {
                    continue;
                }
                return Poll::Ready(Ok(silence.map_or(Waited::TimedOut, Waited::Done)));
            }
        })
        .await
    }

    /// Gives up keys sent before an instant that were not echoed.
    pub(crate) fn give_up_echoes(&mut self, sent_before: Stamp) {
        let unseen = self.view.as_mut().map_or(0, |view| view.give_up_before(sent_before));
        let lost = self.echoes.give_up_before(sent_before) + unseen;
        if lost > 0 {
            self.missed(lost);
            self.crew.waits_for_echo(self.seat, self.oldest());
        }
    }

    /// Keys were sent that were never echoed.
    fn missed(&self, keys: u64) {
        self.crew.tally(|tally| *tally.counts.errors.entry("unechoed").or_default() += keys);
    }

    /// When the key that waits longest for its echo was due.
    fn oldest(&self) -> Option<Stamp> {
        let shown = self.view.as_ref().and_then(|view| view.oldest()).map(|key| key.due);
        self.echoes.oldest().into_iter().chain(shown).min()
    }

    /// Counts what the line's opening took, once: no sooner than it is needed, as a host may long be talking about options.
    fn count_opening(&mut self) {
        let Some(opened) = self.opened.take() else { return };
        for (series, took) in opened.phases(self.line.opening(), self.crew.groups[self.group].series.line) {
            self.crew.record(series, took);
        }
    }

    /// Counts what crossed the line since it was last counted.
    fn count_crossed(&mut self) {
        let crossed = self.line.crossed();
        self.crew.tally(|tally| {
            tally.counts.characters.line_in += crossed.sent - self.counted.sent;
            tally.counts.characters.line_out += crossed.received - self.counted.received;
        });
        self.counted = crossed;
    }

    /// Reads the line once, and takes in what came; or else draws some of what has come before.
    fn poll_listen(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        if self.view.is_none() {
            return self.poll_read(cx);
        }
        self.answer_host(cx)?;
        if !self.view.as_ref().is_some_and(|view| view.is_full()) {
            let read = self.poll_read(cx);
            if let Poll::Ready(Err(_)) = read {
                self.draw_all();
            }
            if read.is_ready() {
                return read;
            }
        }
        self.poll_draw(cx)
    }

    /// Reads the line once, and takes in what came.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        let crew = Rc::clone(&self.crew);
        crew.with_buffer(|buffer| {
            let received = ready!(self.line.poll_receive(cx, buffer)).map_err(|error| lost(&error))?;
            if received.len == 0 {
                return Poll::Ready(Err(Lost("closed")));
            }
            self.take(&buffer[..received.len], &received);
            self.count_crossed();
            Poll::Ready(Ok(()))
        })
    }

    fn take(&mut self, bytes: &[u8], received: &Received) {
        self.crew.tally(|tally| tally.counts.characters.received += bytes.len() as u64);
        self.came = self.came.or(received.stamped);
        // What stands before `from` is taken in already.
        let mut from = 0;
        for (index, byte) in bytes.iter().enumerate() {
            if !self.echoes.are_awaited() {
                break;
            }
            let seen = self.echoes.take(*byte, self.strict);
            if seen == Seen::Other {
                continue;
            }
            self.answer.take(self.rule.as_deref(), &bytes[from..index], from, received);
            from = index + 1;
            self.seen(&seen, received.at_character(index));
        }
        self.answer.take(self.rule.as_deref(), &bytes[from..], from, received);
        if let Some(view) = &mut self.view {
            view.read(bytes, received);
        }
        if let Some(modes) = &mut self.modes {
            modes.feed(bytes);
        }
        if self.answer.floods(bytes.len()) && !matches!(self.rule.as_deref(), Some(Rule::Bytes(_))) {
            self.crew.tally(|tally| tally.counts.error("flood"));
        }
    }

    fn seen(&mut self, seen: &Seen, at: Stamp) {
        match seen {
            Seen::Echo(key) => self.echoed(key.due, key.sent, at),
            Seen::Overtook(key, lost) => {
                self.missed(*lost);
                self.echoed(key.due, key.sent, at);
            }
            Seen::Wrong => {
                self.crew.tally(|tally| {
                    tally.counts.stray += 1;
                    tally.counts.error("wrong-echo");
                });
                self.echo_over(at);
            }
            Seen::Part | Seen::Other => {}
        }
    }

    fn echoed(&mut self, due: Stamp, sent: Stamp, at: Stamp) {
        let series = &self.crew.groups[self.group].series;
        self.crew.tally(|tally| {
            tally.record(series.echo, at.since(due));
            tally.record(series.echo_from_sent, at.since(sent));
        });
        self.echo_over(at);
    }

    /// No more echo will come for a key: if it was the last one's, that may be what is waited for.
    fn echo_over(&mut self, at: Stamp) {
        self.crew.waits_for_echo(self.seat, self.oldest());
        if self.unechoed() == 0 && matches!(self.rule.as_deref(), Some(Rule::Echo)) {
            self.answer.echoed(at);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.draw_all();
        if let Some(view) = &mut self.view {
            self.crew.has_screen((view.grown().0, 0));
        }
        self.give_up_echoes(Stamp::FAR);
        self.count_opening();
        self.count_crossed();
        let dropped = self.line.dropped();
        if dropped > 0 {
            self.crew.tally(|tally| *tally.counts.errors.entry("dropped-sequence").or_default() += dropped);
        }
    }
}

fn lost(error: &std::io::Error) -> Lost {
    Lost(fault(error))
}
