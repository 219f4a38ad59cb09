//! Whatever waits and whoever is there: nobody who joins a match in play breaks a hard rule. The teams are
//! checked by code that knows nothing of the rules.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::{
    backfill::open,
    situations::{queue, ticket},
};
use crate::{
    Ticket,
    backfill::{Addition, OpenMatch},
    planner::PlanInput,
};

/// Number of seats of a team.
const SIZE: usize = 4;
/// The largest latency to the region of the match.
const NEAR: u32 = 80;

const RULES: &str = "teams = 2\nsize = 4\nruleset = \"ctf\"\n\
    [attributes]\ntier = \"int 1..10\"\nkind = \"enum k0 k1 k2\"\nmaps = \"set\"\nping = \"map num\"\n\
    vehicle = \"id\"\ncontrol = \"enum touch mouse\"\nsame_control = \"flag\"\n\
    [[rule]]\nname = \"spread\"\nrule = \"spread\"\nof = \"tier\"\nat_most = 2\nhard = true\n\
    [[rule]]\nname = \"kinds\"\nrule = \"at-most-each\"\nof = \"kind\"\nat_most = 2\nhard = true\n\
    [[rule]]\nname = \"vehicles\"\nrule = \"differ-each\"\nof = \"vehicle\"\nat_most = 1\nhard = true\n\
    [[rule]]\nname = \"control\"\nrule = \"alike\"\nof = \"control\"\nasked_by = \"same_control\"\nhard = true\n\
    [[rule]]\nname = \"maps\"\nrule = \"common\"\nof = \"maps\"\npicks = \"map\"\nhard = true\n\
    [[rule]]\nname = \"near\"\nrule = \"common\"\nof = \"ping\"\nat_most = 80\npicks = \"region\"\nhard = true\n";

/// What a player states.
#[derive(Clone, Debug)]
struct Person {
    tier: u32,
    kind: u32,
    vehicle: u32,
    maps: BTreeSet<u32>,
    has_mouse: bool,
    asks: bool,
    /// The latency to each of two regions, where the player states it.
    pings: [Option<u32>; 2],
}

fn person() -> impl Strategy<Value = Person> {
    let maps = prop::collection::btree_set(0u32..3, 1..4);
    let ping = || prop_oneof![3 => (40u32..100).prop_map(Some), 1 => Just(None)];
    // Few ask for the same control, since hardly anybody could join otherwise.
    let (mouse, asks) = (prop::bool::weighted(0.3), prop::bool::weighted(0.1));
    let facts = (
        1u32..4,
        0u32..3,
        0u32..4,
        maps,
        mouse,
        asks,
        [ping(), ping()],
    );
    facts.prop_map(
        |(tier, kind, vehicle, maps, has_mouse, asks, pings)| Person {
            tier,
            kind,
            vehicle,
            maps,
            has_mouse,
            asks,
            pings,
        },
    )
}

impl Person {
    fn json(&self, id: &str) -> String {
        let maps: Vec<String> = self.maps.iter().map(|map| format!("\"m{map}\"")).collect();
        let pings = self.pings.iter().enumerate();
        let pings = pings.filter_map(|(at, ping)| Some(format!("\"r{at}\":{}", (*ping)?)));
        let control = if self.has_mouse { "mouse" } else { "touch" };
        format!(
            r#"{{"id":"{id}","tier":{},"kind":"k{}","vehicle":"v{}","maps":[{}],"control":"{control}","same_control":{},"ping":{{{}}}}}"#,
            self.tier,
            self.kind,
            self.vehicle,
            maps.join(","),
            self.asks,
            pings.collect::<Vec<_>>().join(",")
        )
    }
}

/// The rules that these teams break, by their names, where the match has this map and this region.
fn broken(teams: &[Vec<Person>], map: u32, region: usize) -> BTreeSet<&'static str> {
    let all: Vec<&Person> = teams.iter().flatten().collect();
    let mut broken = BTreeSet::new();
    let mut check = |name, holds: bool| {
        if !holds {
            broken.insert(name);
        }
    };
    let tiers: BTreeSet<u32> = all.iter().map(|one| one.tier).collect();
    check(
        "spread",
        tiers.last() <= tiers.first().map(|first| first + 2).as_ref(),
    );
    let count = |team: &Vec<Person>, is: &dyn Fn(&Person) -> bool| {
        team.iter().filter(|one| is(one)).count()
    };
    for kind in 0..3 {
        let few = teams
            .iter()
            .all(|team| count(team, &|one| one.kind == kind) <= 2);
        check("kinds", few);
    }
    for vehicle in 0..4 {
        let [one, other] = [0, 1].map(|at: usize| count(&teams[at], &|one| one.vehicle == vehicle));
        check("vehicles", one.abs_diff(other) <= 1);
    }
    for asking in all.iter().filter(|one| one.asks) {
        check(
            "control",
            all.iter().all(|one| one.has_mouse == asking.has_mouse),
        );
    }
    check("maps", all.iter().all(|one| one.maps.contains(&map)));
    let is_near = |one: &&Person| one.pings[region].is_some_and(|ping| ping <= NEAR);
    check("near", all.iter().all(is_near));
    broken
}

/// The players of a team, each of whom has a ticket of their own.
type Team = Vec<Person>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 10_000 }))]

    /// No hard rule is broken that held before, no seat is taken twice, and no ticket is in two matches.
    #[test]
    fn what_joins_breaks_no_hard_rule(
        waiting in vec(vec(person(), 1..3), 0..16),
        present in vec(vec(person(), 1..SIZE), 4),
    ) {
        let queue = queue(RULES);
        let make = |id: String, players: &[Person]| {
            let players = players.iter().enumerate();
            let players = players.map(|(at, one)| one.json(&format!("{id}.{at}")));
            let players: Vec<String> = players.collect();
            ticket(&queue, &format!(r#"{{"ticket":"{id}","players":[{}]}}"#, players.join(",")))
        };
        let tickets: Vec<Ticket> = waiting.iter().enumerate()
            .map(|(at, players)| make(format!("w{at}"), players)).collect();
        let mut matches = Vec::new();
        for (number, teams) in present.chunks(2).enumerate() {
            let team = |(side, players): (usize, &Team)| -> Vec<Ticket> {
                let alone = |(at, one): (usize, &Person)| make(format!("p{number}.{side}.{at}"), std::slice::from_ref(one));
                players.iter().enumerate().map(alone).collect()
            };
            let picks = [("map", format!("m{number}")), ("region", format!("r{number}"))];
            matches.push(OpenMatch {
                picks: picks.map(|(name, word)| (name.to_owned(), word)).into(),
                ..open(&queue, teams.iter().enumerate().map(team).collect())
            });
        }
        let found: Vec<Vec<Addition>> = PlanInput::new(&queue, &tickets).backfill(&matches);
        let mut used = BTreeSet::new();
        for (number, (additions, teams)) in found.iter().zip(present.chunks(2)).enumerate() {
            let mut after: Vec<Team> = teams.to_vec();
            for &(place, team) in additions.iter().flat_map(|one| &one.seats) {
                prop_assert!(used.insert(place), "a ticket is in two matches");
                after[team].extend(waiting[place].iter().cloned());
            }
            prop_assert!(after.iter().all(|team| team.len() <= SIZE));
            let before = broken(teams, number as u32, number);
            let newly: Vec<_> = broken(&after, number as u32, number).difference(&before).copied().collect();
            prop_assert!(newly.is_empty(), "{newly:?}: {teams:?} {after:?}");
        }
    }
}

/// The check is worth something only if players do join, with every rule in force.
#[test]
fn enough_of_them_join() {
    let queue = queue(RULES);
    let one = |id: &str, more: &str| {
        let text = format!(
            r#"{{"ticket":"{id}","waited":9,"players":[{{"id":"{id}","tier":2,"kind":"k0","vehicle":"v1","maps":["m0"],"control":"touch","ping":{{"r0":50}}{more}}}]}}"#
        );
        ticket(&queue, &text)
    };
    let game = || OpenMatch {
        picks: BTreeMap::from([
            ("map".to_owned(), "m0".to_owned()),
            ("region".to_owned(), "r0".to_owned()),
        ]),
        free: vec![1, 0],
        ..open(&queue, vec![vec![one("a", "")], vec![one("b", "")]])
    };
    let joins = |ticket: Ticket| {
        let found = PlanInput::new(&queue, &[ticket]).backfill(&[game()]);
        !found[0].is_empty()
    };
    assert!(joins(one("x", "")));
    assert!(joins(one("x", r#","same_control":true"#)));
}
