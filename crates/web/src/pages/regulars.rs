//! `/regulars`: the weights over time of those who play a ruleset most.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::parts::kind;
use crate::{
    Site, WebError,
    answer::Page,
    links::PlayerLink as _,
    links::path_part,
    model::{Kind, Timestamp, text::counted},
    plot::{self, PlotLine},
    store::{Player, Regular, as_text},
    words,
};

/// In how many of the latest matches regulars are looked for.
const MATCHES: i64 = 100;
/// How many regulars have a line: as many as there are colours.
const LINES: i64 = 8;
/// The most points of a line. Of more, evenly distributed ones are drawn.
const POINTS: usize = 60;
/// The longest list of those who are picked out, in bytes.
const PICKED: usize = 200;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RegularsChoice {
    ruleset: String,
    #[serde(deserialize_with = "kind")]
    kind: Option<Kind>,
    /// The handles of those whose lines are picked out, with commas.
    pick: String,
}

/// The page of the regulars of a ruleset.
#[derive(Debug, Serialize)]
pub(crate) struct RegularsPage {
    ruleset: String,
    #[serde(serialize_with = "as_text")]
    kind: Kind,
    /// The number of matches in which they were looked for, at most.
    matches: i64,
    regulars: Vec<RegularLine>,
}

/// A regular.
#[derive(Debug, Serialize)]
struct RegularLine {
    player: Player,
    /// In how many of the latest matches the player was.
    matches: i64,
    /// The weights after matches, the first one first.
    history: Vec<WeightAt>,
    /// Whether the visitor has picked out the line.
    #[serde(skip)]
    is_picked: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct WeightAt {
    #[serde(serialize_with = "as_text")]
    at: Timestamp,
    weight: f64,
}

impl RegularLine {
    fn new(regular: Regular, picked: &str) -> Self {
        let count = regular.weights.len();
        // The first and the last one are always among them.
        let place = |at: usize| at * (count - 1) / (POINTS - 1);
        let places: Vec<usize> = match count <= POINTS {
            true => (0..count).collect(),
            false => (0..POINTS).map(place).collect(),
        };
        let point = |at: usize| {
            let (at, weight) = regular.weights[at];
            let weight = words::rounded(weight, 3);
            WeightAt { at, weight }
        };
        Self {
            is_picked: picked.split(',').any(|own| own == regular.handle),
            matches: regular.matches,
            history: places.into_iter().map(point).collect(),
            player: Player::new(Some(regular.handle), Some(regular.name), regular.kind),
        }
    }

    fn handle(&self) -> &str {
        self.player.handle.as_deref().unwrap_or_default()
    }
}

impl RegularsPage {
    /// The address of this page with these lines picked out.
    fn address(&self, picked: &[&str]) -> String {
        let address = format!(
            "/regulars?ruleset={}&kind={}",
            path_part(&self.ruleset),
            self.kind
        );
        match picked.is_empty() {
            true => address,
            false => format!("{address}&pick={}", picked.join(",")),
        }
    }

    fn picked(&self) -> Vec<&str> {
        let picked = self.regulars.iter().filter(|line| line.is_picked);
        picked.map(RegularLine::handle).collect()
    }

    /// The list of the lines, in their colours, each with the way to pick it out or to put it back.
    fn legend(&self, site: &Site) -> Markup {
        let picked = self.picked();
        let other = |line: &RegularLine| {
            let mut list = picked.clone();
            match line.is_picked {
                true => list.retain(|handle| *handle != line.handle()),
                false => list.push(line.handle()),
            }
            site.links.to(&self.address(&list))
        };
        html! {
            ul.players {
                @for (at, line) in self.regulars.iter().enumerate() {
                    li {
                        @if picked.is_empty() || line.is_picked { span class=(words::team_class(at)) aria-hidden="true" { "● " } }
                        (line.player.link(&site.links)) ", " (counted(line.matches as u64, "match"))
                        " · "
                        a href=(other(line)) {
                            @if line.is_picked { "put back" } @else { "pick out" }
                            span.unseen { " " (line.player.plain()) }
                        }
                    }
                }
            }
            @if !picked.is_empty() { p { a href=(site.links.to(&self.address(&[]))) { "Show all in colour" } } }
        }
    }
}

impl Page for RegularsPage {
    type Choice = RegularsChoice;
    const PATH: &str = "/regulars";

    /// Reads the regulars of the chosen ruleset.
    async fn read(site: &Site, _: &str, choice: &RegularsChoice) -> Result<Self, WebError> {
        if !site.settings.shows_numbers() {
            return Err(WebError::NotFound);
        }
        if choice.pick.len() > PICKED {
            return Err(WebError::BadRequest);
        }
        let mut kind = choice.kind.unwrap_or(Kind::Human);
        let read = |kind| {
            site.pages()
                .matches()
                .regulars(&choice.ruleset, kind, MATCHES, LINES)
        };
        let mut found = read(kind).await?;
        if found.is_empty() && choice.kind.is_none() {
            kind = Kind::Bot;
            found = read(kind).await?;
        }
        let is_known = || (site.rulesets().iter()).any(|own| own.ruleset == choice.ruleset);
        if found.is_empty() && !is_known() {
            return Err(WebError::NoRuleset);
        }
        let line = |regular| RegularLine::new(regular, &choice.pick);
        Ok(Self {
            ruleset: choice.ruleset.clone(),
            kind,
            matches: MATCHES,
            regulars: found.into_iter().map(line).collect(),
        })
    }

    fn title(&self) -> String {
        format!("Regulars of {0}", self.ruleset)
    }

    fn path(&self) -> String {
        self.address(&self.picked())
    }

    fn description(&self, _: &Site) -> String {
        if self.regulars.is_empty() {
            return format!("Nobody has played {} lately.", self.ruleset);
        }
        let names: Vec<&str> = self
            .regulars
            .iter()
            .map(|line| line.player.plain())
            .collect();
        format!("The weights over time of {0}.", names.join(", "))
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let any = self.regulars.iter().any(|line| line.is_picked);
        let line = |line: &RegularLine| PlotLine {
            points: line
                .history
                .iter()
                .map(|own| (own.at, own.weight))
                .collect(),
            is_picked: line.is_picked || !any,
        };
        let lines: Vec<PlotLine> = self.regulars.iter().map(line).collect();
        let label = format!(
            "Weights over time in {0}: {1}",
            self.ruleset,
            self.description(site)
        );
        Ok(html! {
            h1 { "Regulars" }
            p { (site.links.to_ruleset(&self.ruleset)) }
            @if lines.is_empty() {
                p { (self.description(site)) }
            } @else {
                figure.large {
                    figcaption { "Weights over time" }
                    (plot::lines(&label, &lines)?)
                }
                (self.legend(site))
            }
            p.note {
                (mark!("Those who were in most of the latest {0} rated matches. The weight \
         after some of their last 1,000 matches, as far as they are of this game type, and after the latest one.", { (MATCHES) }))
            }
        })
    }
}
