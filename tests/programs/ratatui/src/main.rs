//! A field for a row in ratatui: each row is answered below it.

use std::io;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind};
use ratatui::layout::{Constraint, Layout, Position};
use ratatui::widgets::{Block, Paragraph};

fn main() -> io::Result<()> {
    let mut terminal = ratatui::init();
    let (mut row, mut answers) = (String::new(), 0);
    loop {
        terminal.draw(|frame| {
            let [field, answer] = Layout::vertical([Constraint::Length(3), Constraint::Min(1)]).areas(frame.area());
            frame.render_widget(Paragraph::new(format!("> {row}")).block(Block::bordered()), field);
            frame.render_widget(Paragraph::new(format!("answer {answers} $")), answer);
            frame.set_cursor_position(Position::new(field.x + 3 + row.len() as u16, field.y + 1));
        })?;
        let Event::Key(key) = event::read()? else { continue };
        match key.code {
            KeyCode::Esc => break,
            KeyCode::Enter => {
                row.clear();
                answers += 1;
            }
            KeyCode::Char(typed) if key.kind == KeyEventKind::Press => row.push(typed),
            _ => {}
        }
    }
    ratatui::restore();
    Ok(())
}
