//! Series that were run together: shards are groups of other series, and lack none.

/// Groups of keys: those of one document are in one group.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    parents: Vec<u32>,
}

impl Groups {
    /// Adds the keys of a document. Gives one of them, which stands for their group.
    pub fn add(&mut self, keys: &[u32]) -> Option<u32> {
        let first = *keys.first()?;
        for key in keys {
            let known = self.parents.len() as u32;
            self.parents.extend(known..=(*key).max(known.saturating_sub(1)));
            let (one, other) = (self.root(first), self.root(*key));
            self.parents[other.max(one) as usize] = other.min(one);
        }
        Some(first)
    }

    /// The key that stands for the group of a key.
    pub fn root(&mut self, key: u32) -> u32 {
        let mut at = key;
        while self.parents[at as usize] != at {
            let above = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    /// Number of keys in the group of each key that stands for one; 0 for others.
    pub fn sizes(&mut self) -> Vec<u32> {
        let mut sizes = vec![0; self.parents.len()];
        for key in 0..self.parents.len() as u32 {
            sizes[self.root(key) as usize] += 1;
        }
        sizes
    }
}

/// The machines that lack series of their groups. `runs` are machines with a key of each of their
/// documents, `have` is how many series each machine has.
pub fn lacking(groups: &mut Groups, runs: &[(u32, u32)], have: &[u32]) -> Vec<u32> {
    let sizes = groups.sizes();
    let mut runs: Vec<(u32, u32)> =
        runs.iter().map(|(machine, key)| (*machine, groups.root(*key))).collect();
    runs.sort_unstable();
    runs.dedup();
    let mut wanted = vec![0; have.len()];
    runs.iter().for_each(|(machine, root)| wanted[*machine as usize] += sizes[*root as usize]);
    (0..have.len() as u32).filter(|at| have[*at as usize] < wanted[*at as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_lack_nothing_and_a_cut_document_does() {
        let mut groups = Groups::default();
        let keys = [&[0, 1][..], &[2, 3, 4], &[0, 1], &[2, 4], &[]];
        let documents = keys.map(|keys| groups.add(keys));
        assert_eq!(documents, [Some(0), Some(2), Some(0), Some(2), None]);
        let runs: Vec<(u32, u32)> =
            documents.iter().flatten().enumerate().map(|(at, key)| (at as u32, *key)).collect();
        assert_eq!(lacking(&mut groups, &runs, &[2, 3, 2, 2]), [3]);
        // The cut one ran again on the same machine.
        assert!(lacking(&mut groups, &runs, &[2, 3, 2, 3]).is_empty());
    }

    #[test]
    fn documents_that_overlap_are_of_one_group() {
        let mut groups = Groups::default();
        groups.add(&[0, 1]);
        groups.add(&[2, 1]);
        groups.add(&[5]);
        assert_eq!((groups.root(2), groups.sizes()[0]), (0, 3));
        assert_eq!(lacking(&mut groups, &[(0, 0), (1, 2)], &[2, 2]), [0, 1]);
    }
}
