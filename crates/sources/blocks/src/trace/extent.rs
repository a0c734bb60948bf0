//! How far a call is followed: calls of the function by itself, and a limit.

use super::follow::{Follower, Frame};
use crate::error::Result;

impl<'a> Follower<'a> {
    /// Follows no more than about a number of branches; the process is then inside of the call.
    #[must_use]
    pub fn up_to(mut self, branches: u64) -> Follower<'a> {
        self.most = Some(branches);
        self
    }

    /// Whether the limit is reached, in the call itself and not in one that it makes of its own
    /// function.
    pub(super) fn is_enough(&self) -> bool {
        self.most.is_some_and(|most| self.passed >= most) && self.frames.len() == 1
    }

    pub(super) fn enter(&mut self) -> Result<()> {
        self.found.entries += 1;
        let stack = self.process.stack()?;
        self.frames.push(Frame { from: 0, expected: None, is_cut: false, stack, left: None });
        Ok(())
    }
}
