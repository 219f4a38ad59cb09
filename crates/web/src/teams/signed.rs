//! The sign-in of a browser in which somebody has shown the token of a client. All others use the forms as everybody
//! does.
//!
//! Such a browser keeps a random secret in a cookie, and the database a hash of it. The cookie is sent with requests
//! for `/teams` only, and nothing else reads it. The forms of such a browser contain a code that is made of the
//! secret, so that no other page can write one.

use std::{net::IpAddr, sync::Arc};

use axum::http::{HeaderMap, header};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    Site,
    api::{Api, ApiProblem, Call, prove},
    model::{
        Timestamp,
        access::{Right, Secret},
        text::{from_hex, to_hex},
        time::DAY,
    },
    server::Caller,
    store::SignIn,
};

/// The name of the cookie.
const COOKIE: &str = "evenkeel-teams";
/// For how long a sign-in is accepted, in milliseconds.
const VALID: i64 = 30 * DAY;
/// The same for the browser, in seconds.
const MAX_AGE: i64 = VALID / 1_000;

/// The sender of a form.
pub(super) struct Sender {
    pub(super) call: Call,
    /// The secret in the cookie; `None` for a browser that is not signed in.
    secret: Option<[u8; 32]>,
}

impl Sender {
    /// Who sends a request with these header fields.
    pub(super) async fn of(
        site: &Arc<Site>,
        api: &Api,
        fields: &HeaderMap,
        from: IpAddr,
    ) -> Result<Self, ApiProblem> {
        let secret = cookie(fields);
        let caller = match &secret {
            Some(secret) => recall(site, api, secret, from).await?,
            None => None,
        };
        let secret = secret.filter(|_| caller.is_some());
        let caller = caller.unwrap_or_else(|| api.gate.stranger(from));
        let call = Call::of_form(site, caller);
        Ok(Self { call, secret })
    }

    /// The client for which the browser may record; `None` if it is not signed in.
    pub(super) fn client(&self) -> Option<&str> {
        self.call.caller.name()
    }

    /// Whether the sender may record who has won.
    pub(super) fn may_record(&self) -> bool {
        self.call.caller.has(Right::Report)
    }

    /// Whether the sender may ask for teams.
    pub(super) fn may_pick(&self) -> bool {
        match self.client() {
            Some(_) => self.call.caller.has(Right::Ask),
            None => self.call.allows_visitors(),
        }
    }

    /// The code against forgery in the forms of a browser that is signed in.
    pub(super) fn code(&self) -> Option<String> {
        let mac = Hmac::<Sha256>::new_from_slice(self.secret.as_ref()?);
        let mut mac = mac.ok()?;
        mac.update(b"a form of /teams");
        Some(to_hex(&mac.finalize().into_bytes()))
    }

    /// Refuses a form that was not made for this browser.
    pub(super) fn check(&self, code: &str) -> Result<(), ApiProblem> {
        let own = self.code().unwrap_or_default();
        let fits: bool = own.as_bytes().ct_eq(code.as_bytes()).into();
        match fits || self.secret.is_none() {
            true => Ok(()),
            false => Err(ApiProblem::forbidden(
                "this form was not made for you: load the page again",
            )),
        }
    }

    /// Signs a browser in to the client with this token. Returns the sender as of now, and the cookie.
    pub(super) async fn sign_in(
        site: &Arc<Site>,
        api: &Api,
        token: &str,
        from: IpAddr,
        is_https: bool,
    ) -> Result<(Self, String), ApiProblem> {
        let caller = prove(api, token, from).await?;
        let call = Call::of_form(site, caller);
        let client = call.client(&[Right::Ask, Right::Report])?.to_owned();
        let secret: [u8; 32] = random()?;
        let one = SignIn {
            secret: Sha256::digest(secret).into(),
            client,
            token: Secret::of(token.trim()).mark(),
            made_at: site.now(),
        };
        site.service().store().sign_in(&one).await?;
        tracing::info!(client = one.client, %from, "a browser may use the token of a client for /teams");
        let cookie = set_cookie(site, &to_hex(&secret), MAX_AGE, is_https);
        let secret = Some(secret);
        Ok((Self { call, secret }, cookie))
    }

    /// Ends the sign-in. Returns the cookie that takes the place of its own.
    pub(super) async fn sign_out(&self, site: &Site, is_https: bool) -> Result<String, ApiProblem> {
        if let Some(secret) = &self.secret {
            let store = site.service().store();
            store.sign_out(&Sha256::digest(secret).into()).await?;
        }
        Ok(set_cookie(site, "", 0, is_https))
    }
}

/// The client of a sign-in, if the sign-in is still valid.
async fn recall(
    site: &Site,
    api: &Api,
    secret: &[u8; 32],
    from: IpAddr,
) -> Result<Option<Caller>, ApiProblem> {
    let hash = Sha256::digest(secret).into();
    let found = site.service().store().signed_in(&hash).await?;
    let valid = found.filter(|one| is_valid(one.made_at, site.now()));
    Ok(valid.and_then(|one| api.gate.recall(&one.client, &one.token, from)))
}

/// Whether a sign-in of an instant is accepted at another one.
fn is_valid(made_at: Timestamp, now: Timestamp) -> bool {
    (0..VALID).contains(&(now.0 - made_at.0))
}

/// The secret in the cookie of a request.
fn cookie(fields: &HeaderMap) -> Option<[u8; 32]> {
    let all = fields.get_all(header::COOKIE).iter();
    let texts = all.filter_map(|field| field.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).take(100);
    let own = pairs.filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    own.filter_map(from_hex).next()
}

/// The field that sets the cookie. No other site's page can send it, and no script can read it.
fn set_cookie(site: &Site, value: &str, max_age: i64, is_https: bool) -> String {
    let path = site.links.to("/teams");
    let secure = if is_https { "; Secure" } else { "" };
    format!(
        "{cookie}={value}; Path={path}; Max-Age={max_age}; HttpOnly; \
         SameSite=Strict{secure}",
        cookie = COOKIE,
        value = value,
        path = path,
        max_age = max_age,
        secure = secure
    )
}

/// Random bytes of the system.
pub(super) fn random<const N: usize>() -> Result<[u8; N], ApiProblem> {
    crate::random::bytes().map_err(|error| {
        tracing::error!(%error, "the system has no random numbers");
        ApiProblem::internal()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_ends_after_thirty_days() {
        let made = Timestamp(1_795_188_516_000);
        let after = |millis| is_valid(made, made.plus_millis(millis));
        assert!(after(0) && after(VALID - 1));
        assert!(!after(VALID) && !after(-1));
        assert_eq!(MAX_AGE, 2_592_000);
    }

    #[test]
    fn only_the_own_cookie_is_read() {
        let read = |text: &str| {
            let mut fields = HeaderMap::new();
            fields.insert(header::COOKIE, text.parse().unwrap());
            cookie(&fields)
        };
        let value = "0a".repeat(32);
        let secret = Some([10; 32]);
        assert_eq!(read(&format!("evenkeel-teams={value}")), secret);
        assert_eq!(read(&format!("a=b; evenkeel-teams={value};c")), secret);
        assert_eq!(
            read(&format!("evenkeel-teams=; evenkeel-teams={value}")),
            secret
        );
        let bad = [
            String::new(),
            format!("xevenkeel-teams={value}"),
            format!("evenkeel-teams2={value}"),
            format!("evenkeel-teams={value}0"),
            format!("evenkeel-teams=+{}", &value[1..]),
        ];
        for text in bad {
            assert_eq!(read(&text), None, "{text}");
        }
        assert_eq!(cookie(&HeaderMap::new()), None);
    }
}
