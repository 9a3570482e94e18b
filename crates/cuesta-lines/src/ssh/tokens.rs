//! Expands the tokens (`%h`, …) and variables (`${NAME}`) of `ssh_config(5)`.

use std::env;

use data_encoding::HEXLOWER;
use ring::digest;

/// The values of the tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Tokens {
    /// `%d`, and `~`.
    pub(super) home: String,
    /// `%h`: the name or address that is connected to.
    pub(super) host: String,
    /// `%n`: the host as it was asked for.
    pub(super) original_host: String,
    /// `%k`: the name by which its key is known.
    pub(super) alias: String,
    /// `%p`
    pub(super) port: u16,
    /// `%r`: the user there.
    pub(super) user: String,
    /// `%u`: the user here.
    pub(super) local_user: String,
    /// `%i`: that user's number.
    pub(super) uid: u32,
    /// `%l`: this machine.
    pub(super) machine: String,
    /// `%j`: the `ProxyJump` as it is written; empty if there is none.
    pub(super) jump: String,
}

impl Tokens {
    /// Expands a path: tokens, `~` and `${NAME}`.
    pub(super) fn path(&self, text: &str) -> Result<String, String> {
        let text = variables(text)?;
        let path = match text.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => format!("{}{rest}", self.home),
            Some(_) => return Err(format!("\"{text}\": write out the path of another user's home")),
            None => text,
        };
        self.text(&path)
    }

    /// Expands the tokens of any other value.
    pub(super) fn text(&self, text: &str) -> Result<String, String> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c != '%' {
                expanded.push(c);
                continue;
            }
            match rest.next() {
                Some('%') => expanded.push('%'),
                Some('d') => expanded.push_str(&self.home),
                Some('h') => expanded.push_str(&self.host),
                Some('n') => expanded.push_str(&self.original_host),
                Some('k') => expanded.push_str(&self.alias),
                Some('p') => expanded.push_str(&self.port.to_string()),
                Some('r') => expanded.push_str(&self.user),
                Some('u') => expanded.push_str(&self.local_user),
                Some('i') => expanded.push_str(&self.uid.to_string()),
                Some('l') => expanded.push_str(&self.machine),
                Some('L') => expanded.push_str(self.machine.split('.').next().unwrap_or_default()),
                Some('j') => expanded.push_str(&self.jump),
                Some('C') => expanded.push_str(&self.hash()),
                Some(other) => return Err(format!("\"{text}\": Cuesta does not support %{other}")),
                None => return Err(format!("\"{text}\": a single % at the end")),
            }
        }
        Ok(expanded)
    }

    /// `%C`
    fn hash(&self) -> String {
        let text = format!("{}{}{}{}{}", self.machine, self.host, self.port, self.user, self.jump);
        HEXLOWER.encode(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()).as_ref())
    }
}

/// Expands `${NAME}` from the environment.
fn variables(text: &str) -> Result<String, String> {
    let Some((before, rest)) = text.split_once("${") else { return Ok(text.to_owned()) };
    let (name, rest) = rest.split_once('}').ok_or_else(|| format!("\"{text}\": a ${{ without its }}"))?;
    let value = env::var(name).map_err(|_| format!("\"{text}\": the environment has no {name}"))?;
    Ok(format!("{before}{value}{}", variables(rest)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tokens_are_expanded_and_unknown_ones_reported() {
        let tokens = Tokens {
            home: "/h".to_owned(),
            host: "10.0.0.1".to_owned(),
            original_host: "web".to_owned(),
            port: 22,
            user: "joe".to_owned(),
            machine: "here.example".to_owned(),
            ..Tokens::default()
        };
        assert_eq!(tokens.text("%n %h:%p %r %L 100%%").unwrap(), "web 10.0.0.1:22 joe here 100%");
        assert_eq!(tokens.path("~/.ssh/id-%h").unwrap(), "/h/.ssh/id-10.0.0.1");
        assert_eq!(tokens.path("${CARGO_PKG_NAME}/%r").unwrap(), "cuesta-lines/joe");
        assert_eq!(tokens.text("%C").unwrap().len(), 40);
        assert!(tokens.text("%T").unwrap_err().contains("%T"));
        assert!(tokens.text("%").is_err() && tokens.path("${NOT_THERE_AT_ALL}").is_err());
        assert!(tokens.path("~bob/x").is_err());
    }
}
