//! Departure of rows that follows their counts: neighbouring rows depart by similar amounts, so more rows do not average it
//! out.
//!
//! The variance of an unknown is then computed from the sums of groups of neighbours instead of single rows (the
//! cluster-robust variance: Liang and Zeger, 1986; Cameron and Miller, 2015).

/// Number of groups, and fewest rows in each.
const GROUPS: usize = 6;
const FEWEST_IN_GROUP: usize = 3;

/// The variance of an unknown from groups of rows, with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupedVariance {
    /// Variance.
    pub variance: f64,
    /// Degrees of freedom.
    pub dof: f64,
}

/// The variance of an unknown from the rows' shares in it, where rows with neighbouring keys form groups; `None` if there
/// are too few rows. A share is the row's weight times its residual corrected for the row's leverage.
pub fn by_neighbours(shares: &[f64], keys: &[(f64, f64)]) -> Option<GroupedVariance> {
    let groups = (shares.len() / FEWEST_IN_GROUP).min(GROUPS);
    if groups < GROUPS / 2 {
        return None;
    }
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|a, b| keys[*a].0.total_cmp(&keys[*b].0).then(keys[*a].1.total_cmp(&keys[*b].1)));
    let mut squares = 0.0;
    for group in 0..groups {
        let range = group * order.len() / groups..(group + 1) * order.len() / groups;
        squares += order[range].iter().map(|at| shares[*at]).sum::<f64>().powi(2);
    }
    let few = groups as f64 / (groups - 1) as f64;
    Some(GroupedVariance { variance: few * squares, dof: (groups - 1) as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_departures_of_neighbours_do_not_average_out() {
        let keys: Vec<(f64, f64)> = (0..60).map(|at| (f64::from(at), 0.0)).collect();
        let alternating: Vec<f64> = (0..60).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let waves: Vec<f64> = (0..60).map(|at| if at / 10 % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(by_neighbours(&alternating, &keys).unwrap().variance < 1e-9);
        // Six groups of ten equal shares: 6 * 10^2, times 6/5 for the small number of groups.
        assert_eq!(by_neighbours(&waves, &keys).unwrap(), GroupedVariance { variance: 720.0, dof: 5.0 });
        assert_eq!(by_neighbours(&waves[..8], &keys[..8]), None);
    }
}
