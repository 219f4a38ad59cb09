//! A daemon with `/v1`, and a caller that compares every answer with the contract.

use std::{collections::BTreeSet, fs, io::Write, net::TcpStream, path::Path};

use parking_lot::Mutex;
use serde_json::Value;
use tempfile::TempDir;

use super::http::{HttpAnswer, Pages};

/// Clients with their rights. The token of each is its name and `-token`.
const CLIENTS: [(&str, &str); 7] = [
    ("asker", "'ask'"),
    ("club", "'ask', 'report'"),
    ("other", "'report'"),
    ("lobby", "'queue'"),
    ("boss", "'admin'"),
    ("all", "'ask', 'report', 'queue', 'admin'"),
    ("game-*", "'ask', 'report'"),
];

/// A daemon with `/v1`.
pub struct Api {
    pub pages: Pages,
    spec: Value,
    /// The method, path and status of every answer so far, as the contract names them.
    pub seen: Mutex<BTreeSet<(String, String, u16)>>,
    pub folder: TempDir,
}

impl Api {
    /// Starts a daemon with more configuration.
    pub fn start(toml: &str) -> Self {
        Self::start_in(TempDir::new().unwrap(), toml)
    }

    pub fn start_in(folder: TempDir, toml: &str) -> Self {
        let client = |(name, rights): &(&str, &str)| {
            let token = name.trim_end_matches("-*");
            format!("[[clients]]\nname = '{name}'\ntoken = '{token}-token'\nrights = [{rights}]\n")
        };
        let clients: String = CLIENTS.iter().map(client).collect();
        let api = if toml.contains("[api]") {
            ""
        } else {
            "[api]\nenabled = true\n"
        };
        let text = format!("{api}{toml}\n{clients}");
        fs::write(folder.path().join("evenkeel.toml"), text).unwrap();
        let pages = serve(folder.path());
        let spec = fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/crates/web/src/api/openapi.json"
        ));
        Self {
            pages,
            spec: serde_json::from_str(&spec.unwrap()).unwrap(),
            seen: Mutex::default(),
            folder,
        }
    }

    /// Kills the daemon as `kill -9` does, and starts it again.
    pub fn kill_and_start(&mut self) {
        self.pages.daemon.kill();
        self.pages = serve(self.folder.path());
    }

    /// What the daemon answers to a client; an empty name for nobody. The answer must be as the contract states it.
    pub fn call(&self, client: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.call_with(client, method, path, body, "")
    }

    /// The same with more header fields.
    pub fn call_with(
        &self,
        client: &str,
        method: &str,
        path: &str,
        body: &Value,
        fields: &str,
    ) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let mut head = fields.to_owned();
        if !client.is_empty() {
            head.push_str(&format!("Authorization: Bearer {client}-token\r\n"));
        }
        if !body.is_empty() {
            head.push_str("Content-Type: application/json\r\n");
        }
        let answer = self.send(method, path, &head, &body);
        (answer.status, self.check(method, path, &answer))
    }

    /// Sends a request with these header fields and this body.
    pub fn send(&self, method: &str, path: &str, fields: &str, body: &str) -> HttpAnswer {
        HttpAnswer::read(self.begin(method, path, fields, body))
    }

    /// The same, without waiting for the answer.
    pub fn begin(&self, method: &str, path: &str, fields: &str, body: &str) -> TcpStream {
        let host = match fields.to_lowercase().contains("host: ") {
            true => String::new(),
            false => format!("Host: {}\r\n", self.pages.address),
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{fields}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = self.pages.connect();
        // The daemon may refuse before it has read everything.
        let _ = stream.write_all(head.as_bytes());
        stream
    }

    /// Compares an answer with the contract. Returns its content.
    pub fn check(&self, method: &str, path: &str, answer: &HttpAnswer) -> Value {
        let at = format!("{method} {path}: {} {}", answer.status, answer.body);
        let content = match answer.body.as_str() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| panic!("{at}")),
        };
        let plain = path.split('?').next().unwrap();
        let Some((template, operations)) = self.path_of(plain) else {
            assert_eq!(answer.status, 404, "{at}");
            return content;
        };
        let Some(operation) = operations.get(method.to_lowercase()) else {
            assert_eq!(answer.status, 405, "{at}");
            return content;
        };
        let status = answer.status.to_string();
        let range = format!("{}XX", &status[..1]);
        let known = operation["responses"].get(&status);
        let known = known.or_else(|| operation["responses"].get(&range));
        let known = self.follow(known.unwrap_or_else(|| panic!("not in the contract: {at}")));
        match known["content"].as_object() {
            None => assert!(content.is_null(), "{at}"),
            Some(kinds) => {
                let (kind, what) = kinds.iter().next().unwrap();
                assert_eq!(answer.field("content-type"), Some(kind.as_str()), "{at}");
                if let Err(why) = self.fits(&what["schema"], &content) {
                    panic!("{at}: {why}");
                }
            }
        }
        let seen = (method.to_owned(), template, answer.status);
        self.seen.lock().insert(seen);
        content
    }

    /// The entry of a path in the contract.
    fn path_of(&self, path: &str) -> Option<(String, Value)> {
        let parts: Vec<&str> = path.split('/').collect();
        let fits = |template: &str| {
            let own: Vec<&str> = template.split('/').collect();
            let same = |(own, part): (&&str, &&str)| own == part || own.starts_with('{');
            own.len() == parts.len() && own.iter().zip(&parts).all(same)
        };
        let paths = self.spec["paths"].as_object().unwrap();
        let exact = paths.get_key_value(path);
        let found = exact.or_else(|| paths.iter().find(|(template, _)| fits(template)));
        found.map(|(template, entry)| (template.clone(), entry.clone()))
    }

    fn follow<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node["$ref"].as_str() {
            Some(to) => self.spec.pointer(to.trim_start_matches('#')).unwrap(),
            None => node,
        }
    }

    /// Whether a value is as a schema of the contract states it.
    pub fn fits(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let schema = self.follow(schema);
        if let Some(any) = schema["anyOf"].as_array() {
            let tried: Vec<_> = any.iter().map(|one| self.fits(one, value)).collect();
            return match tried.iter().any(Result::is_ok) {
                true => Ok(()),
                false => Err(format!("{tried:?}")),
            };
        }
        let is_of = |kind: &str| match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            _ => value.is_null(),
        };
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.clone(),
            kind => vec![kind.clone()],
        };
        if !kinds.iter().any(|kind| kind.as_str().is_none_or(is_of)) {
            return Err(format!("{value} is not {kinds:?}"));
        }
        if schema["enum"]
            .as_array()
            .is_some_and(|words| !words.contains(value))
        {
            return Err(format!("{value} is none of {}", schema["enum"]));
        }
        let items = value.as_array().into_iter().flatten();
        for item in items {
            self.fits(&schema["items"], item)?;
        }
        self.fits_object(schema, value)
    }

    fn fits_object(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let Some(object) = value.as_object() else {
            return Ok(());
        };
        for name in schema["required"].as_array().into_iter().flatten() {
            if !object.contains_key(name.as_str().unwrap()) {
                return Err(format!("{name} is missing in {value}"));
            }
        }
        for (name, own) in object {
            match schema["properties"].get(name) {
                Some(known) => self
                    .fits(known, own)
                    .map_err(|why| format!("{name}: {why}"))?,
                None if schema["additionalProperties"] == false => {
                    return Err(format!("{name} is not in the contract"));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// All operations of the contract, as a method and a path.
    pub fn operations(&self) -> Vec<(String, String)> {
        let paths = self.spec["paths"].as_object().unwrap();
        let of = |(path, entry): (&String, &Value)| {
            let methods = entry.as_object().unwrap().keys();
            methods
                .map(|method| (method.to_uppercase(), path.clone()))
                .collect::<Vec<_>>()
        };
        paths.iter().flat_map(of).collect()
    }

    /// The number of matches on disk.
    pub fn matches(&self) -> usize {
        let (_, list) = self.call("", "GET", "/v1/matches?limit=200", &Value::Null);
        list["matches"].as_array().unwrap().len()
    }
}

fn serve(folder: &Path) -> Pages {
    Pages::start(folder, &[("EVENKEEL_CONFIG", "evenkeel.toml")])
}
