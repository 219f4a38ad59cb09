//! The browsers in which somebody has shown a client's token, so that forms may record for the client.

use async_trait::async_trait;

use super::StoreError;
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

/// Reads and writes sign-ins.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Writes a sign-in. Of those of its client, only the last 100 are kept.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn sign_in(&self, one: &SignIn) -> Result<(), StoreError>;

    /// The sign-in with this hash of its secret, however old.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn signed_in(&self, secret: &[u8; 32]) -> Result<Option<SignIn>, StoreError>;

    /// Deletes a sign-in.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn sign_out(&self, secret: &[u8; 32]) -> Result<(), StoreError>;

    /// Deletes the sign-ins that were made before an instant.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn drop_sign_ins(&self, before: Timestamp) -> Result<u64, StoreError>;
}
