//! Formats moves by the operator's templates: console commands with placeholders, which the operator may change
//! because they depend on the plugins of a game server. A command contains numbers, fixed names of teams and the
//! operator's text, and nothing that a player chose.

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

/// The longest template, in bytes.
const MAX_TEMPLATE: usize = 200;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Player,
    Team,
    Number,
    Count,
}

/// A console command with placeholders. Only numbers and the fixed names of teams replace them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandTemplate(Vec<TemplatePart>);

/// How the commands of a game server name one team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TeamWord {
    /// Its name, such as `red`.
    pub(crate) name: &'static str,
    /// Its number in the engine.
    pub(crate) number: u32,
}

impl CommandTemplate {
    /// The command that moves a player. It contains `{player}`, the player's number on the server,
    /// and may contain `{team}`, the name of the new team, and `{number}`, its number.
    ///
    /// # Errors
    /// Returns what is wrong with the text.
    pub fn of_move(text: &str) -> Result<Self, String> {
        let template = Self::parse(text)?;
        let of_move = |part: &TemplatePart| *part != TemplatePart::Count;
        match template.0.contains(&TemplatePart::Player) && template.0.iter().all(of_move) {
            true => Ok(template),
            false => Err(
                "a command that moves a player contains {player}, and may contain {team} and {number}"
                    .to_owned(),
            ),
        }
    }

    /// The command that sets the number of bots. It contains `{count}`.
    ///
    /// # Errors
    /// Returns what is wrong with the text.
    pub fn of_bots(text: &str) -> Result<Self, String> {
        let template = Self::parse(text)?;
        let of_bots =
            |part: &TemplatePart| matches!(part, TemplatePart::Count | TemplatePart::Text(_));
        match template.0.contains(&TemplatePart::Count) && template.0.iter().all(of_bots) {
            true => Ok(template),
            false => Err("a command that sets the number of bots contains only {count}".to_owned()),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let plain = |b: u8| b.is_ascii_graphic() || b == b' ';
        if text.trim().is_empty() || text.len() > MAX_TEMPLATE || !text.bytes().all(plain) {
            return Err(format!(
                "a command is one line of at most {MAX_TEMPLATE} visible ASCII characters"
            ));
        }
        let mut parts = Vec::new();
        let mut rest = text.trim();
        while let Some(open) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(open);
            if !before.is_empty() {
                parts.push(TemplatePart::Text(before.to_owned()));
            }
            let close = after.find('}').ok_or("a { has no }")?;
            parts.push(match &after[..=close] {
                "{player}" => TemplatePart::Player,
                "{team}" => TemplatePart::Team,
                "{number}" => TemplatePart::Number,
                "{count}" => TemplatePart::Count,
                other => return Err(format!("`{other}` is not a placeholder")),
            });
            rest = &after[close + 1..];
        }
        if !rest.is_empty() {
            parts.push(TemplatePart::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }

    /// The command that moves the player of this number to a team.
    fn move_player(&self, player: u32, team: TeamWord) -> String {
        self.fill(|part| match part {
            TemplatePart::Player => player.to_string(),
            TemplatePart::Team => team.name.to_owned(),
            TemplatePart::Number => team.number.to_string(),
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Count => String::new(),
        })
    }

    /// The command that sets the number of bots.
    fn set_bots(&self, count: u32) -> String {
        self.fill(|part| match part {
            TemplatePart::Count => count.to_string(),
            TemplatePart::Text(text) => text.clone(),
            _ => String::new(),
        })
    }

    fn fill(&self, text: impl Fn(&TemplatePart) -> String) -> String {
        self.0.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_model::{Kind, PlayerKey};
    use proptest::prelude::*;

    use super::*;
    use crate::progress::LoggedPlayer;

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

    const BLUE: TeamWord = TeamWord {
        name: "blue",
        number: 3,
    };

    #[test]
    fn placeholders() {
        let template = CommandTemplate::of_move(" sm_team \"#{player}\" {number} {team}").unwrap();
        assert_eq!(template.move_player(12, BLUE), "sm_team \"#12\" 3 blue");
        let bots = CommandTemplate::of_bots("bot_quota {count}").unwrap();
        assert_eq!(bots.set_bots(4), "bot_quota 4");
        let long = "x".repeat(200) + "{player}";
        for wrong in [
            "",
            "sm_team",
            "x {player",
            "x }{player}",
            "x {player} {name}",
            "x {player}\nquit",
            "é {player}",
            "x {player} {count}",
            &long,
        ] {
            assert!(CommandTemplate::of_move(wrong).is_err(), "{wrong:?}");
        }
        for wrong in ["bot_quota", "x {count} {player}"] {
            assert!(CommandTemplate::of_bots(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_one_line(text in "[ -~\\n{}playertm]{0,40}") {
            if let Ok(template) = CommandTemplate::of_move(&text) {
                let command = template.move_player(u32::MAX, BLUE);
                let special = command.contains(['\n', '{', '}']);
                prop_assert!(!special && command.contains("4294967295"));
            }
        }
    }
}
