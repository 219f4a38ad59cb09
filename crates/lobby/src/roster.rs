//! The humans and bots in a running game, in the order in which they joined, and the number of bots that the game needs:
//! enough to make the teams equal in number, and no more.

use evenkeel_model::{ident::Ident, team_names::RoleName};
use evenkeel_partition::sums::Fill;
use serde::{Deserialize, Serialize};

use super::{LobbyError, Update};

/// A human in the running game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Human {
    /// The identity that the game server sent.
    pub id: Ident,
    /// Their current name, if JOIN stated one.
    pub name: Option<String>,
    /// The party that they came with.
    pub party: Option<String>,
    /// The team that they are on; `None` until one is chosen.
    pub team: Option<u8>,
    /// The team that they must be on.
    pub pin: Option<u8>,
    /// Their role, such as commander.
    pub role: Option<RoleName>,
    /// Ids of the humans they want to avoid, in the game or not.
    pub avoid: Vec<String>,
    /// The team on which they would like to be, which may not exist any more.
    pub wish: Option<u8>,
    /// The millisecond of the session until which decisions leave them on their team; `u64::MAX`
    /// for the whole game.
    pub protected_until: u64,
}

/// A bot in the running game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bot {
    /// The name that the game server sent.
    pub name: Ident,
    /// The team that the bot is on, counted from 0.
    pub team: u8,
}

/// The humans and bots in a running game. Look-ups are linear, because a game has few players.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roster {
    room: usize,
    humans: Vec<Human>,
    bots: Vec<Bot>,
}

impl Roster {
    pub(super) fn new(room: usize) -> Self {
        Self {
            room,
            humans: Vec::new(),
            bots: Vec::new(),
        }
    }

    /// The roster with room for `room` humans and as many bots.
    pub(super) fn with_room(mut self, room: usize) -> Self {
        self.room = room;
        self
    }

    /// The humans in JOIN order.
    pub fn humans(&self) -> &[Human] {
        &self.humans
    }

    /// The bots in BOTJOIN order.
    pub fn bots(&self) -> &[Bot] {
        &self.bots
    }

    /// The human with this id.
    pub fn find(&self, id: &Ident) -> Option<&Human> {
        self.humans.iter().find(|human| human.id == *id)
    }

    /// The human with this id.
    ///
    /// # Errors
    /// Fails if there is none.
    pub(super) fn human(&self, id: &Ident) -> Result<&Human, LobbyError> {
        self.find(id).ok_or(LobbyError::UnknownPlayer)
    }

    /// The human with this id, to change them.
    ///
    /// # Errors
    /// Fails if there is none.
    pub(super) fn human_mut(&mut self, id: &Ident) -> Result<&mut Human, LobbyError> {
        let human = self.humans.iter_mut().find(|human| human.id == *id);
        human.ok_or(LobbyError::UnknownPlayer)
    }

    /// A number for a human's party, which only its members in the roster share; `None` without a party.
    pub(super) fn party_number(&self, human: &Human) -> Option<u32> {
        let party = human.party.as_ref()?;
        let first = self
            .humans
            .iter()
            .position(|h| h.party.as_ref() == Some(party))?;
        u32::try_from(first).ok()
    }

    /// Number of humans on each team.
    pub fn sizes(&self, teams: u8) -> Vec<usize> {
        let on = |team| {
            self.humans
                .iter()
                .filter(|human| human.team == Some(team))
                .count()
        };
        (0..teams).map(on).collect()
    }

    /// Number of humans without a team.
    pub fn unplaced(&self) -> usize {
        self.humans
            .iter()
            .filter(|human| human.team.is_none())
            .count()
    }

    /// The highest team that a player is on or pinned to.
    pub(super) fn highest_team(&self) -> Option<u8> {
        let humans = self
            .humans
            .iter()
            .flat_map(|human| human.team.into_iter().chain(human.pin));
        humans.chain(self.bots.iter().map(|bot| bot.team)).max()
    }

    /// Takes everybody off the teams from this one on: humans are on no team then, and bots leave.
    pub(super) fn give_up_teams(&mut self, from: u8) {
        let stays = |team: &u8| *team < from;
        for human in &mut self.humans {
            human.team = human.team.filter(stays);
            human.pin = human.pin.filter(stays);
        }
        self.bots.retain(|bot| stays(&bot.team));
    }

    /// The human who has to go so that another one finds room: this game is over, and who joined first has most likely left.
    pub(super) fn first_in_the_way(&self, of: &Ident) -> Option<Ident> {
        let is_full = self.humans.len() >= self.room && self.find(of).is_none();
        self.humans
            .first()
            .filter(|_| is_full)
            .map(|human| human.id.clone())
    }

    /// The same for bots.
    pub(super) fn first_bot_in_the_way(&self, of: &Ident) -> Option<Ident> {
        let is_there = self.bots.iter().any(|bot| bot.name == *of);
        let is_full = self.bots.len() >= self.room && !is_there;
        self.bots
            .first()
            .filter(|_| is_full)
            .map(|bot| bot.name.clone())
    }

    pub(super) fn join(&mut self, id: &Ident, update: &Update) -> Result<(), LobbyError> {
        let at = match self.humans.iter().position(|human| human.id == *id) {
            Some(at) => at,
            None if self.humans.len() >= self.room => return Err(LobbyError::RosterFull),
            None => {
                self.humans.push(Human {
                    id: id.clone(),
                    name: None,
                    party: None,
                    team: None,
                    pin: None,
                    role: None,
                    avoid: Vec::new(),
                    wish: None,
                    protected_until: 0,
                });
                self.humans.len() - 1
            }
        };
        let human = &mut self.humans[at];
        if let Some(name) = &update.name {
            human.name = Some(name.clone());
        }
        human.team = update.team.or(human.team);
        human.pin = update.pin.unwrap_or(human.pin);
        if let Some(party) = &update.party {
            human.party = Some(party.clone()).filter(|party| !party.is_empty());
        }
        if let Some(avoid) = &update.avoid {
            human.avoid.clone_from(avoid);
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let at = self.humans.iter().position(|human| human.id == *id);
        self.humans.remove(at.ok_or(LobbyError::UnknownPlayer)?);
        Ok(())
    }

    pub(super) fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), LobbyError> {
        if let Some(bot) = self.bots.iter_mut().find(|bot| bot.name == *name) {
            bot.team = team;
            return Ok(());
        }
        if self.bots.len() >= self.room {
            return Err(LobbyError::RosterFull);
        }
        self.bots.push(Bot {
            name: name.clone(),
            team,
        });
        Ok(())
    }

    pub(super) fn bot_leave(&mut self, name: &Ident) -> Result<(), LobbyError> {
        let at = self.bots.iter().position(|bot| bot.name == *name);
        self.bots.remove(at.ok_or(LobbyError::UnknownPlayer)?);
        Ok(())
    }

    /// The humans who are on no team yet.
    pub(super) fn unplaced_mut(&mut self) -> impl Iterator<Item = &mut Human> {
        self.humans.iter_mut().filter(|human| human.team.is_none())
    }

    pub(super) fn assign(&mut self, team_of: &[u8]) {
        for (human, &team) in self.humans.iter_mut().zip(team_of) {
            human.team = Some(team);
        }
    }
}

/// Whether a session acts on bots: adds those that the lobby asks for, and removes the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotUse {
    /// Whether it does, as HELLO states it; this overrides `shown`.
    pub declared: Option<bool>,
    /// Whether the session has sent BOTJOIN, or asked about bots.
    pub shown: bool,
}

impl BotUse {
    /// Whether bots that are not in the game yet may be expected.
    pub(super) fn expects(self) -> bool {
        self.declared.unwrap_or(self.shown)
    }
}

/// The number of players for the game server's MinPlayers setting, and the bots that follow from
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotPlan {
    /// The number of players in all, bots included; 0 for no bots.
    pub players: u32,
    /// The number of bots on each team; a single number in a game without teams.
    pub per_team: Vec<u32>,
}

impl BotPlan {
    /// The plan that fills up all teams to one size. `humans` is the number of humans on each team.
    /// Each human without a team counts on the smallest team, where they will be placed.
    pub(super) fn for_teams(fill: &Fill, humans: &[usize], unplaced: usize) -> Self {
        let humans = with_unplaced(humans.to_vec(), unplaced);
        let largest = humans.iter().copied().max().unwrap_or(0);
        let size = fill.team_size(humans.len(), humans.iter().sum(), largest);
        let size = size.unwrap_or(0);
        let missing = |&count: &usize| to_u32(size.saturating_sub(count));
        Self {
            players: to_u32(size * humans.len()),
            per_team: humans.iter().map(missing).collect(),
        }
    }

    /// The plan for a game without teams: bots fill it up to the wanted number, limited to the
    /// map's range.
    pub(super) fn for_all(fill: &Fill, humans: usize) -> Self {
        let players = match fill.is_none(humans) {
            true => 0,
            false => fill.players(),
        };
        Self {
            players,
            per_team: vec![players.saturating_sub(to_u32(humans))],
        }
    }

    /// Reduces the plan to at most `most` players in all. `humans` is the number of humans on each
    /// team; bots get only the places that they leave. Bots are removed from the team with the
    /// most.
    pub(super) fn at_most(mut self, most: usize, humans: &[usize]) -> Self {
        let teams = to_u32(humans.len().max(1));
        self.players = self.players.min(to_u32(most) / teams * teams);
        let size = self.players / teams;
        for (bots, &humans) in self.per_team.iter_mut().zip(humans) {
            *bots = (*bots).min(size.saturating_sub(to_u32(humans)));
        }
        let room = to_u32(most.saturating_sub(humans.iter().sum()));
        while self.per_team.iter().sum::<u32>() > room {
            match self.per_team.iter_mut().max() {
                Some(bots) => *bots -= 1,
                None => break,
            }
        }
        self
    }
}

/// The humans per team after each human without a team has joined the smallest.
pub(super) fn with_unplaced(mut humans: Vec<usize>, unplaced: usize) -> Vec<usize> {
    for _ in 0..unplaced {
        if let Some(fewest) = humans.iter_mut().min() {
            *fewest += 1;
        }
    }
    humans
}

pub(super) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fill(wish: u32) -> Fill {
        Fill {
            on: true,
            wish,
            map_range: (0, 32),
            min_humans: 0,
        }
    }

    fn plan(players: u32, per_team: &[u32]) -> BotPlan {
        BotPlan {
            players,
            per_team: per_team.to_vec(),
        }
    }

    #[test]
    fn the_largest_team_rules_when_it_must() {
        let cases: [(u32, &[usize], usize, BotPlan); 6] = [
            (7, &[1, 2], 0, plan(8, &[3, 2])),
            (4, &[5, 3], 0, plan(10, &[0, 2])),
            (4, &[5, 3], 2, plan(10, &[0, 0])),
            (4, &[0, 0], 7, plan(8, &[0, 1])),
            (7, &[0, 0, 0], 0, plan(9, &[3, 3, 3])),
            (0, &[0, 0], 0, plan(0, &[0, 0])),
        ];
        for (wish, humans, unplaced, expected) in cases {
            assert_eq!(BotPlan::for_teams(&fill(wish), humans, unplaced), expected);
        }
    }

    #[test]
    fn the_level_rules_over_the_wish() {
        // The UT2004 page's program: 8 wanted on a map for 6 to 12.
        let page = Fill {
            map_range: (6, 12),
            ..fill(8)
        };
        assert_eq!(BotPlan::for_teams(&page, &[3, 2], 0), plan(8, &[1, 2]));
        assert_eq!(
            BotPlan::for_teams(&Fill { wish: 2, ..page }, &[3, 2], 0),
            plan(6, &[0, 1])
        );
        assert_eq!(
            BotPlan::for_teams(&Fill { wish: 20, ..page }, &[3, 2], 0),
            plan(12, &[3, 4])
        );
        assert_eq!(
            BotPlan::for_teams(&Fill { wish: 20, ..page }, &[9, 8], 0),
            plan(18, &[0, 1])
        );
    }

    #[test]
    fn without_teams_the_wish_is_all() {
        assert_eq!(BotPlan::for_all(&fill(6), 2), plan(6, &[4]));
        assert_eq!(BotPlan::for_all(&fill(6), 9), plan(6, &[0]));
    }

    #[test]
    fn bots_can_be_off_and_can_wait_for_humans() {
        let off = Fill {
            on: false,
            ..fill(6)
        };
        assert_eq!(BotPlan::for_teams(&off, &[2, 1], 0), plan(0, &[0, 0]));
        assert_eq!(BotPlan::for_all(&off, 1), plan(0, &[0]));
        let waits = Fill {
            min_humans: 2,
            ..fill(6)
        };
        assert_eq!(BotPlan::for_teams(&waits, &[1, 0], 0), plan(0, &[0, 0]));
        assert_eq!(BotPlan::for_teams(&waits, &[1, 0], 1), plan(6, &[2, 2]));
        assert_eq!(BotPlan::for_all(&waits, 1), plan(0, &[0]));
        assert_eq!(BotPlan::for_all(&waits, 2), plan(6, &[4]));
    }

    #[test]
    fn the_roster_bounds_it() {
        let most = |wish, humans: &[usize], most| {
            BotPlan::for_teams(&fill(wish), humans, 0).at_most(most, humans)
        };
        assert_eq!(most(8, &[2, 1], 8), plan(8, &[2, 3]));
        assert_eq!(most(12, &[2, 1], 8), plan(8, &[2, 3]));
        assert_eq!(most(12, &[2, 1], 7), plan(6, &[1, 2]));
        assert_eq!(most(12, &[5, 1], 8), plan(8, &[0, 2]));
        assert_eq!(
            BotPlan::for_all(&fill(12), 3).at_most(8, &[3]),
            plan(8, &[5])
        );
    }

    proptest! {
        #[test]
        fn no_more_than_the_roster_holds(wish in 0u32..40, most in 1usize..30, humans in proptest::collection::vec(0usize..20, 2..=8)) {
            let plan = BotPlan::for_teams(&fill(wish), &humans, 0).at_most(most, &humans);
            let bots = plan.per_team.iter().sum::<u32>() as usize;
            prop_assert!(plan.players as usize <= most);
            prop_assert!(bots == 0 || humans.iter().sum::<usize>() + bots <= most);
        }

        #[test]
        fn teams_come_out_equal(wish in 0u32..40, humans in proptest::collection::vec(0usize..20, 2..=8)) {
            let plan = BotPlan::for_teams(&fill(wish), &humans, 0);
            let sizes: Vec<usize> = humans.iter().zip(&plan.per_team).map(|(h, b)| h + *b as usize).collect();
            prop_assert!(sizes.iter().all(|size| *size == sizes[0]));
            prop_assert_eq!(sizes.iter().sum::<usize>() as u32, plan.players);
            // No more than needed: with one fewer on each team, there are too few players, or the
            // largest team does not fit.
            let fewer = plan.players.saturating_sub(humans.len() as u32);
            let largest = humans.iter().max().unwrap() * humans.len();
            prop_assert!(plan.players == 0 || fewer < wish.min(32) || fewer < largest as u32);
        }
    }
}
