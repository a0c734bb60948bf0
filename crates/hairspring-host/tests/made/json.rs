//! The rows as JSON, for tests in any language: bodies, inits and the number of the order.

use hairspring_core::design::table::{Before, Order, RowShape, shapes};

pub fn rows() -> String {
    let kinds = [("line", Before::Nothing), ("init", Before::Init), ("cold", Before::Flush)];
    let straight = kinds.map(|(name, before)| {
        (name, shapes(before).into_iter().filter(|row| row.runs == 1).collect())
    });
    let blocks =
        ("blocks", shapes(Before::Nothing).into_iter().filter(|row| row.runs > 1).collect());
    let kinds = straight.into_iter().chain([blocks]);
    let kinds: Vec<String> =
        kinds.map(|(name, rows)| format!("  \"{name}\": [\n{}\n  ]", list(rows))).collect();
    let orders: Vec<String> =
        Order::ALL.iter().map(|order| format!("\"{}\"", order.name())).collect();
    format!("{{\n  \"orders\": [{}],\n{}\n}}\n", orders.join(", "), kinds.join(",\n"))
}

fn list(rows: Vec<RowShape>) -> String {
    let row =
        |row: &RowShape| format!("    [{}, {}, {}]", row.bodies, row.inits, row.order.number());
    rows.iter().map(row).collect::<Vec<_>>().join(",\n")
}
