//! Limits on the size of files, as an operator sets them with `ulimit -f`.

use std::io;

/// Makes a write beyond the limit fail, as on a full disk, instead of ending the process. Does nothing where
/// the signal for it is unknown or has another number.
///
/// # Errors
/// Fails if the operating system refuses the handler of the signal.
pub(super) fn survive() -> io::Result<()> {
    #[cfg(unix)]
    if cfg!(not(any(target_arch = "mips", target_arch = "mips64"))) {
        /// SIGXFSZ.
        const TOO_LARGE: i32 = 25;
        let kind = tokio::signal::unix::SignalKind::from_raw(TOO_LARGE);
        // The handler stays when the stream of signals is dropped.
        let _ = tokio::signal::unix::signal(kind)?;
    }
    Ok(())
}
