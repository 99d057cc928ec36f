//! The table as data: what each variant comes to under a nemesis and a workload.

use std::fmt;

use serde::Deserialize;
use stormglass::checker::ANOMALIES;
use stormglass::cluster::Role;
use stormglass::duration::Span;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/cells/table.yaml");

/// Variants of one service side by side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub title: String,
    /// Whose variants these are.
    pub role: Role,
    pub variants: Vec<String>,
    /// What the data nodes are, where these are controllers.
    #[serde(default)]
    pub node: Option<String>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub workload: String,
    pub nemesis: String,
    /// Of each variant in turn: `valid`, `invalid: <anomaly>`, `permitted loss`, or `-` where it says nothing.
    pub cells: Vec<String>,
    #[serde(default = "usual_time")]
    pub time: Span,
    /// So many seeds are needed to see it.
    #[serde(default = "usual_seeds")]
    pub seeds: u64,
    /// Of the tests that run it in containers: the variant and the test.
    #[serde(default)]
    pub docker: Vec<(String, String)>,
}

fn usual_time() -> Span {
    Span::seconds(22)
}

fn usual_seeds() -> u64 {
    2
}

/// What runs of a cell must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    Valid,
    /// Valid, though acknowledged writes are lost, in a way that asynchronous replication permits.
    PermittedLoss,
    /// An anomaly of the first kind is found in some runs, and none but of these kinds and what they bring about.
    Invalid(Vec<String>),
}

/// One variant under one nemesis and workload.
#[derive(Clone, Debug)]
pub struct Cell {
    pub role: Role,
    pub variant: String,
    pub node: Option<String>,
    pub workload: String,
    pub nemesis: String,
    pub time: Span,
    pub seeds: u64,
    pub promise: Promise,
    /// The test that earns it in containers as well.
    pub docker: Option<String>,
}

impl Promise {
    /// `None` of a cell that is not tried.
    pub fn parse(text: &str) -> Result<Option<Promise>, String> {
        match text {
            "-" => Ok(None),
            "valid" => Ok(Some(Promise::Valid)),
            "permitted loss" => Ok(Some(Promise::PermittedLoss)),
            other => {
                let known = |kind: &String| ANOMALIES.iter().any(|known| known.name == kind);
                let kinds = other.strip_prefix("invalid: ");
                let kinds = kinds.map(|kinds| kinds.split(", ").map(str::to_owned).collect());
                match kinds.filter(|kinds: &Vec<String>| kinds.iter().all(known)) {
                    Some(kinds) => Ok(Some(Promise::Invalid(kinds))),
                    None => Err(format!("`{other}` is no promise, or names no anomaly")),
                }
            }
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Valid => f.write_str("valid"),
            Promise::PermittedLoss => f.write_str("permitted loss"),
            Promise::Invalid(kinds) => write!(f, "invalid: {}", kinds.join(", ")),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { role, variant, node, workload, nemesis, .. } = self;
        write!(f, "{workload} --nemesis {nemesis} --variant {role}={variant}")?;
        node.iter().try_for_each(|node| write!(f, " --variant node={node}"))
    }
}

pub fn groups() -> Vec<Group> {
    let text = std::fs::read_to_string(TABLE).unwrap_or_else(|error| panic!("{TABLE}: {error}"));
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{TABLE}: {error}"))
}

impl Group {
    pub fn cells(&self) -> Vec<Cell> {
        let cell = |row: &Row, variant: &String, text: &String| {
            let promise =
                Promise::parse(text).unwrap_or_else(|wrong| panic!("{}: {wrong}", row.nemesis))?;
            let docker = row.docker.iter().find(|(of, _)| of == variant);
            Some(Cell {
                role: self.role,
                variant: variant.clone(),
                node: self.node.clone(),
                workload: row.workload.clone(),
                nemesis: row.nemesis.clone(),
                time: row.time,
                seeds: row.seeds,
                promise,
                docker: docker.map(|(_, test)| test.clone()),
            })
        };
        let of_row = |row: &Row| -> Vec<Option<Cell>> {
            assert_eq!(row.cells.len(), self.variants.len(), "{} {}", row.workload, row.nemesis);
            self.variants
                .iter()
                .zip(&row.cells)
                .map(|(variant, text)| cell(row, variant, text))
                .collect()
        };
        self.rows.iter().flat_map(of_row).flatten().collect()
    }

    /// As the README shows it.
    pub fn markdown(&self) -> String {
        let names: Vec<String> = self.variants.iter().map(|name| format!("`{name}`")).collect();
        let mut text = format!("| {} | {} |\n", self.title, names.join(" | "));
        text += &format!("|---|{}\n", "---|".repeat(names.len()));
        for row in &self.rows {
            let workload = row.workload.trim_start_matches("kvrocks/");
            let told = |(variant, cell): (&String, &String)| {
                let is_in_docker = row.docker.iter().any(|(of, _)| of == variant);
                let mark = if is_in_docker { " (d)" } else { "" };
                format!("{}{mark}", cell.trim_start_matches("invalid: ").trim_start_matches('-'))
            };
            let cells: Vec<String> = self.variants.iter().zip(&row.cells).map(told).collect();
            text += &format!("| `{workload}`, `{}` | {} |\n", row.nemesis, cells.join(" | "));
        }
        text
    }
}
