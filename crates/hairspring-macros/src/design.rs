//! A copy of `crates/hairspring-core/src/design/table.rs`: change it there.
#![allow(dead_code, reason = "other users of the table need the rest")]

/// How a row orders its bodies and inits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// An init before every body, and the further inits after the last body. The result comes from
    /// these rows.
    AtEnd,
    /// The same number of inits before every body. The same counts in another order take the same
    /// time, unless init and body overlap.
    InPlace,
    /// A fence before and after every init: nothing overlaps.
    Fenced,
    /// Fences as in a fenced row with nothing between them, and [`FENCED_CHAIN_COPIES`]
    /// multiplications instead of the body. The missing part of their time shows how much of a body
    /// the fence before it hides.
    FencedChain,
    /// As many inits as bodies, one before each, and an init and a body before the first reading:
    /// the first init undoes what a body left.
    BehindBody,
    /// The same with one more init before the first reading: the first init finds nothing to undo.
    BehindInit,
}

impl Order {
    /// All orders, each at the index of its number.
    pub const ALL: [Order; 6] = [
        Order::AtEnd,
        Order::InPlace,
        Order::Fenced,
        Order::FencedChain,
        Order::BehindBody,
        Order::BehindInit,
    ];

    /// Its number in the C ABI.
    pub const fn number(self) -> u32 {
        match self {
            Order::AtEnd => 0,
            Order::InPlace => 1,
            Order::Fenced => 2,
            Order::FencedChain => 3,
            Order::BehindBody => 4,
            Order::BehindInit => 5,
        }
    }

    /// Its name, as the languages spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Order::AtEnd => "at_end",
            Order::InPlace => "in_place",
            Order::Fenced => "fenced",
            Order::FencedChain => "shadow",
            Order::BehindBody => "behind_body",
            Order::BehindInit => "behind_init",
        }
    }
}

/// Copies of the body in rows without an init.
pub const LINE: [u32; 12] = [1, 2, 3, 4, 8, 16, 32, 64, 96, 128, 192, 256];

/// Copies of the body in further rows without an init, each of which runs them [`RUNS_OF_A_BLOCK`]
/// times: for short code, which a core may run faster once it has run it a hundred times. No row
/// evaluates the body more often than the longest of [`LINE`].
pub const BLOCKS: [u32; 6] = [8, 12, 16, 20, 24, 32];

/// Straight copies of code that runs more than one instruction in a cycle are as slow as they are
/// decoded: Golden Cove decodes one `cmov` in a cycle, and runs two. It does so anew until the
/// copies have run for 17 to 60 times, as in a loop, and beside other code for more than 100 times;
/// then it finds them decoded. So a row of such code runs a block of few copies so many times. The
/// end of a loop of 8 runs is predicted; that of 16 was not in every row.
pub const RUNS_OF_A_BLOCK: u32 = 8;

/// Most copies of a closure that is measured in the middle of a program, because every call has its
/// own code for all rows.
pub const CLOSURE_COPIES: u32 = 128;

/// Rows with an init: bodies with an init before each, and further inits after the last body.
pub const PLANE: [(u32, u32); 12] = [
    (1, 0),
    (1, 1),
    (2, 0),
    (2, 2),
    (4, 0),
    (4, 4),
    (8, 0),
    (8, 8),
    (16, 0),
    (16, 16),
    (32, 0),
    (32, 16),
];

/// Rows that check whether init and body add up: bodies, and inits before each of them.
///
/// There is no row of 16 bodies with two inits each: it would add half as many copies again and
/// narrow the interval of the body by a tenth, which is less than the same time spent on more
/// rounds gives.
pub const CHECKS: [(u32, u32); 9] =
    [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2), (8, 1), (8, 2), (16, 1)];

/// Rows whose data are flushed from the caches before every body: as [`PLANE`], but with at most
/// one flush more than bodies, because flushing data that no body has fetched again takes less
/// time.
pub const COLD_ROWS: [(u32, u32); 10] =
    [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (8, 0), (8, 1)];

/// Multiplications in place of a body in rows of [`Order::FencedChain`].
pub const FENCED_CHAIN_COPIES: u32 = 16;

/// Fewest rows that make a line or a plane; this many rows of one order are run however long they
/// take.
pub const FEWEST_ROWS: usize = 4;

/// Rows with fewer bodies than the most divided by this are left out: they bend on out-of-order
/// cores.
pub const SHORTEST_SHARE: u32 = 8;

/// As [`SHORTEST_SHARE`], for rows that check an init. There are fewer of them.
pub const SHORTEST_CHECK_SHARE: u32 = 4;

/// Rows that check an init and have at most this many copies, including inits, are run however long
/// they take.
pub const SHORT_CHECK_COPIES: u32 = 6;

/// What runs before each body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Before {
    /// Nothing: the rows are a line.
    Nothing,
    /// An init.
    Init,
    /// A flush of data from the caches, with fences around it.
    Flush,
}

/// What runs between the two readings of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// The init, or the flush.
    Init,
    /// A fence.
    Fence,
    /// The body.
    Body,
    /// The multiplications of [`Order::FencedChain`].
    Chain,
}

/// A row: how often body and init run in it, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowShape {
    /// Bodies between the two readings.
    pub bodies: u32,
    /// Inits between the two readings.
    pub inits: u32,
    /// Their order.
    pub order: Order,
    /// How often the row runs its copies: the bodies and inits are those of all runs.
    pub runs: u32,
}

/// The rows of a benchmark: first those of [`Order::AtEnd`], each order with the shortest rows
/// first. Rows that run blocks follow the straight ones.
///
/// A language that has no fences leaves out the rows of [`Order::Fenced`] and
/// [`Order::FencedChain`].
pub fn shapes(before: Before) -> Vec<RowShape> {
    let at_end = |(bodies, further)| RowShape {
        bodies,
        inits: bodies + further,
        order: Order::AtEnd,
        runs: 1,
    };
    let fenced_chain = |row: RowShape| RowShape { order: Order::FencedChain, ..row };
    match before {
        Before::Nothing => {
            let row = |copies: u32, runs| RowShape {
                bodies: copies * runs,
                inits: 0,
                order: Order::AtEnd,
                runs,
            };
            [
                &LINE.map(|copies| row(copies, 1))[..],
                &BLOCKS.map(|copies| row(copies, RUNS_OF_A_BLOCK)),
            ]
            .concat()
        }
        Before::Flush => [COLD_ROWS.map(at_end), COLD_ROWS.map(at_end).map(fenced_chain)].concat(),
        Before::Init => {
            let checks = |order| {
                CHECKS.map(|(bodies, each)| RowShape {
                    bodies,
                    inits: bodies * each,
                    order,
                    runs: 1,
                })
            };
            let checks = [Order::InPlace, Order::Fenced, Order::FencedChain].map(checks);
            [&PLANE.map(at_end)[..], &checks.concat()].concat()
        }
    }
}

impl RowShape {
    /// What runs between the two readings, [`RowShape::runs`] times.
    pub fn steps(&self, before: Before) -> Vec<Step> {
        let init: &[Step] = match (before, self.order) {
            (Before::Init, Order::Fenced) => &[Step::Fence, Step::Init, Step::Fence],
            (Before::Init, Order::FencedChain) => &[Step::Fence, Step::Fence],
            _ => &[Step::Init],
        };
        let body = if self.order == Order::FencedChain { Step::Chain } else { Step::Body };
        let each = self.inits_before_each(before);
        let copy = [init.repeat(each as usize), vec![body]].concat();
        let further = self.inits.saturating_sub(self.bodies * each);
        [copy.repeat((self.bodies / self.runs.max(1)) as usize), init.repeat(further as usize)]
            .concat()
    }

    /// Inits before each body; the further inits are at the end.
    pub fn inits_before_each(&self, before: Before) -> u32 {
        let is_check = self.order != Order::AtEnd && before == Before::Init;
        if is_check { self.inits / self.bodies.max(1) } else { self.inits.min(1) }
    }
}
