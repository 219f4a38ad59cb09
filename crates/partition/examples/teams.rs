//! The most even teams of the players on the command line: `teams anna=90 ben=70 cleo=65 dan=45`.

use std::error::Error;

use evenkeel_partition::{GameView, HumanInGame, Problem, ProblemSpec, Settings, solve};

fn main() -> Result<(), Box<dyn Error>> {
    let mut humans = Vec::new();
    for word in std::env::args().skip(1) {
        let (name, weight) = word.split_once('=').ok_or("write NAME=WEIGHT")?;
        humans.push(HumanInGame::new(name, weight.parse()?));
    }
    let view = GameView {
        humans,
        ..GameView::default()
    };
    let problem = Problem::new(ProblemSpec {
        view,
        ..ProblemSpec::default()
    })?;
    let teams = solve(&problem, &Settings::default(), 1, &mut || false)?;
    for (human, team) in problem.spec().view.humans.iter().zip(&teams.team_of) {
        println!("team {team}: {}", human.id);
    }
    println!("{teams}");
    Ok(())
}
