//! The name of a special role of a player, such as commander.

use serde::{Deserialize, Serialize};

/// A role that ROLE states: 1 to 32 lower-case letters, digits, hyphens and underscores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoleName(String);

impl RoleName {
    /// The role that rating systems rate apart from playing.
    pub const COMMANDER: &str = "commander";
    /// The longest name, in bytes.
    const LONGEST: usize = 32;

    /// The role of this word, in upper or lower case; `None` if it is no word.
    pub fn read(word: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let fits = (1..=Self::LONGEST).contains(&word.len()) && word.bytes().all(plain);
        fits.then(|| Self(word.to_ascii_lowercase()))
    }

    /// The name, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is that of a commander.
    pub fn is_commander(&self) -> bool {
        self.0 == Self::COMMANDER
    }
}

impl TryFrom<String> for RoleName {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        Self::read(&word).ok_or("not the name of a role")
    }
}

impl From<RoleName> for String {
    fn from(role: RoleName) -> Self {
        role.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_a_short_word() {
        let role = RoleName::read("Commander").unwrap();
        assert!(role.is_commander());
        assert_eq!(role.as_str(), "commander");
        assert!(!RoleName::read("flag-carrier_2").unwrap().is_commander());
        for word in ["", "two words", "é", &"x".repeat(33)] {
            assert_eq!(RoleName::read(word), None, "{word}");
        }
        assert!(serde_json::from_str::<RoleName>("\"a b\"").is_err());
    }
}
