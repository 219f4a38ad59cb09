//! How much new a sender may bring in an hour: rulesets and players of whom nothing is known.
//!
//! Whatever is new takes memory for ever, so each sender has a share of it. It decides and counts, and reads no clock: a
//! time is an argument, in milliseconds since any fixed moment. Its memory is bounded by the limits, by the number of
//! configured clients, and by [`MOST_ADDRESSES`].

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use crate::model::{PlayerKey, Ruleset, access::Holder, text::counted};

/// The hour that slides.
const HOUR: u64 = 3_600_000;
/// How often senders are forgotten who have brought nothing new for an hour.
const TIDY: u64 = 60_000;
/// The addresses that have a share of their own at the same time. All others have one together.
const MOST_ADDRESSES: usize = 256;

/// How many rulesets and players that nobody has had a sender may bring in an hour; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewLimits {
    /// The most rulesets.
    pub rulesets: u32,
    /// The most players.
    pub players: u32,
}

/// What a match brings of which nothing is known, by keyed hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknown {
    rulesets: Vec<u64>,
    players: Vec<u64>,
}

impl Unknown {
    pub fn is_empty(&self) -> bool {
        self.rulesets.is_empty() && self.players.is_empty()
    }
}

/// A share that is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShareUsedUp {
    owner: Holder,
    what: &'static str,
    key: &'static str,
    most: u32,
    /// How many new ones there are at once.
    new: usize,
    /// After how long there is room for it; `None` if it has more than a whole share.
    pub again: Option<Duration>,
}

impl std::fmt::Display for ShareUsedUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let most = counted(u64::from(self.most), self.what);
        write!(
            f,
            "{} may bring {most} an hour that nobody has had ([limits] {})",
            self.owner, self.key
        )?;
        match self.again {
            Some(again) => write!(f, ": try again in {} s", again.as_secs().max(1))?,
            None => write!(f, ", and these are {}: send fewer at once", self.new)?,
        }
        f.write_str(", or read them from a file with `evenkeel ingest`")
    }
}

/// What all senders have brought within the last hour.
#[derive(Debug, Default)]
pub(super) struct Shares {
    limits: NewLimits,
    hasher: RandomState,
    /// What anybody has brought: it is not new any more, also before it is learned.
    brought: HashSet<u64>,
    /// What each sender has brought, by time; `None` for all addresses without a share of their own.
    used: BTreeMap<Option<Holder>, Used>,
    tidied: u64,
}

#[derive(Debug, Default)]
struct Used {
    rulesets: VecDeque<(u64, u64)>,
    players: VecDeque<(u64, u64)>,
    /// When the log last said that this share is used up.
    announced: Option<u64>,
}

impl Used {
    /// Forgets what is older than an hour.
    fn forget(&mut self, now: u64, brought: &mut HashSet<u64>) {
        for all in [&mut self.rulesets, &mut self.players] {
            while let Some((_, name)) = all.pop_front_if(|(at, _)| *at + HOUR <= now) {
                brought.remove(&name);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.rulesets.is_empty() && self.players.is_empty()
    }
}

impl Shares {
    pub fn new(limits: NewLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Puts other limits in force. What was brought still counts.
    pub fn set_limits(&mut self, limits: NewLimits) {
        self.limits = limits;
    }

    /// Whether nothing is limited.
    pub fn is_off(&self) -> bool {
        self.limits == NewLimits::default()
    }

    /// Notes a ruleset of which nothing is known.
    pub fn add_ruleset(&self, to: &mut Unknown, ruleset: &Ruleset) {
        let name = self.hasher.hash_one(ruleset);
        if !self.brought.contains(&name) && !to.rulesets.contains(&name) {
            to.rulesets.push(name);
        }
    }

    /// Notes a player of whom nothing is known.
    pub fn add_player(&self, to: &mut Unknown, player: &PlayerKey) {
        let name = self.hasher.hash_one(player);
        if !self.brought.contains(&name) {
            to.players.push(name);
        }
    }

    /// Takes all of it from the share of its sender, or nothing.
    ///
    /// # Errors
    /// Fails if the share is too small for it. The second value is whether that is the first time in an hour.
    pub fn take(
        &mut self,
        owner: &Holder,
        mut new: Unknown,
        now: u64,
    ) -> Result<(), (ShareUsedUp, bool)> {
        self.tidy(now);
        new.players.sort_unstable();
        new.players.dedup();
        let key = self.key(owner);
        let Self {
            limits,
            brought,
            used,
            ..
        } = self;
        let own = used.entry(key).or_default();
        own.forget(now, brought);
        let Unknown { rulesets, players } = new;
        for (what, name, most, used, new) in [
            (
                "ruleset",
                "new_rulesets_per_hour",
                limits.rulesets,
                &own.rulesets,
                rulesets.len(),
            ),
            (
                "player",
                "new_players_per_hour",
                limits.players,
                &own.players,
                players.len(),
            ),
        ] {
            let over = (used.len() + new).saturating_sub(most as usize);
            if most > 0 && new > 0 && over > 0 {
                let last = used.get(over - 1).filter(|_| new <= most as usize);
                let again =
                    last.map(|(at, _)| Duration::from_millis((at + HOUR).saturating_sub(now)));
                let used_up = ShareUsedUp {
                    owner: owner.clone(),
                    what,
                    key: name,
                    most,
                    new,
                    again,
                };
                let is_news = own.announced.is_none_or(|at| at + HOUR <= now);
                own.announced = own.announced.filter(|_| !is_news).or(Some(now));
                return Err((used_up, is_news));
            }
        }
        for (limit, all, new) in [
            (limits.rulesets, &mut own.rulesets, rulesets),
            (limits.players, &mut own.players, players),
        ] {
            if limit > 0 {
                brought.extend(&new);
                all.extend(new.into_iter().map(|name| (now, name)));
            }
        }
        Ok(())
    }

    /// Under which key a sender's share is kept.
    fn key(&self, owner: &Holder) -> Option<Holder> {
        let own = Some(owner.clone());
        let is_address = |key: &&Option<Holder>| matches!(key, Some(Holder::Address(_)));
        let has_own = matches!(owner, Holder::Client(_))
            || self.used.contains_key(&own)
            || self.used.keys().filter(is_address).count() < MOST_ADDRESSES;
        own.filter(|_| has_own)
    }

    fn tidy(&mut self, now: u64) {
        if now < self.tidied + TIDY {
            return;
        }
        self.tidied = now;
        let brought = &mut self.brought;
        self.used.retain(|_, own| {
            own.forget(now, brought);
            !own.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;

    fn client(name: &str) -> Holder {
        Holder::Client(name.into())
    }

    fn shares(rulesets: u32, players: u32) -> Shares {
        Shares::new(NewLimits { rulesets, players })
    }

    /// Brings these new players in one match.
    fn bring(
        shares: &mut Shares,
        owner: &Holder,
        players: std::ops::Range<u32>,
        now: u64,
    ) -> Result<(), ShareUsedUp> {
        let mut new = Unknown::default();
        for number in players {
            let key = PlayerKey {
                kind: Kind::Human,
                id: format!("p{number}"),
            };
            shares.add_player(&mut new, &key);
        }
        shares.take(owner, new, now).map_err(|(why, _)| why)
    }

    #[test]
    fn a_share_is_that_of_the_last_hour_and_of_one_client() {
        let (mut all, a, b) = (shares(0, 10), client("a"), client("b"));
        assert_eq!(bring(&mut all, &a, 0..6, 0), Ok(()));
        assert_eq!(bring(&mut all, &a, 6..9, 1_000), Ok(()));
        let why = bring(&mut all, &a, 9..12, 2_000).unwrap_err();
        assert_eq!(why.again, Some(Duration::from_millis(HOUR - 2_000)));
        let text = why.to_string();
        for part in [
            "client a",
            "10 players an hour",
            "new_players_per_hour",
            "in 3598 s",
            "ingest",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(
            bring(&mut all, &a, 9..10, 2_000),
            Ok(()),
            "there is room for one"
        );
        assert_eq!(
            bring(&mut all, &b, 10..20, 2_000),
            Ok(()),
            "who has a share"
        );
        assert_eq!(
            bring(&mut all, &a, 0..20, 2_000),
            Ok(()),
            "none is new any more"
        );
        assert!(bring(&mut all, &a, 20..23, HOUR - 1).is_err());
        assert_eq!(bring(&mut all, &a, 20..23, HOUR), Ok(()));
        // More than a whole share never has room.
        let why = bring(&mut all, &a, 100..111, 9 * HOUR).unwrap_err();
        assert_eq!(why.again, None);
        assert!(
            why.to_string().contains("these are 11: send fewer"),
            "{why}"
        );
        assert_eq!(bring(&mut all, &a, 100..110, 9 * HOUR), Ok(()));
    }

    #[test]
    fn nothing_is_taken_from_one_share_if_the_other_is_too_small() {
        let (mut all, a) = (shares(1, 3), client("a"));
        let new = |all: &Shares, ruleset: &str, player: &str| {
            let mut new = Unknown::default();
            all.add_ruleset(&mut new, &Ruleset::parse(ruleset));
            let id = player.to_owned();
            let kind = Kind::Bot;
            all.add_player(&mut new, &PlayerKey { kind, id });
            new
        };
        let first = new(&all, "ctf", "x");
        assert_eq!(all.take(&a, first, 0), Ok(()));
        for time in 0..10 {
            let more = new(&all, &format!("ctf{time}"), &format!("y{time}"));
            let (why, is_first) = all.take(&a, more, time).unwrap_err();
            assert!(why.to_string().contains("1 ruleset an hour"), "{why}");
            assert_eq!(is_first, time == 0, "the log says it once");
        }
        let known = new(&all, "ctf", "y");
        assert_eq!(all.take(&a, known, 20), Ok(()));
        assert_eq!(all.used[&Some(a)].players.len(), 2);
    }

    #[test]
    fn without_limits_nothing_is_kept() {
        let (mut all, a) = (shares(0, 0), client("a"));
        assert!(all.is_off());
        assert_eq!(bring(&mut all, &a, 0..100_000, 0), Ok(()));
        assert!(all.brought.is_empty() && all.used[&Some(a)].is_empty());
    }

    #[test]
    fn strangers_take_bounded_memory_and_none_from_a_client() {
        let (mut all, a) = (shares(0, 10), client("a"));
        let mut refused = 0;
        for number in 0..10_000_u32 {
            let address = Holder::Address(std::net::Ipv4Addr::from(number).into());
            let own = 20 * number..20 * number + 10;
            refused += u32::from(bring(&mut all, &address, own, u64::from(number)).is_err());
        }
        // Those without a share of their own have one together.
        assert_eq!(refused, 10_000 - MOST_ADDRESSES as u32 - 1);
        assert_eq!(all.used.len(), MOST_ADDRESSES + 1);
        assert_eq!(all.brought.len(), 10 * (MOST_ADDRESSES + 1));
        assert_eq!(bring(&mut all, &a, 900_000..900_010, 10_000), Ok(()));
        assert_eq!(bring(&mut all, &a, 0..0, 2 * HOUR), Ok(()));
        assert!(
            all.brought.is_empty() && all.used.len() <= 1,
            "after an hour"
        );
    }
}
