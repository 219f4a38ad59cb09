//! The browsers in which somebody has shown a client's token, so that forms may record for the client.

use crate::{
    model::Timestamp,
    store::{Store, StoreError, db::*},
};

/// A browser that may record for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// A hash of the secret that the browser keeps.
    pub secret: [u8; 32],
    /// The configured name of the client.
    pub client: String,
    /// The [mark](crate::model::access::Secret::mark) of the client's token.
    pub token: [u8; 32],
    /// When the token was shown.
    pub made_at: Timestamp,
}

/// The most sign-ins of a client that are kept.
const MOST: i64 = 100;

impl Store {
    /// Writes a sign-in. Of those of its client, only the last 100 are kept.
    pub async fn sign_in(&self, one: &SignIn) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let query = "INSERT INTO sign_ins (secret, client, token, made_at) VALUES ($1, $2, $3, $4)";
        let query = sql(query).bind(&one.secret[..]).bind(&one.client);
        let query = query.bind(&one.token[..]).bind(one.made_at);
        query.execute(&mut tx).await?;
        let older = "DELETE FROM sign_ins WHERE client = $1 AND secret NOT IN
                         (SELECT secret FROM sign_ins WHERE client = $1 ORDER BY made_at DESC, secret LIMIT $2)";
        let query = sql(older).bind(&one.client).bind(MOST);
        query.execute(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The sign-in with this hash of its secret, however old.
    pub async fn signed_in(&self, secret: &[u8; 32]) -> Result<Option<SignIn>, StoreError> {
        let query = "SELECT client, token, made_at FROM sign_ins WHERE secret = $1";
        let query = sql(query).bind(&secret[..]);
        let Some(row) = query.fetch_optional(&self.readers).await? else {
            return Ok(None);
        };
        let (client, made_at) = (row.get("client")?, row.get("made_at")?);
        let token: &[u8] = row.get("token")?;
        Ok(token.try_into().ok().map(|token| SignIn {
            secret: *secret,
            client,
            token,
            made_at,
        }))
    }

    /// Deletes a sign-in.
    pub async fn sign_out(&self, secret: &[u8; 32]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let query = sql("DELETE FROM sign_ins WHERE secret = $1");
        query.bind(&secret[..]).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Deletes the sign-ins that were made before an instant.
    pub async fn drop_sign_ins(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.delete_old("sign_ins", "made_at < $1", before).await
    }
}
