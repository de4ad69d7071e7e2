import { checkInTurns, placesOf, startRun } from './check-run.ts';
import type { ThreadData } from './check-threads.ts';
import { keepingWarnings } from './terminal.ts';

/** Checks files of a run in a thread of its own, until all are taken. @param post sends plain data to the first thread */
export async function checkInThread(
  { paths, options, inputs, taken }: ThreadData,
  post: (checked: unknown) => void,
): Promise<void> {
  // The first thread reads the same configs, and warns of them.
  const { value: run } = await keepingWarnings(() => startRun(inputs, placesOf(paths, options), options));
  for await (const checked of checkInTurns(run, taken)) post(checked);
}
