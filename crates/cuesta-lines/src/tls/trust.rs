//! Which certificates are trusted.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig, SignatureScheme};

use super::TlsSettings;

/// Where systems keep the authorities that they trust.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
];

/// The system's authorities, read once.
static AUTHORITIES: LazyLock<Result<Vec<CertificateDer<'static>>, String>> = LazyLock::new(|| {
    let named = env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = SYSTEM.iter().map(PathBuf::from).find(|file| file.exists());
    let file = named
        .or(usual)
        .ok_or("this system has no file of authorities: name one with certificate=FILE (web terminals: ca=FILE)")?;
    certificates(&file)
});

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let fault = |what: String| format!("{} cannot be used: {what}", file.display());
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(fault("it has no certificate in PEM".to_owned())),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(fault(error.to_string())),
    }
}

/// The configurations that were made, by what targets say. Reading the system's authorities takes milliseconds.
static CONFIGS: LazyLock<Mutex<HashMap<TlsSettings, Arc<ClientConfig>>>> = LazyLock::new(Mutex::default);

/// The configuration of connections, made once for each set of settings.
pub(super) fn config(settings: &TlsSettings) -> Result<Arc<ClientConfig>, String> {
    let mut configs = CONFIGS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(config) = configs.get(settings) {
        return Ok(Arc::clone(config));
    }
    let config = Arc::new(make_config(settings)?);
    configs.insert(settings.clone(), Arc::clone(&config));
    Ok(config)
}

fn make_config(settings: &TlsSettings) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let verifier = Verifier::new(settings, provider)?;
    let builder = builder.map_err(|error| error.to_string())?.dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(verifier));
    match read_own(settings)? {
        None => Ok(builder.with_no_client_auth()),
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|error| error.to_string()),
    }
}

/// The configuration of a host.
pub(super) fn host_config(settings: &TlsSettings) -> Result<ServerConfig, String> {
    let (chain, key) = read_own(settings)?.ok_or("a host that listens with TLS needs cert=FILE and key=FILE")?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.with_no_client_auth();
    let mut config = builder.with_single_cert(chain, key).map_err(|error| error.to_string())?;
    // Clients hold their sessions, in tickets. By default a host would hold the last 256 itself, fewer than users who open at once.
    config.ticketer = ring::Ticketer::new().map_err(|error| error.to_string())?;
    Ok(config)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Our own certificate with its key, if the settings name one.
fn read_own(settings: &TlsSettings) -> Result<Option<Identity>, String> {
    match (&settings.own_certificate, &settings.own_key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(file)) => {
            let fault = |error: PemError| format!("{} cannot be used: {error}", file.display());
            let key = PrivateKeyDer::from_pem_file(file).map_err(fault)?;
            Ok(Some((certificates(certificate)?, key)))
        }
        _ => Err("a certificate of our own needs both cert=FILE and key=FILE".to_owned()),
    }
}

/// Trusts what the settings say. Signatures are always checked.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Any certificate is trusted.
    trusts_all: bool,
    /// These are trusted as they are, whatever host has them.
    own: Vec<CertificateDer<'static>>,
    /// None where no certificate can be an authority.
    authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl Verifier {
    fn new(settings: &TlsSettings, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let own = settings.certificate.as_deref().map(certificates).transpose()?;
        let mut roots = RootCertStore::empty();
        match &own {
            Some(own) => roots.add_parsable_certificates(own.iter().cloned()),
            None if !settings.verify => (0, 0),
            None => roots.add_parsable_certificates(AUTHORITIES.clone()?),
        };
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let trusts_all = !settings.verify;
        Ok(Self { provider, trusts_all, own: own.unwrap_or_default(), authorities: verifier.build().ok() })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.trusts_all || self.own.iter().any(|own| own == certificate) {
            return Ok(ServerCertVerified::assertion());
        }
        let Some(authorities) = &self.authorities else {
            return Err(Error::General("no authority is trusted".to_owned()));
        };
        authorities.verify_server_cert(certificate, intermediates, name, status, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
