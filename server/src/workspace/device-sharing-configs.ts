import type { DeviceSharing } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import { asNumber, asText, entries, getIn, isTemplated, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import { parseYaml } from '../yaml/parse.ts';

// The configs of NVIDIA's device plugin, which share a GPU among pods. https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus

/** The configs in a ConfigMap, by the names that the label nvidia.com/device-plugin.config selects. */
export function sharingConfigs({ root }: Manifest): readonly DeviceSharing[] {
  return entries(getIn(root, 'data')).flatMap((file): DeviceSharing[] => {
    const text = asText(file) ?? '';
    if (isTemplated(file) || text.length > maxLength || !/\b(?:timeSlicing|mps)\b/.test(text)) return [];
    const [document] = parseYaml(text).documents;
    const sharing = document?.root == null ? undefined : getIn(rootCursor(document.root), 'sharing');
    const resources = items(getIn(getIn(sharing, 'timeSlicing') ?? getIn(sharing, 'mps'), 'resources'));
    const whole = resources.find((resource) => asText(getIn(resource, 'name')) === 'nvidia.com/gpu');
    const replicas = asNumber(getIn(whole, 'replicas')) ?? 0;
    return replicas >= 2 && Number.isSafeInteger(replicas) ? [{ config: keyOf(file), replicas }] : [];
  });
}

const maxLength = 32_000;
