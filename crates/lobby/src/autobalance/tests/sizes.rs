//! Numbers of players: once everybody has died, no team has two players more than another.

use proptest::prelude::*;

use crate::games::win_model;
use crate::{
    AutoBalanceRules, Command, Fate, Lobby, LobbySettings, Power, StayReason, Update,
    weights::tests::{WeightTable, ctf},
};
use evenkeel_model::{Ident, Stream, StreamPurpose, units::MaxDifference};
use evenkeel_partition::{MoveBlock, Objective};

const OBJECTIVES: [Objective; 2] = [Objective::Ratio, Objective::Chance];

/// A game in play whose teams have been uneven for as long as the rules demand.
struct Evening {
    lobby: Lobby,
    weights: WeightTable,
    now: u64,
}

fn by_weight() -> AutoBalanceRules {
    AutoBalanceRules {
        power: Power::Weight,
        ..AutoBalanceRules::sectors_edge()
    }
}

/// The rules of Sector's Edge, the same by weight, and the players' proposal if sizes count.
fn rules() -> [AutoBalanceRules; 3] {
    let closest = AutoBalanceRules {
        like_sizes: MaxDifference::of(1),
        ..AutoBalanceRules::players_proposal()
    };
    [AutoBalanceRules::sectors_edge(), by_weight(), closest]
}

impl Evening {
    /// Humans p0, p1, … of these weights, on teams of these sizes.
    fn new(
        sizes: &[usize],
        weights: &[f64],
        objective: Objective,
        auto_balance: AutoBalanceRules,
    ) -> Self {
        let mut settings = LobbySettings {
            objective,
            auto_balance,
            ..LobbySettings::default()
        };
        settings.roster.bots = false;
        let known = weights.iter().enumerate();
        let known: Vec<(String, f64)> = known.map(|(n, w)| (format!("p{n}"), *w)).collect();
        let by_chance = objective == Objective::Chance;
        let weights = WeightTable {
            humans: known.into_iter().collect(),
            win_model: by_chance.then(win_model),
            ..WeightTable::default()
        };
        let mut evening = Self {
            lobby: Lobby::new(settings),
            weights,
            now: 0,
        };
        let teams = sizes.len() as u8;
        evening.send(Command::Teams { teams });
        evening.send(ctf());
        let mut n = 0;
        for (team, size) in (0u8..).zip(sizes) {
            for _ in 0..*size {
                evening.join(
                    n,
                    Update {
                        team: Some(team),
                        ..Update::default()
                    },
                );
                n += 1;
            }
        }
        evening.send(Command::Start);
        evening.now = 20_000;
        evening
    }

    fn send(&mut self, command: Command) {
        self.lobby.apply(&command, self.now).unwrap();
        self.lobby.watch(&self.weights);
    }

    fn join(&mut self, who: usize, update: Update) {
        let id = Ident::from_text(&format!("p{who}"));
        self.send(Command::Join { id, update });
    }

    /// Nothing is known of this human: they play for the first time.
    fn is_new(&mut self, who: usize) {
        self.weights.humans.remove(&format!("p{who}"));
    }

    fn die(&mut self, who: usize) -> Fate {
        let id = Ident::from_text(&format!("p{who}"));
        let decided = self.lobby.at(self.now).died(&id, &self.weights);
        decided.unwrap().unwrap().answer.fate
    }

    /// By how many humans the largest team exceeds the smallest: from the teams alone.
    fn apart(&self) -> usize {
        let sizes = self.lobby.game().unwrap().roster.sizes(self.lobby.teams());
        sizes.iter().max().unwrap() - sizes.iter().min().unwrap()
    }
}

/// A party, by its name.
fn party(name: &str) -> Update {
    Update {
        party: Some(name.into()),
        ..Update::default()
    }
}

/// Weights and an order to die in.
fn drawn(seed: u64, humans: usize) -> (Vec<f64>, Vec<usize>) {
    let mut stream = Stream::new(seed, StreamPurpose::Place);
    let weights = (0..humans).map(|_| 100.0 * stream.unit()).collect();
    let mut order: Vec<usize> = (0..humans).collect();
    stream.shuffle(&mut order);
    (weights, order)
}

#[test]
fn once_everybody_has_died_nobody_is_missing() {
    let cases: [&[usize]; 9] = [
        &[3, 1],
        &[4, 2],
        &[5, 3],
        &[10, 5],
        &[2, 0],
        &[9, 0],
        &[4, 4, 1],
        &[1, 6, 0],
        &[3, 3, 3, 1],
    ];
    for objective in OBJECTIVES {
        for rules in rules() {
            for sizes in cases {
                for seed in 0..20 {
                    let (weights, order) = drawn(seed, sizes.iter().sum());
                    let mut evening = Evening::new(sizes, &weights, objective, rules.clone());
                    let moves = order.into_iter().map(|who| evening.die(who));
                    let moves = moves.filter(|fate| matches!(fate, Fate::Moves(_))).count();
                    assert!(evening.apart() <= 1, "{sizes:?} {objective:?} {rules:?}");
                    let most = sizes.iter().sum::<usize>().div_ceil(sizes.len());
                    let over = sizes.iter().map(|size| size.saturating_sub(most)).sum();
                    let more = sizes.len() - 2; // which of several goes is open
                    assert!((over..=over + more).contains(&moves), "{sizes:?}: {moves}");
                }
            }
        }
    }
}

/// One giant alone against three: by ratio every move makes it less even, and the weakest goes in whatever order they die. By
/// chance the giant is ahead of three, so that others even it, too.
#[test]
fn of_moves_that_all_do_harm_the_least_harmful_is_made() {
    let weights = [60.0, 20.0, 40.0, 99.0];
    for objective in OBJECTIVES {
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let mut evening = Evening::new(&[3, 1], &weights, objective, by_weight());
            for who in order {
                match evening.die(who) {
                    Fate::Moves(_) if matches!(objective, Objective::Ratio) => assert_eq!(who, 1),
                    Fate::Moves(_) => assert_ne!(who, 0, "the strongest of the three"),
                    Fate::Stays(StayReason::Tips | StayReason::Held(MoveBlock::Top)) => {
                        assert_ne!(who, 1);
                    }
                    Fate::Stays(why) => assert_eq!(why, StayReason::Balanced, "{order:?}"),
                }
            }
            assert_eq!(evening.apart(), 0);
        }
    }
}

#[test]
fn the_best_by_points_go_if_nobody_else_may() {
    let mut evening = Evening::new(
        &[4, 1],
        &[50.0; 5],
        Objective::Ratio,
        AutoBalanceRules::sectors_edge(),
    );
    evening.send(Command::Points {
        id: Ident::from_text("p0"),
        points: 9.0,
    });
    assert_eq!(
        evening.die(0),
        Fate::Stays(StayReason::Held(MoveBlock::Top))
    );
    for who in [1, 2, 3] {
        let id = Ident::from_text(&format!("p{who}"));
        evening.send(Command::Protect { id, millis: None });
        let why = StayReason::Held(MoveBlock::Protected);
        assert_eq!(evening.die(who), Fate::Stays(why));
    }
    assert!(matches!(evening.die(0), Fate::Moves(_)));
}

/// While p1 was to come, p0 stayed: that would have left a less even game. Then p1 and p2 are friends.
#[test]
fn a_party_that_forms_in_play_is_a_reason_to_look_again() {
    let weights = [60.0, 20.0, 40.0, 99.0];
    for objective in OBJECTIVES {
        let mut evening = Evening::new(&[3, 1], &weights, objective, by_weight());
        assert!(matches!(evening.die(0), Fate::Stays(_)));
        evening.join(1, party("p"));
        evening.join(2, party("p"));
        for who in [1, 2] {
            assert_eq!(evening.die(who), Fate::Stays(StayReason::Party));
        }
        assert!(matches!(evening.die(0), Fate::Moves(_)));
        assert_eq!(evening.apart(), 0);
    }
}

#[test]
fn who_stays_because_of_a_party_is_told_which() {
    let mut evening = Evening::new(
        &[3, 1],
        &[50.0; 4],
        Objective::Ratio,
        AutoBalanceRules::sectors_edge(),
    );
    evening.join(0, party("p"));
    evening.join(2, party("p"));
    let id = Ident::from_text("p0");
    let decided = evening.lobby.at(20_000).died(&id, &evening.weights);
    let why = decided.unwrap().unwrap().to_string();
    assert!(
        why.starts_with("p0 stays: plays in a party\n") && why.contains("the party of p0: p2\n"),
        "{why}"
    );
}

#[test]
fn what_the_operator_counts_as_nearly_equal_stays() {
    let wide = AutoBalanceRules {
        like_sizes: MaxDifference::of(3),
        ..AutoBalanceRules::sectors_edge()
    };
    for (sizes, apart) in [([5, 2], 3), ([7, 2], 3)] {
        let mut evening = Evening::new(&sizes, &[50.0; 9], Objective::Ratio, wide.clone());
        (0..sizes.iter().sum()).for_each(|who| {
            evening.die(who);
        });
        assert_eq!(evening.apart(), apart);
    }
}

/// Ann plays for the first time, and her team is four against two. She dies first and stays; a regular goes, even the best.
#[test]
fn who_plays_for_the_first_time_goes_last() {
    let rules = AutoBalanceRules {
        spare_newcomers: true,
        ..AutoBalanceRules::sectors_edge()
    };
    let evening = |rules: AutoBalanceRules, newcomers: &[usize]| {
        let mut evening = Evening::new(&[4, 2], &[50.0; 6], Objective::Chance, rules);
        newcomers.iter().for_each(|&who| evening.is_new(who));
        let id = Ident::from_text("p3");
        evening.send(Command::Points { id, points: 9.0 });
        evening
    };
    let stays = Fate::Stays(StayReason::Newcomer);
    let mut ann = evening(rules.clone(), &[0]);
    assert_eq!(ann.die(0), stays);
    assert!(matches!(ann.die(1), Fate::Moves(_)));
    let mut three = evening(rules.clone(), &[0, 1, 2]);
    assert!((0..3).all(|who| three.die(who) == stays));
    assert!(matches!(three.die(3), Fate::Moves(_)));
    // Nobody plays outnumbered because all are new.
    let mut all = evening(rules, &[0, 1, 2, 3]);
    assert!(matches!(all.die(0), Fate::Moves(_)));
    let mut off = evening(AutoBalanceRules::sectors_edge(), &[0]);
    assert!(matches!(off.die(0), Fate::Moves(_)));
}

/// What becomes of a human before or between the deaths.
#[derive(Clone, Debug)]
enum Turn {
    Protect(usize),
    Pin(usize),
    Party(usize),
    Points(usize, u8),
}

fn turns() -> impl Strategy<Value = Vec<(usize, Turn)>> {
    let who = || 0usize..12;
    let turn = prop_oneof![
        who().prop_map(Turn::Protect),
        who().prop_map(Turn::Pin),
        who().prop_map(Turn::Party),
        (who(), any::<u8>()).prop_map(|(who, points)| Turn::Points(who, points)),
        (who(), any::<u8>()).prop_map(|(who, points)| Turn::Points(who, points)),
    ];
    prop::collection::vec((who(), turn), 0..12)
}

impl Evening {
    fn take(&mut self, turn: &Turn, humans: usize) {
        let id = |who: &usize| Ident::from_text(&format!("p{}", who % humans));
        match turn {
            Turn::Protect(who) => self.send(Command::Protect {
                id: id(who),
                millis: None,
            }),
            Turn::Pin(who) => {
                let team = self
                    .lobby
                    .game()
                    .unwrap()
                    .roster
                    .find(&id(who))
                    .unwrap()
                    .team;
                let pin = Some(team);
                self.join(
                    who % humans,
                    Update {
                        pin,
                        ..Update::default()
                    },
                );
            }
            Turn::Party(who) => self.join(who % humans, party("p")),
            Turn::Points(who, points) => self.send(Command::Points {
                id: id(who),
                points: f64::from(*points),
            }),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Whoever is on a team with two more than another one could not be moved.
    #[test]
    fn who_is_left_on_a_larger_team_is_protected_pinned_moved_or_of_a_party(
        sizes in prop::collection::vec(0usize..9, 2..5),
        seed: u64,
        chances: bool,
        preset in 0usize..3,
        spare_newcomers: bool,
        turns in turns(),
    ) {
        let humans: usize = sizes.iter().sum();
        prop_assume!(humans > 0);
        let (weights, order) = drawn(seed, humans);
        let objective = OBJECTIVES[usize::from(chances)];
        let rules = AutoBalanceRules { spare_newcomers, ..rules()[preset].clone() };
        let mut evening = Evening::new(&sizes, &weights, objective, rules);
        (0..humans).step_by(2).for_each(|who| evening.is_new(who));
        let forms = |turn: &Turn| matches!(turn, Turn::Party(_) | Turn::Protect(_) | Turn::Pin(_));
        let (first, later): (Vec<_>, Vec<_>) = turns.into_iter().partition(|(_, turn)| forms(turn));
        first.iter().for_each(|(_, turn)| evening.take(turn, humans));
        for (at, who) in order.into_iter().enumerate() {
            let now = later.iter().filter(|(when, _)| *when == at);
            now.for_each(|(_, turn)| evening.take(turn, humans));
            evening.die(who);
        }
        let game = evening.lobby.view(&evening.weights).unwrap();
        let size = |team: u8| game.humans.iter().filter(|human| human.team == Some(team)).count();
        let fewest = (0..game.teams).map(size).min().unwrap();
        for (who, human) in game.humans.iter().enumerate() {
            let stays = human.pin.is_some() || human.held.is_some() || human.moved || game.in_party(who);
            prop_assert!(stays || size(human.team.unwrap()) <= fewest + 1, "{who} {game:?}");
        }
    }

    /// In whatever order they die, whatever their points and weights: a newcomer goes only for want of others.
    #[test]
    fn as_many_newcomers_go_as_others_are_missing(
        (larger, smaller) in (2usize..10, 0usize..8),
        new in prop::collection::vec(any::<bool>(), 20),
        points in prop::collection::vec(0u8..4, 20),
        seed: u64,
        chances: bool,
        preset in 0usize..3,
    ) {
        prop_assume!(larger >= smaller + 2);
        let humans = larger + smaller;
        let (weights, order) = drawn(seed, humans);
        let rules = AutoBalanceRules { spare_newcomers: true, ..rules()[preset].clone() };
        let objective = OBJECTIVES[usize::from(chances)];
        let mut evening = Evening::new(&[larger, smaller], &weights, objective, rules);
        for who in 0..humans {
            evening.take(&Turn::Points(who, points[who]), humans);
            if new[who] {
                evening.is_new(who);
            }
        }
        let moved: Vec<usize> = order.into_iter().filter(|&who| matches!(evening.die(who), Fate::Moves(_))).collect();
        let need = (larger - smaller) / 2;
        let regulars = (0..larger).filter(|&who| !new[who]).count();
        prop_assert_eq!(moved.len(), need);
        prop_assert_eq!(moved.iter().filter(|&&who| new[who]).count(), need.saturating_sub(regulars));
    }
}
