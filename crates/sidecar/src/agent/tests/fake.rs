//! A simulated id Tech 3 server, with OpenArena's log and answers.

use std::collections::BTreeMap;

/// A client on the server.
#[derive(Clone, Debug)]
pub(crate) struct FakeClient {
    pub name: String,
    pub password: String,
    /// 1 is red, 2 is blue, 3 watches.
    pub team: u8,
    pub bot: bool,
}

/// The server. What it writes to its log is in `log` until it is taken.
#[derive(Debug)]
pub(crate) struct FakeServer {
    pub maps: Vec<String>,
    pub map: String,
    pub vars: BTreeMap<String, String>,
    pub clients: BTreeMap<usize, FakeClient>,
    pub log: Vec<String>,
    pub commands: Vec<String>,
    pub warming_up: bool,
    /// Seconds on the log's clock.
    pub clock: u64,
    scores: [i64; 2],
}

impl FakeServer {
    pub(crate) fn new(maps: &[&str]) -> Self {
        let mut server = Self {
            maps: maps.iter().map(|map| (*map).to_owned()).collect(),
            map: maps[0].to_owned(),
            vars: BTreeMap::new(),
            clients: BTreeMap::new(),
            log: Vec::new(),
            commands: Vec::new(),
            warming_up: false,
            clock: 0,
            scores: [0, 0],
        };
        server.begin(true);
        server
    }

    fn var(&self, name: &str) -> &str {
        self.vars.get(name).map_or("", String::as_str)
    }

    fn line(&mut self, text: &str) {
        let (minutes, seconds) = (self.clock / 60, self.clock % 60);
        self.log.push(format!("{minutes:3}:{seconds:02} {text}"));
    }

    fn begin(&mut self, warm_up: bool) {
        let (map, id) = (self.map.clone(), self.var("evenkeel_match").to_owned());
        let game_type = self.vars.get("g_gametype").map_or("4", String::as_str);
        let mut info =
            format!("InitGame: \\gamename\\baseoa\\g_gametype\\{game_type}\\mapname\\{map}");
        if !id.is_empty() {
            info += &format!("\\evenkeel_match\\{id}");
        }
        self.line(&info);
        self.scores = [0, 0];
        self.warming_up = warm_up;
        if warm_up {
            self.line("Warmup:");
        }
        for number in self.clients.keys().copied().collect::<Vec<_>>() {
            self.changed(number);
            self.line(&format!("ClientConnect: {number}"));
            self.line(&format!("ClientBegin: {number}"));
        }
    }

    fn changed(&mut self, number: usize) {
        let FakeClient {
            name, team, bot, ..
        } = &self.clients[&number];
        let own = if *bot {
            "\\skill\\3".to_owned()
        } else {
            format!("\\id\\GUID{name}")
        };
        let text = format!("ClientUserinfoChanged: {number} n\\{name}\\t\\{team}{own}");
        self.line(&text);
    }

    /// A client connects, unless the password keeps it out; its number.
    pub(crate) fn connect(&mut self, name: &str, password: &str) -> Option<usize> {
        let wanted = self.var("g_password");
        if !wanted.is_empty() && wanted != password {
            return None;
        }
        Some(self.add(name, password, 3, false))
    }

    pub(crate) fn add(&mut self, name: &str, password: &str, team: u8, bot: bool) -> usize {
        let number = (0..)
            .find(|number| !self.clients.contains_key(number))
            .unwrap();
        let (name, password) = (name.to_owned(), password.to_owned());
        let client = FakeClient {
            name,
            password,
            team,
            bot,
        };
        self.clients.insert(number, client);
        self.changed(number);
        self.line(&format!("ClientConnect: {number}"));
        self.line(&format!("ClientBegin: {number}"));
        number
    }

    pub(crate) fn disconnect(&mut self, number: usize) {
        if self.clients.remove(&number).is_some() {
            self.line(&format!("ClientDisconnect: {number}"));
        }
    }

    /// The number of the client of this name.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        let mut clients = self.clients.iter();
        clients
            .find(|(_, client)| client.name == name)
            .map(|(number, _)| *number)
    }

    /// A client captures a flag.
    pub(crate) fn capture(&mut self, number: usize) {
        let team = usize::from(self.clients[&number].team - 1);
        self.scores[team] += 1;
        let flag = 2 - team;
        self.line(&format!("CTF: {number} {flag} 1: X captured the flag!"));
    }

    /// Somebody dies; the world kills if there is no killer.
    pub(crate) fn kill(&mut self, killer: Option<usize>, victim: usize) {
        let killer = killer.unwrap_or(1_022);
        self.line(&format!("Kill: {killer} {victim} 1: x killed y by MOD_X"));
    }

    /// The game is over.
    pub(crate) fn exit(&mut self) {
        self.line("Exit: Timelimit hit.");
        let [red, blue] = self.scores;
        self.line(&format!("red:{red}  blue:{blue}"));
        for number in self.clients.keys().copied().collect::<Vec<_>>() {
            self.line(&format!(
                "score: {}  ping: 0  client: {number} X",
                10 + number
            ));
        }
    }

    /// The process ends and is started again.
    pub(crate) fn crash(&mut self) {
        self.vars.clear();
        self.clients.clear();
        self.clock = 0;
        self.begin(true);
    }

    /// Executes a command, and returns what it prints.
    pub(crate) fn execute(&mut self, command: &str) -> String {
        self.commands.push(command.to_owned());
        let words: Vec<&str> = command.split(' ').collect();
        let number = words.get(1).and_then(|word| word.parse::<usize>().ok());
        match (words[0], number) {
            ("set" | "sets", _) => {
                let value = words[2].trim_matches('"').to_owned();
                self.vars.insert(words[1].to_owned(), value);
                let on = |team| self.clients.values().any(|client| client.team == team);
                let short = self.var("g_warmup").parse().is_ok_and(|n: u32| n < 60);
                if words[1] == "g_warmup" && self.warming_up && short && on(1) && on(2) {
                    self.line("ShutdownGame:");
                    self.begin(false);
                }
            }
            ("map", _) if self.maps.iter().any(|map| map == words[1]) => {
                self.line("ShutdownGame:");
                (self.map, self.clock) = (words[1].to_owned(), 0);
                self.begin(true);
            }
            ("map", _) => return format!("Can't find map maps/{}.bsp\n", words[1]),
            ("dumpuser", Some(number)) => match self.clients.get(&number) {
                Some(FakeClient { name, password, .. }) => {
                    let ip = "127.0.0.1";
                    return format!(
                        "userinfo\n--------\nip                   {ip}\npassword             {password}\n\
                         name                 {name}\n"
                    );
                }
                None => return format!("Player {number} is not on the server\n"),
            },
            ("clientkick", Some(number)) => self.disconnect(number),
            ("forceteam", Some(number)) if self.clients.contains_key(&number) => {
                let team = match words[2] {
                    "red" => 1,
                    "blue" => 2,
                    _ => 3,
                };
                self.clients.get_mut(&number).unwrap().team = team;
                self.changed(number);
                self.line(&format!("ClientBegin: {number}"));
            }
            ("sv_maxclients", _) => return "\"sv_maxclients\" is:\"16^7\"\n".to_owned(),
            _ => {}
        }
        String::new()
    }
}
