//! A browser without scripts: it keeps a cookie, and sends the forms of the pages as they are.

use super::{api::Api, http::HttpAnswer};

/// A browser on the page of teams.
pub struct Browser<'a> {
    api: &'a Api,
    /// The base path of the pages.
    base: &'a str,
    /// The address of the site, as the browser states it.
    pub origin: String,
    /// `name=value` of the cookie; empty for none.
    pub cookie: String,
    /// The last answer.
    pub answer: HttpAnswer,
}

impl<'a> Browser<'a> {
    pub fn open(api: &'a Api, base: &'a str) -> Self {
        let origin = format!("http://{}", api.pages.address);
        let mut browser = Self {
            api,
            base,
            origin,
            cookie: String::new(),
            answer: HttpAnswer::default(),
        };
        browser.go("");
        browser
    }

    /// Opens the page, with a query.
    pub fn go(&mut self, query: &str) -> &str {
        let path = format!("{}/teams{query}", self.base);
        let cookie = self.cookie_field();
        self.answer = self.api.send("GET", &path, &cookie, "");
        &self.answer.body
    }

    /// Signs in with the token of a client. Returns the cookie as the daemon sets it.
    pub fn sign_in(&mut self, client: &str) -> String {
        let token = format!("{client}-token");
        assert_eq!(self.press("in", &[("token", &token)]), 200);
        let set = self.answer.field("set-cookie").unwrap().trim().to_owned();
        self.cookie = set.split(';').next().unwrap().to_owned();
        set
    }

    /// Presses a button, with these values in the fields of its form. Returns the status of the answer.
    pub fn press(&mut self, button: &str, filled: &[(&str, &str)]) -> u16 {
        let body = self.form(button, filled);
        self.send(&body)
    }

    /// What the browser would send.
    pub fn form(&self, button: &str, filled: &[(&str, &str)]) -> String {
        let page = &self.answer.body;
        let own = format!("name=\"do\" value=\"{button}\"");
        let mut forms = page.split("<form ").skip(1);
        let form = forms.find(|form| form.split("</form>").next().unwrap().contains(&own));
        let form = form.unwrap_or_else(|| panic!("no button {button}: {page}"));
        let mut fields = fields(form.split("</form>").next().unwrap());
        fields.retain(|(name, _)| filled.iter().all(|(own, _)| own != name));
        let filled = filled
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()));
        fields.extend(filled);
        fields.push(("do".to_owned(), button.to_owned()));
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields).finish()
    }

    /// Sends a form.
    pub fn send(&mut self, body: &str) -> u16 {
        let path = format!("{}/teams", self.base);
        let origin = match self.origin.as_str() {
            "" => String::new(),
            origin => format!("Origin: {origin}\r\n"),
        };
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        let head = format!("{origin}{kind}{}", self.cookie_field());
        self.answer = self.api.send("POST", &path, &head, body);
        self.answer.status
    }

    fn cookie_field(&self) -> String {
        match self.cookie.as_str() {
            "" => String::new(),
            cookie => format!("Cookie: {cookie}\r\n"),
        }
    }

    /// Whether the last answer contains a text.
    pub fn shows(&self, text: &str) -> bool {
        self.answer.body.contains(text)
    }

    /// The names on each team, as the page shows them.
    pub fn teams(&self) -> Vec<Vec<String>> {
        let sides = self.answer.body.split("<section class=\"side\">").skip(1);
        let names = |side: &str| {
            let side = side.split("</section>").next().unwrap();
            let names = side.split("<bdi>").skip(1);
            let names = names.map(|name| plain(name.split("</bdi>").next().unwrap()));
            names.collect()
        };
        sides.map(names).collect()
    }

    /// On which team somebody is.
    pub fn team_of(&self, name: &str) -> usize {
        let teams = self.teams();
        let found = teams
            .iter()
            .position(|team| team.iter().any(|own| own == name));
        found.unwrap_or_else(|| panic!("{name}: {}", self.answer.body))
    }
}

/// The fields of a form with the values that a browser sends.
fn fields(form: &str) -> Vec<(String, String)> {
    let (mut fields, mut select) = (Vec::new(), String::new());
    for tag in form.split('<') {
        let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
        let value = |name: &str| {
            let start = format!(" {name}=\"");
            let (_, rest) = tag.split_once(&start)?;
            Some(plain(rest.split('"').next().unwrap()))
        };
        let kind = value("type").unwrap_or_default();
        let is_choice = ["checkbox", "radio"].contains(&kind.as_str());
        let sent = !is_choice || tag.contains(" checked");
        match (tag.split(' ').next().unwrap(), value("name")) {
            ("input", Some(name)) if sent => {
                fields.push((name, value("value").unwrap_or_default()))
            }
            ("textarea", Some(name)) => fields.push((name, plain(text))),
            ("select", Some(name)) => select = name,
            ("option", _) if tag.ends_with(" selected") => {
                fields.push((select.clone(), value("value").unwrap()));
            }
            _ => {}
        }
    }
    fields
}

/// A text of a page without its escapes.
fn plain(text: &str) -> String {
    let escapes = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    escapes
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
