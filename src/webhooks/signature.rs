//! The signature of a request, by Standard Webhooks 1.0.0.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;

/// What a secret begins with.
const PREFIX: &str = "whsec_";
/// The number of bytes that a key may have.
const KEY: std::ops::RangeInclusive<usize> = 24..=64;
/// The most secrets at once: one, and a second while receivers change to it.
const MAX_KEYS: usize = 2;

/// The keys with which the requests to a webhook are signed. They are never printed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SigningKeys(Vec<Vec<u8>>);

impl SigningKeys {
    /// Reads one or two secrets such as `whsec_…`, separated by white space.
    ///
    /// # Errors
    /// Fails if a secret has another form, or a key of fewer than 24 or more than 64 bytes. The message
    /// does not contain the secret.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let keys: Option<Vec<Vec<u8>>> = text.split_whitespace().map(key).collect();
        match keys {
            Some(keys) if (1..=MAX_KEYS).contains(&keys.len()) => Ok(Self(keys)),
            Some(keys) if keys.is_empty() => Err("must not be empty"),
            Some(_) => Err("must be one secret, or two while receivers change to the second"),
            None => Err(
                "must be whsec_ and 24 to 64 bytes in base64, as `evenkeel webhook secret` prints",
            ),
        }
    }

    /// A secret with this key, as [`parse`](Self::parse) reads it.
    pub fn secret(key: &[u8; 32]) -> String {
        format!("{PREFIX}{}", STANDARD.encode(key))
    }

    /// The value of the header `webhook-signature`: a signature by each key.
    pub fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let sign = |key: &Vec<u8>| {
            let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
            mac.update(format!("{id}.{seconds}.{body}").as_bytes());
            let digest = mac.finalize().into_bytes();
            Some(format!("v1,{}", STANDARD.encode(digest)))
        };
        let all: Vec<String> = self.0.iter().filter_map(sign).collect();
        all.join(" ")
    }
}

fn key(secret: &str) -> Option<Vec<u8>> {
    let key = STANDARD.decode(secret.strip_prefix(PREFIX)?).ok()?;
    KEY.contains(&key.len()).then_some(key)
}

impl TryFrom<String> for SigningKeys {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKeys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A secret, and what the libraries of Standard Webhooks expect for it in their own tests.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const SIGNED: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn the_signature_is_that_of_the_published_libraries() {
        let sign = |text: &str| {
            let keys = SigningKeys::parse(text).unwrap();
            let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
            keys.sign(id, 1_614_265_330, r#"{"test": 2432232314}"#)
        };
        assert_eq!(sign(SECRET), SIGNED);
        let other = SigningKeys::secret(&[7; 32]);
        let both = sign(&format!(" {SECRET}\n{other}\n"));
        assert_eq!(both, format!("{SIGNED} {}", sign(&other)));
    }

    #[test]
    fn other_secrets_are_refused_and_not_printed() {
        let short = format!("whsec_{}", STANDARD.encode([1; 23]));
        let long = format!("whsec_{}", STANDARD.encode([1; 65]));
        let three = [SECRET; 3].join(" ");
        for bad in [
            "",
            " ",
            "hunter2",
            "whsec_",
            "whsec_a b",
            &short,
            &long,
            &three,
        ] {
            let why = SigningKeys::parse(bad).unwrap_err();
            assert!(
                why.starts_with("must") && !why.contains("hunter2"),
                "{bad}: {why}"
            );
        }
        let keys = SigningKeys::parse(SECRET).unwrap();
        assert_eq!(format!("{keys:?}"), "SigningKeys");
    }
}
