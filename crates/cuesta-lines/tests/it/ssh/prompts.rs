//! Keyboard-interactive prompts, with a `russh` server that asks what a test says: each is answered by what it means, or told.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex};

use cuesta_lines::Login;
use russh::server::{Auth, Handler, Response};
use russh::{Error, MethodKind};

use super::harness::{opened_by, served};
use crate::real::play;

/// Prompts that are asked at once, each with whether its answer is shown.
type Round = &'static [(&'static str, bool)];

/// A host that asks its rounds and then refuses, or accepts and opens no session. It keeps the answers, and how many connections it had.
#[derive(Clone)]
struct Host {
    rounds: &'static [Round],
    asked: usize,
    accepts: bool,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Handler for Host {
    type Error = Error;

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        _: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Error> {
        let answers = response.into_iter().flatten().map(|answer| String::from_utf8_lossy(&answer).into_owned());
        self.heard.lock().unwrap().extend(answers);
        let Some(round) = self.rounds.get(self.asked) else {
            return Ok(if self.accepts { Auth::Accept } else { Auth::reject() });
        };
        self.asked += 1;
        let prompts: Vec<_> = round.iter().map(|(text, shown)| ((*text).into(), *shown)).collect();
        Ok(Auth::Partial { name: "".into(), instructions: "".into(), prompts: prompts.into() })
    }
}

/// Serves logins; returns the address and what it hears: a row for each connection and each answer.
fn host(rounds: &'static [Round], accepts: bool) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let host = Host { rounds, asked: 0, accepts, heard: Arc::clone(&heard) };
    let connected = move || {
        host.heard.lock().unwrap().push("(connection)".to_owned());
        host.clone()
    };
    (served(&[MethodKind::KeyboardInteractive], connected), heard)
}

/// What the host hears of one login, and its error.
fn answers(rounds: &'static [Round], login: &Login, more: &str) -> (Vec<String>, String) {
    let (address, heard) = host(rounds, false);
    let error = refusal(address, login, more);
    let heard = heard.lock().unwrap();
    (heard[1..].to_vec(), error)
}

fn refusal(address: SocketAddr, login: &Login, more: &str) -> String {
    let known = tempfile::NamedTempFile::new().unwrap();
    let url = format!("ssh://{address}?agent=off&known_hosts=accept-new&known_hosts={}{more}", known.path().display());
    let login = login.clone();
    play(async move {
        match opened_by(&url, login).await {
            Ok(_) => "in".to_owned(),
            Err(error) => format!("{}: {error}", error.failure().name()),
        }
    })
}

fn joe() -> Login {
    Login { user: Some("joe".to_owned()), password: Some("geheim".to_owned()), ..Login::default() }
}

/// The secret of RFC 6238's examples.
const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

/// The codes of `SECRET` around now, by Python.
fn codes() -> String {
    let script = "import hmac, struct, sys, time\n\
                  for period in range(int(time.time()) // 30 - 1, int(time.time()) // 30 + 2):\n    \
                  mac = hmac.digest(b'12345678901234567890', struct.pack('>Q', period), 'sha1'); at = mac[-1] & 15\n    \
                  print('%06d' % ((struct.unpack('>I', mac[at:at + 4])[0] & 0x7fffffff) % 1000000))\n";
    let output = Command::new("python3").args(["-c", script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_prompt_is_answered_by_its_meaning() {
    let rounds: &[Round] = &[
        &[],
        &[("Name: ", true), ("joe@new.example's password: ", false)],
        &[("Verification code: ", true)],
        &[("Password & verification code: ", false)],
    ];
    let login = Login { code: Some("123456".to_owned()), ..joe() };
    assert_eq!(answers(rounds, &login, "").0, ["joe", "geheim", "123456", "geheim123456"]);
}

#[test]
fn codes_come_from_a_secret_or_a_command() {
    let rounds: &[Round] = &[&[("One-time password (OATH) for `joe': ", false)]];
    let (heard, _) = answers(rounds, &Login { totp: Some(SECRET.to_owned()), ..joe() }, "");
    assert!(heard.len() == 1 && codes().lines().any(|code| code == heard[0]), "{heard:?}");
    let (heard, _) = answers(rounds, &joe(), "&code=echo%20%25r-42;sleep%2060");
    assert_eq!(heard, ["joe-42"]);
    let (_, error) = answers(rounds, &joe(), "&code=echo%20no%20phone%20%3E%262");
    assert!(error.starts_with("auth: ") && error.contains("printed nothing: no phone"), "{error}");
}

#[test]
fn a_prompt_that_must_not_be_answered_is_told_and_nothing_is_sent() {
    for (prompt, remedy) in [
        ("New password: ", "Cuesta sets no password"),
        ("Verification code: ", "There is no one-time code"),
        ("Your mother's maiden name? ", "PAM configuration"),
        ("Press\u{1b}[31m Enter: ", "PAM configuration"),
    ] {
        let round: Round = Box::leak(Box::new([("Password: ", false), (prompt, false)]));
        let (heard, error) = answers(Box::leak(Box::new([round])), &joe(), "");
        assert_eq!(heard, [""; 0], "{prompt}");
        assert!(error.starts_with("auth: ") && error.contains(remedy), "{error}");
        assert!(error.contains(&prompt.trim().replace('\u{1b}', "\u{fffd}")), "{error}");
    }
}

#[test]
fn a_password_is_not_sent_a_second_time_in_one_login() {
    let (heard, error) = answers(&[&[("Password: ", false)], &[("Password: ", false)]], &joe(), "");
    assert_eq!(heard, ["geheim"]);
    assert!(error.contains("the first answer was wrong"), "{error}");
}

#[test]
fn many_users_make_one_attempt_at_a_prompt_that_is_not_understood() {
    let (address, heard) = host(&[&[("Favourite colour: ", false)]], false);
    let first = refusal(address, &joe(), "");
    for user in ["joe", "ann", "ben"] {
        let login = Login { user: Some(user.to_owned()), ..joe() };
        let error = refusal(address, &login, "");
        assert!(error.starts_with(&first) && error.contains("not tried again"), "{error}");
    }
    assert_eq!(*heard.lock().unwrap(), ["(connection)"]);
}

#[test]
fn a_code_is_sent_once_also_by_a_login_that_worked() {
    let (address, heard) = host(&[&[("Code: ", false)]], true);
    let joe = Login { totp: Some(SECRET.to_owned()), ..joe() };
    // The next period may begin between two of them.
    let errors = [(); 3].map(|()| refusal(address, &joe, ""));
    assert!(
        errors[0].starts_with("channel: ") && errors.iter().any(|error| error.contains("used before")),
        "{errors:?}"
    );
    let mut codes = heard.lock().unwrap().clone();
    codes.retain(|row| row != "(connection)");
    let sent = codes.len();
    codes.dedup();
    assert_eq!(codes.len(), sent);
}
