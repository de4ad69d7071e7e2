import { isSlip } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import {
  configInDocument,
  configsInConfigMap,
  configsInValues,
  type EmbeddedConfig,
} from '../evidence/embedded-config.ts';
import { anyCardHolds, isMigProfile, type MigMix, mixThatFits } from '../evidence/mig-placement.ts';
import {
  asBoolean,
  asNumber,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { limited } from './report-limit.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * A MIG configuration that fits no GPU, or that MIG Manager cannot read.
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
 * - [NVIDIA/mig-parted: how the file is read](https://github.com/NVIDIA/mig-parted/blob/main/api/spec/v1/spec.go)
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
  const { root } = config;
  const all = getIn(root, 'mig-configs');
  if (all !== undefined && entries(all).length > 0 && isWhole(root) && getIn(root, 'version') === undefined)
    context.report({ message: `The configurations have no version: ${rejected}`, span: config.keySpanOf(all) });
  for (const named of entries(all)) {
    for (const part of items(named)) {
      checkForm(keyOf(named), part, config, context);
      const devices = getIn(part, 'mig-devices');
      if (devices !== undefined) checkMix(keyOf(named), devices, config, context);
    }
  }
}

const rejected = 'MIG Manager rejects the whole file';

/** What the reader of the file requires of a part. https://github.com/NVIDIA/mig-parted/blob/main/api/spec/v1/spec.go */
function checkForm(
  name: string,
  part: Cursor,
  config: EmbeddedConfig,
  { report }: Pick<DocumentContext, 'report'>,
): void {
  if (part.node.kind !== 'map' || !isWhole(part)) return;
  const [enabled, devices] = [getIn(part, 'mig-enabled'), getIn(part, 'mig-devices')];
  const unknown = entries(part).find((entry) => !fields.has(keyOf(entry)));
  const missing = ['devices', 'mig-enabled'].find((key) => getIn(part, key) === undefined);
  const [first] = entries(part);
  const of = shorten(name, 40);
  if (unknown !== undefined) {
    const meant = [...fields].find((field) => isSlip(keyOf(unknown), field));
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    report({
      message: `${shorten(keyOf(unknown), 30)} is not a field of a MIG configuration${hint || ':'} ${rejected}`,
      span: config.keySpanOf(unknown),
    });
  } else if (missing !== undefined && first !== undefined) {
    report({ message: `Configuration ${of} has no ${missing}: ${rejected}`, span: config.keySpanOf(first) });
  } else if (asBoolean(enabled) === false && devices !== undefined && entries(devices).length > 0) {
    const message = `Configuration ${of} has mig-devices, but mig-enabled is false: ${rejected}`;
    report({ message, span: config.keySpanOf(devices) });
  } else if (asBoolean(enabled) === true && devices === undefined && enabled !== undefined) {
    report({
      message: `Configuration ${of} has no mig-devices, but mig-enabled is true: ${rejected}`,
      span: config.keySpanOf(enabled),
    });
  }
}

const fields = wordSet('device-filter devices mig-enabled mig-devices');

/** Whether nothing else may be added to a mapping. */
function isWhole(at: Cursor): boolean {
  return !isIncomplete(at) && !isUnseen(at) && !isTemplated(at) && !entries(at).some((one) => isTemplated(one));
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
      message: `No GPU has the MIG profile ${shorten(keyOf(entry))}: MIG Manager cannot apply configuration ${shorten(name)}`,
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
    message: `No GPU can hold ${shorten(formatMix(mix), 44)}: MIG Manager cannot apply ${shorten(name, 20)}${instead}`,
    span: first === undefined ? config.spanOf(devices) : config.keySpanOf(first),
  });
}

function formatMix(mix: MigMix): string {
  return mix.map(({ name, count }) => `${count} × ${name}`).join(' + ');
}
