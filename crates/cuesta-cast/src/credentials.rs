//! Finds credentials in a row of text: the values of options, variables, fields, headers and addresses of a command.
//!
//! In doubt a value is a credential: a tape then has a column where it could have had a text.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Parts of names of secrets, in names without separators: `AWS_SECRET_ACCESS_KEY`, `dbPassword`.
const PARTS: [&str; 15] = [
    "passw",
    "passphrase",
    "passcode",
    "kennwort",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "geheim",
    "contrase",
    "motdepasse",
    "wachtwoord",
    "salasana",
];
/// Whole words of such names.
const WORDS: [&str; 17] = [
    "pass", "pwd", "pw", "pin", "puk", "otp", "totp", "tan", "cvv", "cvc", "mdp", "senha", "clave", "heslo", "haslo",
    "bearer", "key",
];
/// Ends of options whose value only says where a secret is, or how long.
const NOT_THE_VALUE: [&str; 7] = ["file", "stdin", "path", "prompt", "command", "length", "store"];
/// Variables of shells that hold folders.
const FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];
/// Options of one letter that begin with a `p`, and are no `-p` with a password behind it.
const LONG_OPTIONS: [&str; 6] = ["edantic", "thread", "reserve", "ermissions", "rogress", "latform"];
/// Shorter values behind `-p` are letters of other options.
const LEAST_ATTACHED: usize = 6;

/// A quoted text, or one without blanks; `\"` is a quote of a text in a quoted text.
const VALUE: &str = r#"\\?(?P<value>"[^"]*"|'[^']*'|[^\s,;&|]+)"#;
/// Programs whose `-p` has the password behind it without a blank.
const ATTACHED: &str = r"mysql\w*|mariadb[\w-]*|sshpass|7z\w*|rar|unrar";
/// Programs and their option of one letter whose value is a password.
const OPTIONS: &str = "(?:sshpass|mongo\\w*|cqlsh|(?:docker|podman|az|helm|oc)[^|;&]* login|useradd|usermod|rdesktop)\\b[^|;&]* -p\
    |(?:zip|unzip|sqlcmd|ipmitool|mosquitto_\\w+)\\b[^|;&]* -P\
    |redis-cli\\b[^|;&]* -a|ldap\\w+\\b[^|;&]* -w|openssl\\b[^|;&]* -k";

/// What must hold of a match.
type Condition = fn(&Captures<'_>) -> bool;

/// Each way to write a credential, with what else must hold.
static PATTERNS: LazyLock<Vec<(Regex, Condition)>> = LazyLock::new(|| {
    let always: Condition = |_| true;
    let patterns: [(String, Condition); 18] = [
        // PASSWORD=x, "password": "x", token => x, ?access_token=x, :set key=x
        (format!(r#"(?P<name>[\w.-]+)[\\"'\]]*\s*(?::=|=>|=|:)\s*{VALUE}"#), |captures| names_value(&captures["name"])),
        (format!(r"\bset key={VALUE}"), always),
        // --password x
        (format!(r"(?:^|\s)--?(?P<name>[a-z][\w-]*)\s+{VALUE}"), |captures| {
            names_value(&captures["name"]) && !NOT_THE_VALUE.iter().any(|end| captures["name"].ends_with(end))
        }),
        // -px
        (format!(r"(?:^|\W)(?:{ATTACHED})\b[^|;&]*? -p{VALUE}"), always),
        (format!(r"(?:^|\s)-p{VALUE}"), |captures| is_attached(&captures["value"])),
        (format!(r"(?:^|\W)(?:{OPTIONS})\s*{VALUE}"), always),
        (format!(r"(?:^|\s)/p:{VALUE}"), always),
        (format!(r"(?:^|\s)/user:\S+\s+{VALUE}"), |captures| !captures["value"].starts_with('/')),
        // set user.password x
        (format!(r"\b(?:set|config|put)\b[^|;&]*\s(?P<name>[\w.:/-]+)\s+{VALUE}"), |captures| {
            names_value(&captures["name"])
        }),
        // Commands whose last word is a password or a token.
        (format!(r"\bvault\b[^|;&]*\slogin\s(?:\s*-\S+\s)*\s*{VALUE}"), |captures| !captures["value"].contains('=')),
        (format!(r"\bhtpasswd\b[^|;&]*\s-\w*b\b[^|;&]*\s{VALUE}\s*$"), always),
        (format!(r"\bcurl\b[^|;&]*\s(?:-b|--cookie)[\s=]*{VALUE}"), |captures| captures["value"].contains('=')),
        // -u joe:x, -U joe%x
        (format!(r#"(?:^|\s)(?:-[uU]|--(?:proxy-)?user)[\s=]*["']?(?P<name>[^\s:%'"]+)[:%]{VALUE}"#), |captures| {
            let is_number = |name: &str| captures[name].bytes().all(|byte| byte.is_ascii_digit());
            !(is_number("name") && is_number("value"))
        }),
        // https://joe:x@host
        (r#"[a-z][a-z0-9+.-]*://[^\s/:@'"]*:(?P<value>[^\s@'"]+)@"#.to_owned(), always),
        // Authorization: Bearer x, IDENTIFIED BY 'x'
        (r#"(?:authorization|cookie)\s*:\s*(?P<value>[^'"]+)"#.to_owned(), always),
        (r"\b(?:bearer|basic)\s+(?P<value>[\w.~+/=-]{8,})".to_owned(), always),
        (r#"(?:identified\s+by|password|passphrase)\s+(?P<value>'[^']*'|"[^"]*")"#.to_owned(), always),
        // echo x | sudo -S
        (format!(r"(?:echo|printf)\s+(?:-\w+\s+)*{VALUE}\s*\|.*(?:sudo\s.*-\w*S\b|passwd\b|stdin\b)"), always),
    ];
    // Tokens that show by themselves what they are.
    let tokens = r"\b(?P<value>(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_|hf_|hv[sbr]\.|pypi-|sk[-_])[\w-]{16,}|A[KS]IA[0-9A-Z]{12,}|AIza[\w-]{20,}|eyJ[\w-]{8,}\.[\w.-]+)|(?P<credentials>-----BEGIN [A-Z ]*PRIVATE KEY)";
    let patterns = patterns.into_iter().map(|(pattern, condition)| (format!("(?i){pattern}"), condition));
    let patterns = patterns.chain([(tokens.to_owned(), always)]);
    patterns.map(|(pattern, condition)| (Regex::new(&pattern).expect("a pattern"), condition)).collect()
});

/// Where credentials are in a row of text, in order; quotes around them are left out.
pub(crate) fn find_credentials(row: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> =
        PATTERNS.iter().flat_map(|(pattern, condition)| find_values(pattern, *condition, row)).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges
}

fn find_values<'a>(pattern: &'a Regex, condition: Condition, row: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let matches = pattern.captures_iter(row).filter(move |captures| condition(captures));
    matches.filter_map(|captures| {
        let value = captures.name("value").or_else(|| captures.name("credentials"))?;
        let (quote, text) = (value.as_str().chars().next()?, value.as_str().trim_matches(['"', '\'', '\\']));
        // A reference to a variable or to a command's output holds no secret, except where quotes make it a text.
        let refers = quote != '\'' && (text.starts_with('$') || text.starts_with('`') || text.starts_with("<("));
        let begin = value.start() + (value.as_str().len() - value.as_str().trim_start_matches(['"', '\'', '\\']).len());
        (!text.is_empty() && !refers).then(|| begin..begin + text.len())
    })
}

/// Whether something of this name is a secret: a variable, an option, a field or a column.
pub fn names_secret(name: &str) -> bool {
    if FOLDERS.contains(&name) {
        return false;
    }
    let joined: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    PARTS.iter().any(|part| joined.contains(part)) || words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the value of a variable or an option of this name is a secret; that of a bare `key` often is a file or a column.
fn names_value(name: &str) -> bool {
    names_secret(name) && !name.trim_start_matches('-').eq_ignore_ascii_case("key")
}

/// The words of a name: `userPin` and `user_pin` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        was_lower = c.is_lowercase();
    }
    words
}

/// Whether what stands behind `-p` without a blank is a password, for a program that is not known.
fn is_attached(value: &str) -> bool {
    let has_letters = value.chars().any(char::is_alphabetic);
    has_letters
        && value.chars().count() >= LEAST_ATTACHED
        && !LONG_OPTIONS.iter().any(|option| value.starts_with(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials_in(row: &str) -> Vec<&str> {
        let mut values: Vec<&str> = find_credentials(row).into_iter().map(|range| &row[range]).collect();
        values.dedup();
        values
    }

    #[test]
    fn credentials_of_every_kind_are_found() {
        for row in [
            "export AWS_SECRET_ACCESS_KEY=hunter2/x",
            "PGPASSWORD=hunter2/x psql",
            "MYSQL_PWD='hunter2/x' mysql",
            "dbPassword: hunter2/x",
            "tool --password hunter2/x -v",
            "tool --password=hunter2/x",
            "tool --api-key \"hunter2/x\"",
            "tool -Dkeystore.password=hunter2/x",
            "mysql -u joe -phunter2/x db",
            "sudo mysqldump -phunter2/x",
            "sshpass -p hunter2/x ssh joe@host",
            "other -phunter2/x",
            "zip -P hunter2/x a.zip b",
            "redis-cli -a hunter2/x",
            "docker login -u joe -p hunter2/x",
            "openssl enc -aes256 -k hunter2/x",
            "openssl pkcs12 -passin pass:hunter2/x",
            "curl -u joe:hunter2/x http://host/",
            "curl -ujoe:hunter2/x http://host/",
            "curl --user 'joe:hunter2/x' http://host/",
            "smbclient -U joe%hunter2/x //host/share",
            "git clone https://joe:hunter2/x@host/it.git",
            "curl 'http://host/?user=joe&access_token=hunter2/x'",
            "curl -H 'Authorization: Bearer hunter2/x' http://host/",
            "curl -H \"X-Api-Key: hunter2/x\" http://host/",
            "http host 'Authorization: hunter2/x'",
            "curl -d '{\"user\": \"joe\", \"password\": \"hunter2/x\"}' http://host/",
            "curl -d \"{\\\"pin\\\":\\\"hunter2/x\\\"}\" http://host/",
            "ALTER USER joe PASSWORD 'hunter2/x';",
            "CREATE USER joe IDENTIFIED BY 'hunter2/x';",
            ":set key=hunter2/x",
            "echo hunter2/x | sudo -S reboot",
            "printf 'hunter2/x' | docker login --password-stdin",
            "xfreerdp /u:joe /p:hunter2/x",
            "net use x: /user:joe hunter2/x",
            "aws configure set aws_secret_access_key hunter2/x",
            "git config --global user.password hunter2/x",
            "vault login -no-print hunter2/x",
            "htpasswd -b users joe hunter2/x",
            "htpasswd -nbB joe hunter2/x",
            "curl -b \"session=hunter2/x\" http://host/",
        ] {
            let values = credentials_in(row);
            assert!(!values.is_empty() && values.iter().any(|value| value.ends_with("hunter2/x")), "{row}: {values:?}");
        }
        assert_eq!(credentials_in("use ghp_0123456789abcdefABCD"), ["ghp_0123456789abcdefABCD"]);
        assert_eq!(
            credentials_in("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"),
            ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"]
        );
    }

    #[test]
    fn ordinary_rows_have_none() {
        for row in [
            "ls -l /etc/passwd",
            "mkdir -pv a/b",
            "find . -print0 -path x",
            "cp -preserve a b",
            "docker run -p8080:80 -u 1000:1000 it",
            "ssh -p 2222 host",
            "PWD=/tmp make",
            "git commit -m 'Spin once'",
            "for i in 1 2 3; do echo \"$i\"; done",
            "tool --password \"$PASSWORD\" --token $(cat t)",
            "tool --password-file secrets.txt",
            "sort --key=2 rows",
            "echo 'some words' | wc",
            "http://host:80/a/b",
            ":wq",
            "pinned: yes",
            "compass: north",
            "git config --global user.name Joe",
            "vault login -method=userpass username=joe",
            "htpasswd -c users joe",
            "curl -b cookies.txt http://host/",
            "net use x: /user:joe /persistent:no",
        ] {
            assert_eq!(credentials_in(row), Vec::<&str>::new(), "{row}");
        }
    }
}
