import type { DeviceSharing } from '../model/cross-references.ts';
import { inlineValues } from '../model/inline-values.ts';
import { groupOf } from '../model/manifest.ts';
import { mayBeValues } from '../model/values.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isTemplated,
  items,
  keyOf,
  rootCursor,
} from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { parseYaml } from '../yaml/parse.ts';

// The configs of NVIDIA's device plugin, which share a GPU among pods. https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus

/** The configs in a ConfigMap, by the names that the label nvidia.com/device-plugin.config selects. */
export function sharingConfigs({ root }: Manifest): readonly DeviceSharing[] {
  return configsIn(getIn(root, 'data'));
}

/**
 * The configs in values of NVIDIA's charts (those of a whole document, or those that an object carries), and the defaults that these or a
 * ClusterPolicy name.
 */
export function sharingInValues(document: YamlDocument, manifests: readonly Manifest[]): readonly DeviceSharing[] {
  const root = document.root === null ? undefined : rootCursor(document.root);
  const carried = manifests.filter(({ kind }) => kind !== 'ConfigMap').flatMap(inlineValues);
  const holders = root !== undefined && mayBeValues(root) ? [root] : carried.map(({ values }) => values);
  const policies = manifests.filter(
    ({ kind, apiVersion }) => kind === 'ClusterPolicy' && groupOf(apiVersion) === 'nvidia.com',
  );
  return [
    ...holders
      .flatMap((values) => [values, ...entries(values)])
      .flatMap((chart) => [...ofPlugin(chart), ...ofOperator(chart)]),
    ...policies.flatMap(({ root }) => ofOperator(getIn(root, 'spec'))),
  ];
}

/** https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html */
function ofOperator(chart: Cursor | undefined): readonly DeviceSharing[] {
  return ofConfig(getIn(chart, 'devicePlugin', 'config'), 'data');
}

/** https://github.com/NVIDIA/k8s-device-plugin#deployment-via-helm */
function ofPlugin(chart: Cursor): readonly DeviceSharing[] {
  return ofConfig(getIn(chart, 'config'), 'map');
}

function ofConfig(config: Cursor | undefined, key: 'data' | 'map'): readonly DeviceSharing[] {
  const [chosen, name] = [getIn(config, 'default'), getIn(config, 'name')];
  const [usual, configMap] = [chosen, name].map((at) => (isTemplated(at) ? '' : (asText(at) ?? '')));
  const own = configsIn(getIn(config, key)).map((one) =>
    one.config === usual ? { ...one, isDefault: true as const } : one,
  );
  if (own.length > 0 || !usual || !configMap) return own;
  return [{ config: usual, replicas: 1, isDefault: true, configMap }];
}

/** The configs in a mapping from their names to their texts. */
function configsIn(files: Cursor | undefined): readonly DeviceSharing[] {
  return entries(files).flatMap((file): DeviceSharing[] => {
    const text = asText(file) ?? '';
    if (isTemplated(file) || text.length > maxLength || !/\b(?:timeSlicing|mps)\b/.test(text)) return [];
    const [document] = parseYaml(text).documents;
    const sharing = document?.root == null ? undefined : getIn(rootCursor(document.root), 'sharing');
    const resources = items(getIn(getIn(sharing, 'timeSlicing') ?? getIn(sharing, 'mps'), 'resources'));
    const shared = resources.flatMap((resource) => {
      const pods = asNumber(getIn(resource, 'replicas')) ?? 0;
      return pods >= 2 && Number.isSafeInteger(pods) ? [{ resource: asText(getIn(resource, 'name')) ?? '', pods }] : [];
    });
    const whole = shared.find(({ resource }) => resource === 'nvidia.com/gpu');
    const slices = shared.filter(({ resource }) => resource.startsWith('nvidia.com/mig-'));
    if (whole === undefined && slices.length === 0) return [];
    return [{ config: keyOf(file), replicas: whole?.pods ?? 1, ...(slices.length > 0 && { slices }) }];
  });
}

const maxLength = 32_000;
