//! Which rows there are, and what runs in each of them.

/// How a row orders bodies and inits, as the engine knows it.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    AtEnd,
    InPlace,
    Fenced,
    Shadow,
}

/// A step between the two readings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    Init,
    Fence,
    Body,
    /// A chain of known length in place of the body: it shows what the fences before it hide.
    Chain,
}

/// A row.
pub struct Row {
    pub bodies: u32,
    pub inits: u32,
    pub order: Order,
}

/// Copies of a body without an init.
const LINE: [u32; 12] = [1, 2, 3, 4, 8, 16, 32, 64, 96, 128, 192, 256];
/// Bodies behind an init each, and the inits more at the end.
const PLANE: [(u32, u32); 12] = [(1, 0), (1, 1), (2, 0), (2, 2), (4, 0), (4, 4), (8, 0), (8, 8), (16, 0), (16, 16), (32, 0), (32, 16)];
/// The same behind a flush, which takes long.
const COLD: [(u32, u32); 10] = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (8, 0), (8, 1)];
/// Bodies, and how many inits before each of them, of rows that check that the two add up.
const CHECKS: [(u32, u32); 9] = [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2), (8, 1), (8, 2), (16, 1)];

/// What comes before a body.
#[derive(Clone, Copy, PartialEq)]
pub enum Before {
    Nothing,
    Init,
    Flush,
}

/// The rows of a benchmark, the shortest first, with at most so many copies.
pub fn rows(before: Before, most: u32) -> Vec<Row> {
    let at_end = |(bodies, extra): (u32, u32)| Row { bodies, inits: bodies + extra, order: Order::AtEnd };
    let check = |order| move |(bodies, each): (u32, u32)| Row { bodies, inits: bodies * each, order };
    let mut rows: Vec<Row> = match before {
        Before::Nothing => LINE.map(|bodies| Row { bodies, inits: 0, order: Order::AtEnd }).into(),
        Before::Init => PLANE.map(at_end).into(),
        Before::Flush => COLD.map(at_end).into(),
    };
    if before == Before::Init {
        rows.extend(CHECKS.map(check(Order::InPlace)));
        rows.extend(CHECKS.map(check(Order::Fenced)));
    }
    if before == Before::Flush {
        rows.extend(COLD.map(at_end).map(|row| Row { order: Order::Shadow, ..row }));
    }
    rows.retain(|row| row.bodies <= most);
    rows
}

impl Row {
    /// What runs between the two readings.
    pub fn steps(&self) -> Vec<Step> {
        let each = if matches!(self.order, Order::AtEnd | Order::Shadow) { self.inits.min(1) } else { self.inits / self.bodies };
        let init: &[Step] = if self.order == Order::Fenced { &[Step::Fence, Step::Init, Step::Fence] } else { &[Step::Init] };
        let body = if self.order == Order::Shadow { Step::Chain } else { Step::Body };
        let copy = [init.repeat(each as usize), vec![body]].concat();
        let behind = self.inits.saturating_sub(self.bodies * each);
        [copy.repeat(self.bodies as usize), init.repeat(behind as usize)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_runs_what_it_says() {
        for before in [Before::Nothing, Before::Init, Before::Flush] {
            for row in rows(before, 256) {
                let count = |wanted| row.steps().into_iter().filter(|step| *step == wanted).count();
                let bodies = count(if row.order == Order::Shadow { Step::Chain } else { Step::Body });
                assert_eq!((bodies, count(Step::Init)), (row.bodies as usize, row.inits as usize));
                assert_eq!(count(Step::Fence), if row.order == Order::Fenced { 2 * row.inits as usize } else { 0 });
                assert_eq!(row.steps()[0] == Step::Body, before == Before::Nothing);
            }
        }
    }

    #[test]
    fn copies_are_bounded() {
        assert_eq!(rows(Before::Nothing, 32).last().unwrap().bodies, 32);
        assert!(rows(Before::Init, 8).iter().all(|row| row.bodies <= 8));
        assert_eq!(rows(Before::Nothing, 4).len(), 4);
    }
}
