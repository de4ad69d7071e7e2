/** Fewer closed files leave too little behind to be worth a pause. */
const many = 100;
/** So long nothing may be closed before memory is given back, in milliseconds: then nobody waits for the server. */
const quiet = 1000;

/**
 * Has memory given back some time after many files were closed: an engine that has nothing to do does not look for it by itself.
 * @param collect gives back what nobody uses any more
 * @returns to be called for every file that is closed
 */
export function watchClosing(collect: () => void): () => void {
  let closed = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    closed += 1;
    if (closed < many) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      closed = 0;
      collect();
    }, quiet);
    // A pending timer must not keep a finished process alive.
    (timer as { unref?: () => void }).unref?.();
  };
}
