import { createdModels, pulledModels } from '../command/serving-settings.ts';
import { lowerContainer } from '../model/pod.ts';
import { processInput } from '../model/process-input.ts';
import { valuesPulls } from '../model/values-model.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, getIn } from '../yaml/cursor.ts';

/** A model that Ollama downloads, with its place if it is a value of its own. */
export interface PulledModel {
  readonly name: string;
  readonly at?: Cursor;
}

/** The models that a container's script, its postStart hook or the values of Ollama's chart download. */
export function pulledByOllama(container: Container): readonly PulledModel[] {
  const hook = getIn(container.at, 'lifecycle', 'postStart', 'exec');
  const inputs = [container, ...(hook === undefined ? [] : [{ ...lowerContainer(hook, 'app'), env: container.env }])];
  const read = inputs.map(processInput);
  // The script may create what the hook loads.
  const own = new Set(read.length > 1 ? read.flatMap((one) => [...createdModels(one)]) : []);
  const written = read.flatMap(pulledModels).flatMap((name) => (own.has(name) ? [] : [{ name }]));
  return [...written, ...valuesPulls(container.at)];
}

/** Whether a line only runs a model without a tag: one of one's own may be in the image or on a volume. */
export function mayBeStored(name: string, line: string): boolean {
  const at = line.indexOf(name);
  return at > 0 && !name.includes(':') && /\brun\s+(?:-\S+\s+)?$/.test(line.slice(Math.max(0, at - 40), at));
}
