//! Votes to balance the teams again: what players are told of them.

use super::{Chat, ChatGame, vote::Ballot};

impl Chat {
    /// Handles `!balance`. Returns whether the vote has passed.
    pub(super) fn cast(&mut self, number: usize, game: &ChatGame<'_>, now: u64) -> bool {
        let Some(percent) = self.settings.vote else {
            self.write_to(
                number,
                vec!["players cannot vote on this server".to_owned()],
            );
            return false;
        };
        if !game.can_balance {
            self.write_to(number, vec!["there is no game to balance now".to_owned()]);
            return false;
        }
        let id = game.id_of(number).unwrap_or_default();
        let own = match self.vote.cast(id, &game.voters(), percent, now) {
            Ballot::Began(count) => {
                let (agree, needed) = (count.agree, count.needed);
                self.announce(&format!(
                    "vote to balance the teams again: {agree} of {needed} agree, write !balance to agree, too"
                ));
                return false;
            }
            Ballot::Counted(count) => {
                self.announce(&format!("{} of {} agree", count.agree, count.needed));
                return false;
            }
            Ballot::Passed => {
                self.announce("the vote has passed");
                return true;
            }
            Ballot::Repeated => "you have agreed already".to_owned(),
            Ballot::TooEarly(seconds) => format!("the next vote can begin in {seconds} s"),
            Ballot::NoVoter => "only players on a team can vote".to_owned(),
        };
        self.write_to(number, vec![own]);
        false
    }

    /// Ends the vote if its time is over. Returns whether it has passed.
    pub(super) fn end_vote(&mut self, game: &ChatGame<'_>, now: u64) -> bool {
        let Some(percent) = self.settings.vote else {
            return false;
        };
        let Some(count) = self.vote.end_if_due(&game.voters(), percent, now) else {
            return false;
        };
        let passed = count.agree >= count.needed && game.can_balance;
        self.announce(&match passed {
            true => "the vote has passed".to_owned(),
            false => format!(
                "the vote has failed, {} of {} agreed",
                count.agree, count.needed
            ),
        });
        passed
    }
}
