//! VS Code's integrated terminal, as code-server 4.100 and `code serve-web` have it (`vs/base/parts/ipc`, `vs/workbench/contrib/terminal`
//! of VS Code 1.100). No page is loaded and no extension host started: only its management connection with one terminal.
//!
//! - `frames`: the stream of numbered frames that the WebSocket's messages carry.
//! - `values`: the values in them, and calls of the channel `remoteterminal` at the host.
//! - [`Terminal`], [`Host`]: the two ends; `client` has the terminal's calls.
//!
//! The host sends the output of all its terminals to each page; output of other terminals is dropped here. It stops when 100,000 characters of a terminal are
//! not acknowledged, and keeps a terminal for hours after the connection unless it is shut down.

mod client;
mod frames;
mod host;
mod terminal;
mod values;

use serde::{Deserialize, Serialize};

pub use host::Host;
pub use terminal::Terminal;

/// The channel of terminals at the host.
const CHANNEL: &str = "remoteterminal";

/// Events of the channel.
const DATA: &str = "$onProcessDataEvent";
const EXIT: &str = "$onProcessExitEvent";

/// The cookie of a login, and the part of the page's form that holds the password.
const COOKIE: &str = "code-server-session";
const PASSWORD: &str = "password";

/// Output that is acknowledged at once, and how much may not be, in UTF-16 code units.
const ACKNOWLEDGED: usize = 5000;
const WINDOW: usize = 100_000;

/// Most bytes of input or output in a message.
const MOST: usize = 64 << 10;

/// A message of the handshake.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Handshake {
    Auth {
        auth: String,
        data: String,
    },
    #[serde(rename_all = "camelCase")]
    Sign {
        data: String,
        signed_data: String,
    },
    #[serde(rename_all = "camelCase")]
    ConnectionType {
        commit: String,
        signed_data: String,
        desired_connection_type: u32,
    },
    Ok,
    Error {
        reason: String,
    },
}

/// The kind of connection that has terminals.
const MANAGEMENT: u32 = 1;

/// What `$createProcess` takes: what a page without an open folder and without settings sends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateProcess {
    configuration: Empty,
    resolved_variables: Empty,
    env_variable_collections: [Empty; 0],
    shell_launch_config: Launch,
    workspace_id: String,
    workspace_name: String,
    workspace_folders: [Empty; 0],
    active_workspace_folder: Option<Empty>,
    should_persist_terminal: bool,
    options: Options,
    #[serde(rename = "cols")]
    columns: u16,
    rows: u16,
    unicode_version: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Empty {}

#[derive(Debug, Serialize, Deserialize)]
struct Launch {
    executable: String,
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    shell_integration: Integration,
    windows_enable_conpty: bool,
    windows_use_conpty_dll: bool,
}

/// Marks of prompts and commands that the host's scripts let the shell print.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Integration {
    enabled: bool,
    suggest_enabled: bool,
    nonce: String,
}

/// The answer to `$createProcess`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    persistent_terminal_id: u32,
}

/// An event of a terminal, when only its number is wanted.
#[derive(Debug, Deserialize)]
struct OfTerminal {
    id: u32,
}

/// An event of a terminal.
#[derive(Debug, Serialize, Deserialize)]
struct Event<Of> {
    id: u32,
    event: Of,
}

/// Output: in older versions in an object.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Output {
    Text(String),
    Object { data: String },
}

#[cfg(test)]
mod tests;
