//! The width of a terminal.
#![allow(
    unsafe_code,
    reason = "TIOCGWINSZ has no safe form in the libraries used; the pointer is to a live value of \
              its type"
)]

use std::os::fd::{AsFd, AsRawFd};

/// Columns of the terminal behind a file; `None` if it is not a terminal, or does not report its
/// width.
pub fn width(file: &impl AsFd) -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the descriptor is open, as it is borrowed, and TIOCGWINSZ writes one `winsize`.
    let reported =
        unsafe { libc::ioctl(file.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) } == 0;
    (reported && size.ws_col > 0).then(|| size.ws_col.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::pty::{Winsize, openpty};

    #[test]
    fn a_terminal_reports_its_width_and_a_file_has_none() {
        let size = Winsize { ws_row: 24, ws_col: 133, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&size), None).unwrap();
        assert_eq!(width(&pair.slave), Some(133));
        let without_size = openpty(None, None).unwrap();
        assert_eq!(width(&without_size.slave), None);
        assert_eq!(width(&std::fs::File::open("/dev/null").unwrap()), None);
    }
}
