//! `stormglass list`: what there is, a line each.

use clap::{Args, ValueEnum};
use serde_json::json;

use super::{exit, fail};
use crate::catalog::Catalog;
use crate::cluster::Role;
use crate::say::say_line;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum What {
    Workloads,
    Nemeses,
    Checkers,
    Models,
    Anomalies,
    Services,
    Variants,
}

impl What {
    const ALL: [What; 7] = [
        What::Workloads,
        What::Nemeses,
        What::Checkers,
        What::Models,
        What::Anomalies,
        What::Services,
        What::Variants,
    ];

    fn title(self) -> &'static str {
        match self {
            What::Workloads => "workloads",
            What::Nemeses => "nemeses",
            What::Checkers => "checkers",
            What::Models => "models",
            What::Anomalies => "anomalies",
            What::Services => "services",
            What::Variants => "variants",
        }
    }

    /// Names with their descriptions.
    fn rows(self) -> Result<Vec<(String, String)>, crate::catalog::CatalogError> {
        let fixed = |rows: &[(&str, &str)]| {
            rows.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        Ok(match self {
            What::Workloads => catalogue(Catalog::Workloads)?,
            What::Nemeses => catalogue(Catalog::Nemeses)?,
            What::Checkers => fixed(crate::checker::CHECKERS),
            What::Models => crate::checker::MODELS
                .iter()
                .map(|model| (model.name.to_owned(), model.what.to_owned()))
                .collect(),
            What::Anomalies => crate::checker::ANOMALIES
                .iter()
                .map(|kind| (kind.name.to_owned(), kind.description.to_owned()))
                .collect(),
            What::Services => services(),
            What::Variants => crate::scenario::known_variants()
                .into_iter()
                .map(|known| (format!("{}={}", known.role, known.name), known.about.to_owned()))
                .collect(),
        })
    }
}

/// What each service is, where it is reached, and from which image it runs.
pub fn services() -> Vec<(String, String)> {
    let row = |(name, image): (String, String)| {
        let role = Role::ALL.into_iter().find(|role| role.name() == name);
        let text = role.map_or(image.clone(), |role| {
            let (port, protocol) = role.client_port();
            format!("{}, {protocol} on port {port}; {image}", what_it_is(role))
        });
        (name, text)
    };
    super::images::services().into_iter().map(row).collect()
}

fn what_it_is(role: Role) -> &'static str {
    match role {
        Role::Zookeeper => "coordination: znodes, sessions, watches",
        Role::Controller => "keeps the topology of a kvrocks cluster, fails masters over",
        Role::Kvrocks => "a data node: master or replica of a shard",
    }
}

fn catalogue(catalog: Catalog) -> Result<Vec<(String, String)>, crate::catalog::CatalogError> {
    let row = |name: String| {
        let entry = catalog.load(&name)?;
        let description = entry.description().to_owned();
        Ok((name, description))
    };
    catalog.names().into_iter().map(row).collect()
}

#[derive(Args)]
pub struct Arguments {
    /// Which list; all of them where absent
    what: Option<What>,
    /// One JSON object instead of lines
    #[arg(long)]
    json: bool,
}

pub fn list(arguments: &Arguments) -> i32 {
    let lists = arguments.what.map_or(What::ALL.to_vec(), |what| vec![what]);
    let mut all = serde_json::Map::new();
    for what in &lists {
        let rows = match what.rows() {
            Ok(rows) => rows,
            Err(error) => return fail(exit::USAGE, error),
        };
        if arguments.json {
            let rows = rows.iter().map(|(name, text)| json!({"name": name, "description": text}));
            all.insert(what.title().into(), rows.collect());
        } else {
            print_rows(what.title(), &rows, lists.len() > 1);
        }
    }
    if arguments.json {
        say_line!("{:#}", serde_json::Value::Object(all));
    }
    exit::VALID
}

fn print_rows(title: &str, rows: &[(String, String)], titled: bool) {
    if titled {
        say_line!("{title}:");
    }
    let indent = if titled { "  " } else { "" };
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in rows {
        say_line!("{indent}{name:width$}  {text}");
    }
    if titled {
        say_line!();
    }
}
