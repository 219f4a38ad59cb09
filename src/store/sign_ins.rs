//! The browsers in which somebody has shown a client's token, so that forms may record for the client.

use crate::domain::Timestamp;

/// A browser that may record for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// A hash of the secret that the browser keeps.
    pub secret: [u8; 32],
    /// The configured name of the client.
    pub client: String,
    /// The [mark](crate::domain::Secret::mark) of the client's token.
    pub token: [u8; 32],
    /// When the token was shown.
    pub made_at: Timestamp,
}
