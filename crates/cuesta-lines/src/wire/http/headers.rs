//! The headers of a message.

use std::fmt;

/// Headers, in their order.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Headers(Vec<(String, String)>);

/// Values may be secrets, which are not printed.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

impl Headers {
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// The first header of this name, in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(its, _)| its.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All headers of this name, in any case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.iter().filter(move |(its, _)| its.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Whether a header's list has this word, in any case.
    pub fn lists(&self, name: &str, word: &str) -> bool {
        self.all(name).flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(word))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
