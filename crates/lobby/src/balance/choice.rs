//! BALANCE under another policy than to find the best teams, as an experiment compares them: teams that are drawn at
//! random, or made by hand.

use evenkeel_model::random::{Stream, StreamPurpose};
use evenkeel_partition::{self as partition, Problem, ProblemError, ProblemSpec, Solution};

use super::{Balance, Repeat};
use crate::settings::TeamChoice;

impl TeamChoice {
    /// How the teams were made, for EXPLAIN; `None` if they were searched for.
    pub(super) fn line(self) -> Option<&'static str> {
        match self {
            Self::Best => None,
            Self::Random => Some("the teams were drawn at random"),
            Self::ByHand => Some(
                "the teams are made by hand: who had no team came to the team with fewest humans",
            ),
        }
    }
}

impl Balance {
    /// The teams of a policy that does not search for them; `None` if it does. Pins hold.
    pub(super) fn without_search(
        &self,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Solution>, ProblemError> {
        let mut random = Stream::new(seed, StreamPurpose::RandomSplits);
        let team_of = match self.choice {
            TeamChoice::Best => return Ok(None),
            TeamChoice::Random => self.drawn(&mut random),
            TeamChoice::ByHand => self.by_hand(),
        };
        let mut fixed = self.problem.clone();
        (fixed.max_share, fixed.max_difference) = (1.0, None);
        for (human, team) in fixed.view.humans.iter_mut().zip(&team_of) {
            human.pin = Some(*team);
        }
        fixed.tear(|_, party| party.iter().all(|&who| team_of[who] == team_of[party[0]]));
        let problem = Problem::new(fixed)?;
        partition::solve(&problem, &self.settings, seed, out_of_time).map(Some)
    }

    /// Everybody keeps the pinned team, then the present one. The others come one by one, in JOIN order, to the team with
    /// fewest humans.
    fn by_hand(&self) -> Vec<u8> {
        let humans = self.problem.view.humans.iter();
        let kept = humans.map(|human| human.pin.or(human.team)).collect();
        filled(
            &self.problem,
            kept,
            (0..self.problem.view.humans.len()).collect(),
            |ties| ties[0],
        )
    }

    /// Everybody keeps the pinned team. The others are drawn in random order, each for a team with fewest humans. Teams that
    /// were drawn for the same humans, or before the game came again, stay: otherwise somebody would ask until the teams
    /// are welcome.
    fn drawn(&self, random: &mut Stream) -> Vec<u8> {
        let stay = self.repeat != Repeat::Nothing;
        let humans = self.problem.view.humans.iter();
        let kept = humans
            .map(|human| human.pin.or(human.team.filter(|_| stay)))
            .collect();
        let mut order: Vec<usize> = (0..self.problem.view.humans.len()).collect();
        random.shuffle(&mut order);
        filled(&self.problem, kept, order, |ties| {
            ties[random.index(ties.len())]
        })
    }
}

/// Puts everybody without a team, in this order, on a team with fewest humans; `pick` chooses among several.
fn filled(
    problem: &ProblemSpec,
    mut team_of: Vec<Option<u8>>,
    order: Vec<usize>,
    mut pick: impl FnMut(&[u8]) -> u8,
) -> Vec<u8> {
    let mut sizes = vec![0_usize; problem.teams()];
    for team in team_of.iter().flatten() {
        sizes[usize::from(*team)] += 1;
    }
    for who in order {
        if team_of[who].is_some() {
            continue;
        }
        let fewest = sizes.iter().min().copied().unwrap_or(0);
        let teams = (0_u8..).zip(&sizes);
        let ties: Vec<u8> = teams
            .filter(|(_, size)| **size == fewest)
            .map(|(team, _)| team)
            .collect();
        let team = pick(&ties);
        sizes[usize::from(team)] += 1;
        team_of[who] = Some(team);
    }
    team_of.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use evenkeel_model::{
        ident::Ident,
        units::{MaxDifference, PositiveShare},
    };
    use evenkeel_partition::{Settings, problem::SizeLimits};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Command, Decided, Decision, Lobby, LobbySettings, Update,
        place::{PlaceSettings, Reason},
        weights::tests::{WeightTable, ctf},
    };

    /// The usual ones.
    const LIMITS: SizeLimits = SizeLimits {
        max_team_share: PositiveShare::of(18.0 / 32.0),
        max_difference: MaxDifference::of(1),
    };

    fn club(teams: TeamChoice) -> Lobby {
        let mut lobby = Lobby::new(LobbySettings {
            teams,
            ..LobbySettings::default()
        });
        lobby.apply(&ctf(), 0).unwrap();
        lobby
    }

    fn join(lobby: &mut Lobby, id: &str, team: Option<u8>, pin: Option<u8>) {
        let update = Update {
            team,
            pin: pin.map(Some),
            ..Update::default()
        };
        let id = Ident::from_text(id);
        lobby.apply(&Command::Join { id, update }, 0).unwrap();
    }

    fn weights() -> WeightTable {
        WeightTable::new(
            &[("ann", 95.0), ("bob", 90.0), ("cid", 10.0), ("dan", 5.0)],
            &[],
        )
    }

    fn balance(lobby: &mut Lobby, seed: u64) -> Decided<Balance> {
        let question = lobby.balance(&weights(), LIMITS, Settings::default());
        let decided = question.unwrap().decide(seed, &mut || false).unwrap();
        lobby.follow(&decided, &weights()).unwrap();
        decided
    }

    fn teams(lobby: &mut Lobby, seed: u64) -> Vec<u8> {
        balance(lobby, seed).answer.team_of
    }

    #[test]
    fn by_hand_everybody_stays_where_they_went() {
        // Both best players have gone to red. Nobody moves them.
        let mut lobby = club(TeamChoice::ByHand);
        for (id, team) in [("ann", 0), ("bob", 0), ("cid", 1), ("dan", 1)] {
            join(&mut lobby, id, Some(team), None);
        }
        assert_eq!(teams(&mut lobby, 1), [0, 0, 1, 1]);
        // Five who come late go to the smaller team, one after the other.
        for id in ["eve", "fay", "gus", "hal", "ida"] {
            join(&mut lobby, id, None, None);
        }
        assert_eq!(teams(&mut lobby, 2), [0, 0, 1, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn by_hand_a_team_that_is_far_larger_stays_so() {
        let mut lobby = club(TeamChoice::ByHand);
        for id in ["ann", "bob", "cid", "dan"] {
            join(&mut lobby, id, Some(0), None);
        }
        join(&mut lobby, "eve", None, None);
        assert_eq!(teams(&mut lobby, 1), [0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_pinned_goalkeeper_stays_in_the_goal() {
        for teams_by in [TeamChoice::ByHand, TeamChoice::Random] {
            for seed in 0..50 {
                let mut lobby = club(teams_by);
                join(&mut lobby, "ann", None, Some(1));
                join(&mut lobby, "bob", None, None);
                join(&mut lobby, "cid", None, None);
                join(&mut lobby, "dan", None, None);
                let teams = teams(&mut lobby, seed);
                assert_eq!(teams[0], 1);
                assert_eq!(
                    teams.iter().filter(|team| **team == 1).count(),
                    2,
                    "{teams:?}"
                );
            }
        }
    }

    #[test]
    fn drawn_teams_are_the_same_for_the_strong_and_the_weak() {
        let (mut on_first, mut larger, mut together) = ([0; 5], 0, 0);
        for seed in 0..1_000 {
            let mut lobby = club(TeamChoice::Random);
            for id in ["ann", "bob", "cid", "dan", "eve"] {
                join(&mut lobby, id, None, None);
            }
            let teams = teams(&mut lobby, seed);
            let first = teams.iter().filter(|team| **team == 0).count();
            assert!(first == 2 || first == 3);
            larger += usize::from(first == 3);
            together += usize::from(teams[0] == teams[1]);
            for (own, team) in on_first.iter_mut().zip(&teams) {
                *own += usize::from(*team == 0);
            }
        }
        let fair = 440..560; // 500 and four standard deviations
        assert!(
            on_first.iter().all(|own| fair.contains(own)),
            "{on_first:?}"
        );
        assert!(fair.contains(&larger), "{larger}");
        assert!((340..460).contains(&together), "two of five: {together}");
    }

    #[test]
    fn whoever_asks_again_gets_the_same_drawn_teams() {
        let mut lobby = club(TeamChoice::Random);
        for id in ["ann", "bob", "cid", "dan"] {
            join(&mut lobby, id, None, None);
        }
        let first = teams(&mut lobby, 1);
        for seed in 2..7 {
            assert_eq!(teams(&mut lobby, seed), first);
        }
        // With another player, teams are drawn anew.
        let anew = (0..20).map(|seed| {
            let mut lobby = lobby.clone();
            join(&mut lobby, "eve", None, None);
            teams(&mut lobby, seed)[..4] != first[..]
        });
        assert!(anew.filter(|other| *other).count() > 10);
    }

    #[test]
    fn a_party_that_is_drawn_apart_is_named() {
        let apart = (0..50).find_map(|seed| {
            let mut lobby = club(TeamChoice::Random);
            for id in ["ann", "bob", "cid", "dan"] {
                let party = ["ann", "bob"].contains(&id).then(|| "friends".to_owned());
                let update = Update {
                    party,
                    ..Update::default()
                };
                let id = Ident::from_text(id);
                lobby.apply(&Command::Join { id, update }, 0).unwrap();
            }
            let decided = balance(&mut lobby, seed);
            let teams = &decided.answer.team_of;
            (teams[0] != teams[1]).then(|| decided.to_string())
        });
        let why = apart.expect("some draw splits two friends");
        assert!(why.starts_with("the teams were drawn at random\n"), "{why}");
    }

    #[test]
    fn the_number_of_humans_alone_places_if_nobody_balances() {
        let mut lobby = Lobby::new(LobbySettings {
            place: PlaceSettings {
                by_number: true,
                ..PlaceSettings::default()
            },
            ..LobbySettings::default()
        });
        lobby.apply(&ctf(), 0).unwrap();
        for (id, team) in [("cid", 0), ("ann", 1), ("bob", 1)] {
            join(&mut lobby, id, Some(team), None);
        }
        let place = |lobby: &mut Lobby, id: &str| {
            join(lobby, id, None, None);
            let placed = lobby.place(&Ident::from_text(id), &weights(), 1).unwrap();
            (placed.answer.team, placed.answer.reason)
        };
        assert_eq!(place(&mut lobby, "dan"), (0, Reason::ByNumber));
        assert_eq!(
            place(&mut lobby, "eve"),
            (0, Reason::ByNumber),
            "the first of two"
        );
        assert_eq!(place(&mut lobby, "fay"), (1, Reason::ByNumber));
    }

    #[test]
    fn a_search_is_stored_as_before() {
        let mut lobby = club(TeamChoice::Best);
        join(&mut lobby, "ann", None, None);
        join(&mut lobby, "bob", None, None);
        let decided = balance(&mut lobby, 3);
        let json = serde_json::to_string(&Decision::from(decided)).unwrap();
        assert!(!json.contains("choice"), "{json}");
    }

    fn choice() -> impl Strategy<Value = TeamChoice> {
        prop_oneof![Just(TeamChoice::Random), Just(TeamChoice::ByHand)]
    }

    proptest! {
        #[test]
        fn everybody_gets_a_team_and_a_replay_the_same(
            choice in choice(),
            humans in prop::collection::vec((prop::option::of(0_u8..2), prop::option::weighted(0.2, 0_u8..2)), 1..12),
            seed: u64,
        ) {
            let mut lobby = club(choice);
            for (at, (team, pin)) in humans.iter().enumerate() {
                join(&mut lobby, &format!("p{at}"), *team, *pin);
            }
            let decided = balance(&mut lobby, seed);
            let teams = decided.answer.team_of.clone();
            prop_assert_eq!(teams.len(), humans.len());
            for ((team, pin), got) in humans.iter().zip(&teams) {
                prop_assert!(*got < 2 && pin.is_none_or(|pin| pin == *got));
                if choice == TeamChoice::ByHand && pin.is_none() {
                    prop_assert!(team.is_none_or(|team| team == *got));
                }
            }
            if choice == TeamChoice::Random && humans.iter().all(|(_, pin)| pin.is_none()) {
                let first = teams.iter().filter(|team| **team == 0).count();
                prop_assert!(first.abs_diff(teams.len() - first) <= 1);
            }
            let json = serde_json::to_string(&Decision::from(decided)).unwrap();
            let stored: Decision = serde_json::from_str(&json).unwrap();
            let again = stored.clone().again(&mut || false).unwrap();
            prop_assert_eq!(again, stored);
        }
    }

    #[test]
    fn by_hand_a_whole_club_may_be_on_one_team() {
        let mut lobby = club(TeamChoice::ByHand);
        for id in ["ann", "bob", "cid"] {
            join(&mut lobby, id, Some(1), None);
        }
        assert_eq!(teams(&mut lobby, 9), [1, 1, 1]);
    }
}
