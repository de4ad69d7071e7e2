import { type ApiType, apiFields, knownAccelerator } from '../catalog/index.ts';
import type { ApiHolder } from '../evidence/api-problems.ts';
import { expectedWords, writtenWords } from '../evidence/api-words.ts';
import { type UnreadKey, unreadKeys, writtenChart } from '../evidence/chart-keys.ts';
import { type UnswitchedGpus, unmountedShm, unswitchedGpus } from '../evidence/chart-switches.ts';
import { nestedResources } from '../evidence/nested-resources.ts';
import { inlineValues } from '../model/inline-values.ts';
import { mayBeValues } from '../model/values.ts';
import { fix } from '../rewrite/fix.ts';
import { moveField } from '../rewrite/move-field.ts';
import { renameWithForm } from '../rewrite/renamed-key.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  keyOf,
  keySpanOf,
  rootCursor,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type Report } from './rule.ts';

/**
 * A key in the values of a chart is misspelled, in the wrong place, or from another version.
 *
 * ## Why
 *
 * Helm ignores keys that a chart does not read: a GPU that is switched on at the wrong level is never requested, and a volume under another
 * key is never mounted. Some charts have a schema with which Helm rejects such values. The charts are those of Ollama, Open WebUI, JupyterHub, Ray
 * clusters, vLLM's production stack, NIM, NVIDIA's GPU operator, device plugin and DCGM exporter, Jellyfin, Plex, Frigate, Immich, LocalAI, and
 * app-template. In the values of any chart, `resources` within `resources` is a level too many. Ollama's chart also ignores the number and type of GPUs without
 * `enabled: true`, which is **info** in a file because another one may have it. So is `shmSize` in vLLM's production stack without `tensorParallelSize`.
 *
 * ```yaml invalid
 * ollama:
 *   gpu:
 *     enabled: true
 *     count: 2
 *   models:
 *     pull: [llama3.3]
 * ```
 *
 * ```yaml fixed
 * ollama:
 *   gpu:
 *     enabled: true
 *     number: 2
 *   models:
 *     pull: [llama3.3]
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a value that was ignored takes effect.
 *
 * ## When it is silent
 *
 * For unknown keys whose intended meaning is uncertain, because another version of the chart may have them. For the values of other charts and
 * of charts that only have the name of one of these, and for keys that changed between versions if the version is unknown.
 *
 * ## Sources
 *
 * - [Helm: values and schemas](https://helm.sh/docs/topics/charts/#schema-files)
 * - [jupyterhub/zero-to-jupyterhub-k8s#2200](https://github.com/jupyterhub/zero-to-jupyterhub-k8s/pull/2200)
 * - [open-webui/helm-charts#332](https://github.com/open-webui/helm-charts/issues/332)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  judgesWords: true,
  yields: true,
  document(document, { report }) {
    const root = document.root === null ? undefined : rootCursor(document.root);
    if (root === undefined || !mayBeValues(root)) return;
    for (const found of unreadKeys(root, document)) report(describe(found, document));
    for (const inner of nestedResources(root)) report(describeNested(inner));
    // Another file may have the switch.
    for (const found of unswitchedGpus(root)) report({ ...describeUnswitched(found, document), severity: 'info' });
    for (const size of unmountedShm(root)) report(describeShm(size));
  },
  manifest(manifest, { document, report }) {
    for (const { values, chart, isWhole } of inlineValues(manifest)) {
      const written = writtenChart(manifest.root, chart);
      for (const found of unreadKeys(values, document, written)) report(describe(found, document));
      for (const found of isWhole ? unswitchedGpus(values, written) : []) report(describeUnswitched(found, document));
      for (const inner of nestedResources(values)) report(describeNested(inner));
      for (const size of unmountedShm(values, written)) report(describeShm(size));
    }
  },
});

function describe(found: UnreadKey, document: YamlDocument): Report {
  const { at, holder, chart, rejected, meant } = found;
  const key = shorten(found.key, 30);
  const place = { span: keySpanOf(at), covers: { start: keySpanOf(at).start, end: spanOf(at).end } };
  const then = rejected === true ? 'Helm rejects the values' : effectOf(found);
  const severity = rejected === true || losesGpu(found) ? 'error' : 'warning';
  switch (meant.as) {
    case 'key':
      return {
        ...place,
        severity,
        message: `The ${chart} chart has no key ${key} ${placeWords(holder)}; did you mean ${meant.key}? ${then}`,
        fixes: () => [
          fix(`Rename ${key} to ${meant.key}`, 'unsafe', renameWithForm(document, at, meant.key, typeOf(found))),
        ],
      };
    case 'moved': {
      const path = meant.path.slice(0, -1).join('.');
      const { owner } = meant;
      const isItem = owner.entry === undefined && owner.parent !== undefined;
      const name = path || (isItem ? `its item of ${keyOf(owner.parent)}` : ownName(owner));
      // Open WebUI has Ollama's chart under a key of the same name: the inner one is called `ollama.ollama`.
      const isTwice = name !== '' && name === holderWords(holder);
      const target = isTwice && path !== '' ? `${name}.${name}` : name;
      const right = target === '' ? 'at the top of the values' : `in ${shorten(target, 40)}`;
      const wrong = isTwice && path === '' ? `in ${name}.${name}` : placeWords(holder);
      return {
        ...place,
        severity,
        message: `In the ${chart} chart, ${key} belongs ${right}, not ${wrong}: ${then}`,
        fixes: () => [moveField(document, at, meant.owner, meant.path, `Move ${key} to ${target || 'the top'}`)],
      };
    }
    case 'other': {
      const instead = meant.path === 'containers' ? 'it belongs to the containers' : `it reads ${meant.path}`;
      return {
        ...place,
        severity,
        message: meant.former
          ? `${key} is a key of older versions of the ${chart} chart; this one reads ${meant.path}: ${then}`
          : `The ${chart} chart has no key ${key} ${placeWords(holder)}; ${instead}: ${then}`,
      };
    }
    default:
      return {
        span: at.entry === undefined ? spanOf(at) : keySpanOf(at),
        severity: 'error',
        message: `In the ${chart} chart, ${key} must be ${formWords(meant.type, at, holder)}`,
      };
  }
}

/** What the key takes that is meant. */
function typeOf({ holder, meant }: UnreadKey): ApiType | undefined {
  return meant.as === 'key' ? apiFields(holder.type).get(meant.key)?.type : undefined;
}

function describeUnswitched({ at, holder, chart, effect }: UnswitchedGpus, document: YamlDocument): Report {
  return {
    message: `The ${chart} chart ignores ${keyOf(at)} without enabled: true next to it: ${effect}`,
    span: keySpanOf(at),
    fixes: () => [fix('Set enabled to true', 'unsafe', insertKey(document, holder, 'enabled', true))],
  };
}

/** One process on one GPU needs no more than the default. */
function describeShm(size: Cursor): Report {
  return {
    severity: 'info',
    message: 'The vllm-stack chart mounts /dev/shm only with vllmConfig.tensorParallelSize: shmSize has no effect',
    span: keySpanOf(size),
  };
}

function describeNested(inner: Cursor): Report {
  return {
    message:
      'resources within resources is one level too many: no container gets the GPU, unless the chart expects that',
    span: keySpanOf(inner),
  };
}

/** What a value must be, what it is, and what follows. */
function formWords(type: ApiType, at: Cursor, holder: ApiHolder): string {
  if (type.form === 'enum')
    return `${type.values.length === 1 ? '' : 'one of '}${type.values.join(', ')}, not ${shorten(asText(at) ?? '', 20)}: its pods do not start`;
  return `${expectedWords(type)}, not ${writtenWords(at, (text) => shorten(text, 20))}: ${holder.type === 'SpawnerOverride' ? 'its servers do not start' : 'the release fails'}`;
}

/** The key of a part of values; empty for the values of a release. */
function ownName(at: Cursor): string {
  return /^values/.test(keyOf(at)) ? '' : keyOf(at);
}

const ownValues = 'its values';

/** The mapping with the key: `ollama`, `an item of modelSpec`. */
function holderWords({ at, above }: ApiHolder): string {
  if (above === undefined) return ownName(at) || ownValues;
  return at.entry === undefined && at.parent !== undefined ? `an item of ${keyOf(at.parent)}` : shorten(keyOf(at), 30);
}

/** `in ollama`, `at the top of the values`. */
function placeWords(holder: ApiHolder): string {
  const words = holderWords(holder);
  return words === ownValues ? 'at the top of the values' : `in ${words}`;
}

/** Whether the key requests GPUs that no pod gets. */
function losesGpu({ at, key, holder, meant }: UnreadKey): boolean {
  if (/^gpus?$/i.test(key) && asBoolean(getIn(at, 'enabled')) === true) return true;
  if (meant.as === 'key' && meant.key === 'requestGPU') return true;
  // Ollama gets the GPUs that are switched on.
  return requestsDevices(at) && asBoolean(getIn(holder.at, 'gpu', 'enabled')) !== true;
}

function requestsDevices(at: Cursor): boolean {
  const isList = keyOf(at) === 'limits' || keyOf(at) === 'requests';
  return entries(at).some((entry) =>
    isList ? knownAccelerator(keyOf(entry)) !== undefined && asText(entry) !== '0' : requestsDevices(entry),
  );
}

function effectOf(found: UnreadKey): string {
  const { holder, meant, rejected } = found;
  if (rejected === null) return 'Helm ignores it, or rejects the values';
  if (losesGpu(found)) return 'Helm ignores it, and no pod gets the GPU';
  if (meant.as === 'key' && meant.key === 'persistentVolume' && asBoolean(getIn(found.at, 'enabled')) !== false)
    return 'Helm ignores it, and the models are lost with the pod';
  return holder.type === 'SpawnerOverride' ? 'KubeSpawner ignores it' : 'Helm ignores it';
}
