//! Chains of known length that run in the same rounds as the code: the ruler that core cycles are counted with, and a
//! control that tells whether something else used the core.

use crate::ruler::Ruler;
use hairspring_core::observations::{Observations, RowId};
use hairspring_host::chains::{CONTROLS, RULER, RowFn, chains, name};

/// Copies of the ruler, and of controls that are short and long: about as many cycles for all of them.
const RULER_COPIES: [u32; 6] = [32, 64, 128, 256, 384, 512];
const SHORT_COPIES: [u32; 4] = [64, 192, 384, 512];
const MIDDLE_COPIES: [u32; 3] = [64, 128, 256];
const LONG_COPIES: [u32; 3] = [32, 64, 96];

/// A chain beside the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// Name of the chain.
    pub chain: &'static str,
    /// Copies of its rows.
    pub copies: &'static [u32],
    /// Core cycles of a copy.
    pub cycles: u32,
    /// Whether it is the ruler; else it is the control.
    pub is_ruler: bool,
}

/// The chains that run beside the code.
pub fn beside(ruler: &Ruler) -> Vec<Beside> {
    let reference = Beside { chain: name(RULER), copies: &RULER_COPIES, cycles: ruler.cycles, is_ruler: true };
    let control = |(wanted, cycles): &(String, u32)| {
        let chain = CONTROLS.into_iter().map(name).find(|known| known == wanted)?;
        Some(Beside { chain, copies: copies(*cycles), cycles: *cycles, is_ruler: false })
    };
    std::iter::once(reference).chain(ruler.controls.iter().filter_map(control)).collect()
}

fn copies(cycles: u32) -> &'static [u32] {
    match cycles {
        0..=1 => &SHORT_COPIES,
        2..=6 => &MIDDLE_COPIES,
        _ => &LONG_COPIES,
    }
}

impl Beside {
    /// Adds the chain's rows to a table as a series of this name, and says in the table what it is.
    pub fn declare(&self, table: &mut Observations, name: &str) -> Vec<RowId> {
        let series = table.series(name);
        let unused = vec![0.0; table.components().len() - 1];
        let known = (name.to_owned(), f64::from(self.cycles));
        if self.is_ruler {
            table.origin.reference = Some(known)
        } else {
            table.origin.controls.push(known)
        }
        self.copies.iter().map(|copies| table.row(series, &[vec![f64::from(*copies)], unused.clone()].concat())).collect()
    }

    /// Names and copies of its rows, for a process that has the code.
    pub fn names(&self) -> impl Iterator<Item = (String, u32)> + '_ {
        self.copies.iter().map(|copies| (self.chain.to_owned(), *copies))
    }

    /// The code of its rows, as far as this machine has them.
    pub fn code(&self) -> Vec<RowFn> {
        rows_of(self.names())
    }
}

/// The code of rows of chains, by name and copies.
pub fn rows_of(wanted: impl IntoIterator<Item = (String, u32)>) -> Vec<RowFn> {
    let all = chains();
    let row = |(name, copies): (String, u32)| {
        let chain = all.iter().find(|chain| chain.name == name)?;
        chain.rows.iter().find(|(n, _)| *n == copies).map(|(_, run)| *run)
    };
    wanted.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_beside_the_code_has_all_its_rows() {
        let controls = vec![("xor".to_owned(), 1), ("load".to_owned(), 4), ("divsd".to_owned(), 13)];
        let ruler = Ruler { cycles: 3, controls, provenance: String::new() };
        let (all, mut table) = (beside(&ruler), Observations::new(vec!["body".into(), "init".into()]));
        for chain in &all {
            assert!(chain.code().is_empty() || chain.code().len() == chain.copies.len());
            assert_eq!(chain.declare(&mut table, chain.chain).len(), chain.copies.len());
        }
        assert_eq!(table.origin.reference, Some((name(RULER).to_owned(), 3.0)));
        assert_eq!(table.origin.controls.iter().map(|(_, cycles)| *cycles).collect::<Vec<_>>(), [1.0, 4.0, 13.0]);
    }
}
