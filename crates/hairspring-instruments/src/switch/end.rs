//! How something that runs beside the measurement has ended.

use std::sync::{Arc, Mutex, PoisonError};

/// The reason, once there is one. All copies share it.
#[derive(Debug, Clone, Default)]
pub struct End(Arc<Mutex<Option<String>>>);

impl End {
    /// Keeps the reason.
    pub fn tell(&self, reason: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    /// The reason, if it has ended.
    pub fn reason(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
