//! A field for a row in ratatui: each row is answered below it. `field [LOG SECONDS]`.
//!
//! With a log it draws a frame at most every so often. A row of the log is a frame: when it began, its bytes, and how many characters
//! typed so far it shows.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write, stdout};
use std::rc::Rc;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind};
use ratatui::layout::{Constraint, Layout, Position};
use ratatui::widgets::{Block, Paragraph};
use rustix::time::{ClockId, clock_gettime};

/// What is drawn of a frame, which is written as a whole.
#[derive(Clone, Default)]
struct Frame(Rc<RefCell<Vec<u8>>>);

impl Write for Frame {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct Field {
    row: String,
    answers: usize,
    emptied: usize,
}

impl Field {
    fn draw(&self, terminal: &mut Terminal<CrosstermBackend<Frame>>) -> io::Result<()> {
        let Self { row, answers, .. } = self;
        terminal.draw(|frame| {
            let [field, answer] = Layout::vertical([Constraint::Length(3), Constraint::Min(1)]).areas(frame.area());
            frame.render_widget(Paragraph::new(format!("> {row}")).block(Block::bordered()), field);
            frame.render_widget(Paragraph::new(format!("answer {answers} $")), answer);
            frame.set_cursor_position(Position::new(field.x + 3 + row.len() as u16, field.y + 1));
        })?;
        Ok(())
    }

    /// Takes what comes next; false if that ends the program.
    fn take(&mut self) -> io::Result<bool> {
        let Event::Key(key) = event::read()? else { return Ok(true) };
        match key.code {
            KeyCode::Esc => return Ok(false),
            KeyCode::Enter => {
                self.emptied += self.row.len();
                self.row.clear();
                self.answers += 1;
            }
            KeyCode::Char(typed) if key.kind == KeyEventKind::Press => self.row.push(typed),
            _ => {}
        }
        Ok(true)
    }
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut log = arguments.next().map(File::create).transpose()?;
    let apart = arguments.next().and_then(|seconds| seconds.parse().ok()).map_or(Duration::ZERO, Duration::from_secs_f64);
    ratatui::init();
    let drawn = Frame::default();
    let mut terminal = Terminal::new(CrosstermBackend::new(drawn.clone()))?;
    let mut field = Field::default();
    'typing: loop {
        field.draw(&mut terminal)?;
        let data = drawn.0.take();
        let (began, since) = (Instant::now(), clock_gettime(ClockId::Monotonic));
        stdout().lock().write_all(&data)?;
        stdout().flush()?;
        if let Some(log) = &mut log {
            let since = since.tv_sec * 1_000_000_000 + since.tv_nsec;
            let typed = field.emptied + field.row.len();
            writeln!(log, r#"{{"since": {since}, "typed": {typed}, "bytes": {}}}"#, data.len())?;
        }
        loop {
            if !field.take()? {
                break 'typing;
            }
            if !event::poll((began + apart).saturating_duration_since(Instant::now()))? {
                break;
            }
        }
    }
    ratatui::restore();
    Ok(())
}
