//! xterm.js without a browser, a second opinion beside xterm: `XTERM_HEADLESS` names the folder of its packages (`node_modules`).

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::xterm::Shown;

/// Reads rows of JSON, each with columns, rows and bytes, and answers each with another: texts, and the cursor's row and column.
const PROGRAM: &str = r"
const { Terminal } = require('@xterm/headless');
const { Unicode11Addon } = require('@xterm/addon-unicode11');
const rows = require('readline').createInterface({ input: process.stdin });
rows.on('line', row => {
  const [columns, lines, bytes] = JSON.parse(row);
  const terminal = new Terminal({ cols: columns, rows: lines, scrollback: 0, allowProposedApi: true });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.write(Uint8Array.from(bytes), () => {
    const buffer = terminal.buffer.active;
    const text = [...Array(lines).keys()].map(y => buffer.getLine(buffer.baseY + y).translateToString(true));
    console.log(JSON.stringify([text, buffer.cursorY + 1, Math.min(buffer.cursorX, columns - 1) + 1]));
    terminal.dispose();
  });
});
";

pub(crate) struct XtermJs {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl XtermJs {
    /// Starts it, if its packages are at hand.
    pub(crate) fn start() -> Option<Self> {
        let packages = std::env::var_os("XTERM_HEADLESS")?;
        let mut node = Command::new("node");
        node.args(["-e", PROGRAM]).env("NODE_PATH", packages).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = node.spawn().expect("node is installed");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Some(Self { child, input, output: BufReader::new(output) })
    }

    /// What it shows after a stream.
    pub(crate) fn shows(&mut self, (columns, rows): (u16, u16), stream: &[u8]) -> Shown {
        let asked = serde_json::to_string(&(columns, rows, stream)).expect("JSON");
        writeln!(self.input, "{asked}").expect("node reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("node answers");
        let (text, row, column): (Vec<String>, u16, u16) = serde_json::from_str(&answer).expect("JSON");
        Shown::new(text.into_iter(), format!("\x1b[{row};{column}R").as_bytes())
    }
}

impl Drop for XtermJs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
