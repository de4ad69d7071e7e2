import { acceleratorResource } from '../../catalog/index.ts';
import { asText, type Cursor, getIn, isTemplated, items } from '../../yaml/cursor.ts';
import { lookUp } from '../manifest.ts';
import { selectorsIn } from '../pod.ts';
import { parseQuantity } from '../quantity.ts';
import { firstContainer, type PodsFacts, type ReferencedNeed, type ReferencedRequest } from '../referenced-pods.ts';
import type { InheritedPods, KindInput } from './kind.ts';

// OpenShift AI's HardwareProfiles: an InferenceService or a Notebook names one in an annotation, and a webhook adds its devices and node labels.
// https://github.com/opendatahub-io/opendatahub-operator/blob/main/internal/webhook/hardwareprofile/mutating.go

/** The part of the annotation by which documents with it are recognized. */
export const profileWord = 'opendatahub.io/hardware-profile-name';

/** What pods get from the profile that their object names; undefined if it has no accelerators. */
export function hardwareProfile({ annotations, namespace, crossReferences }: KindInput): InheritedPods | undefined {
  const named = lookUp(annotations, profileWord);
  if (named === undefined || isTemplated(named.at)) return undefined;
  const own = lookUp(annotations, 'opendatahub.io/hardware-profile-namespace');
  if (isTemplated(own?.at)) return undefined;
  const from = crossReferences.hardwareProfile(own?.value ?? namespace, named.value);
  const hasDevices = from?.facts.containers.some(({ accelerators }) => accelerators.length > 0) === true;
  return from !== undefined && hasDevices ? { at: named.at, from, pods: from.facts } : undefined;
}

/** A number or a text. */
function countOf(cursor: Cursor | undefined): number | null {
  const count = cursor === undefined || isTemplated(cursor) ? null : parseQuantity(asText(cursor) ?? '');
  return Number.isSafeInteger(count) ? count : null;
}

/** The default counts of a profile's devices, and the labels of its nodes. */
export function profilePods(spec: Cursor | undefined): PodsFacts {
  const accelerators = items(getIn(spec, 'identifiers')).flatMap((one): readonly ReferencedRequest[] => {
    const resource = asText(getIn(one, 'identifier')) ?? '';
    const record = acceleratorResource(resource);
    return record === undefined ? [] : [{ resource, form: record.form, count: countOf(getIn(one, 'defaultCount')) }];
  });
  // The webhook sets each as a request and as a limit, if the container has none.
  const needs = items(getIn(spec, 'identifiers')).flatMap((one): readonly ReferencedNeed[] => {
    const resource = asText(getIn(one, 'identifier')) ?? '';
    const count = getIn(one, 'defaultCount');
    const amount = count === undefined || isTemplated(count) ? null : parseQuantity(asText(count) ?? '');
    return resource !== 'cpu' && resource !== 'memory' ? [] : [{ resource, request: amount, limit: amount }];
  });
  const selectors = selectorsIn(getIn(spec, 'scheduling', 'node', 'nodeSelector'));
  return {
    containers: [{ type: 'app', name: firstContainer, accelerators, needs }],
    selectors: selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) })),
    worker: null,
  };
}
