//! The balancers that are compared, each with the rating that it uses.

use evenkeel::rating::SystemName;

use crate::{
    balancers::{
        Balancer, brute_force, captains, faf, karmarkar_karp, loser_picks, ns2, pubobot2, scramble,
        shine, snake, spads, squadjs, tf2pickup, ut2004, zero_k,
    },
    page::EXACT,
    ratings::{Known, Source},
};

/// The scale of a balancer's ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// A newcomer's rating.
    pub newcomer: f64,
    /// The unit in which [`Known`] counts.
    pub unit: f64,
    /// How many deviations below the mean its own rating is.
    pub below: f64,
    /// The lowest rating.
    pub least: f64,
}

/// A balancer in tables.
pub struct Entry {
    pub name: &'static str,
    pub own: Source,
    pub units: Units,
    pub teams: Balancer,
    /// Whether it begins from the sides on which the players stand. The rules of the others do not say who gets which side.
    pub keeps_sides: bool,
}

const fn units(newcomer: f64, unit: f64) -> Units {
    Units {
        newcomer,
        unit,
        below: 0.0,
        least: f64::NEG_INFINITY,
    }
}

/// Weights from 0 to 100.
const WEIGHTS: Units = Units {
    least: 0.0,
    ..units(50.0, 50.0 / 6.0)
};
const ELO: Units = units(1_500.0, 60.0);
const TRUE_SKILL: Units = units(25.0, 7.5);
/// The skill that Natural Selection 2 shows: 100 points are a unit of the log odds.
const NS2: Units = units(1_000.0, 160.0);
/// OpenSkill's mean less its deviation, but not below 0.
const TEISERVER: Units = Units {
    below: 1.0,
    least: 0.0,
    ..TRUE_SKILL
};
/// TrueSkill with a mean of 1,500 and a deviation of 500, less three deviations.
const FAF: Units = Units {
    below: 3.0,
    ..units(1_500.0, 450.0)
};

const fn own(system: SystemName) -> Source {
    Source::System(system)
}

/// All balancers but Evenkeel.
pub static FIELD: [Entry; 16] = [
    Entry::new(
        "UT2004 page, one of the best 20",
        own(SystemName::Presence),
        WEIGHTS,
        ut2004::teams,
    ),
    Entry::new("NS2, fewest swaps", own(SystemName::Hive), NS2, ns2::teams).keeping_sides(),
    Entry::new("Shine, swaps", own(SystemName::Hive), NS2, shine::teams).keeping_sides(),
    Entry::new(
        "Teiserver, loser picks",
        own(SystemName::PlackettLuce),
        TEISERVER,
        loser_picks::teams,
    ),
    Entry::new(
        "Teiserver, exact",
        own(SystemName::PlackettLuce),
        TEISERVER,
        brute_force::teams,
    ),
    Entry::new(
        "SPADS",
        own(SystemName::TrueSkill),
        TRUE_SKILL,
        spads::teams,
    ),
    Entry::new("FAF", own(SystemName::TrueSkill), FAF, faf::teams),
    Entry::new("Zero-K", Source::WholeHistory, ELO, zero_k::teams),
    Entry::new(
        "squadjs",
        own(SystemName::TrueSkill),
        TRUE_SKILL,
        squadjs::teams,
    )
    .keeping_sides(),
    Entry::new("tf2pickup", own(SystemName::Elo), ELO, tf2pickup::teams),
    Entry::new("PUBobot2", own(SystemName::Glicko2), ELO, pubobot2::teams),
    Entry::new("snake draft", own(SystemName::Elo), ELO, snake::teams),
    Entry::new(
        "captains' draft",
        own(SystemName::Elo),
        ELO,
        captains::teams,
    ),
    Entry::new(
        "Karmarkar–Karp",
        own(SystemName::Elo),
        ELO,
        karmarkar_karp::teams,
    ),
    Entry::new(
        "scoreboard, dealt out",
        own(SystemName::Scoreboard),
        WEIGHTS,
        snake::teams,
    ),
    Entry::new("scramble", Source::Nothing, ELO, scramble::teams),
];

/// The search that is tried with all ratings: the most even sums of what players are above a newcomer.
pub static SEARCH: Entry = Entry::new(EXACT, Source::OURS, units(0.0, 1.0), pubobot2::most_even);

/// The ratings that are compared by the same search.
pub static RATINGS: [Source; 10] = [
    Source::OURS,
    own(SystemName::Elo),
    own(SystemName::Glicko2),
    own(SystemName::TrueSkill),
    own(SystemName::PlackettLuce),
    Source::WholeHistory,
    own(SystemName::Hive),
    own(SystemName::Presence),
    own(SystemName::Scoreboard),
    own(SystemName::WinRate),
];

impl Entry {
    const fn new(name: &'static str, own: Source, units: Units, teams: Balancer) -> Self {
        Self {
            name,
            own,
            units,
            teams,
            keeps_sides: false,
        }
    }

    const fn keeping_sides(mut self) -> Self {
        self.keeps_sides = true;
        self
    }

    /// The rating that it gets of a player. Its own is as its own rule says; of others, it gets the mean.
    pub fn rating(&self, source: Source, known: &Known) -> f64 {
        let below = if source == self.own {
            self.units.below
        } else {
            0.0
        };
        let above = known.above - below * known.deviation;
        (self.units.newcomer + self.units.unit * above).max(self.units.least)
    }
}
