//! Layouts of the code, which the placements take in turns.

use super::Observations;
use std::ops::Range;

/// The placements of code that has several layouts: the first one has the first layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    /// Number of layouts: two or more.
    pub layouts: usize,
    /// The rounds of each placement.
    pub placements: Vec<Range<u32>>,
}

impl Turns {
    /// The layout of a placement, by the number of the placement.
    pub fn of_placement(&self, at: usize) -> usize {
        at % self.layouts
    }

    /// The layout of a round.
    pub fn of_round(&self, round: u32) -> usize {
        self.of_placement(self.placements.partition_point(|placement| placement.end <= round))
    }

    /// The layout and the rounds of each placement.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Range<u32>)> {
        self.placements.iter().enumerate().map(|(at, rounds)| (self.of_placement(at), rounds))
    }
}

impl Observations {
    /// The placements by their layouts; `None` if the code has one layout only.
    pub fn turns(&self) -> Option<Turns> {
        let layouts = self.origin.layouts as usize;
        (layouts > 1).then(|| Turns { layouts, placements: self.placements() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_take_turns() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("code");
        let row = table.row(series, &[1.0]);
        (0..10).for_each(|round| table.push(row, round, 1.0));
        table.origin.placements = vec![3, 4, 9];
        assert_eq!(table.turns(), None);
        table.origin.layouts = 3;
        let turns = table.turns().unwrap();
        assert_eq!([0, 2, 3, 4, 8, 9].map(|round| turns.of_round(round)), [0, 0, 1, 2, 2, 0]);
        assert_eq!(
            turns.iter().collect::<Vec<_>>(),
            [(0, &(0..3)), (1, &(3..4)), (2, &(4..9)), (0, &(9..10))]
        );
    }
}
