import {
  configInDocument,
  configsInConfigMap,
  configsInValues,
  type EmbeddedConfig,
} from '../evidence/embedded-config.ts';
import { type UnknownDefault, unknownDefaults, unknownDefaultsIn } from '../evidence/plugin-defaults.ts';
import { mayBeValues } from '../model/values.ts';
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
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { limited } from './report-limit.ts';
import { type DocumentContext, defineRule, type Report } from './rule.ts';

/**
 * A sharing configuration that NVIDIA's device plugin rejects.
 *
 * ## Why
 *
 * The plugin reads its configuration at startup. It stops if time slicing and MPS are combined, if a resource has fewer than two
 * replicas, or if a resource cannot be shared. The node then offers no GPUs at all. It also stops if the ConfigMap lacks the
 * operator's default config.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: ConfigMap
 * metadata:
 *   name: device-plugin-config
 * data:
 *   any: |
 *     version: v1
 *     sharing:
 *       timeSlicing:
 *         resources:
 *           - name: nvidia.com/gpu
 *             replicas: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: ConfigMap
 * metadata:
 *   name: device-plugin-config
 * data:
 *   any: |
 *     version: v1
 *     sharing:
 *       timeSlicing:
 *         resources:
 *           - name: nvidia.com/gpu
 *             replicas: 4
 * ```
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin: shared access to GPUs](https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus)
 * - [NVIDIA/k8s-device-plugin: replicas.go](https://github.com/NVIDIA/k8s-device-plugin/blob/main/api/config/v1/replicas.go)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'error',
  document(document, context) {
    const config = configInDocument(document, 'sharing');
    if (config !== undefined) check(config, limited(context));
    for (const inValues of configsInValues(document, 'sharing')) check(inValues, limited(context));
    const root = document.root === null ? undefined : rootCursor(document.root);
    if (root === undefined || getIn(root, 'devicePlugin') === undefined || !mayBeValues(root)) return;
    for (const one of unknownDefaultsIn(root, () => undefined)) context.report(describe(one));
  },
  manifest(manifest, context) {
    const keysOf = (name: string) => context.crossReferences.keysInFile(name)?.keys;
    for (const one of unknownDefaults(manifest, keysOf)) context.report(describe(one));
    for (const config of configsInConfigMap(manifest, 'sharing', context.document)) {
      check(config, limited(context));
    }
  },
});

function describe({ at, value, known }: UnknownDefault): Report {
  const listed = shorten(known.join(', '), 50);
  return {
    message: `No config is named ${shorten(value, 30)}, only ${listed}: the device plugin does not start`,
    span: spanOf(at),
  };
}

function check(config: EmbeddedConfig, context: Pick<DocumentContext, 'report'>): void {
  const timeSlicing = getIn(config.root, 'sharing', 'timeSlicing');
  const mps = getIn(config.root, 'sharing', 'mps');
  checkMethods(config, context);
  checkFlags(config, context);
  if (timeSlicing !== undefined) checkMethod(timeSlicing, 'timeSlicing', config, context);
  if (mps === undefined) return;
  checkMethod(mps, 'mps', config, context);
  const strategy = asText(getIn(config.root, 'flags', 'migStrategy')) ?? 'none';
  if (timeSlicing !== undefined) {
    context.report({
      message: 'timeSlicing and mps are mutually exclusive: the device plugin does not start',
      span: config.keySpanOf(mps),
    });
  } else if (strategy === 'single' || strategy === 'mixed') {
    context.report({
      message: `MPS does not work with MIG (migStrategy ${strategy}): the device plugin does not start`,
      span: config.keySpanOf(mps),
    });
  }
}

/** Reports a method under another spelling of its name, or next to `sharing` instead of in it. */
function checkMethods(config: EmbeddedConfig, { report }: Pick<DocumentContext, 'report'>): void {
  for (const field of entries(getIn(config.root, 'sharing'))) {
    const letters = keyOf(field)
      .toLowerCase()
      .replaceAll(/[^a-z]/g, '');
    const meant = letters.startsWith('timeslic') ? 'timeSlicing' : letters === 'mps' ? 'mps' : undefined;
    // The plugin, as Go does, ignores case.
    if (meant === undefined || keyOf(field).toLowerCase() === meant.toLowerCase()) continue;
    report({
      severity: 'warning',
      message: `The device plugin has no field ${shorten(keyOf(field))} here and shares no GPUs; the field is ${meant}`,
      span: config.keySpanOf(field),
    });
  }
}

/** Reports settings of a method that are next to it or under `flags`. */
function checkFlags({ root, keySpanOf }: EmbeddedConfig, { report }: Pick<DocumentContext, 'report'>): void {
  for (const field of [...entries(getIn(root, 'flags')), ...entries(getIn(root, 'sharing'))])
    if (methodFields.has(keyOf(field)))
      report({
        severity: 'warning',
        message: `The device plugin ignores ${keyOf(field)} here: it belongs under sharing.timeSlicing`,
        span: keySpanOf(field),
      });
}

const methodFields: ReadonlySet<string> = new Set(['renameByDefault', 'failRequestsGreaterThanOne', 'resources']);
const resourceFields: ReadonlySet<string> = new Set(['name', 'rename', 'devices', 'replicas']);

function checkMethod(
  method: Cursor,
  kind: 'timeSlicing' | 'mps',
  config: EmbeddedConfig,
  { report }: Pick<DocumentContext, 'report'>,
): void {
  checkFields(method, methodFields);
  for (const resource of items(getIn(method, 'resources'))) {
    checkFields(resource, resourceFields);
    const name = getIn(resource, 'name');
    const text = asText(name);
    if (name !== undefined && text !== undefined && !isTemplated(name) && !isShareable(text, kind)) {
      const allowed =
        kind === 'mps'
          ? 'MPS shares only nvidia.com/gpu'
          : 'time slicing shares only nvidia.com/gpu and nvidia.com/mig-*';
      report({ message: `${shorten(text)} cannot be shared: ${allowed}`, span: config.spanOf(name) });
    }
    const replicas = getIn(resource, 'replicas');
    const count = asNumber(replicas);
    if (replicas === undefined || count === undefined || (Number.isInteger(count) && count >= 2)) continue;
    report({
      message: `replicas must be a whole number of at least 2, not ${count}: the device plugin does not start`,
      span: config.spanOf(replicas),
    });
  }

  function checkFields(map: Cursor, known: ReadonlySet<string>): void {
    for (const field of entries(map)) {
      if (known.has(keyOf(field))) continue;
      report({
        severity: 'warning',
        message: `The device plugin has no field ${shorten(keyOf(field))} here and ignores it`,
        span: config.keySpanOf(field),
      });
    }
  }
}

function isShareable(name: string, kind: 'timeSlicing' | 'mps'): boolean {
  return name === 'nvidia.com/gpu' || name === 'gpu' || (kind === 'timeSlicing' && /^(nvidia\.com\/)?mig-/.test(name));
}
