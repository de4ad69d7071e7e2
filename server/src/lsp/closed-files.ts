/** Fewer files do not free enough memory to justify a pause. */
const closedThreshold = 100;
/** Time in milliseconds without such files before memory is released, so that no request has to wait. */
const quietMs = 1000;

/**
 * Releases memory some time after many files were closed, or analyzed without being open: an idle JavaScript engine does not collect garbage by itself.
 * @param collect runs the garbage collector
 * @returns a function to call for each of these files
 */
export function watchClosing(collect: () => void): () => void {
  let closed = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    closed += 1;
    if (closed < closedThreshold) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      closed = 0;
      collect();
    }, quietMs);
    // A pending timer must not keep a finished process alive.
    (timer as { unref?: () => void }).unref?.();
  };
}
