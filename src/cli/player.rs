//! `evenkeel player`: what is on record of somebody, and what an operator says about them.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use comfy_table::Cell;

use super::{
    CliError, Place, open,
    table::{name_cell, printable, table},
};
use crate::{
    domain::{Ident, Kind, PlayerKey},
    service::Service,
};

/// Show somebody, or say who they are and what they weigh
///
/// A running daemon follows within seconds; the matches themselves stay as they were told.
#[derive(Debug, Args)]
pub(super) struct PlayerArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The names somebody was seen under, and what they weigh in each ruleset
    Show(Who),
    /// Let somebody count as somebody else: two identities of one person
    Merge {
        #[command(flatten)]
        who: Who,
        /// The identity they are to count as
        #[arg(value_name = "INTO")]
        into: String,
    },
    /// Let somebody who was merged count as themselves again
    Split(Who),
    /// Remove somebody's identity and names; the matches stay
    Forget(Who),
    /// Fix somebody's weight, in all rulesets
    PinWeight {
        #[command(flatten)]
        who: Who,
        /// 0 to 100, or "off" to let it go
        #[arg(value_name = "WEIGHT", value_parser = parse_weight)]
        weight: Pin,
    },
}

#[derive(Debug, Args)]
struct Who {
    /// The identity: a guid, a hash, or a name where there is nothing better
    id: String,
    /// A bot
    #[arg(long)]
    bot: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, Debug)]
struct Pin(Option<f64>);

fn parse_weight(text: &str) -> Result<Pin, String> {
    let weight = text.parse().ok().filter(|w| (0.0..=100.0).contains(w));
    match text {
        "off" => Ok(Pin(None)),
        _ => weight
            .map(|w| Pin(Some(w)))
            .ok_or_else(|| "expected 0 to 100, or off".into()),
    }
}

impl Who {
    fn key(&self) -> PlayerKey {
        let kind = if self.bot { Kind::Bot } else { Kind::Human };
        PlayerKey {
            kind,
            id: self.id.clone(),
        }
    }
}

impl What {
    fn who(&self) -> &Who {
        match self {
            What::Show(who) | What::Split(who) | What::Forget(who) => who,
            What::Merge { who, .. } | What::PinWeight { who, .. } => who,
        }
    }
}

/// Refuses what games say of everybody they know no identity of.
fn somebody(key: &PlayerKey) -> Result<(), CliError> {
    match Ident::from_text(&key.id).is_nobody() {
        true => Err(CliError::Input(format!(
            "\"{}\" is nobody's identity",
            printable(&key.id)
        ))),
        false => Ok(()),
    }
}

pub(super) async fn run(args: PlayerArgs) -> Result<(), CliError> {
    let who = args.what.who();
    let config = who.place.load()?;
    let service = open(&config, false).await?;
    let key = who.key();
    let names = service.store().names(&key).await?;
    let stranger = || CliError::Input(format!("nobody played as {}", printable(&key.id)));
    let done = match &args.what {
        What::Show(_) if names.is_empty() => return Err(stranger()),
        What::Show(_) => {
            show(&service, &key).await?;
            None
        }
        What::Merge { into, .. } => {
            let into = PlayerKey {
                kind: key.kind,
                id: into.clone(),
            };
            somebody(&key)?;
            somebody(&into)?;
            if into == key {
                return Err(CliError::Input(
                    "nobody can be merged into themselves".into(),
                ));
            }
            service.store().merge_player(&key, &into).await?;
            Some(format!(
                "{} counts as {} now",
                printable(&key.id),
                printable(&into.id)
            ))
        }
        What::Split(_) => match service.store().split_player(&key).await? {
            true => Some(format!("{} counts as themselves now", printable(&key.id))),
            false => {
                return Err(CliError::Input(format!(
                    "{} was not merged",
                    printable(&key.id)
                )));
            }
        },
        What::Forget(_) if names.is_empty() => return Err(stranger()),
        What::Forget(_) => {
            let matches = service.store().forget_player(&key).await?;
            Some(format!("forgotten in {matches} matches"))
        }
        What::PinWeight {
            weight: Pin(weight),
            ..
        } => {
            somebody(&key)?;
            service.store().pin_weight(&key, *weight).await?;
            let what = weight.map_or("is rated again".to_owned(), |w| format!("weighs {w} now"));
            Some(format!("{} {what}", printable(&key.id)))
        }
    };
    if let Some(done) = done {
        service.learning().refresh().await?;
        writeln!(io::stdout(), "{done}")?;
    }
    service.close().await;
    Ok(())
}

async fn show(service: &Service, key: &PlayerKey) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{} {}", key.kind, printable(&key.id))?;
    let said = service.store().overrides().await?;
    for (who, into) in &said.merged {
        if who == key {
            writeln!(out, "counts as {}", printable(&into.id))?;
        } else if into == key {
            writeln!(out, "{} counts as them", printable(&who.id))?;
        }
    }
    for (_, weight) in said.pinned.iter().filter(|(who, _)| who == key) {
        writeln!(out, "weight pinned to {weight}")?;
    }
    let mut names = table(&["name", ">matches", "first", "last"]);
    for seen in service.store().names(key).await? {
        let (first, last) = (seen.first.to_string(), seen.last.to_string());
        names.add_row([
            name_cell(&seen.name),
            Cell::new(seen.matches),
            Cell::new(first),
            Cell::new(last),
        ]);
    }
    writeln!(out, "{names}")?;
    let mut weights = table(&["ruleset", ">weight", ">±", ">games", "last seen"]);
    for row in service.store().weights_of(key).await? {
        weights.add_row([
            name_cell(&row.ruleset),
            Cell::new(format!("{:.3}", row.weight)),
            Cell::new(format!("{:.3}", row.deviation)),
            Cell::new(row.games),
            Cell::new(row.last_seen.to_string()),
        ]);
    }
    if !weights.is_empty() {
        writeln!(out, "{weights}")?;
    }
    Ok(())
}
