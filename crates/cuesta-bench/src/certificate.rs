//! A certificate for 127.0.0.1 and its authority, which `openssl` makes once, in a folder beside this program; and what the smallest
//! host and the limit make of them with `rustls`.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring::{Ticketer, default_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A new key and a certificate that outlasts the benchmark: the key never leaves this machine.
const CERTIFICATE: &str = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500";
const AUTHORITY: &str = "-keyout authority.key -out authority.pem -subj /CN=authority";
const HOST: &str = "-CA authority.pem -CAkey authority.key -keyout host.key -out host.pem -subj /CN=host \
    -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE";

/// Most TLS sessions of a browser that resumes them, as Cuesta has it.
const MOST_SESSIONS: usize = 4;

/// The files of a certificate.
pub(crate) struct Files {
    pub(crate) authority: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Files {
    /// The files, which are made if they are missing.
    pub(crate) fn find() -> Result<Self, Box<dyn Error>> {
        let folder = env::current_exe()?.with_file_name("cuesta-bench-certificate");
        if !folder.exists() {
            make(&folder)?;
        }
        Ok(Self {
            authority: folder.join("authority.pem"),
            certificate: folder.join("host.pem"),
            key: folder.join("host.key"),
        })
    }
}

/// Makes the files in another folder first, so that no other part finds half of them.
fn make(folder: &Path) -> Result<(), Box<dyn Error>> {
    let new = tempfile::tempdir_in(folder.parent().ok_or("this program has no folder")?)?;
    for words in [AUTHORITY, HOST] {
        let words = CERTIFICATE.split_whitespace().chain(words.split_whitespace());
        let made = Command::new("openssl").args(words).current_dir(&new).output();
        let made =
            made.map_err(|error| format!("openssl does not start: {error}; ./scripts/setup --tests installs it"))?;
        if !made.status.success() {
            return Err(format!("openssl makes no certificate: {}", String::from_utf8_lossy(&made.stderr)).into());
        }
    }
    Ok(fs::rename(new.keep(), folder)?)
}

/// What a host shows.
pub(crate) fn host_config() -> Result<Arc<ServerConfig>, Box<dyn Error>> {
    let files = Files::find()?;
    let chain = CertificateDer::pem_file_iter(&files.certificate)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(&files.key)?;
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?.with_no_client_auth();
    let mut config = builder.with_single_cert(chain, key)?;
    // By default a host holds the last 256 sessions itself, fewer than users who open at once.
    config.ticketer = Ticketer::new()?;
    Ok(Arc::new(config))
}

/// What a browser trusts and offers; it resumes nothing.
pub(crate) fn client_config() -> Result<ClientConfig, Box<dyn Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&Files::find()?.authority)?)?;
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?.with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// The configuration of one user, whose connections resume one another's sessions.
pub(crate) fn resuming(mut config: ClientConfig) -> ClientConfig {
    config.resumption = Resumption::in_memory_sessions(MOST_SESSIONS);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openssl_makes_all_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = folder.path().join("certificate");
        make(&made).expect("openssl makes it");
        assert!(["authority.pem", "host.pem", "host.key"].iter().all(|file| made.join(file).exists()));
    }
}
