//! Files of tickets: one JSON object a line.

use std::{
    collections::{BTreeMap, HashSet},
    io::{BufRead, BufReader, Read},
    path::Path,
};

use crate::{
    cli::{CliError, open_input},
    matchmaking::{Known, Queue, Raw, Ticket, TicketSpec, is_known},
};

/// The most tickets of a file.
const MAX_TICKETS: usize = 100_000;
/// The longest line of a file, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Reads the tickets of a file; `-` is standard input. Attributes that begin with `@` are what the
/// daemon would know of the player.
pub(super) fn read(path: &Path, queue: &Queue) -> Result<Vec<Ticket>, CliError> {
    let file = CliError::in_file(path);
    let mut reader = BufReader::new(open_input(path).map_err(file)?);
    let (mut tickets, mut ids, mut players) = (Vec::new(), HashSet::new(), HashSet::new());
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let fault =
            |why: String| CliError::input(format!("{}: line {number}: {why}", path.display()));
        let read = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line);
        match read.map_err(file)? {
            0 => break,
            length if length as u64 == MAX_LINE => {
                return Err(fault(format!("longer than {MAX_LINE} bytes")));
            }
            _ => {}
        }
        let text = str::from_utf8(&line).map_err(|error| {
            let at = error.valid_up_to() + 1;
            fault(format!("not UTF-8 from byte {at} of the line on"))
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let ticket = ticket(text, queue).map_err(fault)?;
        if !ids.insert(ticket.id.clone()) {
            return Err(fault(format!("there is another ticket {}", ticket.id)));
        }
        let again = ticket
            .players
            .iter()
            .find(|player| !players.insert(player.id.clone()));
        if let Some(player) = again {
            return Err(fault(format!("{} is in another ticket", player.id)));
        }
        tickets.push(ticket);
        if tickets.len() > MAX_TICKETS {
            return Err(fault(format!("more than {MAX_TICKETS} tickets")));
        }
    }
    Ok(tickets)
}

fn ticket(line: &str, queue: &Queue) -> Result<Ticket, String> {
    let mut spec: TicketSpec = serde_json::from_str(line.trim_end()).map_err(|error| {
        // The parser has seen this line alone, so it counts it as the first one.
        let text = error.to_string();
        let place = format!(" at line 1 column {}", error.column());
        match text.strip_suffix(&place) {
            Some(why) => format!("column {}: {why}", error.column()),
            None => text,
        }
    })?;
    let mut known = BTreeMap::new();
    for player in &mut spec.players {
        let ours = player
            .attributes
            .extract_if(.., |name, _| name.starts_with('@'));
        let ours: Vec<(String, Raw)> = ours.collect();
        known.insert(player.id.clone(), learned(ours)?);
    }
    let ticket = queue.ticket(&spec, &mut |id| known.remove(id).unwrap_or_default());
    ticket.map_err(|error| error.to_string())
}

/// What the attributes that begin with `@` state.
fn learned(attributes: Vec<(String, Raw)>) -> Result<Known, String> {
    let mut known = Known::default();
    for (name, raw) in attributes {
        match raw {
            Raw::List(met) if name == "@met" => known.met = vec![met],
            _ if name == "@met" => return Err("@met must be a list of players".to_owned()),
            Raw::List(maps) if name == "@maps" => known.maps = maps,
            _ if name == "@maps" => return Err("@maps must be a list of maps".to_owned()),
            _ if !is_known(&name) => {
                return Err(format!("there is no attribute {}", name.escape_debug()));
            }
            Raw::Number(number) if number.is_finite() => {
                known.numbers.insert(name, number);
            }
            _ => return Err(format!("{name} must be a finite number")),
        }
    }
    Ok(known)
}
