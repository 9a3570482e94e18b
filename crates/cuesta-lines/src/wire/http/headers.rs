//! The headers of a message.

/// Headers, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers(Vec<(String, String)>);

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
