//! Chains of known length that run in the same rounds as the code: the reference chain, which
//! counts core cycles, and the control chains, which show whether something else used the core.

use crate::ruler::Ruler;
use crate::table::{CONTROL, REFERENCE, free_name};
use hairspring_core::observations::{Observations, RowId};
use hairspring_host::chains::{CONTROLS, ChainRole, RULER, RowFn, chains, name, role_of};

/// Copies of the reference chain, and of short, middle and long control chains, so that all take a
/// similar number of cycles.
const RULER_COPIES: [u32; 6] = [32, 64, 128, 256, 384, 512];
const SHORT_COPIES: [u32; 4] = [64, 192, 384, 512];
const MIDDLE_COPIES: [u32; 3] = [64, 128, 256];
const LONG_COPIES: [u32; 3] = [32, 64, 96];

/// A chain that runs in the same rounds as the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Companion {
    /// Name of the chain.
    pub chain: &'static str,
    /// Copies of its rows.
    pub copies: &'static [u32],
    /// Core cycles of a copy.
    pub cycles: u32,
    /// Whether it is the reference chain; otherwise it is a control.
    pub is_reference: bool,
}

/// The reference chain and the control chains of a ruler, as far as this machine has them.
pub fn companions(ruler: &Ruler) -> Vec<Companion> {
    let reference = Companion {
        chain: name(RULER),
        copies: &RULER_COPIES,
        cycles: ruler.cycles,
        is_reference: true,
    };
    let control = |(wanted_chain, cycles): &(String, u32)| {
        let chain = CONTROLS.into_iter().map(name).find(|known| known == wanted_chain)?;
        Some(Companion { chain, copies: copies(*cycles), cycles: *cycles, is_reference: false })
    };
    let all = std::iter::once(reference).chain(ruler.controls.iter().filter_map(control));
    all.filter(|companion| companion.code().len() == companion.copies.len()).collect()
}

fn copies(cycles: u32) -> &'static [u32] {
    match cycles {
        0..=1 => &SHORT_COPIES,
        2..=6 => &MIDDLE_COPIES,
        _ => &LONG_COPIES,
    }
}

impl Companion {
    /// The kind of units that it uses.
    fn unit(&self) -> Option<&'static str> {
        role_of(self.chain).and_then(ChainRole::unit)
    }

    /// Adds the chain's rows to a table as a separate series, and declares the series as reference
    /// or control.
    pub fn declare(&self, table: &mut Observations) -> Vec<RowId> {
        let name = if self.is_reference {
            REFERENCE.to_owned()
        } else {
            format!("{CONTROL} {}", self.chain)
        };
        let name = free_name(&name, table.series_names());
        let series = table.series(&name);
        let unused = vec![0.0; table.components().len() - 1];
        table
            .origin
            .uses
            .extend(self.unit().map(|unit| (name.clone(), vec![(unit.to_owned(), 1)])));
        let known_length = (name, f64::from(self.cycles));
        if self.is_reference {
            table.origin.reference = Some(known_length)
        } else {
            table.origin.controls.push(known_length)
        }
        self.copies
            .iter()
            .map(|copies| table.row(series, &[vec![f64::from(*copies)], unused.clone()].concat()))
            .collect()
    }

    /// Names and copies of its rows, for another process that runs them.
    pub fn names(&self) -> impl Iterator<Item = (String, u32)> + '_ {
        self.copies.iter().map(|copies| (self.chain.to_owned(), *copies))
    }

    /// The code of its rows, as far as this machine has it.
    pub fn code(&self) -> Vec<RowFn> {
        rows_of(self.names())
    }
}

/// The code of rows of chains, by the name of the chain and the number of copies.
pub fn rows_of(wanted_rows: impl IntoIterator<Item = (String, u32)>) -> Vec<RowFn> {
    let all_chains = chains();
    let row = |(name, copies): (String, u32)| {
        let chain = all_chains.iter().find(|chain| chain.name == name)?;
        chain.rows.iter().find(|(n, _)| *n == copies).map(|(_, run)| *run)
    };
    wanted_rows.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_companion_has_all_its_rows_and_its_own_series() {
        let controls: Vec<(String, u32)> = CONTROLS
            .iter()
            .zip([1, 4, 13])
            .map(|(role, cycles)| (name(*role).to_owned(), cycles))
            .collect();
        let ruler = Ruler { cycles: 3, controls: controls.clone(), provenance: String::new() };
        let (all_companions, mut table) =
            (companions(&ruler), Observations::new(vec!["body".into(), "init".into()]));
        // User code may have the same name.
        table.series(REFERENCE);
        for companion in &all_companions {
            assert_eq!(
                (companion.code().len(), companion.declare(&mut table).len()),
                (companion.copies.len(), companion.copies.len())
            );
        }
        if !chains().is_empty() {
            assert_eq!(table.origin.reference, Some(("reference (2)".into(), 3.0)));
            let declared = table.origin.controls.iter().cloned();
            assert!(
                declared.eq(controls
                    .into_iter()
                    .map(|(name, cycles)| (format!("control {name}"), f64::from(cycles))))
            );
            assert_eq!(table.origin.uses.len(), all_companions.len());
        }
    }
}
