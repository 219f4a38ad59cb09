//! Whether BALANCE is asked for once more, so that the teams stay unless others are better.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::partition::{ProblemSpec, WeightedHuman};

/// What a question has in common with the last BALANCE of the same game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// Other humans play, or some are not on the teams that it chose.
    #[default]
    Nothing,
    /// The same humans play, on the teams that it chose.
    Roster,
    /// The same humans, and all other inputs of the choice are the same, too.
    Everything,
    /// The game has come again: those who have stayed are on the chosen teams, others have come or gone.
    Again,
}

/// What a game remembers of the last BALANCE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastBalance {
    /// The digest of the problem, with the chosen teams as the current ones.
    problem: [u8; 16],
    /// The team of each human, by the human's key.
    chosen: BTreeMap<String, Option<usize>>,
    weaker_side: Option<u8>,
}

impl LastBalance {
    /// The problem that BALANCE solved, with the chosen teams as the current ones.
    pub fn of(problem: &ProblemSpec) -> Self {
        let humans = problem.humans.iter();
        Self {
            problem: digest(problem),
            chosen: humans.map(|one| (one.key.clone(), one.current)).collect(),
            weaker_side: problem.weaker_side(),
        }
    }

    /// The humans for whom it has chosen teams.
    pub(in crate::lobby) fn humans(&self) -> impl Iterator<Item = &str> {
        self.chosen.keys().map(String::as_str)
    }

    /// The team that it has chosen for a human.
    pub(in crate::lobby) fn team(&self, id: &str) -> Option<u8> {
        let team = self.chosen.get(id).copied().flatten();
        team.and_then(|team| u8::try_from(team).ok())
    }

    /// Whether these are the same humans, each on the chosen team.
    pub(in crate::lobby) fn holds<'a>(
        &self,
        mut humans: impl ExactSizeIterator<Item = (&'a str, Option<u8>)>,
    ) -> bool {
        // Ids are unique, so equally many humans with known ids are the same humans.
        let same = humans.len() == self.chosen.len();
        same && humans.all(|(id, team)| {
            let chosen = self.chosen.get(id).copied().flatten();
            chosen.is_some() && chosen == team.map(usize::from)
        })
    }

    /// The team on the weaker side of the map, if the problem had one.
    pub(in crate::lobby) fn weaker_side(&self) -> Option<u8> {
        self.weaker_side
    }
}

impl Repeat {
    /// Compares a problem with the last one. A human who has come back and is on no team is put on the chosen team, if
    /// the same humans play and all others are on theirs. If the game has come `again`, the same holds of those who have
    /// stayed, and all others are on no team yet.
    pub(super) fn of(last: &LastBalance, problem: &mut ProblemSpec, again: bool) -> Self {
        if last.problem == digest(problem) {
            return Self::Everything;
        }
        let chosen = &last.chosen;
        let stays = |human: &WeightedHuman| {
            let team = chosen.get(human.key.as_str());
            team.is_some_and(|team| human.current.is_none() || human.current == *team)
        };
        // Keys are unique, so equally many humans with known keys are the same humans.
        let same = problem.humans.len() == chosen.len() && problem.humans.iter().all(stays);
        let is_known = |human: &WeightedHuman| chosen.contains_key(human.key.as_str());
        let stand = again
            && problem.humans.iter().any(is_known)
            && problem
                .humans
                .iter()
                .all(|one| !is_known(one) || stays(one));
        if !same && !stand {
            return Self::Nothing;
        }
        for human in &mut problem.humans {
            human.current = chosen.get(human.key.as_str()).copied().flatten();
        }
        if same { Self::Roster } else { Self::Again }
    }
}

/// A digest that only the same problem has.
fn digest(problem: &ProblemSpec) -> [u8; 16] {
    let json = serde_json::to_vec(problem).unwrap_or_default();
    let mut short = [0; 16];
    short.copy_from_slice(&Sha256::digest(&json)[..16]);
    short
}
