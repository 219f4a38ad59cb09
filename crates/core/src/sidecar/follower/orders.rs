//! Formats moves as console commands. A command contains numbers, fixed names of teams and the
//! operator's text, and nothing that a player chose.

use super::{
    settings::Settings,
    template::{CommandTemplate, TeamWord},
};

/// Changes of sides, before they are formatted as console commands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Orders {
    /// Players to move, by their number on the server, with their new sides.
    pub(super) moves: Vec<(u32, u8)>,
    /// The number of bots to set.
    pub(super) bots: Option<u32>,
}

/// A bot that is on the server, on this side.
pub(super) struct PresentBot {
    pub(super) number: Option<u32>,
    pub(super) side: u8,
}

impl Orders {
    pub(super) fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.bots.is_none()
    }

    /// Number of players who change sides; a new number of bots counts as one.
    pub(super) fn count(&self) -> usize {
        self.moves.len() + usize::from(self.bots.is_some())
    }

    /// Changes the number of bots on each side to `counts`: surplus bots move to sides with too
    /// few. With `resize`, their number is set if it is another one.
    pub(super) fn seat_bots(&mut self, bots: Vec<PresentBot>, counts: &[u32], resize: bool) {
        let total: u32 = counts
            .iter()
            .fold(0, |sum, &count| sum.saturating_add(count));
        let present = u32::try_from(bots.len()).unwrap_or(u32::MAX);
        if resize && total != present {
            self.bots = Some(total.min(128));
        }
        let mut missing: Vec<u32> = counts.to_vec();
        let mut surplus = Vec::new();
        for bot in bots {
            match missing.get_mut(usize::from(bot.side)) {
                Some(missing) if *missing > 0 => *missing -= 1,
                _ => surplus.push(bot),
            }
        }
        let vacancies = (0u8..).zip(&missing);
        let vacancies = vacancies.flat_map(|(side, &count)| (0..count.min(128)).map(move |_| side));
        // The bots that joined last move first.
        for (bot, side) in surplus.into_iter().rev().zip(vacancies) {
            self.moves.extend(bot.number.map(|number| (number, side)));
        }
    }

    /// Formats the console commands. Moves players from the two sides alternately, because a server
    /// may refuse to enlarge the larger team.
    pub(super) fn commands(&self, settings: &Settings, words: fn(u8) -> TeamWord) -> Vec<String> {
        let bots = self.bots.zip(settings.bots_command.as_ref());
        let bots = bots.map(|(count, template)| template.set_bots(count));
        let mut commands: Vec<String> = bots.into_iter().collect();
        let to = |first: bool| self.moves.iter().filter(move |(_, to)| (*to == 0) == first);
        let (mut one, mut other) = (to(true), to(false));
        let mut first = to(true).count() >= to(false).count();
        for _ in 0..self.moves.len() {
            let next = match first {
                true => one.next().or_else(|| other.next()),
                false => other.next().or_else(|| one.next()),
            };
            first = !first;
            commands.extend(next.map(|&(player, side)| {
                let template: &CommandTemplate = &settings.move_command;
                template.move_player(player, words(side))
            }));
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(orders: &Orders) -> Vec<String> {
        let settings = Settings {
            server: String::new(),
            token: None,
            bots_as_players: false,
            auto_balance: false,
            settle: 0,
            attempts: 1,
            move_command: CommandTemplate::of_move("move {player} {team}").unwrap(),
            bots_command: Some(CommandTemplate::of_bots("bots {count}").unwrap()),
        };
        let word = |side: u8| TeamWord {
            name: ["red", "blue"][usize::from(side)],
            number: 0,
        };
        orders.commands(&settings, word)
    }

    #[test]
    fn players_move_in_turns() {
        let orders = Orders {
            moves: vec![(1, 0), (2, 0), (3, 1)],
            bots: None,
        };
        let expected = ["move 1 red", "move 3 blue", "move 2 red"];
        assert_eq!(commands(&orders), expected);
    }

    #[test]
    fn bots_go_where_they_are_missing() {
        let seated = |counts: &[u32], resize| {
            let bots = [(1, 0), (2, 0), (3, 0), (4, 1)].map(|(number, side)| PresentBot {
                number: Some(number),
                side,
            });
            let mut orders = Orders::default();
            orders.seat_bots(bots.into(), counts, resize);
            commands(&orders)
        };
        let none: [&str; 0] = [];
        assert_eq!(seated(&[2, 2], false), ["move 3 blue"]);
        assert_eq!(seated(&[3, 1], true), none);
        assert_eq!(seated(&[0, 0], false), none);
        assert_eq!(seated(&[1, 1], true), ["bots 2"]);
        assert_eq!(seated(&[2, 3], true), ["bots 5", "move 3 blue"]);
    }
}
