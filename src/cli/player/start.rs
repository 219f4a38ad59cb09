//! `evenkeel player start-weight` and `start-weights`: the weights at which players start.

use std::{fs::File, io::Read, path::PathBuf};

use clap::Args;
use serde::Deserialize;

use super::{CommonArgs, IdentityArgs, parse_weight};
use crate::{
    cli::{CliError, identity::check_identity, table::printable},
    model::{Kind, PlayerKey, StartWeight, counted},
    server::Service,
};

/// The largest list, in bytes: a hundred thousand players with long ids.
const LARGEST: u64 = 16 << 20;

/// The arguments of `player start-weight`.
#[derive(Debug, Args)]
pub(super) struct StartArgs {
    #[command(flatten)]
    pub(super) player: IdentityArgs,
    /// 0 to 100, or "off" to let the player start at 50
    #[arg(value_name = "WEIGHT", value_parser = parse_weight)]
    weight: super::WeightOrOff,
    /// You are not sure: matches overrule the weight about four times as fast
    #[arg(long)]
    uncertain: bool,
}

/// The arguments of `player start-weights`.
#[derive(Debug, Args)]
pub(super) struct StartListArgs {
    /// A CSV file with a header line: `id`, `weight` (0 to 100, or off), and, if needed, `uncertain` and
    /// `bot` (yes or no)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// One line of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StartLine {
    id: String,
    weight: String,
    #[serde(default)]
    uncertain: String,
    #[serde(default)]
    bot: String,
}

type Start = (PlayerKey, Option<StartWeight>);

/// Stores one start weight, and returns what to print.
pub(super) async fn run(args: &StartArgs, service: &Service) -> Result<String, CliError> {
    let key = args.player.named(service).await?;
    check_identity(&key)?;
    let uncertain = args.uncertain;
    let start = args
        .weight
        .0
        .map(|weight| StartWeight { weight, uncertain });
    let id = printable(&key.id);
    service
        .store()
        .corrections()
        .set_start_weights(&[(key, start)])
        .await?;
    Ok(match args.weight.0 {
        Some(weight) => format!("{id} starts at {weight}, and matches change it"),
        None => format!("{id} starts at 50 again"),
    })
}

/// Stores a list of start weights, all or none of it, and returns what to print.
pub(super) async fn run_list(args: &StartListArgs, service: &Service) -> Result<String, CliError> {
    let file = CliError::in_file(&args.file);
    let mut text = Vec::new();
    let opened = File::open(&args.file).map_err(file)?;
    let read = opened.take(LARGEST + 1).read_to_end(&mut text);
    read.map_err(file)?;
    let starts = read_list(&text).map_err(|why| {
        let name = args.file.display();
        CliError::input(format!("{name}: {why}"))
    })?;
    service
        .store()
        .corrections()
        .set_start_weights(&starts)
        .await?;
    Ok(format!(
        "read {}",
        counted(starts.len() as u64, "start weight")
    ))
}

/// The start weights in a CSV text. An error names the line.
fn read_list(text: &[u8]) -> Result<Vec<Start>, String> {
    if text.len() as u64 > LARGEST {
        return Err("the list is larger than 16 megabytes".to_owned());
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text);
    let mut starts = Vec::new();
    for row in reader.deserialize::<StartLine>() {
        let row = row.map_err(|error| error.to_string())?;
        let line = 2 + starts.len(); // after the header
        starts.push(read_line(&row).map_err(|why| format!("line {line}: {why}"))?);
    }
    Ok(starts)
}

fn read_line(line: &StartLine) -> Result<Start, String> {
    let yes = |text: &str, what: &str| match text {
        "yes" => Ok(true),
        "no" | "" => Ok(false),
        _ => Err(format!("{what} must be yes or no")),
    };
    let kind = match yes(&line.bot, "bot")? {
        true => Kind::Bot,
        false => Kind::Human,
    };
    let id = line.id.clone();
    let key = PlayerKey { kind, id };
    check_identity(&key).map_err(|error| error.to_string())?;
    let uncertain = yes(&line.uncertain, "uncertain")?;
    let weight = parse_weight(&line.weight)?.0;
    Ok((key, weight.map(|weight| StartWeight { weight, uncertain })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_its_faults_have_lines() {
        let starts = read_list(b"id,weight,uncertain\nann,70,yes\n\"bob, b\",off,\ncid,30.5,no\n");
        let shown: Vec<_> = starts
            .unwrap()
            .into_iter()
            .map(|(key, start)| {
                let start = start.map(|start| (start.weight, start.uncertain));
                (key.id, start)
            })
            .collect();
        let start = |id: &str, start| (id.to_owned(), start);
        let by_hand = [
            start("ann", Some((70.0, true))),
            start("bob, b", None),
            start("cid", Some((30.5, false))),
        ];
        assert_eq!(shown, by_hand);
        let bots = read_list(b"bot,weight,id\nyes,70,Sarge\n").unwrap();
        assert_eq!(bots[0].0.kind, Kind::Bot);
        let fault = |text: &str| read_list(text.as_bytes()).unwrap_err();
        assert!(fault("id,weight\nann,70\nbob,101\n").starts_with("line 3: expected 0 to 100"));
        assert!(fault("id,weight\nann,NaN\n").starts_with("line 2: "));
        assert!(fault("id,weight\n0,70\n").starts_with("line 2: \"0\" identifies no player"));
        assert!(fault("id,weight,bot\na,7,maybe\n").starts_with("line 2: bot must be yes or no"));
        assert!(fault("id,wait\nann,70\n").contains("wait"));
        assert!(fault("id,weight\nann\n").contains("line: 2"));
        assert!(read_list(b"id,weight\n\xff,70\n").is_err());
    }
}
