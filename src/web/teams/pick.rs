//! The fields of a form, and the pick that they state. All of a pick is in its form, so that the daemon keeps nothing
//! between two of them.

use super::{
    names::{LONGEST, ListedName, clean, identity},
    people::Person,
};
use crate::web::api::{LARGEST_SEED, Problem};

/// The most fields of a form.
const FIELDS: usize = 1_000;

/// The fields of a form, in their order.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Problem> {
        let fields = form_urlencoded::parse(body).into_owned();
        let fields: Vec<_> = fields.take(FIELDS + 1).collect();
        match fields.len() > FIELDS {
            true => Err(Problem::bad(format!(
                text!(teams.the_form_has_more_than_fields),
                fields = FIELDS
            ))),
            false => Ok(Self(fields)),
        }
    }

    /// The first value of a field; empty if it is not there.
    pub(super) fn one(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// All values of a field.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let own = self.0.iter().filter(move |(own, _)| own == name);
        own.map(|(_, value)| value.as_str())
    }

    /// The answers to the questions of the page, by the number of the question.
    fn answers(&self) -> impl Iterator<Item = (usize, &str)> {
        let number = |name: &str| name.strip_prefix("ask")?.parse().ok();
        let fields = self.0.iter();
        fields.filter_map(move |(name, value)| Some((number(name)?, value.as_str())))
    }
}

/// What a form states about a game to come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) ruleset: String,
    pub(super) teams: u8,
    /// Names as they were typed, of which it is not yet known whom they mean.
    pub(super) names: String,
    /// The handles of known players.
    pub(super) known: Vec<String>,
    /// The names of new players.
    pub(super) new: Vec<String>,
    /// The weights of the list, each as it was typed, with the id of the player.
    pub(super) weights: Vec<(String, String)>,
    /// Who wants to be together, one group on each line.
    pub(super) together: String,
    /// Who wants to be apart.
    pub(super) apart: String,
    /// Who must be on a certain team, one team on each line.
    pub(super) pinned: String,
    /// Decides between teams that are as good.
    pub(super) seed: u64,
    /// The place of the teams by quality, from 0.
    pub(super) place: u32,
    /// The ids of the players of the game before, with their teams.
    pub(super) last: Vec<(String, u8)>,
}

impl Pick {
    pub(super) fn read(fields: &Fields) -> Self {
        let text = |name| {
            let text = fields.one(name);
            text[..text.floor_char_boundary(LONGEST)].replace('\r', "")
        };
        let mut pick = Self {
            ruleset: fields.one("ruleset").trim().to_owned(),
            teams: fields.one("teams").parse().unwrap_or(2),
            names: text("names"),
            known: fields.all("on").map(str::to_owned).collect(),
            new: fields.all("new").filter_map(clean).collect(),
            weights: fields.all("weight").filter_map(weight).collect(),
            together: text("together"),
            apart: text("apart"),
            pinned: text("pinned"),
            seed: fields.one("seed").parse().unwrap_or(0).min(LARGEST_SEED),
            place: fields.one("place").parse().unwrap_or(0),
            last: fields.all("last").filter_map(seat).collect(),
        };
        // Who goes back from the questions gets the names as they were typed. Who leaves one unanswered is asked again,
        // so that nobody is left out by mistake.
        let doubt = fields.one("doubt");
        if fields.one("do") == "edit" || fields.answers().count() < doubt.lines().count() {
            pick.names.push_str(doubt);
            return pick;
        }
        let typed: Vec<Option<ListedName>> = doubt.lines().map(ListedName::of).collect();
        for (number, answer) in fields.answers() {
            let id = match answer.split_once(':') {
                Some(("on", handle)) => {
                    pick.known.push(handle.to_owned());
                    handle.to_owned()
                }
                Some(("new", name)) => {
                    pick.new.extend(clean(name));
                    identity(name)
                }
                _ => continue, // left out
            };
            let typed = typed.get(number).and_then(Option::as_ref);
            let weight = typed.and_then(|typed| typed.weight.clone());
            pick.weights.extend(weight.map(|weight| (id, weight)));
        }
        pick
    }

    /// Whether nobody plays.
    pub(super) fn is_empty(&self) -> bool {
        self.names.trim().is_empty() && self.known.is_empty() && self.new.is_empty()
    }

    /// The weight that the list states for a person, as it was typed.
    pub(super) fn weight_of(&self, person: &Person) -> Option<&str> {
        let found = self.weights.iter().find(|(id, _)| person.had_id(id));
        found.map(|(_, weight)| weight.as_str())
    }

    /// Takes over who is meant by its names.
    pub(super) fn settle(&mut self, people: &[Person]) {
        self.names.clear();
        self.known.clear();
        self.new.clear();
        for person in people {
            match person {
                Person::Known(known) => self.known.push(known.handle.clone()),
                Person::New(name) => self.new.push(name.clone()),
            }
        }
    }

    /// The fields that state this pick.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("ruleset", self.ruleset.clone()),
            ("teams", self.teams.to_string()),
            ("seed", self.seed.to_string()),
            ("place", self.place.to_string()),
        ];
        let texts = [
            ("names", &self.names),
            ("together", &self.together),
            ("apart", &self.apart),
            ("pinned", &self.pinned),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        fields.extend(texts.map(|(name, text)| (name, text.clone())));
        fields.extend(self.known.iter().map(|handle| ("on", handle.clone())));
        fields.extend(self.new.iter().map(|name| ("new", name.clone())));
        let weights = self.weights.iter();
        fields.extend(weights.map(|(id, weight)| ("weight", format!("{weight}:{id}"))));
        let last = self.last.iter();
        fields.extend(last.map(|(id, team)| ("last", format!("{team}:{id}"))));
        fields
    }
}

/// The id of a player, and the weight that comes before it.
fn weight(text: &str) -> Option<(String, String)> {
    let (weight, id) = text.split_once(':')?;
    weight.parse::<f64>().ok()?;
    Some((id.to_owned(), weight.to_owned()))
}

/// A team, and what comes after it: a player.
pub(super) fn seat(text: &str) -> Option<(String, u8)> {
    let (team, who) = text.split_once(':')?;
    let team = team.parse().ok().filter(|team| *team < 8)?;
    Some((who.to_owned(), team))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pick_goes_through_a_form_unchanged() {
        let pick = Pick {
            ruleset: "futsal+rain & \"more\"".to_owned(),
            teams: 3,
            names: "Ann\nBob, <b>".to_owned(),
            known: vec!["00ff".to_owned(), "01".to_owned()],
            new: vec!["Zoë & Co".to_owned()],
            weights: vec![("zoë-&-co".to_owned(), "-2.50".to_owned())],
            together: "a, b\nc".to_owned(),
            apart: "d=e;f".to_owned(),
            pinned: "red: a\n1: b".to_owned(),
            seed: LARGEST_SEED,
            place: 7,
            last: vec![("zoë:1".to_owned(), 7), ("00ff".to_owned(), 0)],
        };
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(pick.fields());
        let fields = Fields::parse(form.finish().as_bytes()).unwrap();
        assert_eq!(Pick::read(&fields), pick);
    }

    #[test]
    fn answers_say_who_is_meant() {
        let body =
            "names=Ann&ask0=on:00ff&ask1=new:Zoe+Lee&ask2=drop&ask3=new:&teams=x&last=9:a&seed=-1";
        let pick = Pick::read(&Fields::parse(body.as_bytes()).unwrap());
        assert_eq!(pick.names, "Ann");
        assert_eq!(
            (pick.known, pick.new),
            (vec!["00ff".to_owned()], vec!["Zoe Lee".to_owned()])
        );
        assert_eq!(
            (pick.teams, pick.seed, pick.last.len()),
            (2, 0, 0),
            "what makes no sense is as if it were not there"
        );
    }

    #[test]
    fn names_whose_questions_are_not_answered_are_asked_again() {
        let read = |answers: &str| {
            let body = format!("do=pick&on=01&doubt=Ana%0AMax{answers}");
            Pick::read(&Fields::parse(body.as_bytes()).unwrap())
        };
        let one = read("&ask1=on:00ff");
        assert_eq!((one.names.as_str(), one.known.len()), ("Ana\nMax", 1));
        let both = read("&ask0=drop&ask1=on:00ff");
        assert_eq!((both.names.as_str(), both.known.len()), ("", 2));
    }

    #[test]
    fn a_weight_goes_to_whom_the_answer_means() {
        let body = "weight=7:zoe&weight=x:ann&doubt=5+Ana%0AMax%0A3+ann&ask0=on:00ff&ask1=new:Max&ask2=new:Ann+2";
        let pick = Pick::read(&Fields::parse(body.as_bytes()).unwrap());
        let weights = [("zoe", "7"), ("00ff", "5"), ("ann-2", "3")];
        assert_eq!(
            pick.weights,
            weights.map(|(id, weight)| (id.to_owned(), weight.to_owned()))
        );
        assert_eq!(pick.weight_of(&Person::New("Zoe".to_owned())), Some("7"));
        let back = Pick::read(&Fields::parse(format!("do=edit&{body}").as_bytes()).unwrap());
        assert_eq!(back.names, "5 Ana\nMax\n3 ann");
    }

    #[test]
    fn a_form_is_bounded() {
        assert!(Fields::parse("a=b&".repeat(FIELDS).as_bytes()).is_ok());
        assert!(Fields::parse("a=b&".repeat(FIELDS + 1).as_bytes()).is_err());
        let long = format!("names={}", "é".repeat(LONGEST));
        let pick = Pick::read(&Fields::parse(long.as_bytes()).unwrap());
        assert_eq!(pick.names.len(), LONGEST);
        assert!(Fields::parse(b"%ff%fe=%00&&&=").is_ok());
    }
}
