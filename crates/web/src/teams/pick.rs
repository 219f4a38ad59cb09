//! What a form states: who plays, under names that people type or paste, and the pick. All of a pick is in its form,
//! so that the daemon keeps nothing of it.
//!
//! Players are on the leaderboard, or new: then the form gives them an identity.

use crate::{
    api::{ApiProblem, LARGEST_SEED},
    learning::BoardLine,
    model::{Timestamp, names::plain_name},
};

/// The most fields of a form.
const FIELDS: usize = 1_000;

/// The fields of a form, in their order.
#[derive(Debug, Default)]
pub(super) struct FormFields(Vec<(String, String)>);

impl FormFields {
    pub(super) fn parse(body: &[u8]) -> Result<Self, ApiProblem> {
        let fields = form_urlencoded::parse(body).into_owned();
        let fields: Vec<_> = fields.take(FIELDS + 1).collect();
        match fields.len() > FIELDS {
            true => Err(ApiProblem::bad(format!(
                "the form has more than {fields} fields",
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
    pub(super) fn read(fields: &FormFields) -> Self {
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
    pub(super) fn weight_of(&self, person: &PickedPerson) -> Option<&str> {
        let found = self.weights.iter().find(|(id, _)| person.had_id(id));
        found.map(|(_, weight)| weight.as_str())
    }

    /// Takes over who is meant by its names.
    pub(super) fn reconcile(&mut self, people: &[PickedPerson]) {
        self.names.clear();
        self.known.clear();
        self.new.clear();
        for person in people {
            match person {
                PickedPerson::Known(known) => self.known.push(known.handle.clone()),
                PickedPerson::New(name) => self.new.push(name.clone()),
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

/// The longest text of names that is read, in bytes.
pub(super) const LONGEST: usize = 16 * 1_024;
/// What stands between two names.
const BETWEEN: [char; 4] = ['\n', ',', ';', '\t'];
/// What a line of a list begins with.
const BULLETS: [char; 5] = ['-', '*', '•', '–', '·'];

/// The names in a text: one per line, or with commas between them. Bullets and numbers of a pasted list are left out.
pub(super) fn names(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let names = text.split(BETWEEN).map(without_number).map(clean);
    names.flatten().collect()
}

/// A name on a list, and the weight that stands before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListedName {
    /// As it was typed, with the weight.
    pub(super) text: String,
    pub(super) name: String,
    /// The weight as it was typed.
    pub(super) weight: Option<String>,
}

/// The names of a list, with weights before them as in `5 Ann`. A tab may stand between them.
pub(super) fn listed(text: &str) -> Vec<ListedName> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let parts = text.split([BETWEEN[0], BETWEEN[1], BETWEEN[2]]);
    parts.flat_map(listed_on).collect()
}

/// The names of one part of a list, in which tabs stand between names, and between a weight and its name.
fn listed_on(part: &str) -> Vec<ListedName> {
    let mut names: Vec<ListedName> = Vec::new();
    for cell in part.split('\t').map(without_number) {
        let is_weight = |last: &mut ListedName| is_number(&last.text);
        match names.pop_if(is_weight) {
            Some(weight) => {
                let text = format!("{} {cell}", weight.text);
                names.extend(ListedName::of(&text).or(Some(weight)));
            }
            None => names.extend(ListedName::of(cell)),
        }
    }
    names
}

impl ListedName {
    /// A name, with the weight that stands before it; `None` if nothing is left of the name.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let parts = text.split_once(char::is_whitespace);
        let parts = parts.filter(|(weight, _)| is_number(weight));
        let weighed = parts.and_then(|(weight, name)| Some((weight, clean(name)?)));
        Some(match weighed {
            Some((weight, name)) => Self {
                text: format!("{weight} {name}"),
                name,
                weight: Some(weight.to_owned()),
            },
            None => Self::plain(clean(text)?),
        })
    }

    /// A name without a weight.
    pub(super) fn plain(name: String) -> Self {
        Self {
            text: name.clone(),
            name,
            weight: None,
        }
    }
}

/// Whether a word is a number in digits, of any size and sign.
fn is_number(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
        && word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && word.parse::<f64>().is_ok()
}

/// The groups of names in a text, one on each line.
pub(super) fn groups(text: &str) -> Vec<Vec<String>> {
    let groups = text[..text.floor_char_boundary(LONGEST)].lines().map(names);
    groups.filter(|group| !group.is_empty()).collect()
}

/// A name as it is shown: in one line, without characters that nobody sees. `None` if nothing is left of it.
pub(super) fn clean(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    let seen = |c: &char| !c.is_control();
    let name: String = joined.chars().filter(seen).collect();
    let name = plain_name(&name);
    // What is shown of a name without visible characters.
    let is_empty = name.trim().is_empty() || name == plain_name("");
    (!is_empty).then(|| name.trim().to_owned())
}

/// A name without the bullet or the number before it, as in `3. Ann` or `- Ann`.
fn without_number(text: &str) -> &str {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix(BULLETS) {
        return if rest.starts_with(' ') { rest } else { text };
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(name) if rest.len() < text.len() && name.starts_with(' ') => name,
        _ => text,
    }
}

/// What is compared of a name: names that differ only in capital letters are one.
pub(super) fn name_key(name: &str) -> String {
    name.to_lowercase()
}

/// The identity of a new player of this name: in lower case, with `-` for each white space.
pub(super) fn identity(name: &str) -> String {
    name_key(name).replace(char::is_whitespace, "-")
}

/// A player whom the leaderboard of the ruleset has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListedPlayer {
    pub(super) handle: String,
    /// The name as it is shown.
    pub(super) name: String,
    /// The name as the game sent it; empty if it must not be shown.
    raw: String,
    /// The identity in lower case; never shown.
    pub(super) id: String,
    pub(super) games: i64,
    pub(super) last_seen: Timestamp,
}

impl ListedPlayer {
    pub(super) fn new(row: &BoardLine) -> Self {
        let player = &row.player;
        Self {
            handle: player.handle.clone().unwrap_or_default(),
            name: player.plain().to_owned(),
            raw: player.raw.clone(),
            id: row.key.id.to_lowercase(),
            games: row.games,
            last_seen: row.last_seen,
        }
    }

    /// Whether this name, in any case, is the player's name or identity.
    pub(super) fn is_called(&self, name: &str) -> bool {
        name_key(&self.name) == name_key(name)
            || self.id == name_key(name)
            || self.id == identity(name)
    }
}

/// Somebody who plays.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PickedPerson {
    Known(ListedPlayer),
    /// Nobody of this name is known, and that is right.
    New(String),
}

impl PickedPerson {
    /// How `/v1` names the player: by the handle, or by the identity that the new one gets.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Known(known) => known.handle.clone(),
            Self::New(name) => identity(name),
        }
    }

    /// Whether this was the player's [`id`](Self::id), now or as a new player.
    pub(super) fn had_id(&self, id: &str) -> bool {
        match self {
            Self::Known(known) => known.handle == id || known.id == id,
            Self::New(name) => identity(name) == id,
        }
    }

    /// The player, unless it is a new one.
    pub(super) fn known(self) -> Option<ListedPlayer> {
        match self {
            Self::Known(known) => Some(known),
            Self::New(_) => None,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Known(known) => &known.name,
            Self::New(name) => name,
        }
    }

    /// The name under which a match records the player; `None` if it is not known.
    pub(super) fn recorded_name(&self) -> Option<&str> {
        let name = match self {
            Self::Known(known) => &known.raw,
            Self::New(name) => name,
        };
        Some(name.as_str()).filter(|name| !name.is_empty())
    }

    /// How a form names the player.
    pub(super) fn value(&self) -> String {
        match self {
            Self::Known(known) => format!("on:{}", known.handle),
            Self::New(name) => format!("new:{name}"),
        }
    }

    /// Whether the player is the one whom this name means.
    fn is_called(&self, name: &str) -> bool {
        match self {
            Self::Known(known) => known.is_called(name),
            Self::New(own) => identity(own) == identity(name),
        }
    }
}

/// Which of these people a wish means by a name; a slip is understood if only one can be meant.
pub(super) fn meant(name: &str, people: &[PickedPerson]) -> Option<usize> {
    let called = people.iter().position(|one| one.is_called(name));
    let like =
        |at: &usize| strsim::osa_distance(&name_key(people[*at].name()), &name_key(name)) < 2;
    called.or_else(|| {
        let mut alike = (0..people.len()).filter(like);
        let only = alike.next()?;
        alike.next().is_none().then_some(only)
    })
}

#[cfg(test)]
pub(super) mod tests {
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
        let fields = FormFields::parse(form.finish().as_bytes()).unwrap();
        assert_eq!(Pick::read(&fields), pick);
    }

    #[test]
    fn answers_say_who_is_meant() {
        let body =
            "names=Ann&ask0=on:00ff&ask1=new:Zoe+Lee&ask2=drop&ask3=new:&teams=x&last=9:a&seed=-1";
        let pick = Pick::read(&FormFields::parse(body.as_bytes()).unwrap());
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
            Pick::read(&FormFields::parse(body.as_bytes()).unwrap())
        };
        let one = read("&ask1=on:00ff");
        assert_eq!((one.names.as_str(), one.known.len()), ("Ana\nMax", 1));
        let both = read("&ask0=drop&ask1=on:00ff");
        assert_eq!((both.names.as_str(), both.known.len()), ("", 2));
    }

    #[test]
    fn a_weight_goes_to_whom_the_answer_means() {
        let body = "weight=7:zoe&weight=x:ann&doubt=5+Ana%0AMax%0A3+ann&ask0=on:00ff&ask1=new:Max&ask2=new:Ann+2";
        let pick = Pick::read(&FormFields::parse(body.as_bytes()).unwrap());
        let weights = [("zoe", "7"), ("00ff", "5"), ("ann-2", "3")];
        assert_eq!(
            pick.weights,
            weights.map(|(id, weight)| (id.to_owned(), weight.to_owned()))
        );
        assert_eq!(
            pick.weight_of(&PickedPerson::New("Zoe".to_owned())),
            Some("7")
        );
        let back = Pick::read(&FormFields::parse(format!("do=edit&{body}").as_bytes()).unwrap());
        assert_eq!(back.names, "5 Ana\nMax\n3 ann");
    }

    #[test]
    fn a_form_is_bounded() {
        assert!(FormFields::parse("a=b&".repeat(FIELDS).as_bytes()).is_ok());
        assert!(FormFields::parse("a=b&".repeat(FIELDS + 1).as_bytes()).is_err());
        let long = format!("names={}", "é".repeat(LONGEST));
        let pick = Pick::read(&FormFields::parse(long.as_bytes()).unwrap());
        assert_eq!(pick.names.len(), LONGEST);
        assert!(FormFields::parse(b"%ff%fe=%00&&&=").is_ok());
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        let read = |text: &str| names(text).join("|");
        assert_eq!(read("ann, bob, cid"), "ann|bob|cid");
        assert_eq!(
            read("Ann\r\n  Bob  Lee \n\n;Cid;\tDan"),
            "Ann|Bob Lee|Cid|Dan"
        );
        assert_eq!(
            read("1. Ann\n2) Bob\n- Cid\n• Dan\n10. Eve"),
            "Ann|Bob|Cid|Dan|Eve"
        );
        assert_eq!(read("3pac, -x-, 7, 1.5, 2.Fay"), "3pac|-x-|7|1.5|2.Fay");
        assert_eq!(read(" ,;\n \u{200b}\u{7}"), "");
        assert_eq!(
            read("<b>x</b>, ^1Red\u{0}\u{202e}"),
            "<b>x</b>|Red",
            "colours are not part of a name"
        );
        assert_eq!(names(&"x\n".repeat(100_000)).len(), LONGEST / 2);
        assert_eq!(names(&"é".repeat(100_000))[0].chars().count(), 41, "cut");
        assert_eq!(
            groups("ann, bob\n\n cid\n,\n"),
            [vec!["ann", "bob"], vec!["cid"]]
        );
    }

    #[test]
    fn a_list_has_weights_before_names() {
        let read = |text: &str| {
            let listed = listed(text).into_iter();
            let shown =
                listed.map(|one| format!("{}={}", one.name, one.weight.unwrap_or_default()));
            shown.collect::<Vec<_>>().join("|")
        };
        let list = "5 Boring John\n 3\tSilly  Billy\n- 2.5 Ann, .5 Bob; Cid";
        assert_eq!(
            read(list),
            "Boring John=5|Silly Billy=3|Ann=2.5|Bob=.5|Cid="
        );
        assert_eq!(
            read("1. 7 Ann\n2) -7 Bob\n1e999 Cid"),
            "Ann=7|Bob=-7|Cid=1e999"
        );
        assert_eq!(read("ann\t5\tbob\tcid"), "ann=|bob=5|cid=");
        // Words that are no numbers in digits are names.
        assert_eq!(
            read("3pac, 7, Nan Lee, inf x, 2nd Ann"),
            "3pac=|7=|Nan Lee=|inf x=|2nd Ann="
        );
    }

    #[test]
    fn the_identity_of_a_new_player_does_not_depend_on_how_the_name_is_written() {
        assert_eq!(identity("Ann Lee"), "ann-lee");
        assert_eq!(identity("ANN"), name_key("ann"));
        assert_eq!(identity("Zoë"), "zoë");
    }

    pub(in crate::teams) fn known(name: &str, id: &str) -> ListedPlayer {
        ListedPlayer {
            handle: format!("h-{id}"),
            name: name.to_owned(),
            raw: name.to_owned(),
            id: id.to_owned(),
            games: 1,
            last_seen: Timestamp(0),
        }
    }

    #[test]
    fn a_wish_means_somebody_who_plays() {
        let people = [
            PickedPerson::Known(known("Ann", "ann")),
            PickedPerson::New("Anna Lee".to_owned()),
        ];
        let meant = |name| meant(name, &people);
        assert_eq!(meant("ANN"), Some(0));
        assert_eq!(meant("ana"), Some(0));
        assert_eq!(meant("anna-lee"), Some(1));
        assert_eq!(meant("Anna Leo"), Some(1));
        assert_eq!(meant("Zoe"), None);
        let twins = ["Tim", "Tom"].map(|name| PickedPerson::New(name.to_owned()));
        assert_eq!(super::meant("Tam", &twins), None);
    }
}
