//! A web terminal's target: `ttyd+wss://HOST/PATH?SETTINGS`, `ws://HOST/PATH?QUERY#SETTINGS`.

use std::collections::BTreeMap;
use std::fmt;

use super::WebError;
use super::kinds::WebKind;
use crate::percent::{Encoded, decode, encode_segment};
use crate::target::{Address, TargetError, settings_in};
use crate::tls::TlsSettings;

/// The target of a web terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebTarget {
    pub(crate) kind: &'static WebKind,
    pub address: Address,
    /// How TLS trusts the host (`wss:`); none = no TLS.
    pub tls: Option<TlsSettings>,
    /// As written, without a slash at its end; `{column}` stands for a cell of the users' table, here and in the values of settings.
    pub(super) path: String,
    /// Of a bare WebSocket: its query with the mark, which is the server's.
    pub(super) query: String,
    /// The kind's own settings, and `header=NAME:VALUE`, in their order.
    pub(super) own: Vec<(String, String)>,
    pub(super) browser: BrowserSettings,
}

/// How the terminal's end behaves in ways that all kinds share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BrowserSettings {
    /// `origin=…`: none = that of the target, as a page from there has it; `none` = no origin.
    pub(super) origin: Option<String>,
    /// `token=env:NAME`: the environment variable with a token that all users share.
    pub(super) token: Option<String>,
    /// `deflate=on|off`: whether compression is offered; none = as browsers of this kind do.
    pub(super) deflate: Option<bool>,
    /// `pong=off`: pings are not answered.
    pub(super) pong: bool,
    /// `ping=5s`, `ping=off`: how often this end pings, in seconds (0 = never); none = as the kind does.
    pub(super) ping: Option<u64>,
    /// `login=once`: the users share one login; `each` has a login for each user.
    pub(super) shares_login: bool,
}

impl Default for BrowserSettings {
    fn default() -> Self {
        Self { origin: None, token: None, deflate: None, pong: true, ping: None, shares_login: false }
    }
}

/// Words in names whose values are secrets: anywhere in a header's name, and at the end of a word in a query of a bare WebSocket, where
/// `keyboard=us` is none.
const SECRETS: [&str; 13] = [
    "auth",
    "authorization",
    "cookie",
    "jwt",
    "key",
    "passwd",
    "password",
    "pwd",
    "secret",
    "session",
    "sessionid",
    "ticket",
    "token",
];

impl WebTarget {
    /// Parses what follows the scheme.
    pub(crate) fn parse(kind: &'static WebKind, is_secure: bool, rest: &str) -> Result<Self, TargetError> {
        let scheme = scheme(kind, is_secure);
        let text = rest.strip_prefix("//").ok_or_else(|| TargetError::NoSlashes(scheme.clone()))?;
        let mark = if kind.is_bare() { '#' } else { '?' };
        let (place, settings) = text.split_once(mark).unwrap_or((text, ""));
        let (place, query) = place.split_at(place.find('?').unwrap_or(place.len()));
        let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        let address = Address::parse(&scheme, &format!("//{authority}"), Some(usual_port(is_secure)))?;
        let tls = is_secure.then(TlsSettings::default);
        let trimmed = path.trim_end_matches('/');
        let path = if trimmed.is_empty() { kind.base } else { trimmed };
        check_place(path, query)?;
        if path.split('/').filter(|name| !name.is_empty()).count() < kind.names.matches('/').count() {
            return Err(TargetError::NoPath { scheme, names: kind.names });
        }
        let browser = BrowserSettings::default();
        let (path, query) = (path.to_owned(), query.to_owned());
        let mut target = Self { kind, address, tls, path, query, own: Vec::new(), browser };
        for (key, value) in settings_in(settings) {
            target.take(key, value)?;
        }
        Ok(target)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), TargetError> {
        if let Some(tls) = &mut self.tls
            && tls.take_web(key, value)?
        {
            return Ok(());
        }
        let bad = |expected| TargetError::BadSetting { setting: format!("{key}={value}"), expected };
        if !self.kind.settings.contains(&key) && self.browser.take(key, value).map_err(bad)? {
            return Ok(());
        }
        let text = decode(value).filter(|text| !text.contains(['\r', '\n']));
        match (key, text) {
            ("header", Some(text)) if is_header(&text) => self.own.push((key.to_owned(), text)),
            ("header", _) => {
                return Err(bad(
                    "header=NAME:VALUE; a secret is a column, as in header=X-Api-Key:{key}, or the columns token and cookie",
                ));
            }
            (_, Some(text)) if self.kind.settings.contains(&key) && self.kind.is_choice(key, &text) => {
                self.own.push((key.to_owned(), text));
            }
            _ => return Err(bad(self.kind.expected)),
        }
        Ok(())
    }

    /// The scheme of its target.
    pub(super) fn scheme(&self) -> String {
        scheme(self.kind, self.tls.is_some())
    }

    /// The host and the port as a browser writes them: without the usual port.
    pub(super) fn authority(&self) -> String {
        let text = self.address.to_string();
        let usual = format!(":{}", usual_port(self.tls.is_some()));
        text.strip_suffix(&usual).map_or(text.clone(), str::to_owned)
    }

    /// The origin of a page of this host.
    pub(super) fn own_origin(&self) -> String {
        format!("http{}://{}", if self.tls.is_some() { "s" } else { "" }, self.authority())
    }

    /// The path of a user, percent-encoded.
    pub(super) fn path_for(&self, cells: &BTreeMap<String, String>) -> Result<String, WebError> {
        fill(&self.path, cells, encode_segment)
    }

    /// The query of a user, of a bare WebSocket.
    pub(super) fn query_for(&self, cells: &BTreeMap<String, String>) -> Result<String, WebError> {
        fill(&self.query, cells, |cell| Encoded(cell).to_string())
    }

    /// The kind's own settings for a user.
    pub(super) fn fill_settings(&self, cells: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, WebError> {
        let fill_one = |(name, value): &(String, String)| Ok((name.clone(), fill(value, cells, str::to_owned)?));
        self.own.iter().map(fill_one).collect()
    }

    /// Whether what is typed must be text (UTF-8).
    pub fn carries_only_text(&self) -> bool {
        self.kind.only_text || self.own.iter().any(|(name, value)| name == "frames" && value == "text")
    }

    /// Checks that a user's row has all columns that the target names.
    ///
    /// # Errors
    /// When one is missing or empty.
    pub fn check_columns(&self, cells: &BTreeMap<String, String>) -> Result<(), WebError> {
        self.path_for(cells).and_then(|_| self.query_for(cells)).and_then(|_| self.fill_settings(cells)).map(drop)
    }
}

impl BrowserSettings {
    /// Takes a setting; says whether it is one of these, or what was expected.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, &'static str> {
        match (key, value) {
            ("deflate", "on" | "off") => self.deflate = Some(value == "on"),
            ("deflate", _) => return Err("deflate=on or deflate=off"),
            ("pong", "on" | "off") => self.pong = value == "on",
            ("pong", _) => return Err("pong=on or pong=off"),
            ("login", "each" | "once") => self.shares_login = value == "once",
            ("login", _) => return Err("login=each or login=once"),
            ("ping", _) => self.ping = Some(parse_seconds(value).ok_or("ping=5s or ping=off")?),
            ("origin", _) => {
                let origin = decode(value).filter(|text| !text.is_empty() && !text.contains(char::is_control));
                self.origin = Some(origin.ok_or("origin=https://HOST or origin=none")?);
            }
            ("token", _) => {
                let name = value.strip_prefix("env:").filter(|name| !name.is_empty());
                self.token = Some(name.ok_or("token=env:NAME (a secret never stands in a target)")?.to_owned());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The settings that are not the usual ones.
    fn written(&self) -> Vec<String> {
        let settings = [
            self.origin.as_ref().map(|origin| format!("origin={}", Encoded(origin))),
            self.token.as_ref().map(|name| format!("token=env:{name}")),
            self.deflate.map(|is_on| format!("deflate={}", if is_on { "on" } else { "off" })),
            (!self.pong).then(|| "pong=off".to_owned()),
            self.ping.map(|seconds| if seconds == 0 { "ping=off".to_owned() } else { format!("ping={seconds}s") }),
            self.shares_login.then(|| "login=once".to_owned()),
        ];
        settings.into_iter().flatten().collect()
    }
}

impl fmt::Display for WebTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}{}", self.scheme(), self.address, self.path, self.query)?;
        let own = self.own.iter().map(|(name, value)| match value.as_str() {
            "" => name.clone(),
            value => format!("{name}={}", Encoded(value).to_string().replace("%7B", "{").replace("%7D", "}")),
        });
        let written: Vec<_> =
            own.chain(self.tls.iter().flat_map(TlsSettings::written_web)).chain(self.browser.written()).collect();
        if written.is_empty() {
            return Ok(());
        }
        write!(f, "{}{}", if self.kind.is_bare() { '#' } else { '?' }, written.join("&"))
    }
}

fn scheme(kind: &WebKind, is_secure: bool) -> String {
    let web = if is_secure { "wss" } else { "ws" };
    if kind.is_bare() { web.to_owned() } else { format!("{}+{web}", kind.name) }
}

fn usual_port(is_secure: bool) -> u16 {
    if is_secure { 443 } else { 80 }
}

fn parse_seconds(value: &str) -> Option<u64> {
    if value == "off" { Some(0) } else { value.strip_suffix('s')?.parse().ok().filter(|seconds| *seconds > 0) }
}

/// Whether the value of a query's parameter is a secret.
fn is_secret_in_query(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| SECRETS.iter().any(|end| word.ends_with(end)))
}

/// Whether a value is a column of the users' table, and nothing besides.
fn is_column(value: &str) -> bool {
    value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(|name| !name.contains(['{', '}']))
}

/// Whether a text is a header that a target may have: a secret only as a column.
fn is_header(text: &str) -> bool {
    let Some((name, _)) = text.split_once(':') else { return false };
    let (lower, value) = (name.to_ascii_lowercase(), text[name.len() + 1..].trim());
    let is_secret = SECRETS.iter().any(|word| lower.contains(word));
    (!is_secret || (is_column(value) && lower != "cookie"))
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Checks the characters of a path and a query, and that no secret stands in them.
fn check_place(path: &str, query: &str) -> Result<(), TargetError> {
    let text = format!("{path}{query}");
    if let Some(at) = text.find(|c: char| c == '#' || !c.is_ascii_graphic()) {
        return Err(TargetError::TooMuch { excess: text[at..].to_owned(), text });
    }
    for (key, value) in settings_in(query.trim_start_matches('?')) {
        if is_secret_in_query(key) && !is_column(value) {
            return Err(TargetError::SecretInQuery(key.to_owned()));
        }
    }
    Ok(())
}

/// Replaces each `{column}` by the cell of a user's row.
fn fill(text: &str, cells: &BTreeMap<String, String>, encode: impl Fn(&str) -> String) -> Result<String, WebError> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((column, after)) = after.split_once('}') else { break };
        filled.push_str(before);
        let cell = cells.get(column).filter(|cell| !cell.is_empty() && !cell.contains(char::is_control));
        filled.push_str(&encode(cell.ok_or_else(|| WebError::Column(column.to_owned()))?));
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Target, canonical};

    #[test]
    fn a_target_reads_back_as_written() {
        for (text, written) in [
            ("ttyd+ws://h", "ttyd+ws://h:80"),
            ("ttyd+ws://h:7681/", "ttyd+ws://h:7681"),
            ("ttyd+wss://h/a/b/?arg=x%20y&arg=z&insecure", "ttyd+wss://h:443/a/b?arg=x%20y&arg=z&insecure"),
            ("ws://h/", "ws://h:80/"),
            ("ws://h?keyboard=us", "ws://h:80/?keyboard=us"),
            (
                "ws://h:1/p/{ns}?a=b&token={token}#frames=text&subprotocol=x",
                "ws://h:1/p/{ns}?a=b&token={token}#frames=text&subprotocol=x",
            ),
            ("wss://h?q#ca=/a%20b.pem&ping=5s&origin=none", "wss://h:443/?q#ca=/a%20b.pem&origin=none&ping=5s"),
            (
                "ttyd+ws://h?pong=off&deflate=off&token=env:T&header=X:a",
                "ttyd+ws://h:80?header=X%3Aa&token=env:T&deflate=off&pong=off",
            ),
            ("ttyd+ws://h?header=X-Api-Key:{key}", "ttyd+ws://h:80?header=X-Api-Key%3A{key}"),
            ("ttyd+ws://h?width=wcwidth&arg={user}", "ttyd+ws://h:80?arg={user}&width=wcwidth"),
        ] {
            assert_eq!(canonical(text).unwrap(), written);
            assert_eq!(canonical(written).unwrap(), written);
        }
    }

    #[test]
    fn other_targets_are_refused() {
        let texts = [
            "ttyd+ws:h",
            "ttyd+ws://",
            "ttyd+ws://joe@h",
            "ttyd+ws://h?ca=x",
            "ttyd+ws://h?frames=text",
            "ttyd+wss://h?cert=",
            "ttyd+ws://h/a b",
            "k8s+wss://h/default",
            "ttyd+ws://h?token=geheim",
            "ttyd+ws://h?header=Cookie:a",
            "ttyd+ws://h?header=X:a%0d%0ab",
            "ttyd+ws://h?header=X-Api-Key:geheim",
            "ttyd+ws://h?header=X-AuthData:geheim",
            "ttyd+ws://h?ping=5",
            "ws://h?token=geheim",
            "ws://h?api_key=geheim",
            "ws://h?accessToken={a}geheim{b}",
            "ws://h#arg=x",
            "ws://h#frames=txt",
            "wetty+ws://h?ack=of",
            "jupyter+ws://h?keep=no",
            "jupyter+ws://h?attach",
            "k8s+ws://h/default/web-1?attach=no",
            "http://h:7681/",
            "https://h/lab",
        ];
        let errors: Vec<String> =
            texts.iter().map(|text| format!("{text:30} {}", text.parse::<Target>().unwrap_err())).collect();
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn columns_are_filled_in_and_a_missing_one_is_named() {
        let Target::Web(target) = "ws://h/{ns}/x?u={user}#subprotocol={user}".parse().unwrap() else { panic!() };
        let mut cells = BTreeMap::from([("ns".to_owned(), "a/b c".to_owned())]);
        assert_eq!(target.path_for(&cells).unwrap(), "/a%2Fb%20c/x");
        assert!(target.check_columns(&cells).unwrap_err().to_string().contains("\"user\""));
        cells.insert("user".to_owned(), "joe".to_owned());
        assert_eq!(target.query_for(&cells).unwrap(), "?u=joe");
        assert_eq!(target.fill_settings(&cells).unwrap(), [("subprotocol".to_owned(), "joe".to_owned())]);
    }
}
