//! The rows as JSON, for tests in any language: bodies, inits and the number of the order.

use hairspring_core::design::table::{Before, Order, RowShape, shapes};

pub fn rows() -> String {
    let kinds = [("line", Before::Nothing), ("init", Before::Init), ("cold", Before::Flush)];
    let kinds: Vec<String> = kinds.into_iter().map(|(name, before)| format!("  \"{name}\": [\n{}\n  ]", list(before))).collect();
    let orders: Vec<String> = Order::ALL.iter().map(|order| format!("\"{}\"", order.name())).collect();
    format!("{{\n  \"orders\": [{}],\n{}\n}}\n", orders.join(", "), kinds.join(",\n"))
}

fn list(before: Before) -> String {
    let row = |row: &RowShape| format!("    [{}, {}, {}]", row.bodies, row.inits, row.order.number());
    shapes(before).iter().map(row).collect::<Vec<_>>().join(",\n")
}
