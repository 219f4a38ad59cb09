//! `evenkeel player`: shows what is stored about a player, and sets what an operator decides about the player.
//!
//! - `find` finds players by a part of a name or identity.
//! - An operator decides whose matches count for whom, who is shown, fixed weights, and the weights at which players
//!   start.
//! - `suspects` lists players who are perhaps another account of a known player.

mod show;

use std::{
    fs::File,
    io::{self, IsTerminal, Read, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::{
    CliError, CommonArgs,
    identity::{check_identity, named, require_known, require_matches},
    name_or_id, open, print_json,
    table::{Table, or_dash, printable},
};
use crate::{
    learning::FoundPerson,
    model::{Kind, PlayerKey, text::counted, weight::StartWeight},
    rating::history::{AtOnce, SUSPECT_THRESHOLD, Suspect},
    server::Service,
};

use show::{ShowPlayerArgs, WhyArgs};

/// Show a player, merge two identities, forget a player, or fix a weight
///
/// A running daemon uses the change within seconds. Stored matches do not change, except that `forget`
/// removes the player's identity and names from them.
#[derive(Debug, Args)]
pub(super) struct PlayerArgs {
    #[command(subcommand)]
    command: PlayerCommand,
}

#[derive(Debug, Subcommand)]
enum PlayerCommand {
    /// Find players by a part of a name or identity
    Find(FindArgs),
    /// Show the names a player has used, and their weight in each ruleset
    Show(ShowPlayerArgs),
    /// Say why a player has their weight: results beside what was expected, points, and what came from elsewhere
    Why(WhyArgs),
    /// Count the matches of one identity for another one, because both belong to one person
    Merge {
        #[command(flatten)]
        player: IdentityArgs,
        /// The player whom the matches count for: an identity, a handle, or a name that only one player has
        #[arg(value_name = "INTO")]
        into: String,
        /// Also accept identities of players who have not played a match yet
        #[arg(long)]
        new: bool,
    },
    /// Undo a merge
    Split(IdentityArgs),
    /// Remove a player's identity and names from the database; the matches stay
    Forget {
        #[command(flatten)]
        player: IdentityArgs,
        /// Do not ask; without a terminal, nothing is asked
        #[arg(long)]
        yes: bool,
    },
    /// Keep a player off the statistics pages; matches show the player without a name
    Hide(IdentityArgs),
    /// Show a hidden player on the statistics pages again
    Unhide(IdentityArgs),
    /// Let a player start at a weight that you expect; unlike a fixed weight, matches change it
    StartWeight(StartArgs),
    /// Read the weights at which players start from a CSV file
    StartWeights(StartListArgs),
    /// List who plays far above a newcomer with few matches, perhaps as another account of a known player, and who was in
    /// matches of two clients at once, as these say
    Suspects(SuspectsArgs),
    /// Fix a player's weight in all rulesets, regardless of the player's matches
    PinWeight {
        #[command(flatten)]
        player: IdentityArgs,
        /// 0 to 100, or "off" to learn the weight from matches again
        #[arg(value_name = "WEIGHT", value_parser = parse_weight)]
        weight: WeightOrOff,
        /// Also accept the identity of a player who has not played a match yet
        #[arg(long)]
        new: bool,
    },
}

#[derive(Debug, Args)]
struct IdentityArgs {
    /// The player: an identity (a guid, a hash, or the name if the game has no other), the handle of the pages, or
    /// the latest name if only one player has it
    #[arg(value_name = "PLAYER")]
    id: String,
    /// The player is a bot
    #[arg(long)]
    bot: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// A weight as an argument; `None` for "off".
#[derive(Clone, Copy, Debug)]
struct WeightOrOff(Option<f64>);

fn parse_weight(text: &str) -> Result<WeightOrOff, String> {
    let weight = text.parse().ok().filter(|w| (0.0..=100.0).contains(w));
    match text {
        "off" => Ok(WeightOrOff(None)),
        _ => weight
            .map(|w| WeightOrOff(Some(w)))
            .ok_or_else(|| "expected 0 to 100, or off".into()),
    }
}

impl IdentityArgs {
    /// The player whom the arguments name.
    async fn named(&self, service: &Service) -> Result<PlayerKey, CliError> {
        let kind = kind_of(self.bot);
        named(service, kind, &self.id).await
    }
}

impl PlayerCommand {
    fn common(&self) -> &CommonArgs {
        match self {
            Self::Find(args) => &args.common,
            Self::Show(args) => &args.player.common,
            Self::Why(args) => &args.player.common,
            Self::StartWeight(args) => &args.player.common,
            Self::StartWeights(args) => &args.common,
            Self::Suspects(args) => &args.common,
            Self::Split(player) | Self::Hide(player) | Self::Unhide(player) => &player.common,
            Self::Merge { player, .. }
            | Self::Forget { player, .. }
            | Self::PinWeight { player, .. } => &player.common,
        }
    }

    /// Whether the database is created if it is missing: players may start before the first match.
    fn creates(&self) -> bool {
        matches!(self, Self::StartWeight(_) | Self::StartWeights(_))
    }
}

pub(super) async fn run(args: PlayerArgs) -> Result<(), CliError> {
    let command = &args.command;
    let service = open(&command.common().load()?, command.creates()).await?;
    let nothing = |()| None;
    let changed = match command {
        PlayerCommand::Find(args) => run_find(args, &service).await.map(nothing)?,
        PlayerCommand::Show(args) => show::run(args, &service).await.map(nothing)?,
        PlayerCommand::Why(args) => show::run_why(args, &service).await.map(nothing)?,
        PlayerCommand::Suspects(args) => run_suspects(args, &service).await.map(nothing)?,
        PlayerCommand::Merge { player, into, new } => {
            let key = player.named(&service).await?;
            Some(merge(&service, &key, into, *new).await?)
        }
        PlayerCommand::Split(player) => {
            let key = player.named(&service).await?;
            Some(split(&service, &key).await?)
        }
        PlayerCommand::Forget { player, yes } => {
            let key = player.named(&service).await?;
            match *yes || is_sure(&service, &key).await? {
                true => Some(forget(&service, &key).await?),
                false => None,
            }
        }
        PlayerCommand::Hide(player) => {
            let key = player.named(&service).await?;
            hide(&service, &key, true).await.map(nothing)?
        }
        PlayerCommand::Unhide(player) => {
            let key = player.named(&service).await?;
            hide(&service, &key, false).await.map(nothing)?
        }
        PlayerCommand::StartWeight(args) => Some(run_start(args, &service).await?),
        PlayerCommand::StartWeights(args) => Some(run_list(args, &service).await?),
        PlayerCommand::PinWeight {
            player,
            weight,
            new,
        } => {
            let key = player.named(&service).await?;
            check_identity(&key)?;
            // A weight can always be released.
            if weight.0.is_some() && !new {
                require_known(&service, &key).await?;
            }
            Some(pin_weight(&service, &key, weight.0).await?)
        }
    };
    if let Some(changed) = changed {
        service.learning().refresh().await?;
        writeln!(io::stdout(), "{changed}")?;
    }
    service.close().await;
    Ok(())
}

/// The arguments of `player find`.
#[derive(Debug, Args)]
struct FindArgs {
    /// A part of a name, now or before, or of an identity; or the handle of the pages
    text: String,
    /// Only bots
    #[arg(long)]
    bot: bool,
    /// The most players to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(i64).range(1..=1_000))]
    limit: i64,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// A bot or a human.
fn kind_of(bot: bool) -> Kind {
    if bot { Kind::Bot } else { Kind::Human }
}

/// Prints the players who are found, those with most matches first.
async fn run_find(args: &FindArgs, service: &Service) -> Result<(), CliError> {
    let kind = args.bot.then_some(Kind::Bot);
    let store = service.store();
    let found = store
        .matches()
        .find_players(&args.text, kind, args.limit)
        .await?;
    let lines: Vec<FoundPerson> = found.into_iter().map(FoundPerson::from).collect();
    if args.json {
        return print_json(&lines);
    }
    let text = printable(&args.text);
    let none = format!("no player has \"{text}\" in a name or identity");
    Table::of(&lines)
        .text("name", |line| line.player.plain())
        .text("", |line| kind_of(line.player.bot).as_str())
        .text("handle", |line| or_dash(line.player.handle.as_ref()))
        .text("id", |line| or_dash(line.player.id.as_ref()))
        .num("rated matches", |line| line.games)
        .text("last seen", |line| or_dash(line.last_seen))
        .print_or(&none)
}

/// Lets an identity count for itself again.
async fn split(service: &Service, key: &PlayerKey) -> Result<String, CliError> {
    let id = printable(&key.id);
    match service.store().corrections().split_player(key).await? {
        true => Ok(format!("{id} counts as a player of its own again")),
        false => Err(CliError::input(format!(
            "{id} is not merged into another identity"
        ))),
    }
}

/// Whether the person at the terminal wants to forget this player. Without a terminal, the command was meant.
async fn is_sure(service: &Service, key: &PlayerKey) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        return Ok(true);
    }
    let names = service.store().matches().names(key).await?;
    let name = names.first().map_or(key.id.as_str(), |seen| &seen.name);
    let (name, id) = (printable(name), printable(&key.id));
    write!(
        io::stdout(),
        "Forget {name} ({id})? The identity and all names are removed for ever. [y/N] "
    )?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Removes an identity and its names from the database.
async fn forget(service: &Service, key: &PlayerKey) -> Result<String, CliError> {
    if !show::is_reported(service, key).await? {
        require_matches(service, key).await?;
    }
    let now = service.sessions().clock().now();
    let matches = service
        .store()
        .corrections()
        .forget_player(key, now)
        .await?;
    Ok(format!("forgotten in {}", counted(matches, "match")))
}

/// Hides a player from the statistics pages, or shows the player again. Weights do not change.
async fn hide(service: &Service, key: &PlayerKey, hidden: bool) -> Result<(), CliError> {
    check_identity(key)?;
    if hidden {
        require_matches(service, key).await?;
    }
    let id = printable(&key.id);
    let changed = service
        .store()
        .corrections()
        .set_hidden(key, hidden)
        .await?;
    let done = match (hidden, changed) {
        (true, true) => format!("{id} is not shown on the statistics pages any more"),
        (true, false) => format!("{id} is hidden already"),
        (false, true) => format!("{id} is shown on the statistics pages again"),
        (false, false) => return Err(CliError::input(format!("{id} is not hidden"))),
    };
    writeln!(io::stdout(), "{done}")?;
    Ok(())
}

/// Fixes a weight, or lets it be learned again.
async fn pin_weight(
    service: &Service,
    key: &PlayerKey,
    weight: Option<f64>,
) -> Result<String, CliError> {
    service
        .store()
        .corrections()
        .pin_weight(key, weight)
        .await?;
    let id = printable(&key.id);
    Ok(match weight {
        Some(weight) => format!("the weight of {id} is fixed at {weight}"),
        None => format!("the weight of {id} is learned from matches again"),
    })
}

/// Merges `key` into the identity `into` of the same kind.
async fn merge(
    service: &Service,
    key: &PlayerKey,
    into: &str,
    new: bool,
) -> Result<String, CliError> {
    let target = named(service, key.kind, into).await?;
    check_identity(key)?;
    check_identity(&target)?;
    if target == *key {
        let message = "an identity cannot be merged into itself";
        return Err(CliError::input(message));
    }
    if !new {
        require_known(service, key).await?;
        require_known(service, &target).await?;
    }
    service
        .store()
        .corrections()
        .merge_player(key, &target)
        .await?;
    let (id, into) = (printable(&key.id), printable(&target.id));
    Ok(format!("{id} counts as {into} now"))
}

/// The largest list, in bytes: a hundred thousand players with long ids.
const LARGEST: u64 = 16 << 20;

/// The arguments of `player start-weight`.
#[derive(Debug, Args)]
struct StartArgs {
    #[command(flatten)]
    player: IdentityArgs,
    /// 0 to 100, or "off" to let the player start at 50
    #[arg(value_name = "WEIGHT", value_parser = parse_weight)]
    weight: WeightOrOff,
    /// You are not sure: matches overrule the weight about four times as fast
    #[arg(long)]
    uncertain: bool,
}

/// The arguments of `player start-weights`.
#[derive(Debug, Args)]
struct StartListArgs {
    /// A CSV file with a header line: `id`, `weight` (0 to 100, or off), and, if needed, `uncertain` and
    /// `bot` (yes or no)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    common: CommonArgs,
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
async fn run_start(args: &StartArgs, service: &Service) -> Result<String, CliError> {
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
async fn run_list(args: &StartListArgs, service: &Service) -> Result<String, CliError> {
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

/// The arguments of `player suspects`.
#[derive(Debug, Args)]
struct SuspectsArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// One suspect. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct SuspectLine {
    ruleset: Option<String>,
    name: String,
    id: String,
    weight: Option<f64>,
    games: Option<u32>,
    statistic: Option<f64>,
    /// The two who say that the player was in their matches at once; empty for a player with few matches.
    clients: Vec<String>,
    /// The last two such matches.
    matches: Vec<i64>,
    reason: String,
}

impl From<AtOnce> for SuspectLine {
    fn from(found: AtOnce) -> Self {
        let [one, other] = found.matches;
        let [first, second] = &found.senders;
        let times = match found.times {
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        Self {
            ruleset: None,
            name: found.name,
            id: found.key.id,
            weight: None,
            games: None,
            statistic: None,
            reason: format!(
                "{first} and {second} say {times} that the player was in matches of both at the same time, as in {one} \
                 and {other}"
            ),
            clients: found.senders.into(),
            matches: found.matches.into(),
        }
    }
}

impl From<Suspect> for SuspectLine {
    fn from(suspect: Suspect) -> Self {
        let Suspect {
            games, statistic, ..
        } = suspect;
        Self {
            ruleset: Some(suspect.ruleset.to_string()),
            name: name_or_id(&suspect.name, &suspect.key.id).to_owned(),
            id: suspect.key.id,
            weight: Some(suspect.weight),
            games: Some(games),
            statistic: Some(statistic),
            clients: Vec::new(),
            matches: Vec::new(),
            reason: format!(
                "{statistic:.1} deviations above what newcomers show in {games} matches; \
                 {SUSPECT_THRESHOLD:.1} are listed"
            ),
        }
    }
}

/// Prints the suspects, the most striking of each ruleset first, and then those in two matches at once.
async fn run_suspects(args: &SuspectsArgs, service: &Service) -> Result<(), CliError> {
    let suspects = service.learning().suspects().await?;
    let at_once = service.learning().at_once().await?;
    let suspects = suspects.into_iter().map(SuspectLine::from);
    let lines: Vec<SuspectLine> = suspects
        .chain(at_once.into_iter().map(SuspectLine::from))
        .collect();
    if args.json {
        return print_json(&lines);
    }
    let none = "no player with few matches plays far above a newcomer, and no two clients say that somebody was in \
                matches of both at the same time";
    let weight = |line: &SuspectLine| line.weight.map(|weight| format!("{weight:.3}"));
    Table::of(&lines)
        .text("ruleset", |line| or_dash(line.ruleset.as_ref()))
        .text("name", |line| &line.name)
        .text("id", |line| &line.id)
        .num("weight", |line| or_dash(weight(line)))
        .num("games", |line| or_dash(line.games))
        .text("reason", |line| &line.reason)
        .print_or(none)
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
