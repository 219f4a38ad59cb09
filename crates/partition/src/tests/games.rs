//! Made-up games, for the tests of this crate and of those who decide about games.

use evenkeel_model::{Company, Crowding, Link, WinModel};
use evenkeel_partition::{BotInGame, ChanceModel, Conduct, Fill, GameView, HumanInGame};

/// A game without bots, of humans a, b, c, … given as `(weight, team)`; team 9 means no team.
pub(crate) fn view(teams: u8, humans: &[(f64, u8)]) -> GameView {
    let person = |(index, &(weight, team)): (usize, &(f64, u8))| HumanInGame {
        id: char::from(b'a' + index as u8).to_string(),
        weight,
        team: Some(team).filter(|&team| team < teams),
        pin: None,
        party: None,
        old_team: None,
        points: 0.0,
        points_reported: true,
        avoid: Vec::new(),
        wish: None,
        held: None,
        moved: false,
        conduct: Conduct::default(),
        last: None,
        newcomer: false,
        weak_sides: 0.0,
    };
    GameView {
        teams,
        humans: humans.iter().enumerate().map(person).collect(),
        bots: Vec::new(),
        fill: Fill {
            on: true,
            wish: 0,
            map_range: (0, 64),
            min_humans: 0,
        },
        next_bot: 0.0,
        scores: vec![0.0; usize::from(teams)],
        points_reported: true,
        party_factors: Vec::new(),
        chance: None,
    }
}

/// A bot with this weight, on this team.
pub(crate) fn robot(weight: f64, team: u8) -> BotInGame {
    BotInGame {
        name: format!("bot {weight} {team}"),
        weight,
        team,
        points: 0.0,
    }
}

/// The same game by chances, with strengths that follow the weights: 50 is none, 25 points are one.
pub(crate) fn by_chance(mut game: GameView) -> GameView {
    let strength = |weight: f64| (weight - 50.0) / 25.0;
    game.chance = Some(ChanceModel {
        win_model: win_model(),
        humans: game.humans.iter().map(|h| strength(h.weight)).collect(),
        bots: game.bots.iter().map(|bot| strength(bot.weight)).collect(),
        next_bot: strength(game.next_bot),
        deviations: vec![0.1; game.humans.len()],
        party_multiplier: Vec::new(),
    });
    game
}

/// In a match of eight, one unit of strength is an edge of a half, and one head more a fifth.
pub(crate) fn win_model() -> WinModel {
    WinModel {
        link: Link::Normal,
        per_strength: 0.5,
        players: 8.0,
        crowding: Crowding::Root,
        per_head: 0.2,
        per_log_size: 0.0,
        side: 0.05,
        unit: 1.0,
        deviation: 0.1,
        company: Company::default(),
    }
}
