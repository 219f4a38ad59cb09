//! Text that PostgreSQL can store: any but the character NUL.

use std::{borrow::Cow, collections::HashSet};

use crate::model::{Kind, MatchRecord, Participant, access::Holder};

/// The text with U+FFFD in place of NUL.
pub(in crate::store) fn without_nul(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}"),
        false => text,
    }
}

/// The record as it can be stored. Its fingerprint is still that of the record as it came, so that it is known
/// when it comes again.
pub(in crate::store) fn storable(record: &MatchRecord) -> Cow<'_, MatchRecord> {
    let participants = record.participants.iter();
    let own = participants.flat_map(|p| {
        let roles = p.roles.iter().map(|role| &role.name);
        [&p.key.id, &p.name].into_iter().chain(roles)
    });
    let texts = [
        &record.server,
        &record.client,
        &record.map,
        &record.game_type,
        &record.mode,
    ];
    let holder = match &record.too_many_new {
        Some(Holder::Client(name)) => Some(&**name),
        _ => None,
    };
    let texts = texts.into_iter().chain(&record.mutators).chain(own);
    let mut texts = texts.map(String::as_str).chain(holder);
    if !texts.any(|text| text.contains('\0')) {
        return Cow::Borrowed(record);
    }
    let mut record = record.clone();
    let clean = |value: &mut String| *value = without_nul(std::mem::take(value));
    for text in [
        &mut record.server,
        &mut record.client,
        &mut record.map,
        &mut record.game_type,
        &mut record.mode,
    ] {
        clean(text);
    }
    if let Some(Holder::Client(name)) = &mut record.too_many_new {
        *name = without_nul(name.to_string()).into();
    }
    record.mutators.iter_mut().for_each(clean);
    clean_ids(&mut record.participants);
    for participant in &mut record.participants {
        clean(&mut participant.name);
        participant
            .roles
            .iter_mut()
            .for_each(|role| clean(&mut role.name));
    }
    Cow::Owned(record)
}

/// Cleans the identities. One that would then be that of another participant gets further U+FFFD at its end: a match
/// in which somebody is listed twice could not be stored at all.
fn clean_ids(participants: &mut [Participant]) {
    let has_nul = |participant: &&mut Participant| participant.key.id.contains('\0');
    let own = participants.iter().filter(|own| !own.key.id.contains('\0'));
    let mut taken: HashSet<(Kind, String)> =
        own.map(|own| (own.key.kind, own.key.id.clone())).collect();
    for participant in participants.iter_mut().filter(has_nul) {
        let mut id = without_nul(std::mem::take(&mut participant.key.id));
        while !taken.insert((participant.key.kind, id.clone())) {
            id.push('\u{fffd}');
        }
        participant.key.id = id;
    }
}
