//! Whom TLS trusts, and who we are to a server that asks.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::super::topology::Options;

/// Which TLS servers are trusted, and who we are to them.
#[derive(Clone)]
pub(in super::super) struct Tls(pub(super) Arc<ClientConfig>);

impl Tls {
    /// Trusts the authority of the options, or else the operating system's certificates, for which the environment
    /// variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
    pub(in super::super) fn new(options: &Options) -> Result<Self, String> {
        let provider = rustls::crypto::ring::default_provider();
        let config = ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(trusted(options.ca.as_deref())?);
        let config = match &options.identity {
            None => config.with_no_client_auth(),
            Some((cert, key)) => {
                let private = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| format!("the key {} can't be read: {error}", key.display()))?;
                config.with_client_auth_cert(certificates(cert)?, private).map_err(|error| {
                    format!("certificate {} and key {}: {error}", cert.display(), key.display())
                })?
            }
        };
        Ok(Self(Arc::new(config)))
    }
}

fn trusted(ca: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    if let Some(ca) = ca {
        for certificate in certificates(ca)? {
            roots.add(certificate).map_err(|error| format!("the certificate {}: {error}", ca.display()))?;
        }
        return Ok(roots);
    }
    let found = rustls_native_certs::load_native_certs();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        let errors = errors.join("; ");
        return Err(format!(
            "no trusted certificates were found for TLS ({errors}): add ?ca=FILE or set SSL_CERT_FILE"
        ));
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => {
            Err(format!("{} holds no certificate in PEM form", file.display()))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(format!("the certificate {} can't be read: {error}", file.display())),
    }
}
