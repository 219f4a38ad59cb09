//! Hashes that tell whether something was learned with the same settings and overrides.

use sha2::{Digest, Sha256};

use super::Settings;
use crate::{model::to_hex, store::OperatorOverrides};

/// The version of the fold, a part of the settings' key. Increase it when the fold changes: every
/// database then derives its weights again.
pub(super) const FOLD_VERSION: u32 = 34;
/// The version of the form in which settings are hashed. With a new value, every database derives
/// its weights again.
const SETTINGS_FORMAT: u32 = 1;

/// Two hashes of everything that a learned state depends on besides the matches: of the settings, and of the operator's
/// overrides, which are the same in all daemons of a database. Two copies of a database may have the same number of changes,
/// and other ones.
pub(super) fn content_key(
    settings: &Settings,
    overrides: &OperatorOverrides,
) -> Result<String, serde_json::Error> {
    let OperatorOverrides {
        merged,
        pinned,
        starts,
        void,
        forgotten,
        ..
    } = overrides;
    let form = serde_json::to_vec(&(merged, pinned, starts, void, forgotten))?;
    Ok(format!("{}-{}", settings_key(settings)?, short_hash(&form)))
}

fn short_hash(form: &[u8]) -> String {
    let digest = Sha256::digest(form);
    to_hex(&digest[..8])
}

/// A hash of the settings that weights depend on, in a form that has a version.
///
/// The settings are hashed as JSON: a new name of a Rust type does not change the key. A new name
/// of a field does, and the weights are then derived again.
pub(super) fn settings_key(settings: &Settings) -> Result<String, serde_json::Error> {
    let form = serde_json::to_vec(&(SETTINGS_FORMAT, FOLD_VERSION, settings))?;
    Ok(short_hash(&form))
}
