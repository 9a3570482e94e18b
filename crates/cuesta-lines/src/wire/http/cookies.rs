//! The cookies of one browser at one host (RFC 6265). The `Domain` of a cookie is ignored, because only one host is asked.

/// Most cookies.
const MOST: usize = 100;

/// Cookies by name and path.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct CookieJar(Vec<Cookie>);

#[derive(Clone, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    path: String,
}

impl CookieJar {
    /// A jar with the cookies of a `Cookie` header.
    pub fn from_header(header: &str) -> Self {
        let mut jar = Self::default();
        for pair in header.split(';') {
            jar.take(pair, "/");
        }
        jar
    }

    /// Takes a `Set-Cookie` of the answer to a request at `path`.
    pub fn take(&mut self, set_cookie: &str, path: &str) {
        let mut parts = set_cookie.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let folder = path.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder });
        let mut cookie =
            Cookie { name: name.trim().to_owned(), value: value.trim().to_owned(), path: folder.to_owned() };
        let mut is_deleted = false;
        for (key, value) in parts.map(|part| part.split_once('=').unwrap_or((part, ""))) {
            if key.eq_ignore_ascii_case("path") && value.starts_with('/') {
                value.clone_into(&mut cookie.path);
            }
            // Times are compared with none: a deleted cookie has no time to live, or one before 1971.
            is_deleted |= key.eq_ignore_ascii_case("max-age") && value.parse().is_ok_and(|age: i64| age <= 0);
            is_deleted |= key.eq_ignore_ascii_case("expires") && (value.contains("1970") || value.contains("1969"));
        }
        self.0.retain(|other| (&other.name, &other.path) != (&cookie.name, &cookie.path));
        if !is_deleted && !cookie.name.is_empty() && self.0.len() < MOST {
            self.0.push(cookie);
        }
    }

    /// The value of a cookie, the one with the longest path.
    pub fn get(&self, name: &str) -> Option<&str> {
        let named = self.0.iter().filter(|cookie| cookie.name == name);
        named.max_by_key(|cookie| cookie.path.len()).map(|cookie| cookie.value.as_str())
    }

    /// The `Cookie` header for a request at `path`; none if no cookie is for it.
    pub fn header_for(&self, path: &str) -> Option<String> {
        let mut cookies: Vec<_> = self.0.iter().filter(|cookie| is_below(path, &cookie.path)).collect();
        cookies.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<_> = cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// Whether a request's path is at or below a cookie's (RFC 6265 §5.1.4).
fn is_below(path: &str, folder: &str) -> bool {
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || folder.ends_with('/') || rest.starts_with('/'))
}

/// Values are secrets, which are not printed.
impl std::fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|cookie| (&cookie.name, &cookie.path))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_sent_below_its_path_and_replaced_by_a_later_one() {
        let mut jar = CookieJar::from_header("a=1; b = 2");
        jar.take("_xsrf=first; Path=/user/joe/", "/user/joe/login");
        jar.take("_xsrf=second; HttpOnly; path=/user/joe/", "/user/joe/login");
        jar.take("here=3", "/user/joe/login");
        assert_eq!(jar.get("_xsrf"), Some("second"));
        assert_eq!(jar.header_for("/user/joe/api?x").as_deref(), Some("_xsrf=second; here=3; a=1; b=2"));
        assert_eq!(jar.header_for("/user/joey").as_deref(), Some("a=1; b=2"));
        jar.take("a=; Max-Age=0; Path=/", "/");
        jar.take("b=; expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/", "/");
        assert_eq!(jar.header_for("/"), None);
        assert!(!format!("{jar:?}").contains("second"));
    }
}
