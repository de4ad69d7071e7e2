import {
  configInDocument,
  configsInConfigMap,
  configsInValues,
  type EmbeddedConfig,
} from '../evidence/embedded-config.ts';
import {
  looseDefaults,
  looseDefaultsInFile,
  pluginValues,
  type UncreatedConfig,
  type UnknownDefault,
  uncreatedConfigs,
  unknownDefaults,
  unknownDefaultsIn,
  unnamedConfigsIn,
} from '../evidence/plugin-defaults.ts';
import { configInVariables } from '../evidence/plugin-variables.ts';
import { isUnknown } from '../evidence/written.ts';
import { mayBeValues } from '../model/values.ts';
import {
  asBoolean,
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
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
 * replicas or none, or if a resource cannot be shared. The node then offers no GPUs at all. It also stops if the ConfigMap lacks the
 * operator's default config, or if nothing creates the ConfigMap. A default without the name of a ConfigMap has no effect. It ignores fields that it
 * does not know, including a method that is not under
 * `sharing`. It
 * also ignores `rename` and `devices` of a resource: all GPUs of a node are shared under one name. It takes the configuration from a file (`CONFIG_FILE`), so a
 * ConfigMap in `envFrom` has no effect.
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
 * - [NVIDIA/k8s-device-plugin#990](https://github.com/NVIDIA/k8s-device-plugin/issues/990)
 * - [NVIDIA/k8s-device-plugin#615](https://github.com/NVIDIA/k8s-device-plugin/issues/615)
 * - [NVIDIA/k8s-device-plugin: shared access to GPUs](https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus)
 * - [NVIDIA/k8s-device-plugin: replicas.go](https://github.com/NVIDIA/k8s-device-plugin/blob/main/api/config/v1/replicas.go)
 * - [NVIDIA/k8s-device-plugin: DisableResourceNamingInConfig](https://github.com/NVIDIA/k8s-device-plugin/blob/main/api/config/v1/config.go)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'error',
  document(document, context) {
    const config = configInDocument(document, 'sharing');
    if (config !== undefined) check(config, limited(context));
    for (const inValues of configsInValues(document, 'sharing')) check(inValues, limited(context));
    const misplaced = configInDocument(document, 'timeSlicing');
    for (const one of [...(misplaced === undefined ? [] : [misplaced]), ...configsInValues(document, 'timeSlicing')])
      checkPlace(one, context);
    const root = document.root === null ? undefined : rootCursor(document.root);
    for (const values of root === undefined || !mayBeValues(root) ? [] : pluginValues(root)) {
      for (const one of unknownDefaultsIn(values, () => undefined)) context.report(describe(one));
      // Another file may have the name.
      for (const one of unnamedConfigsIn(values)) context.report({ ...describeUncreated(one), severity: 'warning' });
    }
    for (const at of root === undefined || !mayBeValues(root) ? [] : looseDefaultsInFile(root))
      context.report({ ...describeLoose(at), severity: 'info' });
  },
  manifest(manifest, context) {
    const keysOf = (name: string) => context.crossReferences.keysInFile(name)?.keys;
    for (const one of unknownDefaults(manifest, keysOf)) context.report(describe(one));
    for (const at of looseDefaults(manifest)) context.report(describeLoose(at));
    const unread = configInVariables(manifest, keysOf);
    if (unread !== undefined)
      context.report({
        severity: 'warning',
        message: `The device plugin reads its config only from a file: ${shorten(asText(unread) ?? '', 30)} as variables has no effect; mount it and set CONFIG_FILE`,
        span: spanOf(unread),
      });
    for (const one of uncreatedConfigs(manifest)) context.report(describeUncreated(one));
    for (const config of configsInConfigMap(manifest, 'sharing', context.document)) {
      check(config, limited(context));
    }
    for (const config of configsInConfigMap(manifest, 'timeSlicing', context.document)) checkPlace(config, context);
  },
});

function describe({ at, value, known }: UnknownDefault): Report {
  const listed = shorten(known.join(', '), 50);
  return {
    message: `No config is named ${shorten(value, 30)}, only ${listed}: the device plugin does not start`,
    span: spanOf(at),
  };
}

function describeLoose(at: Cursor): Report {
  return {
    severity: 'warning',
    message: `default ${shorten(asText(at) ?? '', 30)} has no effect without a ConfigMap: its name belongs in config.name, and default is one of its keys`,
    span: spanOf(at),
  };
}

function describeUncreated({ at, lacks }: UncreatedConfig): Report {
  const span = keySpanOf(at);
  return lacks === 'name'
    ? { message: 'create needs a name next to it: Helm rejects a ConfigMap without one', span }
    : {
        severity: 'warning',
        message: 'The operator ignores data without create: true: this configuration has no effect',
        span,
      };
}

function check(config: EmbeddedConfig, context: Pick<DocumentContext, 'report'>): void {
  // The plugin, as Go does, ignores case.
  const [timeSlicing, mps] = ['timeslicing', 'mps'].map((name) =>
    entries(getIn(config.root, 'sharing')).find((field) => keyOf(field).toLowerCase() === name),
  );
  checkVersion(config, context);
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

/** Reports a version of the file that the plugin does not know. */
function checkVersion({ root, spanOf: spanIn }: EmbeddedConfig, { report }: Pick<DocumentContext, 'report'>): void {
  const at = getIn(root, 'version');
  const version = asText(at) ?? '';
  // Other programs may also have settings for sharing.
  if (['timeSlicing', 'mps'].every((method) => getIn(root, 'sharing', method) === undefined)) return;
  if (at === undefined || isTemplated(at) || version === 'v1' || version === '') return;
  report({
    message: `The device plugin reads only version v1, not ${shorten(version, 12)}: it does not start`,
    span: spanIn(at),
  });
}

/** Reports a method that is at the top of the file. */
function checkPlace({ root, keySpanOf }: EmbeddedConfig, { report }: Pick<DocumentContext, 'report'>): void {
  const method = getIn(root, 'timeSlicing');
  const names = items(getIn(method, 'resources')).map((resource) => asText(getIn(resource, 'name')) ?? '');
  if (method === undefined || !names.some((name) => isShareable(name, 'timeSlicing'))) return;
  report({
    severity: 'warning',
    message: 'The device plugin ignores timeSlicing here: it belongs under sharing, and no GPU is shared',
    span: keySpanOf(method),
  });
}

/** Reports a method under another spelling of its name. */
function checkMethods(config: EmbeddedConfig, { report }: Pick<DocumentContext, 'report'>): void {
  for (const field of entries(getIn(config.root, 'sharing'))) {
    const letters = keyOf(field)
      .toLowerCase()
      .replaceAll(/[^a-z]/g, '');
    const meant = letters.startsWith('timeslic') ? 'timeSlicing' : letters === 'mps' ? 'mps' : undefined;
    // The plugin, as Go does, ignores case.
    if ((meant === undefined && letters !== 'mig') || keyOf(field).toLowerCase() === meant?.toLowerCase()) continue;
    const rest =
      meant === undefined ? 'ignores it; flags.migStrategy is its setting' : `shares no GPUs; the field is ${meant}`;
    report({
      severity: 'warning',
      message: `The device plugin has no field ${shorten(keyOf(field))} here and ${rest}`,
      span: config.keySpanOf(field),
    });
  }
}

/** Reports settings of a method that are next to it or under `flags`, and an unknown strategy for MIG. */
function checkFlags({ root, keySpanOf, ...config }: EmbeddedConfig, { report }: Pick<DocumentContext, 'report'>): void {
  const strategy = getIn(root, 'flags', 'migStrategy');
  const written = isUnknown(strategy) ? '' : (asText(strategy) ?? '');
  if (strategy !== undefined && written !== '' && !/^(?:none|single|mixed)$/.test(written))
    report({
      message: `migStrategy must be none, single or mixed, not ${shorten(written, 20)}: the device plugin does not start`,
      span: config.spanOf(strategy),
    });
  for (const field of [...entries(getIn(root, 'flags')), ...entries(getIn(root, 'sharing'))])
    if (methodFields.has(keyOf(field)))
      report({
        severity: 'warning',
        message: `The device plugin ignores ${keyOf(field)} here: it belongs under sharing.timeSlicing`,
        span: keySpanOf(field),
      });
}

function isMapping({ node }: Cursor): boolean {
  return node.kind === 'map' && node.entries.length > 0;
}

/** Whether a value is a text in quotes, or a word that YAML does not read as a boolean. */
function isWord(at: Cursor): boolean {
  return at.node.kind === 'scalar' && typeof at.node.value === 'string' && !isUnknown(at);
}

const methodFields: ReadonlySet<string> = new Set(['renameByDefault', 'failRequestsGreaterThanOne', 'resources']);
const resourceFields: ReadonlySet<string> = new Set(['name', 'rename', 'devices', 'replicas']);

function checkMethod(
  method: Cursor,
  kind: 'timeSlicing' | 'mps',
  config: EmbeddedConfig,
  { report }: Pick<DocumentContext, 'report'>,
): void {
  const listed = getIn(method, 'resources');
  checkFields(method, methodFields, entries(method).length === 0 ? [] : ['resources']);
  for (const field of entries(method)) {
    const mustBe = keyOf(field) === 'resources' ? isMapping(field) && 'a list' : isWord(field) && 'true or false';
    if (mustBe === false || !methodFields.has(keyOf(field))) continue;
    report({
      message: `${keyOf(field)} must be ${mustBe}, not a ${isMapping(field) ? 'mapping' : 'string'}: the device plugin does not start`,
      span: config.keySpanOf(field),
    });
  }
  const strategy = asText(getIn(config.root, 'flags', 'migStrategy'));
  for (const resource of items(listed)) {
    checkFields(resource, resourceFields, ['name', 'replicas']);
    const name = getIn(resource, 'name');
    const text = asText(name);
    if (name !== undefined && text !== undefined && !isTemplated(name) && !isShareable(text, kind)) {
      const allowed =
        kind === 'mps'
          ? 'MPS shares only nvidia.com/gpu'
          : 'time slicing shares only nvidia.com/gpu and nvidia.com/mig-*';
      report({ message: `${shorten(text)} cannot be shared: ${allowed}`, span: config.spanOf(name) });
    }
    if (strategy === 'single' && /^(?:nvidia\.com\/)?mig-/.test(text ?? '') && name !== undefined)
      report({
        severity: 'warning',
        message: `With migStrategy single, MIG devices are nvidia.com/gpu: no ${shorten(text ?? '', 40)} exists to share`,
        span: config.spanOf(name),
      });
    checkReplicas(getIn(resource, 'replicas'));
    checkIgnored(resource, text ?? '');
  }

  /** Two settings that the plugin reads and then resets. A rename to the default one has the effect that it says. */
  function checkIgnored(resource: Cursor, name: string): void {
    const [rename, devices] = [getIn(resource, 'rename'), getIn(resource, 'devices')];
    const isRenamed = asBoolean(getIn(method, 'renameByDefault')) === true;
    const actual = isRenamed ? `${name}.shared` : name;
    const written = asText(rename) ?? '';
    if (rename !== undefined && written !== '' && !isTemplated(rename) && written !== actual)
      report({
        severity: 'warning',
        message: `The device plugin ignores rename: the shared GPUs are ${shorten(actual, 40)}, and no node offers ${shorten(written, 40)}`,
        span: config.keySpanOf(rename),
      });
    if (devices !== undefined && !isTemplated(devices) && asText(devices) !== 'all')
      report({
        severity: 'warning',
        message: 'The device plugin ignores devices: all GPUs of the node are shared, not only these',
        span: config.keySpanOf(devices),
      });
  }

  function checkReplicas(replicas: Cursor | undefined): void {
    const count = asNumber(replicas);
    if (replicas === undefined || isTemplated(replicas)) return;
    const text = replicas.node.kind === 'scalar' ? replicas.node.value : undefined;
    const isText = typeof text === 'string' && text !== '' && !isUnknown(replicas);
    if (!isText && (count === undefined || (Number.isInteger(count) && count >= 2))) return;
    const rule = 'replicas must be a whole number of at least 2';
    report({
      message: `${rule}, not ${isText ? `the string "${shorten(text, 12)}"` : count}: the device plugin does not start`,
      span: config.spanOf(replicas),
    });
  }

  /** The plugin ignores a field that it does not know, but not the lack of one that it needs. */
  function checkFields(map: Cursor, known: ReadonlySet<string>, needed: readonly string[]): void {
    if (map.node.kind !== 'map' || isIncomplete(map)) return;
    const missing = needed.find((key) => getIn(map, key) === undefined);
    const unknown = entries(map).filter((field) => !known.has(keyOf(field)));
    const [first] = unknown;
    if (missing !== undefined) {
      report({
        message: `The required field ${missing} is missing: the device plugin does not start`,
        span: first === undefined ? config.spanOf(map) : config.keySpanOf(first),
      });
    }
    for (const field of missing === undefined ? unknown : unknown.slice(1))
      report({
        severity: 'warning',
        message: `The device plugin has no field ${shorten(keyOf(field))} here and ignores it`,
        span: config.keySpanOf(field),
      });
  }
}

function isShareable(name: string, kind: 'timeSlicing' | 'mps'): boolean {
  return name === 'nvidia.com/gpu' || name === 'gpu' || (kind === 'timeSlicing' && /^(nvidia\.com\/)?mig-/.test(name));
}
