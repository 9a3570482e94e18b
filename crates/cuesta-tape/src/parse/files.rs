//! Commands about files and the recording machine: `Output`, `Screenshot`, `Require`, `Env`, `Source`.

use std::rc::Rc;

use super::{Arguments, Parser, tape};
use crate::command::{Action, Holds};
use crate::error::{Source, TapeError};
use crate::lex::{Token, make_printable};
use crate::script::Settings;

/// Most bytes of a tape; each sourced tape may have as many.
pub(crate) const LONGEST_TAPE: usize = 1 << 20;
/// Most tapes that one tape sources.
const MOST_SOURCES: usize = 100;

const PATH_HINT: &str = "put a path in quotes when it begins with a slash or holds blanks";

impl Parser<'_> {
    pub(crate) fn output(&mut self) -> Result<Arguments, TapeError> {
        if !self.peek().is_text() {
            return Err(self.error(self.last(), "`Output` needs a path", PATH_HINT));
        }
        let path = self.take();
        let extension = extension(&path.text);
        if extension.is_empty() && !path.text.ends_with('/') {
            let message = format!("{} has no extension", path.quote());
            return Err(self.error(&path, message, "write for example demo.gif, or a folder with a slash at its end"));
        }
        let options = if extension.is_empty() { ".png" } else { extension };
        Ok(Arguments::new(options, path.text.clone(), Action::Nothing))
    }

    pub(crate) fn screenshot(&mut self) -> Result<Arguments, TapeError> {
        if !self.peek().is_text() {
            return Err(self.error(self.last(), "`Screenshot` needs a path", PATH_HINT));
        }
        let path = self.take();
        if extension(&path.text) != ".png" {
            let message = format!("{} does not end in .png", path.quote());
            return Err(self.error(&path, message, "a screenshot is a .png file"));
        }
        Ok(Arguments::new("", path.text, Action::Nothing))
    }

    pub(crate) fn require(&mut self) -> Result<Arguments, TapeError> {
        if !self.peek().is_text() {
            let message = format!("`Require` needs the name of a program, not {}", self.peek().quote());
            return Err(self.error(self.peek(), message, PATH_HINT));
        }
        Ok(Arguments::new("", self.take().text, Action::Nothing))
    }

    /// A variable of the recording machine, of which only the terminal's name matters here.
    pub(crate) fn env(&mut self) -> Result<Arguments, TapeError> {
        let name = self.value()?;
        if !self.peek().is_text() {
            let message = format!("{} needs a value in quotes, not {}", name.quote(), self.peek().quote());
            return Err(self.error(self.peek(), message, "write for example Env NAME \"value\""));
        }
        if name.text != "TERM" {
            return Ok(Arguments::new(name.text, self.take().text, Action::Nothing));
        }
        let value = self.take();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte);
        if !(1..=40).contains(&value.text.len()) || !value.text.bytes().all(is_allowed) {
            let message = format!("{} is no terminal's name", value.quote());
            return Err(self.error(&value, message, "write for example Env TERM \"vt220\""));
        }
        let settings = Box::new(Settings { terminal: Some(value.text.to_string()), ..Settings::default() });
        Ok(Arguments::new(name.text, value.text, Action::Set { settings, holds: Holds::Throughout }))
    }

    /// Puts the commands of another tape in this one's place, all but its `Output`.
    pub(crate) fn sourced_tape(&mut self) -> Result<Arguments, TapeError> {
        if !self.peek().is_text() {
            return Err(self.error(self.last(), "`Source` needs the path of a tape", PATH_HINT));
        }
        let path = self.take();
        let source = Rc::new(Source { text: self.sourced_text(&path)?, name: path.text.to_string() });
        let inner = tape(&source, self.load, true);
        if !inner.errors.is_empty() {
            let message = format!("{} has {} error(s)", path.quote(), inner.errors.len());
            let error = self.error(&path, message, "they are shown with that tape's rows");
            self.parsed.errors.push(error);
            self.parsed.errors.extend(inner.errors);
        }
        self.parsed.items.extend(inner.items.into_iter().filter(|item| item.command.word != "Output"));
        let named =
            |note: crate::Note| crate::Note { message: format!("{}: {note}", make_printable(&source.name)), row: None };
        self.parsed.notes.extend(inner.notes.into_iter().map(named));
        Ok(Arguments::new("", "", Action::Source))
    }

    fn sourced_text(&mut self, path: &Token) -> Result<String, TapeError> {
        if extension(&path.text) != ".tape" {
            return Err(self.error(
                path,
                format!("{} does not end in .tape", path.quote()),
                "only tapes can be sourced",
            ));
        }
        if self.sourced {
            let message = "a sourced tape cannot source another";
            return Err(self.error(path, message, "source both from the first tape"));
        }
        self.sources += 1;
        if self.sources > MOST_SOURCES {
            let message = format!("more than {MOST_SOURCES} tapes are sourced");
            return Err(self.error(path, message, "put together those that belong together"));
        }
        let text = (self.load)(&path.text).map_err(|why| {
            let message = format!("cannot read {}: {}", path.quote(), make_printable(&why));
            self.error(path, message, "paths begin at the folder of the tape")
        })?;
        match text.len() {
            0 => Err(self.error(path, format!("{} is empty", path.quote()), "leave out the Source")),
            1..=LONGEST_TAPE => Ok(text),
            _ => Err(self.error(path, format!("{} is over 1 MiB long", path.quote()), "cut it into parts")),
        }
    }
}

/// From the last dot of the last name on; empty without one.
fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').map_or("", |dot| &name[dot..])
}

#[cfg(test)]
mod tests {
    use super::extension;

    #[test]
    fn the_extension_is_that_of_the_last_name() {
        for (path, wanted) in [("a.gif", ".gif"), ("a.b/c", ""), ("x/.tape", ".tape"), ("a.", "."), ("out/", "")] {
            assert_eq!(extension(path), wanted, "{path}");
        }
    }
}
