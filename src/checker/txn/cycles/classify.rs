//! Which kinds of cycles a component has.

use super::between::Between;
use super::names::{Class, Tag, name};
use super::part::Part;
use super::search::Search;
use super::view::{Apart, Plain};
use super::ways::{Shortest, TRIED, cyclic_members, shortest, spread, without_repetition};
use super::{Cycle, CycleStep, Cycles};
use crate::checker::Budget;
use crate::checker::txn::consistency::implied_by;
use crate::checker::txn::graph::{Components, Successors, components, rel};

/// How many cycles of a kind are told in all.
const ALL_TOLD: usize = 24;

/// From how many nodes on a component is worth telling a cycle of, though a worse kind implies its own.
const LARGE: usize = 64;

/// How many nodes may be visited to count anti-dependencies once a cycle was found.
const COUNTING: u64 = 20_000_000;

/// Searches one component.
pub struct Classifier<'a> {
    part: &'a Part,
    cycles: &'a mut Cycles,
    exhausted: &'a dyn Fn() -> bool,
    /// The names that need not be looked for any more.
    implied: Vec<&'static str>,
}

impl<'a> Classifier<'a> {
    pub fn new(part: &'a Part, cycles: &'a mut Cycles, budget: &'a Budget) -> Classifier<'a> {
        Classifier { part, cycles, exhausted: budget.exhausted, implied: Vec::new() }
    }

    /// Tags below the least are not looked for.
    pub fn classify(mut self, least: Tag) {
        let all = self.part.all;
        let mut order = 0;
        for (tag, needs) in
            [(Tag::Plain, 0), (Tag::Process, rel::PROCESS), (Tag::Realtime, rel::REALTIME)]
        {
            order |= needs & all;
            if tag == least || (tag > least && all & needs != 0) {
                self.search(tag, order);
            }
        }
        if self.part.len() > LARGE && least == Tag::Plain {
            self.in_a_row(order);
        }
    }

    /// Every kind with this tag; each is looked for only where nothing found before implies it, and so
    /// what is found is of that kind and of no worse one.
    fn search(&mut self, tag: Tag, order: u8) {
        self.dependencies(Class::G0, tag, rel::WW | order);
        self.dependencies(Class::G1c, tag, rel::WW | rel::WR | order);
        if self.part.all & rel::RW == 0 {
            return;
        }
        let mask = rel::WW | rel::WR | order;
        let apart = Apart { part: self.part, mask };
        if self.is_open(Class::Single, tag) || self.is_open(Class::Nonadjacent, tag) {
            let found = components(&apart);
            let mut closing = self.part.anti_dependencies().collect::<Vec<_>>();
            closing.retain(|(from, to)| found.same(from << 1, to << 1 | 1));
            if !closing.is_empty() {
                self.single(tag, mask, &closing);
                self.nonadjacent(tag, &apart, &found, &closing);
            }
        }
        self.several(tag, mask | rel::RW | rel::PASS);
    }

    fn is_open(&self, class: Class, tag: Tag) -> bool {
        !self.implied.contains(&name(class, tag))
    }

    /// `G0` and `G1c`: components of the dependencies alone.
    fn dependencies(&mut self, class: Class, tag: Tag, mask: u8) {
        if !self.is_open(class, tag) || self.part.all & mask == 0 {
            return;
        }
        let view = Plain::new(self.part, mask);
        let found = components(&view);
        if !found.any_cycle() {
            return;
        }
        let mut search = Search::new(self.part.len(), self.exhausted);
        for members in cyclic_members(&found) {
            let around = members.iter().map(|node| (*node, *node, false));
            let ways = shortest(&mut search, &view, around, |from, node| found.same(from, node));
            for way in ways.into_iter().take(1) {
                let steps = self.steps(&way, mask, 0);
                self.tell(class, tag, steps);
            }
        }
        let count = found.sizes.iter().filter(|size| **size > 1).count();
        self.found(class, tag, count as u64);
    }

    /// `G-single`: an anti-dependency, and a way back by dependencies. All that do so are counted.
    fn single(&mut self, tag: Tag, mask: u8, closing: &[(u32, u32)]) {
        if !self.is_open(Class::Single, tag) {
            return;
        }
        let view = Plain::new(self.part, mask | rel::PASS);
        let found = components(&view);
        let place = |node: u32| found.of[node as usize];
        let mut search = Between::new(self.part, mask | rel::PASS, self.exhausted);
        let (mut count, mut tried, mut best) = (0, 0, Shortest::default());
        for (from, to) in closing {
            // An edge never leads to a component of a higher number.
            let between = place(*from)..=place(*to);
            if between.is_empty() {
                continue;
            }
            // Within one there is a way, which is worth looking for in some places only.
            let within = place(*from) == place(*to);
            if within && tried == TRIED {
                count += 1;
                continue;
            }
            tried += usize::from(within);
            if let Some(way) = search.way(*to, *from, |node| between.contains(&place(node))) {
                count += 1;
                best.offer(way);
            }
            if search.effort.gave_up || (count > 0 && search.effort.work > COUNTING) {
                break;
            }
        }
        if search.effort.gave_up && count == 0 {
            self.give_up(Class::Single, tag);
        }
        if count > 0 {
            if search.effort.gave_up || search.effort.work > COUNTING {
                self.cycles.more.push(name(Class::Single, tag));
            }
            for way in best.ways {
                let steps = self.steps(&way, mask, rel::RW);
                self.tell(Class::Single, tag, steps);
            }
            self.found(Class::Single, tag, count);
        }
    }

    /// `G-nonadjacent`: a way around on which no two anti-dependencies follow each other.
    fn nonadjacent(&mut self, tag: Tag, view: &Apart, found: &Components, closing: &[(u32, u32)]) {
        if !self.is_open(Class::Nonadjacent, tag) {
            return;
        }
        let mut search = Search::new(view.nodes(), self.exhausted);
        let around = spread(closing).map(|(from, to)| (to << 1 | 1, from << 1, true));
        let ways = shortest(&mut search, view, around, |from, node| found.same(from, node));
        let mut told = 0;
        for way in ways {
            let way: Vec<u32> = way.iter().map(|node| node >> 1).collect();
            let steps = without_repetition(self.steps(&way, view.mask, rel::RW));
            if steps.iter().filter(|step| step.kind == rel::RW).count() > 1 {
                self.tell(Class::Nonadjacent, tag, steps);
                told += 1;
            }
        }
        if told > 0 {
            self.found(Class::Nonadjacent, tag, 1);
        } else if search.effort.gave_up {
            self.give_up(Class::Nonadjacent, tag);
        }
    }

    /// `G2`: any cycle with an anti-dependency.
    fn several(&mut self, tag: Tag, mask: u8) {
        if !self.is_open(Class::G2, tag) {
            return;
        }
        let view = Plain::new(self.part, mask);
        let found = components(&view);
        let mut closing: Vec<(u32, u32)> = self.part.anti_dependencies().collect();
        closing.retain(|(from, to)| found.same(*from, *to));
        if closing.is_empty() {
            return;
        }
        let mut search = Search::new(self.part.len(), self.exhausted);
        let around = spread(&closing).map(|(from, to)| (to, from, true));
        let ways = shortest(&mut search, &view, around, |from, node| found.same(from, node));
        if ways.is_empty() {
            self.give_up(Class::G2, tag);
            return;
        }
        for way in ways {
            let steps = self.steps(&way, mask & !(rel::RW | rel::PASS), rel::RW);
            self.tell(Class::G2, tag, steps);
        }
        self.found(Class::G2, tag, 1);
    }

    /// `G2` where worse was found: two anti-dependencies in a row, and a way back past their middle.
    fn in_a_row(&mut self, order: u8) {
        let mask = rel::WW | rel::WR | order;
        let view = Plain::new(self.part, mask | rel::RW | rel::PASS);
        let mut search = Search::new(self.part.len(), self.exhausted);
        let all: Vec<(u32, u32)> = self.part.anti_dependencies().collect();
        let mut best: Option<Vec<CycleStep>> = None;
        for (from, middle) in spread(&all) {
            let to = self.part.targets_by(middle, rel::RW).find(|to| *to != from);
            let Some(to) = to.filter(|_| self.part.is_txn(middle)) else { continue };
            if search.reach(&view, (to, from), |node| node != middle) {
                let mut way = search.way();
                way.extend([from, middle]);
                let mut steps = self.steps(&way, mask, rel::RW);
                let number = self.part.nodes[middle as usize];
                steps
                    .iter_mut()
                    .filter(|step| step.to == number)
                    .for_each(|step| step.kind = rel::RW);
                best = best.filter(|best| best.len() <= steps.len()).or(Some(steps));
            }
        }
        let Some(steps) = best else { return };
        let has = |kind: u8| steps.iter().any(|step| step.kind == kind);
        let tag = match (has(rel::REALTIME), has(rel::PROCESS)) {
            (true, _) => Tag::Realtime,
            (false, true) => Tag::Process,
            (false, false) => Tag::Plain,
        };
        if !self.cycles.counts.contains_key(name(Class::G2, tag)) {
            self.tell(Class::G2, tag, steps);
            self.found(Class::G2, tag, 1);
        }
    }

    /// Keeps a cycle, unless it is one that was told from another of its members on.
    fn tell(&mut self, class: Class, tag: Tag, mut steps: Vec<CycleStep>) {
        let first = (0..steps.len()).min_by_key(|position| steps[*position].from).unwrap_or(0);
        steps.rotate_left(first);
        let name = name(class, tag);
        let same = || self.cycles.told.iter().filter(|told| told.name == name);
        if same().count() < ALL_TOLD && same().all(|told| told.steps != steps) {
            self.cycles.told.push(Cycle { name, steps });
        }
    }

    fn found(&mut self, class: Class, tag: Tag, count: u64) {
        let name = name(class, tag);
        *self.cycles.counts.entry(name).or_default() += count;
        self.implied.extend(implied_by(name));
    }

    fn give_up(&mut self, class: Class, tag: Tag) {
        let what = name(class, tag);
        let size = self.part.nodes.iter().filter(|node| **node < self.part.txns).count();
        let why =
            format!("the time ended before it was known whether {size} transactions show {what}");
        self.cycles.undecided.get_or_insert(why);
    }

    /// A way around as steps between transactions. Edges in `mask` are taken before anti-dependencies, but
    /// `closing`, if not 0, is by what the last node leads to the first.
    fn steps(&self, way: &[u32], mask: u8, closing: u8) -> Vec<CycleStep> {
        let mut steps: Vec<CycleStep> = Vec::new();
        let Some(first) = way.iter().position(|node| self.part.is_txn(*node)) else { return steps };
        let (mut from, mut kind) = (way[first], 0);
        for offset in 0..way.len() {
            let at = (first + offset) % way.len();
            let node = way[at];
            let next = way[(first + offset + 1) % way.len()];
            if self.part.is_txn(node) {
                let all = self.part.kind(node, next);
                let usable = if all & mask != 0 { all & mask } else { all };
                (from, kind) = (node, usable & usable.wrapping_neg());
                if closing != 0 && at + 1 == way.len() {
                    kind = closing;
                }
            }
            if self.part.is_txn(next) {
                let number = |node: u32| self.part.nodes[node as usize];
                steps.push(CycleStep { from: number(from), to: number(next), kind });
            }
        }
        steps
    }
}
