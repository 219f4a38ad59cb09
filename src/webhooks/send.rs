//! One request to a webhook.

use std::{fmt, io::Read};

use ureq::{Agent, http::Response};

use super::{DeliveryError, HookAnswer, HookUrl, SigningKeys, WebhookSettings};
use crate::model::Timestamp;

/// The most bytes that a response's head may have.
const MAX_HEAD: usize = 16 * 1_024;
/// The most bytes of a response's content that are read, so that its connection can be used again.
const MAX_CONTENT: u64 = 8 * 1_024;
/// The longest text of an error, in characters.
const MAX_WHY: usize = 200;

/// The connection to one webhook.
pub struct HookSender {
    agent: Agent,
    url: HookUrl,
    keys: SigningKeys,
}

impl fmt::Debug for HookSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookSender")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl HookSender {
    /// Prepares requests, without connecting.
    ///
    /// # Errors
    /// Fails if the file of the secret cannot be read or has none.
    pub fn new(settings: &WebhookSettings) -> Result<Self, DeliveryError> {
        let config = Agent::config_builder()
            .timeout_global(Some(settings.timeout_seconds.duration()))
            .http_status_as_error(false)
            // A redirect could lead anywhere, and the content with it.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MAX_HEAD)
            .max_idle_connections(1)
            .max_idle_connections_per_host(1)
            // A proxy of the environment would see requests to this machine.
            .proxy(None)
            .user_agent(concat!("evenkeel/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: config.into(),
            url: settings.url.clone(),
            keys: settings.keys()?,
        })
    }

    /// Sends an event, and waits for the answer: at most for the configured time. Blocks the thread.
    pub fn send(&self, id: &str, now: Timestamp, body: &str) -> HookAnswer {
        let seconds = now.0.div_euclid(1_000);
        let sent = self
            .agent
            .post(self.url.as_str())
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-signature", self.keys.sign(id, seconds, body))
            .send(body);
        match sent {
            Ok(mut response) => {
                let answer = HookAnswer::Status(response.status().as_u16(), wish(&response));
                finish(&mut response);
                answer
            }
            Err(error) => HookAnswer::Failed(error.to_string().chars().take(MAX_WHY).collect()),
        }
    }
}

/// How many seconds the receiver asks to wait.
fn wish<T>(response: &Response<T>) -> Option<u64> {
    let wish = response.headers().get("retry-after")?;
    wish.to_str().ok()?.trim().parse().ok()
}

/// Reads a short content, after which the connection can be used again. Any other is left unread, which
/// closes the connection.
fn finish(response: &mut Response<ureq::Body>) {
    let length = response.body().content_length();
    if length.is_some_and(|length| length <= MAX_CONTENT) {
        let mut rest = response.body_mut().as_reader().take(MAX_CONTENT);
        let _ = std::io::copy(&mut rest, &mut std::io::sink());
    }
}
