import { type ColdStart, coldStart, type Delay } from '../../cost/cold-start.ts';
import type { Scaling, Workload } from '../../model/workload.ts';
import { asText, type Cursor, getIn, keyOf } from '../../yaml/cursor.ts';
import type { Block } from './render.ts';

/** How long a workload takes to zero and back, from its annotations or the autoscaler's defaults. */
export function coldStartFacts(workload: Workload, { mechanism }: Scaling): readonly Block[] {
  if (mechanism === 'knative') return [list(coldStart('knative', (key) => annotationOf(workload, key)))];
  return mechanism === 'keda' ? [list(coldStart('keda', () => undefined))] : [];
}

/** The same for a ScaledObject, from its fields. */
export function coldStartOf(spec: Cursor): Block {
  return list(coldStart('keda', (key) => asText(getIn(spec, key))));
}

function list({ scaler, scaleDown, scaleUp }: ColdStart): Block {
  const items =
    scaler === 'knative'
      ? [
          `The last replica stops after ${scaleDown.value} without requests (${sourceOf(scaleDown, '')})`,
          `A replica that is not ready after ${scaleUp.value} fails (${sourceOf(scaleUp, `; annotation ${scaleUp.key}`)})`,
        ]
      : [
          `The last replica stops after ${scaleDown.value} s without an active trigger (${keyOrDefault(scaleDown)})`,
          `KEDA polls the triggers every ${scaleUp.value} s (${keyOrDefault(scaleUp)})`,
        ];
  return { kind: 'list', title: 'Scaling to zero and back', items };
}

function sourceOf({ from }: Delay, hint: string): string {
  return from === 'manifest' ? 'annotation' : `Knative default${hint}`;
}

function keyOrDefault({ key, from }: Delay): string {
  return from === 'default' ? `default ${key}` : key;
}

function annotationOf({ manifest, podSets }: Workload, key: string): string | undefined {
  const all = [...manifest.annotations, ...podSets.flatMap(({ annotations }) => annotations)];
  // With an empty value, the default applies.
  return all.find(({ at: place }) => keyOf(place) === key)?.value || undefined;
}
