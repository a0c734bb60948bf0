//! Lets the instrumented copy of the function run in place of the function, and replays its log.
//!
//! While control is in the copy, the return addresses of its calls hold jumps back into it.
//! Wherever the copy cannot go on, the function's own code is put back and runs from breakpoint to
//! breakpoint.

use super::follow::{Follower, LEFT_CALL, failed};
use super::process::BREAKPOINT;
use super::room::{EVENT, Room};
use super::stub::JUMP;
use super::translate::{Event, Original, Translation};
use crate::error::Result;
use nix::sys::signal::Signal;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Copies of functions that were made: another process with the same addresses takes them over.
#[derive(Debug, Default)]
pub struct Translations(RefCell<Vec<Rc<RefCell<Translation>>>>);

impl Translations {
    fn take<'a>(
        &self,
        room: Room,
        entry: u64,
        ends: impl Iterator<Item = &'a u64> + Clone,
    ) -> Rc<RefCell<Translation>> {
        const MOST_COPIES: usize = 4;
        let mut all_copies = self.0.borrow_mut();
        if let Some(known_copy) =
            all_copies.iter().find(|known_copy| known_copy.borrow().fits(room, entry, ends.clone()))
        {
            return known_copy.clone();
        }
        let new = Rc::new(RefCell::new(Translation::new(room, entry, ends.copied().collect())));
        all_copies.truncate(MOST_COPIES - 1);
        all_copies.insert(0, new.clone());
        new
    }
}

/// What is known of the target of a branch of the copy.
#[derive(Debug, Clone, Copy, Default)]
struct Next {
    /// The branch that follows on the way from there.
    site: Option<u64>,
    is_cut: bool,
    /// Whether nothing but this matters when control comes there.
    is_plain: bool,
    count: u64,
}

/// The copy in a process.
#[derive(Debug)]
pub(super) struct Copy {
    room: Room,
    translation: Rc<RefCell<Translation>>,
    /// Bytes and targets of it that are in the process.
    written: usize,
    targets: usize,
    /// Whether the return addresses of its calls lead back into it, and how many do.
    is_bridged: bool,
    bridges: usize,
    /// What is known of each event.
    next: Vec<Next>,
    /// The indirect jump whose target comes next.
    jump: Option<u64>,
    /// After how many stops it runs: a short call is followed sooner without it.
    after: u64,
}

/// After how many stops the copy pays: to write it takes about as long.
pub const COPY_PAYS_AFTER: u64 = 64;

impl Follower<'_> {
    /// Follows in a copy of the function that has room in the process, if there is any, after a
    /// number of stops.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn in_copy(mut self, room: Option<Room>, after: u64) -> Result<Self> {
        self.found.stepped = match room {
            None => Some("there is no room for a copy of the function near it"),
            Some(_) if self.target.has_data => {
                Some("the function reads data among its instructions")
            }
            Some(_) if has_shadow_stack(self.process.id()) => {
                Some("the processor checks the return addresses of the program (shadow stack)")
            }
            Some(_) => None,
        };
        if let Some(room) = room.filter(|_| self.found.stepped.is_none()) {
            let translation =
                self.program.translations.take(room, self.target.entry(), self.ends.keys());
            self.copy = Some(Copy {
                room,
                translation,
                written: 0,
                targets: 0,
                is_bridged: false,
                bridges: 0,
                next: Vec::new(),
                jump: None,
                after,
            });
        }
        Ok(self)
    }

    /// Where an address of the function is in the copy, for control that comes there by a branch;
    /// makes the copy ready to run.
    pub(super) fn enter_copy(&mut self, address: u64) -> Result<Option<u64>> {
        let Some(copy) = self.copy.as_ref().filter(|copy| copy.after <= self.found.stops) else {
            return Ok(None);
        };
        let original = self.as_original();
        let translation = copy.translation.clone();
        // Activations that began before the copy ran come back into it, too.
        let older: Vec<u64> =
            self.frames.iter().filter(|_| !copy.is_bridged).map(|frame| frame.from).collect();
        let mut all_addresses = older
            .into_iter()
            .chain([address])
            .map(|at| translation.borrow_mut().by_branch(original, at));
        let Some(place) = all_addresses.try_fold(0, |_, place| place) else {
            self.leave_for_good()?;
            return Ok(None);
        };
        if self.jumps_to.take() == Some(address) {
            translation.borrow_mut().add_target(address);
        }
        self.write_copy(&translation.borrow())?;
        Ok(Some(place))
    }

    /// Brings the copy in the process up to date, and bridges the returns.
    fn write_copy(&mut self, translation: &Translation) -> Result<()> {
        let Some(copy) = &mut self.copy else { return Ok(()) };
        let (bytes, targets) = (translation.bytes(), translation.targets());
        if copy.written == 0 {
            copy.room.clear(self.process)?;
        }
        if copy.written < bytes.len() {
            self.process
                .poke_all(copy.room.code().start + copy.written as u64, &bytes[copy.written..])?;
            copy.written = bytes.len();
        }
        for (place, target, code) in &targets[copy.targets..] {
            let at = copy.room.table() + 8 * place;
            self.process.write(at, &target.wrapping_neg().to_ne_bytes())?;
            self.process.write(at + u64::from(Room::distance()), &code.to_ne_bytes())?;
        }
        copy.targets = targets.len();
        let bridges = translation.returns().len();
        if !copy.is_bridged || copy.bridges < bridges {
            (copy.is_bridged, copy.bridges) = (true, bridges);
            // Breakpoints from before are no longer in the way.
            let (entry, handlers) = (self.target.entry(), &self.handlers);
            self.planted.retain(|at, _| *at == entry || handlers.contains(at));
            self.write_code()?;
        }
        Ok(())
    }

    /// Writes the code of the function as it is to be now: with breakpoints, and with jumps where
    /// calls return to.
    pub(super) fn write_code(&self) -> Result<()> {
        self.patched()
            .into_iter()
            .try_for_each(|(start, bytes)| self.process.poke_all(start, &bytes))
    }

    /// The code of the function as it is in the process.
    pub(super) fn patched(&self) -> Vec<(u64, Vec<u8>)> {
        let bridges = self.bridges();
        let patch = |(start, bytes): &(u64, Vec<u8>)| {
            let mut now = bytes.clone();
            let range = *start..*start + bytes.len() as u64;
            self.planted
                .keys()
                .filter(|at| range.contains(at))
                .for_each(|at| now[(at - start) as usize] = BREAKPOINT);
            for (at, jump) in &bridges {
                if range.contains(at) {
                    let from = (at - start) as usize;
                    now[from..from + jump.len()].copy_from_slice(jump);
                }
            }
            (*start, now)
        };
        self.target.code.parts().iter().map(patch).collect()
    }

    /// The jumps where calls of the copy return to. A breakpoint stands where there is no room for
    /// a jump, and where no call has returned yet: a call that never returns may have data behind
    /// it.
    fn bridges(&self) -> BTreeMap<u64, Vec<u8>> {
        let Some(copy) = self.copy.as_ref().filter(|copy| copy.is_bridged) else {
            return BTreeMap::new();
        };
        let translation = copy.translation.borrow();
        translation
            .returns()
            .iter()
            .filter_map(|at| Some((*at, self.bridge(&translation, *at)?)))
            .collect()
    }

    /// The bytes where a call of the copy returns to.
    fn bridge(&self, translation: &Translation, at: u64) -> Option<Vec<u8>> {
        let is_watched = |at: u64| at == self.target.entry() || self.handlers.contains(&at);
        let to =
            translation.by_flow(at).filter(|_| self.target.code.contains(at) && !is_watched(at))?;
        let end = at + JUMP as u64;
        let inside = (at..end).all(|byte| self.target.code.contains(byte));
        let apart =
            (at + 1..end).all(|byte| !is_watched(byte) && !translation.returns().contains(&byte));
        if !inside || !apart || !translation.is_code(self.as_original(), at..end) {
            return Some(vec![BREAKPOINT]);
        }
        let distance = to.wrapping_sub(end) as u32;
        Some(std::iter::once(0xe9).chain(distance.to_le_bytes()).collect())
    }

    /// Goes on in the function itself, from an address there.
    pub(super) fn leave_copy(&mut self, address: u64) -> Result<()> {
        self.put_code_back()?;
        self.process.go_to(address)
    }

    /// Puts the function's own code back, with breakpoints where its activations go on.
    pub(super) fn put_code_back(&mut self) -> Result<()> {
        if let Some(copy) = self.copy.as_mut().filter(|copy| copy.is_bridged) {
            copy.is_bridged = false;
            for site in self.frames.iter().filter_map(|frame| frame.expected).collect::<Vec<u64>>()
            {
                let instruction = self.decode(site)?;
                self.planted.insert(site, instruction);
            }
            self.write_code()?;
        }
        Ok(())
    }

    /// The copy is too large: the rest of the call is followed without it.
    fn leave_for_good(&mut self) -> Result<()> {
        self.put_code_back()?;
        self.found.stepped = Some("the copy of the function is too large");
        self.end_copy()
    }

    /// Takes the counts of the copy, and gives its memory back.
    pub(super) fn end_copy(&mut self) -> Result<()> {
        self.replay()?;
        self.counts = self.all_counts();
        if let Some(copy) = self.copy.take().filter(|copy| copy.written > 0) {
            copy.room.release(self.process, self.target.entry())?;
        }
        Ok(())
    }

    /// Whether control comes back into the copy when a call returns.
    pub(super) fn is_bridged(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.is_bridged)
    }

    /// The address of the function for which a stop in the copy stands; `None` for a stop
    /// elsewhere.
    pub(super) fn exit_at(&self, stopped: u64) -> Option<u64> {
        self.copy.as_ref()?.translation.borrow().exit(stopped)
    }

    /// Where the process goes on in the copy, if it has stopped in the function itself at the
    /// return from a call.
    pub(super) fn back_in_copy(&self, stopped: u64) -> Option<u64> {
        let copy = self.copy.as_ref().filter(|copy| copy.is_bridged)?;
        let is_watched = stopped == self.target.entry() || self.handlers.contains(&stopped);
        copy.translation.borrow().by_flow(stopped).filter(|_| !is_watched)
    }

    /// The process has stopped where a call returned to, and goes on in the copy. From now on a
    /// jump may stand there.
    pub(super) fn come_back(&mut self, stopped: u64, place: u64) -> Result<()> {
        if let Some(copy) =
            self.copy.as_ref().filter(|copy| copy.translation.borrow_mut().note_return(stopped))
        {
            let translation = copy.translation.borrow();
            let jump = self
                .bridge(&translation, stopped)
                .filter(|_| translation.returns().contains(&stopped));
            jump.map_or(Ok(()), |jump| self.process.poke_all(stopped, &jump))?;
        }
        self.process.go_to(place)
    }

    fn as_original(&self) -> Original<'_> {
        Original { code: &self.target.code, entry: self.target.entry(), handlers: &self.handlers }
    }

    /// The address in the function for one in the copy; others are themselves.
    pub(super) fn original(&self, at: u64) -> u64 {
        self.copy.as_ref().and_then(|copy| copy.translation.borrow().origin(at)).unwrap_or(at)
    }

    /// Handles a signal that says that the log is full; returns whether it does.
    pub(super) fn is_log_full(&mut self, signal: Signal) -> Result<bool> {
        let Some(room) = self.copy.as_ref().map(|copy| copy.room) else { return Ok(false) };
        let is_full = room.is_full(self.process, signal);
        if is_full {
            self.replay()?;
            room.begin_again(self.process)?;
        }
        Ok(is_full)
    }

    /// A fault is about to be delivered to the program: its handler must see it in the function.
    pub(super) fn surface(&mut self) -> Result<()> {
        let at = self.process.instruction()?;
        let original = self.original(at);
        if original != at {
            self.replay()?;
            self.now = None;
            self.leave_copy(original)?;
        }
        Ok(())
    }

    /// Counts what the copy has logged, as if each branch had been a stop.
    pub(super) fn replay(&mut self) -> Result<()> {
        let Some(copy) = self.copy.as_mut().filter(|copy| copy.written > 0) else { return Ok(()) };
        let log = copy.room.take(self.process)?;
        let translation = copy.translation.clone();
        let events = translation.borrow();
        copy.next.resize(events.events().len(), Next::default());
        log.chunks_exact(EVENT).try_for_each(|number| {
            let number =
                number.try_into().map_or(usize::MAX, |bytes| u32::from_ne_bytes(bytes) as usize);
            let event = events.events().get(number).copied();
            let event = event.ok_or_else(|| {
                failed("the log of its branches is damaged: the program writes over it")
            })?;
            self.replay_one(number, event)
        })
    }

    fn replay_one(&mut self, number: usize, event: Event) -> Result<()> {
        match event {
            Event::Branch(site, to) => {
                self.check_site(site)?;
                self.add_to_path(site, to);
                self.replay_branch(number, to)
            }
            Event::Jump(site) => {
                self.check_site(site)?;
                self.copy.as_mut().into_iter().for_each(|copy| copy.jump = Some(site));
                Ok(())
            }
            Event::Target(to) => {
                let site = self.copy.as_mut().and_then(|copy| copy.jump.take());
                self.tally(site.ok_or_else(|| failed("an indirect jump was lost"))?, to);
                self.come_to(to).map(drop)
            }
            Event::Place(at) => match self.frames.last() {
                Some(frame) if frame.is_cut && frame.expected == Some(at) => {
                    self.come_to(at).map(drop)
                }
                _ => Ok(()),
            },
        }
    }

    fn replay_branch(&mut self, number: usize, to: u64) -> Result<()> {
        let Some(next) = self.copy.as_mut().and_then(|copy| copy.next.get_mut(number)) else {
            return Ok(());
        };
        next.count += 1;
        if next.is_plain {
            if let Some(frame) = self.frames.last_mut() {
                (frame.from, frame.expected, frame.is_cut) = (to, next.site, next.is_cut);
            }
            return Ok(());
        }
        let (site, is_cut) = self.come_to(to)?;
        let is_plain = self.is_plain(to);
        if let Some(next) = self.copy.as_mut().and_then(|copy| copy.next.get_mut(number)) {
            *next = Next { site, is_cut, is_plain, ..*next };
        }
        Ok(())
    }

    /// A branch of the copy must be the one that comes next.
    fn check_site(&self, site: u64) -> Result<()> {
        match self.frames.last().and_then(|frame| frame.expected) {
            Some(expected) if expected == site => Ok(()),
            _ => Err(failed(LEFT_CALL)),
        }
    }

    /// The counts of all branches, those of the copy included.
    pub(super) fn all_counts(&self) -> HashMap<(u64, u64), u64> {
        let mut all_counts = self.counts.clone();
        let Some(copy) = &self.copy else { return all_counts };
        for (event, next) in copy
            .translation
            .borrow()
            .events()
            .iter()
            .zip(&copy.next)
            .filter(|(_, next)| next.count > 0)
        {
            if let Event::Branch(site, to) = event {
                *all_counts.entry((*site, *to)).or_insert(0) += next.count;
            }
        }
        all_counts
    }
}

/// Whether the processor checks return addresses (Intel CET): a call that pushes its own would be
/// stopped.
fn has_shadow_stack(id: i32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    text.lines().any(|line| line.starts_with("x86_Thread_features:") && line.contains("shstk"))
}
