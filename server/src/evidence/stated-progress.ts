import { isRunDirectory } from '../command/checkpoint.ts';
import { wordsOf } from '../command/name-words.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { checkpointSigns } from './launch.ts';
import { isLost } from './lost-paths.ts';
import { connects } from './lost-results.ts';
import { hasDurableMount } from './volume-lifetime.ts';

/** Whether a flag says where progress goes, that place ends with the pod, and nothing else is at hand that a file of settings could name. */
export function statesLostProgress(container: Container, podSet: PodSet): boolean {
  const [first] = checkpointSigns(container).filter(
    ({ kind, word }) => kind === 'path' && word && holdsProgress(word.text),
  );
  return first?.flag !== undefined && keepsNothing(container, podSet) && isLost(first, container, podSet);
}

/** Whether no volume outlives the pod, and no account of another service is at hand, which a file of settings could name. */
export function keepsNothing(container: Container, podSet: PodSet): boolean {
  return !maySend(container, podSet) && !hasDurableMount(container, podSet);
}

/** Whether the pod has an account of another service. */
export function maySend({ env }: Container, { pod }: PodSet): boolean {
  return getIn(pod, 'serviceAccountName') !== undefined || env.some(({ name }) => connects.test(name));
}

/** Whether a flag names the place of progress. Excludes those of logs, exports and results, whose loss does not matter. */
export function holdsProgress(flag: string): boolean {
  const name = flag.split('=')[0] ?? '';
  if (name.replace(/^-+/, '') === 'project' || isRunDirectory(wordsOf(name))) return true;
  const isSaved = /save|output|checkpoint|ckpt|snapshot|resume/i.test(name);
  return isSaved && !/log|export|eval|result|onnx|profil|trace/i.test(name);
}
