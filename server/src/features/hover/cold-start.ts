import type { Scaling, Workload } from '../../model/workload.ts';
import { asText, type Cursor, getIn, keyOf } from '../../yaml/cursor.ts';
import type { Block } from './markdown.ts';

/**
 * What going to zero and coming back takes: how long the last replica stays without traffic, and how long the next one may take. It is
 * what the scalers do by default, where no annotation says otherwise. How long a node, an image and a model take nobody can know from here.
 *
 * Sources, read in November 2026: knative/serving, config/core/configmaps/autoscaler.yaml (stable-window 60s) and deployment.yaml
 * (progress-deadline 600s); knative.dev/docs/serving, «Configuring scale to zero» and «Configure Deployment resources» (the annotations);
 * keda.sh/docs/2.17, ScaledObject specification (pollingInterval 30, cooldownPeriod 300).
 */
export function coldStart(workload: Workload, { mechanism }: Scaling): readonly Block[] {
  if (mechanism === 'knative') {
    const window = annotationOf(workload, 'autoscaling.knative.dev/window');
    const deadline = annotationOf(workload, 'serving.knative.dev/progress-deadline');
    return [
      list([
        `The last replica goes after ${window ?? '60 s'} without requests (${window ? 'as annotated' : "Knative's default"})`,
        `A replica that is not ready in ${deadline ?? '600 s'} has failed (${deadline ? 'as annotated' : "Knative's default; annotation serving.knative.dev/progress-deadline"})`,
      ]),
    ];
  }
  return mechanism === 'keda' ? [list(kedaTimes(undefined))] : [];
}

/** The same for a ScaledObject, by its own fields. */
export function coldStartOf(spec: Cursor): Block {
  return list(kedaTimes(spec));
}

function kedaTimes(spec: Cursor | undefined): readonly string[] {
  const told = (key: string, otherwise: string) => {
    const value = asText(getIn(spec, key));
    return value === undefined ? `${otherwise} s (default ${key})` : `${value} s (${key})`;
  };
  return [
    `The last replica goes when no trigger was active for ${told('cooldownPeriod', '300')}`,
    `KEDA looks for work every ${told('pollingInterval', '30')}`,
  ];
}

function list(items: readonly string[]): Block {
  return { kind: 'list', title: 'To zero and back', items };
}

function annotationOf({ manifest, podSets }: Workload, key: string): string | undefined {
  const all = [...manifest.annotations, ...podSets.flatMap(({ annotations }) => annotations)];
  return all.find(({ at: place }) => keyOf(place) === key)?.value;
}
