import {
  configInDocument,
  configsInConfigMap,
  configsInValues,
  type EmbeddedConfig,
} from '../evidence/embedded-config.ts';
import { anyCardHolds, isMigProfile, type MigMix, mixThatFits } from '../evidence/mig-placement.ts';
import { asNumber, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { limited } from './report-limit.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * A MIG configuration that fits no GPU.
 *
 * ## Why
 *
 * Each profile takes compute slices and a run of memory slices that can start only at certain positions. The driver rejects a mix that does
 * not fit: the MIG manager sets the node to `failed`, and the node offers no slices at all.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: ConfigMap
 * metadata:
 *   name: mig-parted-config
 * data:
 *   config.yaml: |
 *     version: v1
 *     mig-configs:
 *       mixed:
 *         - devices: all
 *           mig-enabled: true
 *           mig-devices:
 *             3g.20gb: 2
 *             1g.5gb: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: ConfigMap
 * metadata:
 *   name: mig-parted-config
 * data:
 *   config.yaml: |
 *     version: v1
 *     mig-configs:
 *       mixed:
 *         - devices: all
 *           mig-enabled: true
 *           mig-devices:
 *             3g.20gb: 1
 *             2g.10gb: 1
 *             1g.5gb: 2
 * ```
 *
 * ## When it is silent
 *
 * If at least one GPU can hold the mix: the GPU of a node is unknown.
 *
 * ## Sources
 *
 * - [NVIDIA MIG User Guide: device profiles](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#mig-device-profiles)
 * - [NVIDIA/mig-parted: default configuration](https://github.com/NVIDIA/mig-parted/blob/main/deployments/systemd/config-default.yaml)
 */
export default defineRule({
  topic: 'mig',
  severity: 'error',
  document(document, context) {
    const config = configInDocument(document, 'mig-configs');
    if (config !== undefined) check(config, limited(context));
    for (const inValues of configsInValues(document, 'mig-configs')) check(inValues, limited(context));
  },
  manifest(manifest, context) {
    for (const config of configsInConfigMap(manifest, 'mig-configs', context.document)) {
      check(config, limited(context));
    }
  },
});

function check(config: EmbeddedConfig, context: Pick<DocumentContext, 'report'>): void {
  for (const named of entries(getIn(config.root, 'mig-configs'))) {
    for (const part of items(named)) {
      const devices = getIn(part, 'mig-devices');
      if (devices !== undefined) checkMix(keyOf(named), devices, config, context);
    }
  }
}

function checkMix(
  name: string,
  devices: Cursor,
  config: EmbeddedConfig,
  { report }: Pick<DocumentContext, 'report'>,
): void {
  const requested = entries(devices);
  if (requested.some((entry) => isTemplated(entry))) return;
  const unknown = requested.filter((entry) => !isMigProfile(keyOf(entry)));
  for (const entry of unknown) {
    // New cards add variants of known profiles (media engines, graphics).
    if (isMigProfile(keyOf(entry).replace(/[+-][a-z.]+$/, ''))) continue;
    report({
      message: `No GPU has the MIG profile ${shorten(keyOf(entry))}: configuration ${shorten(name)} cannot be applied`,
      span: config.keySpanOf(entry),
    });
  }
  if (unknown.length > 0 || requested.length === 0) return;
  const all = requested.map((entry) => ({ name: keyOf(entry), count: asNumber(entry) ?? 0 }));
  const mix = all.filter(({ count }) => count > 0);
  if (anyCardHolds(mix)) return;
  const fitting = mixThatFits(mix);
  const instead = fitting === undefined ? '' : `; ${shorten(formatMix(fitting), 44)} would fit`;
  const [first] = requested;
  report({
    message: `No GPU can hold ${shorten(formatMix(mix), 44)}: ${shorten(name, 20)} cannot be applied${instead}`,
    span: first === undefined ? config.spanOf(devices) : config.keySpanOf(first),
  });
}

function formatMix(mix: MigMix): string {
  return mix.map(({ name, count }) => `${count} × ${name}`).join(' + ');
}
