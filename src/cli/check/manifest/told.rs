//! A manifest's outcomes as lines for people.

use indexmap::IndexMap;

use super::entry::Entry;
use super::outcome::{Form, Outcome};
use crate::report::Colours;

/// How the lines of one manifest are laid out.
pub struct Layout {
    path: usize,
    model: usize,
    colours: Colours,
}

impl Layout {
    pub fn of(entries: &[Entry], colours: Colours) -> Layout {
        let widest = |width: fn(&Entry) -> usize| entries.iter().map(width).max().unwrap_or(0);
        Layout {
            path: widest(|entry| entry.path.chars().count()).min(72),
            model: widest(|entry| entry.model.name().len()),
            colours,
        }
    }

    /// One line of an entry, and below it one for each thing that is not as stated.
    pub fn entry(&self, entry: &Entry, outcomes: &[Outcome], remarks: &[String]) -> String {
        let is_as_stated = outcomes.iter().all(Outcome::is_as_stated);
        let mark = if is_as_stated { self.green("ok  ") } else { self.red("FAIL") };
        let (path, model) = (&entry.path, entry.model.name());
        let verdicts = verdicts(entry, outcomes);
        let (wide, narrow) = (self.path, self.model);
        let mut told = format!("{mark}  {path:wide$}  {model:narrow$}  {verdicts}\n");
        for outcome in outcomes.iter().filter(|outcome| !outcome.is_as_stated()) {
            let differs = outcome.contradictions.join("; ");
            told += &format!("      {}: {differs}\n", place(entry, outcome));
            for why in &outcome.why {
                told += &format!("        {why}\n");
            }
        }
        for remark in remarks {
            told += &format!("      {remark}\n");
        }
        told
    }

    fn green(&self, text: &str) -> String {
        self.painted(text, "32")
    }

    fn red(&self, text: &str) -> String {
        self.painted(text, "31")
    }

    fn painted(&self, text: &str, code: &str) -> String {
        match self.colours {
            Colours::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Colours::Plain => text.to_owned(),
        }
    }
}

/// The verdicts of the first form, a check each; both forms have the same where all is well.
fn verdicts(entry: &Entry, outcomes: &[Outcome]) -> String {
    let first = outcomes.iter().filter(|outcome| outcome.form == Form::Path);
    let told = first.map(|outcome| {
        let (label, verdict) = (&entry.checks[outcome.check].label, outcome.verdict_name());
        if label.is_empty() { verdict.to_owned() } else { format!("{label}: {verdict}") }
    });
    told.collect::<Vec<_>>().join(", ")
}

fn place(entry: &Entry, outcome: &Outcome) -> String {
    let file = match outcome.form {
        Form::Path => &entry.path,
        Form::Raw => entry.raw.as_ref().unwrap_or(&entry.path),
    };
    match entry.checks[outcome.check].label.as_str() {
        "" => file.clone(),
        label => format!("{file} ({label})"),
    }
}

/// How many entries of each family are as stated.
#[derive(Default)]
pub struct Summary {
    families: IndexMap<String, (usize, usize)>,
}

impl Summary {
    pub fn add(&mut self, family: &str, is_as_stated: bool) {
        let (stated, all) = self.families.entry(family.to_owned()).or_default();
        *stated += usize::from(is_as_stated);
        *all += 1;
    }

    pub fn total(&self) -> (usize, usize) {
        let sum = |(stated, all), (more, others): &(usize, usize)| (stated + more, all + others);
        self.families.values().fold((0, 0), sum)
    }

    pub fn text(&self) -> String {
        let (stated, all) = self.total();
        let width = self.families.keys().map(|name| name.len()).max().unwrap_or(0);
        let digits = all.to_string().len();
        let mut told = String::new();
        for (family, (stated, all)) in &self.families {
            told += &format!("{family:width$}  {stated:>digits$} of {all:>digits$} as stated\n");
        }
        told + &match all - stated {
            0 if all == 1 => "the one history is judged as stated\n".to_owned(),
            0 => format!("all {all} histories are judged as stated\n"),
            1 => format!("1 of {all} histories is not judged as stated\n"),
            others => format!("{others} of {all} histories are not judged as stated\n"),
        }
    }

    pub fn to_json(&self) -> serde_json::Value {
        let row = |(family, (stated, all)): (&String, &(usize, usize))| {
            (family.clone(), serde_json::json!({"as_stated": stated, "entries": all}))
        };
        self.families.iter().map(row).collect::<serde_json::Map<_, _>>().into()
    }
}
