//! The modules of the program and of its crates, read from their sources: enough of Rust's name resolution to find the
//! module that defines an item, whatever re-exports name it.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    fs,
    path::{Path, PathBuf},
};

/// A module's path from the root of the program, such as `["service", "logs"]`. The path of a module of a crate begins with
/// the name of the crate.
pub type ModulePath = Vec<String>;

/// The depth of re-exports beyond which they are considered a circle.
const DEEPEST: usize = 32;

/// The crates have their names after this.
const PREFIX: &str = "evenkeel_";

/// Crates whose modules are rooms of the program. The path of a module there begins with the room, as if it stood in `src`.
pub const SHELVES: [&str; 2] = ["ground", "service"];

/// All modules of the program and of its crates.
#[derive(Default)]
pub struct Sources {
    modules: BTreeMap<ModulePath, Module>,
    crates: BTreeSet<String>,
}

/// One module: a file, or a `mod name { … }` inside one.
pub struct Module {
    pub file: PathBuf,
    /// The code of the module without its `use` declarations, inline modules, comments and the
    /// contents of strings.
    pub code: String,
    uses: Vec<Use>,
    defined: BTreeSet<String>,
}

/// A name that a `use` declaration or a type alias brings into a module.
#[derive(Debug, PartialEq)]
pub struct Use {
    path: Vec<String>,
    /// The name; `*` for all names of a module.
    pub name: String,
    /// Whether others see the name here too: a re-export.
    shown: bool,
}

impl Sources {
    /// The modules of the program in the folder `src`, and those of the crates, each in a folder of its name.
    pub fn read(src: &Path, crates: &Path) -> Self {
        let mut sources = Self::default();
        sources.read_below(src, &[]);
        for entry in fs::read_dir(crates).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let code = crates.join(&name).join("src");
            match SHELVES.contains(&name.as_str()) {
                true => sources.read_below(&code, &[]),
                false => {
                    sources.read_below(&code, std::slice::from_ref(&name));
                    sources.crates.insert(name);
                }
            }
        }
        sources
    }

    /// Reads every `.rs` file under `src`, except the binary's `main.rs`. `root` is the path of the root there.
    fn read_below(&mut self, src: &Path, root: &[String]) {
        let mut folders = vec![src.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ext| ext == "rs") {
                    let mut module = path.strip_prefix(src).unwrap().with_extension("");
                    if ["mod", "lib"].iter().any(|name| module.ends_with(name)) {
                        module.pop();
                    }
                    let below = module.iter().map(|part| part.to_str().unwrap().to_owned());
                    let module: ModulePath = root.iter().cloned().chain(below).collect();
                    if module != ["main"] {
                        let text = fs::read_to_string(&path).unwrap();
                        self.add(module, &path, without_comments(&text));
                    }
                }
            }
        }
    }

    /// The path that `crate` means in a module.
    fn root<'a>(&self, scope: &'a [String]) -> &'a [String] {
        let in_crate = scope
            .first()
            .is_some_and(|first| self.crates.contains(first));
        &scope[..usize::from(in_crate)]
    }

    /// Adds a module and the modules inside it.
    pub fn add(&mut self, path: ModulePath, file: &Path, mut code: String) {
        while let Some((name, body)) = take_inline_module(&mut code) {
            let inner = [path.clone(), vec![name]].concat();
            self.add(inner, file, body);
        }
        let uses = take_uses(&mut code);
        let defined = definitions(&code);
        let module = Module {
            file: file.to_owned(),
            code,
            uses,
            defined,
        };
        // The roots of the program and of the shelves share a path.
        match self.modules.entry(path) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.code.push_str(&module.code);
                known.uses.extend(module.uses);
                known.defined.extend(module.defined);
            }
            Entry::Vacant(place) => drop(place.insert(module)),
        }
    }

    /// The modules of a room: its own and those below.
    pub fn room(&self, room: &str) -> impl Iterator<Item = (&ModulePath, &Module)> {
        let modules = self.modules.iter();
        modules.filter(move |(path, _)| path.first().is_some_and(|first| first == room))
    }

    /// The path of the file that contains a module.
    pub fn file(&self, path: &[String]) -> &Path {
        &self.modules[path].file
    }

    /// Whether a module is only compiled for tests.
    pub fn is_test(&self, path: &[String]) -> bool {
        path.contains(&"tests".to_owned()) || self.is_behind(path, "cfg(test)")
    }

    /// Whether a module, or one that contains it, is declared with this attribute.
    pub fn is_behind(&self, path: &[String], attribute: &str) -> bool {
        (1..=path.len()).any(|length| {
            let Some((name, parent)) = path[..length].split_last() else {
                return false;
            };
            let declared = |visible: &str| format!("#[{attribute}]\n{visible}mod {name};");
            self.modules.get(parent).is_some_and(|parent| {
                ["", "pub ", "pub(crate) ", "pub(super) "]
                    .iter()
                    .any(|visible| parent.code.contains(&declared(visible)))
            })
        })
    }

    /// The code of a module, see [`Module::code`].
    pub fn code(&self, path: &ModulePath) -> &str {
        &self.modules[path].code
    }

    /// Every path that a module names, as far as its own `use` declarations lead: with `use a::{b as c}`, `c::d`
    /// is also `a::b::d`.
    pub fn names(&self, path: &ModulePath) -> BTreeSet<Vec<String>> {
        let module = &self.modules[path];
        let used = module.uses.iter().map(|item| item.path.clone());
        let mut open: Vec<_> = used.chain(paths(&module.code)).collect();
        let mut found = BTreeSet::new();
        while let Some(named) = open.pop() {
            let short = named.len() <= DEEPEST && found.len() < 100_000;
            if short && found.insert(named.clone()) {
                let same = module.uses.iter().filter(|item| item.name == named[0]);
                open.extend(same.map(|item| [&item.path[..], &named[1..]].concat()));
                let globs = module.uses.iter().filter(|item| item.name == "*");
                let outside = globs.filter(|item| {
                    !["crate", "self", "super"].contains(&item.path[0].as_str())
                        && item.path[0] != named[0]
                });
                open.extend(outside.map(|item| [&item.path[..], &named[..]].concat()));
            }
        }
        found
    }

    /// The modules that the paths in a module refer to: for each path the module that defines its
    /// last item, and, for a path from the crate's root, the module that it names.
    pub fn imports(&self, path: &ModulePath) -> BTreeSet<ModulePath> {
        let module = &self.modules[path];
        let used = module.uses.iter().map(|item| item.path.clone());
        let mut found = BTreeSet::new();
        for named in used.chain(paths(&module.code)) {
            if named[0] == "crate" && named.len() > 1 && self.root(path).is_empty() {
                found.insert(vec![named[1].clone()]);
            }
            found.extend(self.origin(path, &named, DEEPEST));
        }
        found.remove(path);
        found
    }

    /// The modules that define what the code of a module uses. A name that the module only re-exports is not used.
    pub fn needs(&self, path: &ModulePath) -> BTreeSet<ModulePath> {
        let module = &self.modules[path];
        let in_code: BTreeSet<&str> = words(&module.code).map(|(_, word)| word).collect();
        let used = module.uses.iter();
        let used = used.filter(|item| !item.shown || in_code.contains(item.name.as_str()));
        let named = used.map(|item| item.path.clone());
        let found = named.chain(paths(&module.code));
        found
            .filter_map(|named| self.origin(path, &named, DEEPEST))
            .filter(|origin| origin != path)
            .collect()
    }

    /// The module that defines the item `named` in the module `scope`; `None` if it is not in this
    /// crate.
    pub fn origin(&self, scope: &[String], named: &[String], depth: usize) -> Option<ModulePath> {
        let Some((first, rest)) = named.split_first() else {
            return Some(scope.to_vec());
        };
        let depth = depth.checked_sub(1)?;
        match first.as_str() {
            "crate" => return self.origin(self.root(scope), rest, depth),
            "self" => return self.origin(scope, rest, depth),
            "super" => return self.origin(&scope[..scope.len().checked_sub(1)?], rest, depth),
            _ => {}
        }
        if let Some(name) = first.strip_prefix(PREFIX) {
            let root = match SHELVES.contains(&name) {
                true => Vec::new(),
                false => vec![name.to_owned()],
            };
            return self.origin(&root, rest, depth);
        }
        let inner = [scope, std::slice::from_ref(first)].concat();
        if self.modules.contains_key(&inner) {
            return self.origin(&inner, rest, depth);
        }
        let module = self.modules.get(scope)?;
        let mut named_so = module.uses.iter().filter(|item| item.name == *first);
        let used = named_so.find_map(|item| {
            let whole = [&item.path[..], rest].concat();
            self.origin(scope, &whole, depth)
        });
        if used.is_some() {
            return used;
        }
        if module.defined.contains(first) {
            return Some(scope.to_vec());
        }
        let globs = module.uses.iter().filter(|item| item.name == "*");
        globs
            .filter(|item| item.path.as_slice() != named)
            .find_map(|item| {
                let from = self.origin(scope, &item.path, depth)?;
                (from != scope).then(|| self.origin(&from, named, depth))?
            })
    }
}

/// The text with comments blanked, and with strings and characters emptied.
pub fn without_comments(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let in_word = at > 0 && is_word(chars[at - 1]);
        let length = match rest {
            ['/', '/', ..] => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => block_comment(rest),
            ['r', '"' | '#', ..] if !in_word => raw_string(rest),
            ['"', ..] => quoted(rest, '"'),
            ['\'', '\\', ..] => quoted(rest, '\''),
            ['\'', _, '\'', ..] => 3,
            _ => 0,
        };
        if length == 0 {
            out.push(chars[at]);
            at += 1;
        } else {
            out.push(' ');
            at += length;
        }
    }
    out
}

fn block_comment(text: &[char]) -> usize {
    let end = text.windows(2).position(|pair| pair == ['*', '/']);
    end.map_or(text.len(), |end| end + 2)
}

/// The length of a raw string; 0 for an `r#name`.
fn raw_string(text: &[char]) -> usize {
    let hashes = text[1..].iter().take_while(|&&c| c == '#').count();
    if text.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let mut end = vec!['"'];
    end.extend(std::iter::repeat_n('#', hashes));
    let body = &text[hashes + 2..];
    let length = body.windows(end.len()).position(|part| part == end);
    length.map_or(text.len(), |length| hashes + 2 + length + end.len())
}

fn quoted(text: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != quote {
        at += 1 + usize::from(text[at] == '\\');
    }
    (at + 1).min(text.len())
}

/// Removes the first `mod name { … }` from the code. Returns its name and the code between its
/// braces.
fn take_inline_module(code: &mut String) -> Option<(String, String)> {
    let (start, body) = words(code)
        .filter(|&(_, word)| word == "mod")
        .find_map(|(at, word)| {
            let rest = code[at + word.len()..].trim_start();
            let name = first_word(rest);
            let body = rest[name.len()..].trim_start().strip_prefix('{')?;
            Some((at, (name.to_owned(), body)))
        })?;
    let (name, body) = body;
    let length = block(body);
    let from = code.len() - body.len();
    let inner = code[from..from + length].to_owned();
    code.replace_range(start..(from + length + 1).min(code.len()), "");
    Some((name, inner))
}

/// The distance to the brace that closes the block in which `text` starts.
pub fn block(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return at,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Removes the `use` declarations from the code and reads the type aliases, which stay.
fn take_uses(code: &mut String) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut spans = Vec::new();
    for (at, word) in words(code) {
        let rest = &code[at + word.len()..];
        let Some(end) = rest.find(';') else { continue };
        let declared = rest[..end].trim();
        // `impl Trait + use<'a>` is not a declaration.
        if word == "use" && !declared.starts_with('<') {
            let before = uses.len();
            read_tree(declared, &[], &mut uses);
            let visible = code[..at].split_whitespace().next_back();
            let shown = visible.is_some_and(|visible| visible.starts_with("pub"));
            uses[before..]
                .iter_mut()
                .for_each(|item| item.shown = shown);
            spans.push(at..at + word.len() + end + 1);
        } else if word == "type"
            && code[..at].matches('{').count() == code[..at].matches('}').count()
            && let Some((name, path)) = declared.split_once('=')
        {
            let path = paths(path).into_iter().next();
            let name = first_word(name.trim()).to_owned();
            let shown = false;
            uses.extend(path.map(|path| Use { path, name, shown }));
        }
    }
    for span in spans.into_iter().rev() {
        code.replace_range(span, "");
    }
    uses
}

/// Reads `a::{b, c as d}` with what stands before it.
pub fn read_tree(tree: &str, before: &[String], uses: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some(group) = tree.strip_prefix('{') {
        for part in split_at_commas(&group[..block(group)]) {
            read_tree(part, before, uses);
        }
    } else if let Some((segment, rest)) = tree.split_once("::") {
        let path = [before, &[segment.trim().to_owned()]].concat();
        read_tree(rest, &path, uses);
    } else if tree == "*" {
        let (path, name, shown) = (before.to_vec(), "*".to_owned(), false);
        uses.push(Use { path, name, shown });
    } else if !tree.is_empty() {
        let (segment, alias) = tree.split_once(" as ").unwrap_or((tree, tree));
        let (segment, mut name) = (segment.trim(), alias.trim());
        let mut path = before.to_vec();
        if segment == "self" && !path.is_empty() {
            name = if alias == tree {
                &before[before.len() - 1]
            } else {
                name
            };
        } else {
            path.push(segment.to_owned());
        }
        let (name, shown) = (name.to_owned(), false);
        uses.push(Use { path, name, shown });
    }
}

fn split_at_commas(group: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[from..]);
    parts
}

/// The names of the items that the code defines.
fn definitions(code: &str) -> BTreeSet<String> {
    const KEYWORDS: [&str; 9] = [
        "struct", "enum", "trait", "fn", "type", "const", "static", "union", "mod",
    ];
    let mut found = BTreeSet::new();
    for (at, word) in words(code) {
        if KEYWORDS.contains(&word) {
            let rest = code[at + word.len()..].trim_start();
            found.insert(first_word(rest).to_owned());
        }
    }
    found
}

/// All paths of two or more segments, without generic arguments.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut end = None;
    for (at, word) in words(code) {
        let continued = end.is_some_and(|end: usize| code[end..at].trim() == "::");
        match found.last_mut().filter(|_| continued) {
            Some(path) => path.push(word.to_owned()),
            None => found.push(vec![word.to_owned()]),
        }
        end = Some(at + word.len());
    }
    found.retain(|path| path.len() > 1);
    found
}

/// The words of the code and where they begin.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += code[at..].find(is_word)?;
        let start = at;
        let word = first_word(&code[start..]);
        at += word.len();
        Some((start, word))
    })
}

fn first_word(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
