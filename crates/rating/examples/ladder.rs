//! A ladder from results on standard input, one a line, the winners first: `anna ben > cleo dan`.

use std::{collections::BTreeMap, io};

use evenkeel_rating::{Player, RatedGame, Seat, Settings, SystemName, chances};

fn main() -> io::Result<()> {
    let mut system = SystemName::TrueSkill.build(&Settings::default());
    let mut known: BTreeMap<String, Player> = BTreeMap::new();
    for line in io::stdin().lines() {
        let mut seats = Vec::new();
        for (team, names) in (0..).zip(line?.split('>')) {
            for name in names.split_whitespace() {
                let next = Player(known.len() as u32);
                let player = *known.entry(name.to_owned()).or_insert(next);
                seats.push(Seat::new(player, team));
            }
        }
        let mut game = RatedGame::new(seats);
        game.places = (0..game.teams() as u16).collect();
        println!(
            "the winners had a chance of {:.0} %",
            100.0 * chances(&*system, &game)[0]
        );
        system.update(&game);
    }
    let strength = |player: &Player| {
        system
            .strength(*player)
            .map_or(0.0, |strength| strength.mean)
    };
    let mut ladder: Vec<_> = known
        .iter()
        .map(|(name, player)| (strength(player), name))
        .collect();
    ladder.sort_by(|a, b| b.0.total_cmp(&a.0));
    ladder
        .iter()
        .for_each(|(strength, name)| println!("{strength:6.2}  {name}"));
    Ok(())
}
