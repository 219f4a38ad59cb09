//! Which arm a game belongs to: a keyed hash of what the arm is drawn for.
//!
//! Who does not have the key can neither foresee an arm nor choose it by asking again. The hash of the key, its
//! [`Commitment`], is shown at the start and the key at the end: then anybody can compute each arm, and see that none was
//! changed. Who has read the key before can foresee all arms.

use std::{collections::BTreeSet, fmt, str::FromStr};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::ExperimentError;

/// What the hash of an arm begins with, so that it equals no other hash by the same key.
const ARM_DOMAIN: &[u8] = b"evenkeel experiment arm 1";
/// What the hashed text of a commitment begins with.
const KEY_DOMAIN: &[u8] = b"evenkeel experiment key 1:";
/// The block of SHA-256. HMAC fills a shorter key up with zeros (RFC 2104), so this one is as long from the start.
const BLOCK: usize = 64;

/// One of the two policies that an experiment compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arm {
    /// The policy to which the other one is compared.
    A,
    /// The policy of interest. Effects are its mean minus that of A.
    B,
}

/// The share of games that belongs to arm B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmShare(f64);

impl ArmShare {
    /// The smallest share of an arm. With less, an arm has so few games that no experiment ends.
    pub const LEAST: f64 = 0.05;
    /// As many games for each arm: the most is learned from each game.
    pub const HALF: Self = Self(0.5);

    /// # Errors
    /// Fails unless each arm has at least the share [`ArmShare::LEAST`].
    pub fn new(of_b: f64) -> Result<Self, ExperimentError> {
        match (Self::LEAST..=1.0 - Self::LEAST).contains(&of_b) {
            true => Ok(Self(of_b)),
            false => Err(ExperimentError::Share(of_b)),
        }
    }

    /// The probability that a game belongs to the arm.
    pub fn of(self, arm: Arm) -> f64 {
        match arm {
            Arm::A => 1.0 - self.0,
            Arm::B => self.0,
        }
    }
}

/// What an arm is drawn for. The same thing has the same arm, whenever and however often somebody asks. A draw takes a time
/// proportional to the texts, whose lengths the caller has limited.
#[derive(Clone, Copy, Debug)]
pub enum DrawnFor<'a> {
    /// A game of a server that is connected.
    Game {
        /// The name of the server.
        server: &'a str,
        /// The running number of the game among all games of the server.
        number: u64,
    },
    /// Teams for people, asked for over HTTP: who picks again gets the same arm until a result is recorded.
    People {
        /// The name of the client.
        client: &'a str,
        /// The ruleset.
        ruleset: &'a str,
        /// The people. Neither their order nor a repeated name changes anything.
        people: &'a [&'a str],
        /// How many results of these people are recorded.
        results: u64,
    },
}

/// The secret that decides about the arms of one experiment.
#[derive(Clone, PartialEq, Eq)]
pub struct ArmKey([u8; ArmKey::LEN]);

impl ArmKey {
    /// The number of bytes of a key.
    pub const LEN: usize = 32;

    /// The key of these bytes, which somebody has drawn at random.
    pub fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The key as 64 hexadecimal digits, as it is shown at the end of the experiment.
    pub fn reveal(&self) -> String {
        hex(&self.0)
    }

    /// What is shown at the start of the experiment: it says nothing about the key, and fits no other one.
    pub fn commitment(&self) -> Commitment {
        let hash = Sha256::new().chain_update(KEY_DOMAIN);
        Commitment(hash.chain_update(self.reveal()).finalize().into())
    }

    /// The arm of a game.
    pub fn arm(&self, drawn_for: &DrawnFor<'_>, share: ArmShare) -> Arm {
        match self.uniform(drawn_for) < share.of(Arm::B) {
            true => Arm::B,
            false => Arm::A,
        }
    }

    /// A number uniform in [0, 1), on multiples of 2^-53: the first 53 bits of the hash.
    fn uniform(&self, drawn_for: &DrawnFor<'_>) -> f64 {
        let mut block = [0; BLOCK];
        block[..Self::LEN].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(ARM_DOMAIN);
        match drawn_for {
            DrawnFor::Game { server, number } => {
                mac.update(b"g");
                add_text(&mut mac, server);
                mac.update(&number.to_be_bytes());
            }
            DrawnFor::People {
                client,
                ruleset,
                people,
                results,
            } => {
                mac.update(b"p");
                add_text(&mut mac, client);
                add_text(&mut mac, ruleset);
                mac.update(&results.to_be_bytes());
                for person in people.iter().collect::<BTreeSet<_>>() {
                    add_text(&mut mac, person);
                }
            }
        }
        let hash = mac.finalize().into_bytes();
        let bits = hash
            .iter()
            .take(8)
            .fold(0_u64, |n, b| n << 8 | u64::from(*b));
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Adds a text after its length, so that texts beside each other cannot be divided in another way.
fn add_text(mac: &mut Hmac<Sha256>, text: &str) {
    mac.update(&(text.len() as u64).to_be_bytes());
    mac.update(text.as_bytes());
}

/// Shows nothing of the key: it must not reach a log.
impl fmt::Debug for ArmKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArmKey({})", self.commitment())
    }
}

impl FromStr for ArmKey {
    type Err = ExperimentError;

    fn from_str(text: &str) -> Result<Self, ExperimentError> {
        from_hex(text).map(Self)
    }
}

/// The hash of a key: SHA-256 of `evenkeel experiment key 1:` and the key's 64 hexadecimal digits in small letters. It is
/// written as hexadecimal digits, too, and `sha256sum` computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitment([u8; 32]);

impl Commitment {
    /// Whether this was made from the key.
    pub fn verify(&self, key: &ArmKey) -> bool {
        *self == key.commitment()
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for Commitment {
    type Err = ExperimentError;

    fn from_str(text: &str) -> Result<Self, ExperimentError> {
        from_hex(text).map(Self)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<[u8; 32], ExperimentError> {
    let digit = |c: u8| char::from(c).to_digit(16).ok_or(ExperimentError::Hex);
    let mut bytes = [0; 32];
    if text.len() != 2 * bytes.len() {
        return Err(ExperimentError::Hex);
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ArmKey {
        ArmKey::new(std::array::from_fn(|n| n as u8))
    }

    fn game(number: u64) -> DrawnFor<'static> {
        let server = "duel-1";
        DrawnFor::Game { server, number }
    }

    fn people<'a>(client: &'a str, people: &'a [&'a str], results: u64) -> DrawnFor<'a> {
        DrawnFor::People {
            client,
            ruleset: "CTF",
            people,
            results,
        }
    }

    /// Python's `hmac` and `hashlib` have computed these from the description above.
    #[test]
    fn arms_and_commitments_never_change() {
        assert_eq!(key().uniform(&game(1)), VECTOR_GAME);
        let asked = people("hub", &["anna", "ben"], 3);
        assert_eq!(key().uniform(&asked), VECTOR_PEOPLE);
        assert_eq!(key().commitment().to_string(), VECTOR_COMMITMENT);
    }

    #[test]
    fn only_the_set_of_people_counts() {
        let uniform = |names: &[&str]| key().uniform(&people("hub", names, 3));
        assert_eq!(uniform(&["anna", "ben"]), uniform(&["ben", "anna", "ben"]));
        assert_ne!(uniform(&["anna", "ben"]), uniform(&["anna"]));
        assert_ne!(uniform(&["ab", "c"]), uniform(&["a", "bc"]));
        assert_ne!(uniform(&[]), uniform(&[""]));
    }

    #[test]
    fn different_things_have_different_draws() {
        let server = |server, number| DrawnFor::Game { server, number };
        let other = DrawnFor::People {
            client: "hubC",
            ruleset: "TF",
            people: &["anna"],
            results: 3,
        };
        let all = [
            server("a", 1),
            server("a1", 1),
            server("b", 1),
            server("a", 2),
            server("a", 1 << 32),
            people("hub", &["anna"], 3),
            people("hub", &["anna"], 4),
            people("hub2", &["anna"], 3),
            other,
        ];
        let draws: BTreeSet<u64> = all.iter().map(|it| key().uniform(it).to_bits()).collect();
        assert_eq!(draws.len(), all.len());
        let second = ArmKey::new([7; ArmKey::LEN]);
        assert_ne!(key().uniform(&all[0]), second.uniform(&all[0]));
    }

    /// Four standard deviations on each side; the draws never change, so neither does the answer.
    #[test]
    fn the_share_is_met_and_neighbours_are_independent() {
        const DRAWS: u64 = 100_000;
        for of_b in [0.05, 0.5, 0.8] {
            let share = ArmShare::new(of_b).unwrap();
            let is_b: Vec<bool> = (0..DRAWS)
                .map(|number| key().arm(&game(number), share) == Arm::B)
                .collect();
            let near = |count: usize, of: usize, chance: f64| {
                let deviation = (of as f64 * chance * (1.0 - chance)).sqrt();
                (count as f64 - of as f64 * chance).abs() < 4.0 * deviation
            };
            let count = is_b.iter().filter(|b| **b).count();
            assert!(near(count, is_b.len(), of_b), "{of_b}: {count}");
            for apart in [1, 2, 7] {
                let pairs = is_b.len() / (2 * apart);
                let both = (0..pairs).filter(|n| {
                    let at = n / apart * 2 * apart + n % apart;
                    is_b[at] && is_b[at + apart]
                });
                let both = both.count();
                assert!(near(both, pairs, of_b * of_b), "{of_b}, {apart}: {both}");
            }
        }
    }

    #[test]
    fn a_key_shows_itself_only_when_it_is_revealed() {
        let commitment: Commitment = VECTOR_COMMITMENT.parse().unwrap();
        let revealed: ArmKey = key().reveal().parse().unwrap();
        assert!(commitment.verify(&revealed));
        assert!(!commitment.verify(&ArmKey::new([0; ArmKey::LEN])));
        assert!(!format!("{:?}", key()).contains(&key().reveal()));
        for wrong in ["", "0g", &"0".repeat(63), &"0".repeat(66), &"é".repeat(32)] {
            assert!(wrong.parse::<ArmKey>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_share_leaves_games_to_both_arms() {
        for wrong in [0.0, 0.04, 0.96, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(ArmShare::new(wrong).is_err(), "{wrong}");
        }
        let share = ArmShare::new(0.3).unwrap();
        assert_eq!(share.of(Arm::A) + share.of(Arm::B), 1.0);
    }

    const VECTOR_GAME: f64 = 0.37875329968273685;
    const VECTOR_PEOPLE: f64 = 0.08338151925197845;
    const VECTOR_COMMITMENT: &str =
        "1add49d0d54bca78ebcdf9e775f7dfe63491fb1ceacaf087e2baec54061381b8";
}
