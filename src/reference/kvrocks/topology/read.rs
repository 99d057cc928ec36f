//! Reads the lines of `CLUSTERX SETNODES`.

use super::{BadTopology, ID_LENGTH, Member, NOBODY};
use crate::reference::kvrocks::slot_range::SlotRange;
use crate::resp::SLOTS;

/// More nodes than this are no cluster of ours; the bound keeps positions small.
const MOST_MEMBERS: usize = 1000;

pub fn nodes(text: &str) -> Result<(Vec<Member>, Vec<u16>), BadTopology> {
    let mut members: Vec<Member> = Vec::new();
    let mut owners = vec![NOBODY; usize::from(SLOTS)];
    for line in text.split('\n').filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let member = member(&words)?;
        if members.len() == MOST_MEMBERS || members.iter().any(|known| known.id == member.id) {
            return Err(BadTopology::Nodes);
        }
        let slots = &words[5..];
        if !member.is_master() && !slots.is_empty() {
            return Err(BadTopology::Nodes);
        }
        for range in slots {
            own(&mut owners, range, members.len() as u16)?;
        }
        members.push(member);
    }
    match members.is_empty() {
        true => Err(BadTopology::Nodes),
        false => Ok((members, owners)),
    }
}

fn member(words: &[&str]) -> Result<Member, BadTopology> {
    let [id, host, port, role, master, ..] = words else { return Err(BadTopology::Nodes) };
    if id.len() != ID_LENGTH {
        return Err(BadTopology::Id);
    }
    let port = port.parse().ok().filter(|port| *port > 0).ok_or(BadTopology::Port)?;
    let master = match *role {
        "master" if *master == "-" => None,
        "slave" | "replica" if master.len() == ID_LENGTH => Some((*master).to_owned()),
        "master" | "slave" | "replica" => return Err(BadTopology::Id),
        _ => return Err(BadTopology::Role),
    };
    Ok(Member { id: (*id).to_owned(), host: (*host).to_owned(), port, master })
}

fn own(owners: &mut [u16], range: &str, position: u16) -> Result<(), BadTopology> {
    let range = SlotRange::parse(range).map_err(|_| BadTopology::OutOfRange)?;
    for slot in range.slots() {
        let owner = &mut owners[usize::from(slot)];
        if *owner != NOBODY {
            return Err(BadTopology::Overlapped);
        }
        *owner = position;
    }
    Ok(())
}
