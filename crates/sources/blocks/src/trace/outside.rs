//! The function was left by a jump: to a function that is called last, to a part that the compiler
//! moved elsewhere, or to code that jumps on to a computed address (a retpoline). Control may come
//! back anywhere, so a breakpoint waits at every byte.

use super::follow::{Follower, Onward, failed};
use super::process::{BREAKPOINT, Resume, Stop};
use crate::error::Result;

impl Follower<'_> {
    /// Whether the code that runs now was reached by a jump out of the function.
    pub(super) fn is_outside(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.left.is_some())
    }

    /// Lets the process run until control comes back into the function or the call is over.
    pub(super) fn wander(&mut self) -> Result<Option<Onward>> {
        let at = self.run_back()?;
        self.process.go_to(at)?;
        let stack = self.process.stack()?;
        if at == self.back && stack == self.top {
            self.returned_to(u64::MAX);
            return Ok(None);
        }
        // Frames above have returned to code outside, which then called or returned to the
        // function.
        self.returned_to(stack);
        if at == self.target.entry() {
            self.come_in(stack)?;
            return self.arrive(at);
        }
        if self.handlers.contains(&at) {
            return Err(failed(
                "an exception returned control into the function, which cannot be counted as a \
                 branch",
            ));
        }
        match self.frames.last_mut() {
            Some(frame) => match frame.left.take() {
                Some((site, _)) => self.went(site, at).map(Some),
                None => self.go_on(at),
            },
            None => Err(failed("control came back into the function after its end (longjmp)")),
        }
    }

    /// Ends the frames whose part of the stack was left.
    fn returned_to(&mut self, stack: u64) {
        while self.frames.last().is_some_and(|frame| frame.stack < stack) {
            let frame = self.frames.pop();
            if let Some((site, to)) = frame.and_then(|frame| frame.left) {
                self.tally(site, to);
            }
        }
    }

    /// The function was entered from outside: by a call, or by a jump in place of the one that it
    /// was left by.
    fn come_in(&mut self, stack: u64) -> Result<()> {
        match self
            .frames
            .last_mut()
            .filter(|frame| frame.stack == stack)
            .and_then(|frame| frame.left.take())
        {
            Some((site, to)) => {
                self.tally(site, to);
                self.found.entries += 1;
                Ok(())
            }
            None => self.enter(),
        }
    }

    /// Continues behind a call that has returned.
    fn go_on(&mut self, at: u64) -> Result<Option<Onward>> {
        if let Some(place) = self.back_in_copy(at) {
            return self.process.go_to(place).map(|()| None);
        }
        let expected = self.frames.last().and_then(|frame| frame.expected);
        if expected == Some(at) {
            return self.at_site(at);
        }
        if self.planted.contains_key(&at) {
            self.step_over(at)?;
            let now = self.process.instruction()?;
            if expected == Some(now) {
                return self.at_site(now);
            }
        }
        Ok(None)
    }

    /// Runs with breakpoints everywhere in the function and at the return address, until one is
    /// reached.
    fn run_back(&mut self) -> Result<u64> {
        let outside = !self.target.code.contains(self.back);
        let mut original = [0u8];
        if !self.process.read(self.back, &mut original) {
            return Err(failed("the return address cannot be read"));
        }
        let at = loop {
            self.fill()?;
            if outside {
                self.process.poke(self.back, &[BREAKPOINT])?;
            }
            let at = self
                .run_to(|at, follower| at == follower.back || follower.target.code.contains(at))?;
            if outside {
                self.process.poke(self.back, &original)?;
            }
            self.write_code()?;
            if !outside || at != self.back || self.process.stack()? == self.top {
                break at;
            }
            self.process.go_to(at)?;
            if self.process.run(Resume::Step)? != Stop::Trap {
                return Err(failed("it stopped unexpectedly at the return address"));
            }
        };
        Ok(at)
    }

    fn fill(&self) -> Result<()> {
        self.target.code.parts().iter().try_for_each(|(start, bytes)| {
            self.process.poke_all(*start, &vec![BREAKPOINT; bytes.len()])
        })
    }
}
