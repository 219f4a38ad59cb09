//! The body of `POST /v1/teams`, which the code of the daemon answers.

use std::io::{self, Write};

use serde_json::Value;

use super::args::{BalanceArgs, LobbyFlags};
use crate::{
    cli::{
        CliError, open, print_json,
        table::{Table, printable},
    },
    config::Config,
    model::text::amount,
    web::{AskedGame, Asker, TeamsAnswer, picked_for},
};

/// The body, if a file has one: an object with a ruleset, which a lobby file has not.
pub(super) fn body_of(text: &str) -> Option<Value> {
    let body: Value = serde_json::from_str(text).ok()?;
    body.get("ruleset").is_some().then_some(body)
}

/// Picks the teams with what was learned, and prints the answer of the daemon. Nothing is stored.
pub(super) async fn run(args: &BalanceArgs, config: &Config, body: Value) -> Result<(), CliError> {
    let input = |why: String| CliError::input(format!("{}: {why}", args.file.display()));
    if args.flags != LobbyFlags::default() {
        let why = "with the body of /v1/teams, only --seed, --explain and --json are of use: state the others in the body";
        return Err(CliError::input(why));
    }
    let game = serde_path_to_error::deserialize(body);
    let mut game: AskedGame = game.map_err(|error| input(error.to_string()))?;
    if game.keep {
        return Err(input("keep: only the daemon keeps decisions".to_owned()));
    }
    game.seed = args.seed.or(game.seed);
    let service = open(config, false).await?;
    service.learning().resume(i64::MAX).await?;
    let asker = Asker {
        service: &service,
        caller: None,
        sees_hidden: true,
        sees_numbers: true,
    };
    let picked = picked_for(asker, &game).await;
    let printed = match picked.map_err(|problem| input(problem.detail)) {
        Ok(teams) if args.json => print_json(&teams),
        Ok(teams) => Ok(write(&mut io::stdout().lock(), &teams, args.explain)?),
        Err(error) => Err(error),
    };
    service.close().await;
    printed
}

/// Writes one table per team, and how even they are.
fn write(out: &mut impl Write, picked: &TeamsAnswer<'_>, explain: bool) -> io::Result<()> {
    for (number, team) in picked.teams.iter().enumerate() {
        let table = Table::of(&team.players)
            .num(&format!("team {number}"), |player| {
                let weight = player.weight.as_ref();
                weight.map_or_else(String::new, |weight| amount(weight.weight))
            })
            .text("", |player| player.id);
        writeln!(out, "{table}")?;
    }
    let ratio = picked
        .ratio
        .map_or_else(String::new, |ratio| format!("ratio {ratio}, "));
    writeln!(out, "{ratio}seed {}", picked.seed)?;
    for line in picked.why.iter().flatten().filter(|_| explain) {
        writeln!(out, "{}", printable(line))?;
    }
    Ok(())
}
