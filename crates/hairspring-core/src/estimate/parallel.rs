//! Independent pieces of work on all processors. The results do not depend on the number of
//! processors.

use threads::{distribute, processors};

/// Does `pieces` pieces of work and returns the results in order.
pub fn in_parallel<T: Send>(pieces: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    match processors().min(pieces) {
        0 | 1 => (0..pieces).map(work).collect(),
        workers => distribute(workers, pieces, &work),
    }
}

/// WebAssembly has no threads here, so there is one processor.
#[cfg(target_arch = "wasm32")]
mod threads {
    pub fn processors() -> usize {
        1
    }

    pub fn distribute<T>(_: usize, pieces: usize, work: &impl Fn(usize) -> T) -> Vec<T> {
        (0..pieces).map(work).collect()
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod threads {
    use std::thread;

    pub fn processors() -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }

    /// Worker 0 takes the first piece, worker 1 the second, and so on in turn.
    pub fn distribute<T: Send>(
        workers: usize,
        pieces: usize,
        work: &(impl Fn(usize) -> T + Sync),
    ) -> Vec<T> {
        let share = |worker: usize| {
            (worker..pieces)
                .step_by(workers)
                .map(|piece| (piece, work(piece)))
                .collect::<Vec<(usize, T)>>()
        };
        let share = &share;
        let mut done: Vec<(usize, T)> = thread::scope(|scope| {
            let started: Vec<_> =
                (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
            started
                .into_iter()
                .flat_map(|thread| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        });
        done.sort_by_key(|(piece, _)| *piece);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_pieces() {
        for workers in [1, 2, 3, 8] {
            assert_eq!(distribute(workers, 7, &|piece| piece * piece), [0, 1, 4, 9, 16, 25, 36]);
        }
        assert_eq!(in_parallel(0, |piece| piece), Vec::<usize>::new());
    }
}
