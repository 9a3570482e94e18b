//! The proxy that the environment names: `https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`, as curl reads them.
//!
//! The connection to the host is made through it by CONNECT (RFC 9110 §9.3.6), as browsers do for any WebSocket. Hosts on this machine
//! are connected to directly.

use std::env;
use std::net::IpAddr;

use ipnet::IpNet;

use super::client::{NoAnswer, read_answer};
use super::error::WebError;
use crate::percent::decode;
use crate::target::Address;
use crate::tcp::Tcp;
use crate::wire::http::{Reader, Request};
use crate::{OpenError, Options, send, tcp};

/// An HTTP proxy.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    address: Address,
    /// The value of a `Proxy-Authorization`: a secret.
    authorization: Option<String>,
}

/// The proxy for a host; none if it is connected to directly.
///
/// # Errors
/// When the environment names one that cannot be used.
pub(super) fn find(is_secure: bool, host: &Address) -> Result<Option<Proxy>, WebError> {
    find_in(is_secure, host, |name| env::var(name).ok().filter(|value| !value.is_empty()))
}

fn find_in(
    is_secure: bool,
    host: &Address,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Proxy>, WebError> {
    // HTTP_PROXY in capitals may come from a request's header in CGI programs: curl does not read it.
    let variables: &[&str] = if is_secure {
        &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    } else {
        &["http_proxy", "all_proxy", "ALL_PROXY"]
    };
    let exempt = variable("no_proxy").or_else(|| variable("NO_PROXY")).unwrap_or_default();
    if is_local(&host.host) || exempt.split(',').any(|rule| is_exempt(&host.host, rule.trim())) {
        return Ok(None);
    }
    let found = variables.iter().find_map(|name| variable(name).map(|url| (*name, url)));
    let Some((name, url)) = found else { return Ok(None) };
    let unusable = || WebError::Proxy {
        proxy: format!("of the variable {name}"),
        address: host.to_string(),
        why: "only proxies written http://HOST:PORT are supported; no_proxy lists the hosts that need none".to_owned(),
    };
    Proxy::parse(&url).ok_or_else(unusable).map(Some)
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn is_exempt(host: &str, rule: &str) -> bool {
    let rule = rule.split_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(rule, |(name, _)| name);
    if let (Ok(address), Ok(network)) = (host.parse::<IpAddr>(), rule.parse::<IpNet>()) {
        return network.contains(&address);
    }
    let rule = rule.trim_start_matches("*.").trim_start_matches('.');
    let is_below = || host.strip_suffix(rule).is_some_and(|before| before.is_empty() || before.ends_with('.'));
    rule == "*" || (!rule.is_empty() && is_below())
}

impl Proxy {
    fn parse(url: &str) -> Option<Self> {
        let place = url.strip_prefix("http://").or_else(|| (!url.contains("://")).then_some(url))?;
        let place = place.split('/').next().unwrap_or_default();
        let (account, place) = place.rsplit_once('@').map_or((None, place), |(account, place)| (Some(account), place));
        let address = Address::parse("http", &format!("//{place}"), Some(80)).ok()?;
        let authorization = account.and_then(decode);
        let authorization =
            authorization.map(|pair| format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes())));
        Some(Self { address, authorization })
    }

    /// Connects to a host through the proxy.
    pub(super) async fn connect(&self, host: &Address, options: &Options) -> Result<Tcp, OpenError> {
        let refused = |why: String| WebError::Proxy { proxy: self.address.to_string(), address: host.to_string(), why };
        let mut line = tcp::connect(&self.address, options).await.map_err(|error| refused(error.to_string()))?;
        let mut request = Request::new("CONNECT", host.to_string()).with("Host", host.to_string());
        if let Some(authorization) = &self.authorization {
            request.headers.add("Proxy-Authorization", authorization);
        }
        send(&mut line, &request.to_bytes()).await.map_err(|error| refused(error.to_string()))?;
        let (answer, rest) = read_answer(&mut line, Reader::of_heads()).await.map_err(|error| match error {
            NoAnswer::Broken(error) => refused(error.to_string()),
            NoAnswer::Unreadable(error) => refused(error.to_string()),
            NoAnswer::Closed => refused("it closed the connection without an answer".to_owned()),
        })?;
        match (answer.is_success(), rest.is_empty()) {
            (true, true) => {
                line.note_connected();
                Ok(line)
            }
            (true, false) => Err(refused("it sent more than its answer".to_owned()).into()),
            (false, _) => Err(refused(format!("it answered {}", answer.status)).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use cuesta_record::clock::{self, Time};

    use super::*;

    fn find_address(is_secure: bool, host: &str, variables: &[(&str, &str)]) -> Option<String> {
        let address = Address { host: host.to_owned(), port: 80 };
        let variable =
            |name: &str| variables.iter().find(|(its, _)| *its == name).map(|(_, value)| (*value).to_owned());
        find_in(is_secure, &address, variable).unwrap().map(|proxy| proxy.address.to_string())
    }

    #[test]
    fn the_environment_names_the_proxy_and_who_needs_none() {
        let variables = [
            ("http_proxy", "http://joe:geheim@proxy.example:3128/"),
            ("HTTPS_PROXY", "secure.example"),
            ("no_proxy", "inner.example,.lab.example, 10.0.0.0/8,exact.example:80"),
        ];
        let plain = |host| find_address(false, host, &variables);
        assert_eq!(plain("h.example").as_deref(), Some("proxy.example:3128"));
        assert_eq!(find_address(true, "h.example", &variables).as_deref(), Some("secure.example:80"));
        for direct in [
            "inner.example",
            "a.inner.example",
            "x.lab.example",
            "10.1.2.3",
            "exact.example",
            "localhost",
            "127.0.0.1",
            "::1",
        ] {
            assert_eq!(plain(direct), None, "{direct}");
        }
        assert!(plain("notinner.example").is_some());
        let socks = |name: &str| (name == "ALL_PROXY").then(|| "socks5://joe:geheim@h:1".to_owned());
        let said = find_in(true, &Address { host: "h".to_owned(), port: 443 }, socks).err().unwrap().to_string();
        assert!(said.contains("ALL_PROXY") && !said.contains("geheim"), "{said}");
        assert_eq!(find_address(false, "h", &[("http_proxy", "http://h"), ("no_proxy", "*")]), None);
    }

    #[test]
    fn a_proxy_connects_though_its_answer_gives_no_length() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy::parse(&listener.local_addr().unwrap().to_string()).unwrap();
        let answers = ["HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.1 407 Required\r\n\r\n"];
        let answering = thread::spawn(move || {
            answers.map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                stream
            })
        });
        let connect = || {
            let (proxy, host) = (proxy.clone(), Address { host: "h.example".to_owned(), port: 80 });
            clock::run(Time::Real, async move { proxy.connect(&host, &Options::default()).await.map(drop) })
        };
        assert!(connect().unwrap().is_ok());
        assert!(connect().unwrap().unwrap_err().to_string().contains("407"));
        drop(answering.join());
    }

    #[test]
    fn its_password_is_sent_encoded() {
        let proxy = Proxy::parse("http://joe:ge%20heim@h:1").unwrap();
        assert_eq!(proxy.authorization.as_deref(), Some("Basic am9lOmdlIGhlaW0="));
    }

    /// Connects through a proxy that gives this answer and stays connected. Returns the result, and the request that the proxy received.
    fn connect(answer: &'static str) -> (Result<(), String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://joe:geheim@{}", listener.local_addr().unwrap());
        let proxy = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let mut asked = vec![0; 4096];
            let len = connection.read(&mut asked).unwrap();
            connection.write_all(answer.as_bytes()).unwrap();
            drop(connection.read(&mut [0]));
            String::from_utf8(asked[..len].to_vec()).unwrap()
        });
        let connected = clock::run(Time::Real, async move {
            let host = Address { host: "h.example".to_owned(), port: 443 };
            let options = Options::default();
            let proxy = Proxy::parse(&url).unwrap();
            let due = clock::now() + options.connect_timeout;
            let opened = tcp::with_deadline(due, proxy.connect(&host, &options)).await;
            opened.unwrap().map(drop).map_err(|error| error.to_string())
        });
        (connected.unwrap(), proxy.join().unwrap())
    }

    #[test]
    fn it_is_asked_to_connect_and_its_refusal_is_an_error() {
        let (connected, asked) = connect("HTTP/1.1 200 Connection established\r\nProxy-Agent: x\r\n\r\n");
        assert_eq!(connected, Ok(()));
        assert!(asked.starts_with("CONNECT h.example:443 HTTP/1.1\r\nHost: h.example:443\r\n"), "{asked}");
        assert!(asked.contains("\r\nProxy-Authorization: Basic am9lOmdlaGVpbQ==\r\n"), "{asked}");
        let (refused, _) = connect("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\nhtml");
        let refused = refused.unwrap_err();
        assert!(refused.ends_with("does not connect to h.example:443: it answered 407"), "{refused}");
        assert!(!refused.contains("geheim"));
    }
}
