//! Formats moves by the operator's templates. A command contains numbers, fixed names of teams and the
//! operator's text, and nothing that a player chose.

use super::template::{CommandTemplate, TeamWord};
use crate::engine::{TeamChanges, TeamOrders, in_turns, misplaced};

/// The console commands of an engine that needs plugins: templates, which the operator can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateCommands {
    /// The command that moves one player.
    pub move_command: CommandTemplate,
    /// The command that sets the number of bots; if absent, bots only change teams.
    pub bots_command: Option<CommandTemplate>,
}

impl TemplateCommands {
    /// The commands for these changes: first the number of bots, if it is to be another one, then the moves. `words`
    /// names the sides.
    pub(crate) fn orders(
        &self,
        changes: &TeamChanges<'_>,
        words: fn(u8) -> TeamWord,
    ) -> TeamOrders {
        let counts = changes.bot_counts.as_deref().unwrap_or_default();
        let (surplus, vacancies) = misplaced(&changes.bots, |(_, side)| *side, counts);
        // The bots that joined last move first.
        let bots = surplus.into_iter().rev().zip(vacancies);
        let bots = bots.map(|((bot, _), side)| (*bot, side));
        let moves = changes.moves.iter().copied().chain(bots);
        let numbered = moves.filter_map(|(player, side)| Some((player.number?, side)));
        let moves: Vec<(u32, u8)> = numbered.collect();
        let resize = self.bots_command.as_ref().zip(resized(changes));
        let mut commands: Vec<String> = resize
            .iter()
            .map(|(template, count)| template.set_bots(*count))
            .collect();
        let moved = in_turns(&moves).into_iter();
        commands
            .extend(moved.map(|(player, side)| self.move_command.move_player(player, words(side))));
        TeamOrders {
            count: moves.len() + usize::from(resize.is_some()),
            commands,
            removed: Vec::new(),
        }
    }
}

/// The number of bots to set, if it is another one than that on the server.
fn resized(changes: &TeamChanges<'_>) -> Option<u32> {
    let counts = changes.bot_counts.as_ref()?.iter();
    let total = counts.fold(0, |sum: u32, &count| sum.saturating_add(count));
    let present = u32::try_from(changes.bots.len()).unwrap_or(u32::MAX);
    (total != present).then_some(total.min(128))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logged::LoggedPlayer;
    use evenkeel_model::{Kind, PlayerKey};

    fn player(number: u32) -> LoggedPlayer {
        let id = number.to_string();
        LoggedPlayer {
            name: id.clone(),
            key: PlayerKey {
                kind: Kind::Bot,
                id,
            },
            number: Some(number),
            side: None,
            free: false,
            begun: true,
            role: None,
        }
    }

    fn commands(changes: &TeamChanges<'_>, resize: bool) -> Vec<String> {
        let bots_command = CommandTemplate::of_bots("bots {count}").unwrap();
        let templates = TemplateCommands {
            move_command: CommandTemplate::of_move("move {player} {team}").unwrap(),
            bots_command: resize.then_some(bots_command),
        };
        let word = |side: u8| TeamWord {
            name: ["red", "blue"][usize::from(side)],
            number: 0,
        };
        templates.orders(changes, word).commands
    }

    #[test]
    fn players_move_in_turns() {
        let players = [1, 2, 3].map(player);
        let changes = TeamChanges {
            moves: players.iter().zip([0, 0, 1]).collect(),
            ..TeamChanges::default()
        };
        let expected = ["move 1 red", "move 3 blue", "move 2 red"];
        assert_eq!(commands(&changes, false), expected);
    }

    #[test]
    fn bots_go_where_they_are_missing() {
        let players = [1, 2, 3, 4].map(player);
        let seated = |counts: &[u32], resize| {
            let changes = TeamChanges {
                bots: players.iter().zip([0, 0, 0, 1]).collect(),
                bot_counts: Some(counts.to_vec()),
                ..TeamChanges::default()
            };
            commands(&changes, resize)
        };
        let none: [&str; 0] = [];
        assert_eq!(seated(&[2, 2], false), ["move 3 blue"]);
        assert_eq!(seated(&[3, 1], true), none);
        assert_eq!(seated(&[0, 0], false), none);
        assert_eq!(seated(&[1, 1], true), ["bots 2"]);
        assert_eq!(seated(&[2, 3], true), ["bots 5", "move 3 blue"]);
    }
}
