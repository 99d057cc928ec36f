//! Register checking beside porcupine, on the same files in one run: verdicts, CPU time of checking,
//! peak memory, ratios, and how both grow.
//!
//! `STORMGLASS_PEERS` names a folder with the sources of the generator (`cmd/histgen`) and of a program
//! that runs porcupine (`porcupine`), in Go; without it nothing runs. `STORMGLASS_HISTORIES` names a folder
//! of recorded histories. `cargo bench --bench peers -- quick` takes a tenth of everything; parts
//! may be named (`registers`, `recorded`, `transactions`, `growth`). Nothing here
//! fails for being slow: it measures, and says which target is met.

#[path = "peers/judged.rs"]
mod judged;
#[path = "peers/plot.rs"]
mod plot;
#[path = "peers/recorded.rs"]
mod recorded;
#[path = "peers/table.rs"]
mod table;
#[path = "peers/tools.rs"]
mod tools;
#[path = "peers/transactions.rs"]
mod transactions;
#[path = "peers/workload.rs"]
mod workload;

use std::path::Path;

use plot::Growth;
use table::{Row, Table};
use tools::{Bounds, Tools};
use workload::{GROWN, Scale, WORKLOADS};

/// What may be named to be measured alone; all of it otherwise.
const PARTS: [&str; 4] = ["registers", "recorded", "transactions", "growth"];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, file, model, options, explained] = arguments.as_slice()
        && mode == judged::MODE
    {
        return judged::judge(Path::new(file), model, options, explained);
    }
    let Some(peers) = std::env::var_os("STORMGLASS_PEERS") else {
        println!(
            "not run: STORMGLASS_PEERS names no folder with histgen's and porcupine's sources"
        );
        return;
    };
    let quick = arguments.iter().any(|argument| argument == "quick");
    let scale = if quick { Scale::Tenth } else { Scale::Full };
    let bounds = if quick { Bounds::QUICK } else { Bounds::FULL };
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let tools = Tools::build(Path::new(&peers), &work, bounds);
    println!("porcupine may take {bounds}; CPU times are of deciding alone, memory is of all\n");

    let named = |part: &str| arguments.iter().any(|argument| argument == part);
    let is_wanted = |part| named(part) || !PARTS.iter().any(|part| named(part));
    let mut table = Table::default();
    if is_wanted("registers") {
        registers(&tools, scale, &mut table);
    }
    if is_wanted("recorded") {
        recorded::measure(&tools, &mut table);
    }
    if is_wanted("transactions") {
        transactions::measure(&tools, scale, &mut table);
    }
    table.conclude();
    if is_wanted("growth") {
        growth(&tools, scale, &work);
    }
}

fn registers(tools: &Tools, scale: Scale, table: &mut Table) {
    table::head();
    for workload in WORKLOADS {
        let file = tools.generate(&workload.arguments(scale), workload.name);
        table.add(Row::measured(tools, workload, &file));
        tools.forget(&file);
    }
}

fn growth(tools: &Tools, scale: Scale, work: &Path) {
    let mut growth = Growth::default();
    for (name, arguments) in GROWN {
        for operations in scale.steps() {
            let file = tools.generate(&workload::sized(arguments, operations), name);
            growth.add(
                name,
                operations,
                tools.ours(&file, "cas-register", "{}", 0),
                tools.porcupine(&file, "jsonl"),
            );
            tools.forget(&file);
        }
    }
    growth.print();
    let plot = work.join("growth.svg");
    std::fs::write(&plot, growth.svg()).expect("a plot on disk");
    println!("\nplot: {}", plot.display());
}
