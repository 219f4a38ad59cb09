//! An authority that signs certificates for tests of encrypted connections.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType,
};
use rustls::RootCertStore;

/// A certificate and its key, in PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// An authority that signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub certificate: rcgen::Certificate,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        Self {
            issuer,
            certificate,
        }
    }

    /// A certificate for this machine, by its address and its name.
    pub fn sign(&self, usage: ExtendedKeyUsagePurpose) -> Pair {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![usage];
        params.subject_alt_names = vec![
            SanType::IpAddress([127, 0, 0, 1].into()),
            SanType::DnsName("localhost".try_into().unwrap()),
        ];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Pair {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    pub fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.der().clone()).unwrap();
        Arc::new(roots)
    }
}
