import { type ColdStart, coldStart, type Delay } from '../../cost/cold-start.ts';
import type { Scaling, Workload } from '../../model/workload.ts';
import { asText, type Cursor, getIn, keyOf } from '../../yaml/cursor.ts';
import type { Block } from './markdown.ts';

/** How long a workload takes to zero and back, by its annotations and its scaler's defaults. */
export function coldStartFacts(workload: Workload, { mechanism }: Scaling): readonly Block[] {
  if (mechanism === 'knative') return [list(coldStart('knative', (key) => annotationOf(workload, key)))];
  return mechanism === 'keda' ? [list(coldStart('keda', () => undefined))] : [];
}

/** The same for a ScaledObject, by its own fields. */
export function coldStartOf(spec: Cursor): Block {
  return list(coldStart('keda', (key) => asText(getIn(spec, key))));
}

function list({ scaler, scaleDown, scaleUp }: ColdStart): Block {
  const items =
    scaler === 'knative'
      ? [
          `The last replica goes after ${scaleDown.value} without requests (${annotated(scaleDown, '')})`,
          `A replica that is not ready in ${scaleUp.value} has failed (${annotated(scaleUp, `; annotation ${scaleUp.key}`)})`,
        ]
      : [
          `The last replica goes when no trigger was active for ${inSeconds(scaleDown)}`,
          `KEDA looks for work every ${inSeconds(scaleUp)}`,
        ];
  return { kind: 'list', title: 'To zero and back', items };
}

function annotated({ from }: Delay, how: string): string {
  return from === 'manifest' ? 'as annotated' : `Knative's default${how}`;
}

function inSeconds({ key, value, from }: Delay): string {
  return `${value} s (${from === 'default' ? `default ${key}` : key})`;
}

function annotationOf({ manifest, podSets }: Workload, key: string): string | undefined {
  const all = [...manifest.annotations, ...podSets.flatMap(({ annotations }) => annotations)];
  // An empty value leaves the default in force.
  return all.find(({ at: place }) => keyOf(place) === key)?.value || undefined;
}
