//! The smallest possible ssh host: `russh`'s server on one thread, which accepts every login and echoes its input.

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use russh::keys::{Algorithm, PrivateKey};
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Session, run_stream};
use russh::{Channel, ChannelId, Pty};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Builder;

/// At most this many connections may wait to be accepted.
const BACKLOG: u32 = 4096;

/// Serves until it is killed; prints its address first.
pub(crate) fn serve() -> Result<(), Box<dyn Error>> {
    let key = PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519)?;
    let config = Arc::new(Config { keys: vec![key], inactivity_timeout: None, ..Config::default() });
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let listener = socket.listen(BACKLOG)?;
        writeln!(io::stdout(), "{}", listener.local_addr()?)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(line(Arc::clone(&config), stream));
        }
    })
}

/// Serves one line to its end; a driver that hangs up is not an error.
async fn line(config: Arc<Config>, stream: TcpStream) {
    if let Ok(session) = run_stream(config, stream, Echo).await {
        let _ = session.await;
    }
}

struct Echo;

impl Handler for Echo {
    type Error = russh::Error;

    async fn auth_none(&mut self, _: &str) -> Result<Auth, Self::Error> {
        Ok(Auth::Accept)
    }

    async fn channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reply.accept().await;
        Ok(())
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        _: &str,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(channel)
    }

    async fn shell_request(&mut self, channel: ChannelId, session: &mut Session) -> Result<(), Self::Error> {
        session.channel_success(channel)
    }

    async fn data(&mut self, channel: ChannelId, bytes: &[u8], session: &mut Session) -> Result<(), Self::Error> {
        session.data(channel, bytes.to_vec())
    }
}
