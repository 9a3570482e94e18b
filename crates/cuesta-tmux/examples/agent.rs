//! An agent by itself: `agent SPEC` prints `ready`, answers each row `status` or `reset` of standard input, and ends with it.

use std::error::Error;
use std::io::{self, BufRead, Write};

use cuesta_tmux::endpoint::Endpoint;

fn main() -> Result<(), Box<dyn Error>> {
    let spec = std::env::args().nth(1).ok_or("give the settings as JSON")?;
    let agent = Endpoint::start(&serde_json::from_str(&spec)?)?;
    let mut output = io::stdout();
    writeln!(output, "ready")?;
    for row in io::stdin().lock().lines() {
        let answer = if row? == "reset" { agent.reset()? } else { agent.status()? };
        writeln!(output, "{answer}")?;
    }
    agent.stop()?;
    Ok(())
}
