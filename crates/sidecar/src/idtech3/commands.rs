//! Formats moves as console commands. A command contains client numbers, `red` or `blue`, and names
//! of bots that consist of plain characters, and nothing else from the log.

use std::str::FromStr;

use crate::{
    console::is_plain_name,
    engine::{in_turns, misplaced},
};

/// The longest name of a bot in a command, in bytes.
const MAX_NAME: usize = 32;
/// The number of frames that the server waits between removing and adding bots, so that their
/// client numbers are free again.
const FRAMES: u32 = 5;

/// The names of the teams in the console.
pub(super) const TEAM_NAMES: [&str; 2] = ["red", "blue"];

/// A bot that can be added to the game.
#[derive(Clone, Debug, PartialEq)]
pub struct SpareBot {
    name: String,
    skill: f64,
}

impl Eq for SpareBot {}

impl SpareBot {
    /// A bot with this name and skill (0 to 100). `None` if the name is unsafe in a command: it
    /// must consist of letters, digits, `_`, `-` and `.`, and start with a letter or digit.
    pub fn new(name: &str, skill: f64) -> Option<Self> {
        let fits = is_plain_name(name) && name.len() <= MAX_NAME;
        (fits && (0.0..=100.0).contains(&skill)).then(|| Self {
            name: name.to_owned(),
            skill,
        })
    }

    /// The bot's name, as `addbot` takes it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Parses `NAME:SKILL`.
impl FromStr for SpareBot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bot = text
            .rsplit_once(':')
            .and_then(|(name, skill)| Self::new(name, skill.parse().ok()?));
        bot.ok_or_else(|| {
            "a bot is NAME:SKILL, such as Sarge:3, with a name of plain characters".to_owned()
        })
    }
}

/// Changes of teams, before they are formatted as console commands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct IdTech3Orders {
    /// Humans to move, by client number, with their new teams.
    pub(super) force: Vec<(usize, u8)>,
    /// Bots to remove, by client number. The console cannot move a bot.
    pub(super) kick: Vec<usize>,
    /// Bots to add, with their teams.
    pub(super) add: Vec<(SpareBot, u8)>,
}

/// A bot that is on the server.
pub(super) struct ReplaceableBot {
    pub(super) number: usize,
    pub(super) team: u8,
    /// The arguments to add the bot again; `None` if its name is unsafe in a command.
    pub(super) again: Option<SpareBot>,
}

impl IdTech3Orders {
    /// Number of players who change teams, are removed or are added.
    pub(super) fn count(&self) -> usize {
        self.force.len() + self.kick.len().max(self.add.len())
    }

    /// Adds orders to remove a bot and add it again on `team`. Returns false if its name is unsafe.
    pub(super) fn reseat(&mut self, bot: ReplaceableBot, team: u8) -> bool {
        let Some(again) = bot.again else { return false };
        self.kick.push(bot.number);
        self.add.push((again, team));
        true
    }

    /// Changes the number of bots on each team to `counts`. Surplus bots move to teams with too
    /// few; the total changes only if there are spare bots.
    pub(super) fn seat_bots(
        &mut self,
        bots: Vec<ReplaceableBot>,
        counts: &[u32],
        spare: &[SpareBot],
    ) {
        let present: Vec<_> = bots.iter().filter_map(|bot| bot.again.clone()).collect();
        let (mut surplus, mut vacancies) = misplaced(bots, |bot| bot.team, counts);
        // Move the bots that joined last first.
        while let Some(&team) = vacancies.first() {
            let Some(bot) = surplus.pop() else { break };
            if self.reseat(bot, team) {
                vacancies.remove(0);
            }
        }
        if spare.is_empty() {
            return;
        }
        self.kick.extend(surplus.iter().map(|bot| bot.number));
        let free = spare
            .iter()
            .filter(|spare| !present.iter().any(|bot| bot.name == spare.name));
        self.add.extend(free.cloned().zip(vacancies));
    }

    /// Formats the console commands.
    pub(super) fn commands(&self, admin: bool) -> Vec<String> {
        let verb = if admin { "!putteam" } else { "forceteam" };
        let mut commands: Vec<String> = self
            .kick
            .iter()
            .map(|n| format!("clientkick {n}"))
            .collect();
        for (number, team) in in_turns(&self.force) {
            commands.push(format!("{verb} {number} {}", colour(team)));
        }
        if !self.kick.is_empty() && !self.add.is_empty() {
            commands.push(format!("wait {FRAMES}"));
        }
        for (bot, team) in &self.add {
            commands.push(format!(
                "addbot {} {} {}",
                bot.name,
                bot.skill,
                colour(*team)
            ));
        }
        commands
    }
}

fn colour(team: u8) -> &'static str {
    TEAM_NAMES[usize::from(team != 0)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bot(number: usize, team: u8, name: &str) -> ReplaceableBot {
        ReplaceableBot {
            number,
            team,
            again: SpareBot::new(name, 4.5),
        }
    }

    #[test]
    fn names_that_are_commands_are_refused() {
        for wrong in [
            "",
            "a;quit",
            "a\"b",
            "a b",
            "a\nquit",
            "-x",
            "$x",
            "é",
            "a//b",
            &"x".repeat(33),
        ] {
            assert_eq!(SpareBot::new(wrong, 1.0), None, "{wrong:?}");
        }
        assert_eq!(SpareBot::new("Sarge", f64::NAN), None);
        assert!(SpareBot::new("Mr.Gauntlet-2_x", 1.0).is_some());
        assert!("Sarge:5".parse::<SpareBot>().is_ok());
        assert!("Sarge".parse::<SpareBot>().is_err() && "Sarge:x".parse::<SpareBot>().is_err());
    }

    #[test]
    fn humans_move_in_turns_and_bots_come_back() {
        let mut orders = IdTech3Orders {
            force: vec![(1, 0), (2, 0), (3, 1)],
            ..IdTech3Orders::default()
        };
        assert!(orders.reseat(bot(5, 0, "Sarge"), 1));
        assert!(!orders.reseat(bot(6, 0, "x;quit"), 1));
        let moved = ["forceteam 1 red", "forceteam 3 blue", "forceteam 2 red"];
        let bots = ["clientkick 5", "wait 5", "addbot Sarge 4.5 blue"];
        let expected = [&bots[..1], &moved[..], &bots[1..]].concat();
        assert_eq!(orders.commands(false), expected);
        assert_eq!(orders.commands(true)[1], "!putteam 1 red");
        assert_eq!(orders.count(), 4);
    }

    #[test]
    fn bots_go_where_they_are_missing() {
        let bots = || {
            vec![
                bot(0, 0, "A"),
                bot(1, 0, "B"),
                bot(2, 0, "C"),
                bot(3, 1, "D"),
            ]
        };
        let orders = |counts: &[u32], spare: &[SpareBot]| {
            let mut orders = IdTech3Orders::default();
            orders.seat_bots(bots(), counts, spare);
            orders.commands(false)
        };
        let none: [&str; 0] = [];
        assert_eq!(
            orders(&[2, 2], &[]),
            ["clientkick 2", "wait 5", "addbot C 4.5 blue"]
        );
        assert_eq!(orders(&[3, 1], &[]), none);
        // Without spare bots, no bot is removed for good, and none is added.
        assert_eq!(orders(&[0, 1], &[]), none);
        assert_eq!(orders(&[3, 3], &[]), none);
        let spare = ["A:1".parse().unwrap(), "E:2".parse().unwrap()];
        assert_eq!(orders(&[1, 1], &spare), ["clientkick 1", "clientkick 2"]);
        assert_eq!(orders(&[3, 3], &spare), ["addbot E 2 blue"]);
    }

    proptest! {
        #[test]
        fn no_name_is_ever_two_words(name in any::<String>()) {
            if let Some(bot) = SpareBot::new(&name, 1.0) {
                let add = vec![(bot, 1)];
                let commands = IdTech3Orders { add, ..IdTech3Orders::default() }.commands(false);
                prop_assert_eq!(commands.len(), 1);
                prop_assert!(commands[0].split(' ').count() == 4);
                prop_assert!(commands[0].bytes().all(|b| b.is_ascii_graphic() || b == b' '));
                prop_assert!(!commands[0].contains([';', '"', '$', '/']));
            }
        }
    }
}
