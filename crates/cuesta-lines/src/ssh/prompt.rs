//! What a keyboard-interactive prompt (RFC 4256) asks for, by its words. Pure.
//!
//! An answer to the wrong question is a failed login, and a few of those lock an account; an answer to a prompt for a *new* password
//! changes it. So a prompt whose words do not say clearly what it asks for has no meaning here.

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    UserName,
    Password,
    OneTimeCode,
    /// The password with the code behind it, as one answer.
    PasswordAndCode,
    /// A password that is to be set, or the old one that it is to replace.
    NewPassword,
    Unknown,
}

/// Parts of the words for a password.
const PASSWORD: &[&str] = &[
    "password",
    "passphrase",
    "passwd",
    "passwort",
    "kennwort",
    "passe",
    "contraseña",
    "contrasena",
    "senha",
    "parola",
    "wachtwoord",
    "hasło",
    "haslo",
    "lösenord",
    "adgangskode",
    "passord",
    "salasana",
    "heslo",
    "jelszó",
    "şifre",
    "пароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "암호",
    "비밀번호",
];
/// Parts of the words for a one-time code.
const CODE: &[&str] = &[
    "code",
    "otp",
    "token",
    "authenticator",
    "yubikey",
    "securid",
    "2fa",
    "mfa",
    "código",
    "codigo",
    "codice",
    "kod",
    "код",
    "验证码",
    "驗證碼",
    "コード",
    "코드",
];
/// Words that make a password a one-time code.
const ONE_TIME: &[&str] = &["onetime", "otp", "totp", "einmal", "einmalpasswort", "einmalkennwort"];
/// Words of prompts that set a password, or that confirm one.
const NEW: &[&str] = &[
    "new",
    "retype",
    "reenter",
    "re",
    "again",
    "repeat",
    "confirm",
    "confirmation",
    "change",
    "changing",
    "choose",
    "set",
    "create",
    "reset",
    "update",
    "old",
    "current",
    "neu",
    "neue",
    "neues",
    "altes",
    "aktuelles",
    "erneut",
    "wiederholen",
    "bestätigen",
    "ändern",
    "nouveau",
    "ancien",
    "actuel",
    "confirmer",
    "confirmez",
    "répéter",
    "retapez",
    "nueva",
    "nuevo",
    "antigua",
    "actual",
    "repita",
    "confirme",
    "nuova",
    "vecchia",
    "attuale",
    "ripeti",
    "nova",
    "antiga",
    "atual",
    "nieuw",
    "nieuwe",
    "oud",
    "huidig",
    "herhaal",
    "nowe",
    "nytt",
    "новый",
    "старый",
];
/// The same, of languages that put no blanks between words.
const NEW_PARTS: &[&str] = &["新", "旧", "舊", "現在の", "当前", "目前", "새", "현재"];
/// Words for codes that are not the next one-time code.
const OTHER_CODES: &[&str] = &["recovery", "backup", "scratch", "emergency", "zip", "postal", "country", "qr"];
const USER_NAME: &[&str] =
    &["login", "user", "username", "userid", "name", "account", "benutzer", "benutzername", "utilisateur"];
/// Words that may stand beside those of a user's name. With any other word, the name may be another's.
const FILLERS: &[&str] = &["enter", "please", "your", "the", "id", "as", "nom", "de", "d", "ihr", "ihren"];

/// What a prompt asks for. `is_shown`: what is typed there is echoed, so that it asks for no password.
pub(super) fn meaning(text: &str, is_shown: bool) -> Meaning {
    let text = without_addresses(text).to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |these: &[&str]| words.iter().any(|word| these.contains(word));
    let has_part = |these: &[&str]| these.iter().any(|part| text.contains(part));
    let is_one_time = has(ONE_TIME) || has_part(&["one-time", "one time", "einmal-"]);
    let asks_password = has_part(PASSWORD) && !is_one_time;
    let asks_code = is_one_time || has_part(CODE);
    let is_new = has(NEW) || has_part(NEW_PARTS);
    if is_new {
        return if asks_password { Meaning::NewPassword } else { Meaning::Unknown };
    }
    let is_joined = has(&["and", "und", "et", "y", "plus"]) || has_part(&["&", "+"]);
    let is_user_name = has(USER_NAME) && words.iter().all(|word| is_of_user_name(word));
    match (asks_password, asks_code, is_shown) {
        (true, true, false) if is_joined => Meaning::PasswordAndCode,
        (true, false, false) => Meaning::Password,
        (false, true, _) if !has(OTHER_CODES) => Meaning::OneTimeCode,
        (false, false, true) if is_user_name => Meaning::UserName,
        _ => Meaning::Unknown,
    }
}

fn is_of_user_name(word: &str) -> bool {
    USER_NAME.contains(&word) || FILLERS.contains(&word)
}

/// The text without names of hosts and users, such as `joe@new.example`, whose parts are no words of the question.
fn without_addresses(text: &str) -> String {
    let is_address = |word: &&str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner.contains('@') || inner.contains('.') || inner.ends_with("'s") || inner.ends_with("’s")
    };
    text.split_whitespace().filter(|word| !is_address(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_mean_what_their_words_say() {
        use Meaning::{NewPassword, OneTimeCode, Password, PasswordAndCode, Unknown, UserName};
        for (text, wanted) in [
            ("Password: ", Password),
            ("joe@new.example's password:", Password),
            ("Password for joe@OLD.EXAMPLE:", Password),
            ("(joe@h) LDAP Password: ", Password),
            ("Passwort:", Password),
            ("Mot de passe :", Password),
            ("密码：", Password),
            ("Verification code: ", OneTimeCode),
            ("One-time password (OATH) for `joe': ", OneTimeCode),
            ("Enter your OTP: ", OneTimeCode),
            ("Enter PASSCODE:", OneTimeCode),
            ("Bestätigungscode:", OneTimeCode),
            ("Einmal-Passwort: ", OneTimeCode),
            ("Password & verification code: ", PasswordAndCode),
            ("New password: ", NewPassword),
            ("Retype new password: ", NewPassword),
            ("Re-enter password:", NewPassword),
            ("(current) UNIX password: ", NewPassword),
            ("Neues Passwort: ", NewPassword),
            ("新しいパスワード:", NewPassword),
            ("Password or passcode: ", Unknown),
            ("Enter a recovery code: ", Unknown),
            ("Enter a new PIN: ", Unknown),
            ("PIN: ", Unknown),
            ("What is your favourite colour? ", Unknown),
            ("", Unknown),
            ("Name: ", Unknown),
        ] {
            assert_eq!(meaning(text, false), wanted, "{text}");
        }
        for (text, wanted) in [
            ("Name: ", UserName),
            ("Enter your user name: ", UserName),
            ("login:", UserName),
            ("Passcode or option (1-3): ", OneTimeCode),
            ("Your mother's maiden name: ", Unknown),
            ("Your password expires in 3 days. Press Enter. ", Unknown),
            ("Do you accept the terms (yes/no)? ", Unknown),
        ] {
            assert_eq!(meaning(text, true), wanted, "{text}");
        }
    }
}
