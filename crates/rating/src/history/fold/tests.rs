//! The fold on hand-made games and on generated histories.

mod accounts;
mod changes;
mod checkpoints;
mod elsewhere;
mod one_match;
mod order;
mod outlook;
mod rulesets;
mod seasons;
mod start_weights;

use proptest::prelude::*;

use super::*;
use crate::history::{PART_FROM_ELSEWHERE, Unrated, points::points};
use crate::{Player, SystemName};
use evenkeel_model::{
    Cause, Kind, LeaveReason, LineupPlayer, Nobody, Outcome, Participant, Presence, RulebookSpec,
    ScoreEvent, Scoring, Span, TeamLoad, Unknown, WeightCause, WeightEntry, units::Share,
};

fn rulebook() -> Rulebook {
    let mut spec = RulebookSpec::default();
    spec.mutators.gameplay = vec!["insta".into()];
    spec.mutators.unknown = Unknown::Ignore;
    spec.game_types.free_for_all = vec!["ffa".into()];
    spec.game_types.frags = vec!["ffa".into()];
    Rulebook::new(&spec).unwrap()
}

fn someone(kind: Kind, id: &str, stays: Vec<Presence>) -> Participant {
    Participant {
        key: PlayerKey {
            kind,
            id: id.into(),
        },
        name: format!("{id}!"),
        presence: stays,
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: None,
    }
}

fn stay(team: u8, from: u64, to: u64) -> Presence {
    let span = Span { from, to };
    Presence { team, span }
}

/// A game of 100 seconds that ends at `end`.
fn game(end: i64, scores: &[f64], participants: Vec<Participant>) -> MatchRecord {
    MatchRecord {
        server: "s".into(),
        start: Timestamp(end - 100_000),
        end: Timestamp(end),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        logged_as: None,
        map: "m".into(),
        game_type: "ctf".into(),
        mode: String::new(),
        mutators: vec![],
        scores: scores.to_vec(),
        outcome: MatchRecord::outcome_of(scores),
        participants,
        events: vec![],
    }
}

fn duel(end: i64, scores: [f64; 2]) -> MatchRecord {
    let a = someone(Kind::Human, "a", vec![stay(0, 0, 100_000)]);
    let b = someone(Kind::Human, "b", vec![stay(1, 0, 100_000)]);
    game(end, &scores, vec![a, b])
}

fn settings(system: SystemName) -> Settings {
    let rating = rating::Settings {
        system: system.into(),
        ..rating::Settings::default()
    };
    rating.into()
}

fn folded<'a>(matches: impl IntoIterator<Item = &'a MatchRecord>) -> Fold {
    folded_by(SystemName::Presence, matches)
}

fn folded_by<'a>(system: SystemName, matches: impl IntoIterator<Item = &'a MatchRecord>) -> Fold {
    let mut fold = Fold::new(&rulebook(), settings(system));
    for record in matches {
        assert_eq!(record.check(), Ok(()));
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    fold
}

fn rated(record: &MatchRecord) -> Result<(), Unrated> {
    let mut fold = Fold::new(&rulebook(), settings(SystemName::Presence));
    let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
    assert_eq!(ruling.rated.is_err(), fold.weights().next().is_none());
    ruling.rated.map(drop)
}

/// The weights in use under a ruleset, ordered by player, and the level from which each comes.
fn best_weights<'a>(fold: &'a Fold, ruleset: &'a Ruleset) -> Vec<(Weight<'a>, Level)> {
    let mut keys: Vec<&PlayerKey> = (0..)
        .map_while(|number| fold.digest.people().get(Player(number)))
        .map(|person| &person.key)
        .collect();
    keys.sort_unstable();
    let keys = keys.into_iter();
    keys.filter_map(|key| fold.best_weight(ruleset, key.kind, &key.id))
        .collect()
}

/// All weights of a fold, comparable to the bit: the weight, its deviation and the strength.
type Bits = Vec<(String, PlayerKey, String, [u64; 3], u32, i64)>;

fn bits(fold: &Fold) -> Bits {
    let line = |w: Weight<'_>| {
        (
            w.ruleset.to_string(),
            w.key.clone(),
            w.name.to_owned(),
            [w.weight, w.deviation, w.strength].map(f64::to_bits),
            w.games,
            w.last_seen.0,
        )
    };
    fold.weights().map(line).collect()
}

/// Any record that passes its check, small enough that the same players meet again.
fn any_record() -> impl Strategy<Value = MatchRecord> {
    let stays = prop::collection::vec((0..3_u8, 0..=100_000_u64, 0..=100_000_u64), 0..4);
    let people = prop::collection::vec((stays, any::<bool>(), any::<(u8, u8)>()), 0..8);
    let points = prop_oneof![-3.0..9.0, Just(0.0), Just(1e9), Just(-1e9)];
    let events = prop::collection::vec((0..=100_000_u64, 0..3_u8, points.clone()), 0..9);
    let teams = prop_oneof![Just(0_usize), Just(2), Just(3)];
    (
        teams,
        prop::collection::vec(points, 3),
        people,
        events,
        0..50_i64,
    )
        .prop_map(|(teams, scores, people, mut events, end)| {
            let mut record = game(100_000 + 1_000 * end, &scores[..teams], vec![]);
            if teams == 0 {
                record.game_type = "ffa".into();
                events.clear();
            }
            let on = |team: u8| team % u8::try_from(teams.max(1)).unwrap();
            for (i, (stays, bot, (kills, deaths))) in people.into_iter().enumerate() {
                let kind = if bot { Kind::Bot } else { Kind::Human };
                let mut stays: Vec<_> = stays
                    .into_iter()
                    .map(|(team, a, b)| stay(on(team), a.min(b), a.max(b)))
                    .collect();
                stays.sort_by_key(|s| s.span.from);
                let mut p = someone(kind, &format!("p{i}"), stays);
                (p.kills, p.deaths) = (kills.into(), deaths.into());
                record.participants.push(p);
            }
            events.sort_by_key(|e| e.0);
            record.events = events
                .into_iter()
                .map(|(at, team, points)| ScoreEvent {
                    at,
                    team: on(team),
                    points,
                    by: None,
                })
                .collect();
            record
        })
}

/// A history without duplicates, in the order of the fold.
fn any_history() -> impl Strategy<Value = Vec<MatchRecord>> {
    prop::collection::vec(any_record(), 0..24).prop_map(in_order)
}

fn in_order(mut matches: Vec<MatchRecord>) -> Vec<MatchRecord> {
    matches.sort_by_key(|m| (m.end, Fingerprint::of(m)));
    matches.dedup_by_key(|m| (m.end, Fingerprint::of(m)));
    matches
}

/// With a season in the midst of the histories.
fn season_settings(system: SystemName) -> Settings {
    Settings {
        seasons: vec![Timestamp(120_000)],
        ..settings(system)
    }
}

fn saved(fold: &Fold) -> Vec<u8> {
    let mut state = Vec::new();
    fold.save(&mut state).unwrap();
    state
}

/// Folds all matches at once, and again with a save and a restore after the first `k`.
fn with_and_without_a_checkpoint(system: SystemName, matches: &[MatchRecord], k: usize) {
    let settings = season_settings(system);
    let push = |fold: &mut Fold, matches: &[MatchRecord]| {
        for record in matches {
            fold.push(record, Fingerprint::of(record)).unwrap();
        }
    };
    let mut whole = Fold::new(&rulebook(), settings.clone());
    push(&mut whole, &matches[..k]);
    let state = saved(&whole);
    let mut resumed = Fold::restore(&rulebook(), settings, &state).unwrap();
    assert_eq!(saved(&resumed), state, "{system}");
    push(&mut whole, &matches[k..]);
    push(&mut resumed, &matches[k..]);
    assert_eq!(bits(&resumed), bits(&whole), "{system}");
    assert_eq!(saved(&resumed), saved(&whole), "{system}");
}

/// Four against four or five out of nine players, numbered from the weakest; side 0 is easier.
fn sided(matches: u32) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut one = |number: i64| {
        let mut pool: Vec<u32> = (0..9).collect();
        let mut draw = |n: usize| -> Vec<u32> {
            let one = |_| pool.swap_remove(random.random_range(0..pool.len()));
            (0..n).map(one).collect()
        };
        let teams = [draw(4), draw(4 + usize::from(number % 2 == 0))];
        let sum = |team: &[u32]| team.iter().map(|p| 5.0 + f64::from(*p)).sum::<f64>();
        let edge = (sum(&teams[0]) - sum(&teams[1])) / 12.0 + 0.6;
        let won = random.random_bool(rating::normal::cdf(edge));
        let both = teams.iter().zip(0..);
        let people = both.flat_map(|(team, t)| {
            let id = |p: &u32| format!("p{p}");
            team.iter()
                .map(move |p| someone(Kind::Human, &id(p), vec![stay(t, 0, 100_000)]))
        });
        let scores = [f64::from(u8::from(won)), f64::from(u8::from(!won))];
        game(200_000 * number, &scores, people.collect())
    };
    (1..=i64::from(matches)).map(&mut one).collect()
}

/// Two against two out of eight players of equal strength, of whom one commands half of their teams and
/// then wins nine games of ten.
fn commanded(matches: i64) -> Vec<MatchRecord> {
    use evenkeel_model::{Role, RoleName};
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut one = |number: i64| {
        let mut pool: Vec<u32> = (1..8).collect();
        let mut others = || pool.swap_remove(random.random_range(0..pool.len()));
        let ids = [0, others(), others(), others()];
        let commands = number % 2 == 0;
        let person = |(seat, id): (usize, u32)| {
            let team = u8::from(seat >= 2);
            let mut person = someone(Kind::Human, &format!("p{id}"), vec![stay(team, 0, 100_000)]);
            let role = || Role {
                name: RoleName::COMMANDER.into(),
                team,
                share: 1.0,
            };
            person.roles.extend((commands && id == 0).then(role));
            person
        };
        let people = ids.into_iter().enumerate().map(person).collect();
        let won = random.random_bool(if commands { 0.9 } else { 0.5 });
        let won = f64::from(u8::from(won));
        game(200_000 * number, &[won, 1.0 - won], people)
    };
    (1..=matches).map(&mut one).collect()
}
