//! Tests of the table, in a separate file because `table.rs` is copied.

use super::table::{
    BLOCKS, Before, CLOSURE_COPIES, LINE, Order, RUNS_OF_A_BLOCK, RowShape, Step, shapes,
};

const ALL_PREPARATIONS: [Before; 3] = [Before::Nothing, Before::Init, Before::Flush];

fn count(row: &RowShape, before: Before, wanted_step: Step) -> u32 {
    row.steps(before).into_iter().filter(|step| *step == wanted_step).count() as u32
}

#[test]
fn steps_agree_with_counts() {
    for before in ALL_PREPARATIONS {
        for row in shapes(before) {
            let (is_chain, fenced) = (
                row.order == Order::FencedChain,
                matches!(row.order, Order::Fenced | Order::FencedChain),
            );
            let inits = if is_chain && before == Before::Init { 0 } else { row.inits };
            let fences = if fenced && before == Before::Init { 2 * row.inits } else { 0 };
            assert_eq!(
                row.runs * count(&row, before, Step::Body),
                if is_chain { 0 } else { row.bodies },
                "{row:?}"
            );
            assert_eq!(
                count(&row, before, Step::Chain),
                if is_chain { row.bodies } else { 0 },
                "{row:?}"
            );
            assert_eq!(
                (count(&row, before, Step::Init), count(&row, before, Step::Fence)),
                (inits, fences),
                "{row:?}"
            );
        }
    }
}

#[test]
fn steps_of_example_rows() {
    use Step::{Body, Chain, Fence, Init};
    let steps =
        |bodies, inits, order| RowShape { bodies, inits, order, runs: 1 }.steps(Before::Init);
    assert_eq!(steps(2, 3, Order::AtEnd), [Init, Body, Init, Body, Init]);
    assert_eq!(steps(2, 4, Order::InPlace), [Init, Init, Body, Init, Init, Body]);
    assert_eq!(steps(1, 1, Order::Fenced), [Fence, Init, Fence, Body]);
    assert_eq!(steps(1, 2, Order::FencedChain), [Fence, Fence, Fence, Fence, Chain]);
    let cold = RowShape { bodies: 1, inits: 2, order: Order::FencedChain, runs: 1 };
    assert_eq!(cold.steps(Before::Flush), [Init, Chain, Init]);
}

#[test]
fn blocks_evaluate_no_body_more_often_than_straight_rows() {
    let (blocks, straight): (Vec<RowShape>, Vec<RowShape>) =
        shapes(Before::Nothing).into_iter().partition(|row| row.runs > 1);
    let most_bodies = |rows: &[RowShape]| rows.iter().map(|row| row.bodies).max().unwrap();
    assert_eq!(
        (most_bodies(&blocks), blocks[0].runs, straight.len()),
        (most_bodies(&straight), RUNS_OF_A_BLOCK, LINE.len())
    );
    assert_eq!(
        blocks.iter().map(|row| row.steps(Before::Nothing).len() as u32).collect::<Vec<_>>(),
        BLOCKS
    );
}

#[test]
fn rows_of_every_order_have_full_rank() {
    for before in ALL_PREPARATIONS {
        for order in Order::ALL {
            let rows: Vec<RowShape> =
                shapes(before).into_iter().filter(|row| row.order == order).collect();
            let columns = if before == Before::Nothing { 1 } else { 2 };
            let design = |row: &RowShape| {
                [vec![f64::from(row.bodies), f64::from(row.inits)][..columns].to_vec(), vec![1.0]]
                    .concat()
            };
            let design: Vec<Vec<f64>> = rows.iter().map(design).collect();
            assert!(
                rows.is_empty() || crate::estimate::exact_rank(&design).pivots.len() == columns + 1,
                "{before:?} {order:?}"
            );
        }
    }
}

#[test]
fn order_numbers_are_indices_and_closure_limit_is_a_row() {
    assert!(Order::ALL.iter().enumerate().all(|(at, order)| order.number() as usize == at));
    assert!(LINE.is_sorted() && LINE.contains(&CLOSURE_COPIES));
}
