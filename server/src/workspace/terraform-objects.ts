import { type Field, type Fields, fieldOf, isCall, isFields, isTemplateText } from '../evidence/fields.ts';
import type { HclBlock } from '../evidence/hcl.ts';
import { namesAcceleratorResources } from '../model/concern.ts';
import { kindsFor } from '../model/kinds/object-kinds.ts';
import { rootCursor } from '../yaml/cursor.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import { table, tableOf } from '../yaml/table.ts';

// Workloads that Terraform's provider `kubernetes` creates: https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs
// Its resources have the fields of the API in other case, blocks instead of lists, and singular names.

/** Whether a file may have such workloads: a cheap test. */
export function mayCreate(text: string): boolean {
  return /"kube(?:rnetes_|ctl_manifest")/.test(text) && namesAcceleratorResources(text);
}

/** The object that a block creates, as JSON, if it requests accelerators; undefined for other blocks. What is computed is a placeholder. */
export function objectIn({ type, labels: [kind = '', name = ''], body }: HclBlock): string | undefined {
  if (type !== 'resource' || !/^kube(?:rnetes_|ctl_manifest$)/.test(kind)) return undefined;
  const object = kind.endsWith('_manifest') ? manifestOf(body) : typedObject(kind, name, body);
  const text = object === undefined ? '' : JSON.stringify(object);
  return namesAcceleratorResources(text) ? text : undefined;
}

/** The fields of an object of any kind. Pools are read elsewhere. */
function manifestOf(body: Fields): unknown {
  const manifest = body.get('manifest') ?? documentIn(body.get('yaml_body'));
  if (!isFields(manifest)) return undefined;
  return notWorkloads.has(String(manifest.get('kind'))) ? undefined : withNumbers(manifest);
}

/** The object of the provider `kubectl`: YAML, or what becomes YAML. Files are read on their own. */
function documentIn(field: Field | undefined): Field | undefined {
  if (isCall(field)) return field.call === 'yamlencode' ? field.argument : undefined;
  const text = isTemplateText(field) ? field.template.replace(/\$\{[^{}]*\}/g, computed) : field;
  if (typeof text !== 'string' || checkLimits(text) !== null) return undefined;
  const { root } = parseDocument(withoutIndent(text.split('\n')), 0);
  return root === null ? undefined : fieldOf(rootCursor(root));
}

const notWorkloads: ReadonlySet<string> = new Set([
  ...kindsFor('pool'),
  ...kindsFor('nodes'),
  ...kindsFor('installer'),
]);

const scaler = 'kubernetes_horizontal_pod_autoscaler';

const kinds = table<readonly [apiVersion: string, kind: string]>({
  kubernetes_deployment: ['apps/v1', 'Deployment'],
  kubernetes_stateful_set: ['apps/v1', 'StatefulSet'],
  kubernetes_daemonset: ['apps/v1', 'DaemonSet'],
  kubernetes_daemon_set: ['apps/v1', 'DaemonSet'],
  kubernetes_job: ['batch/v1', 'Job'],
  kubernetes_cron_job: ['batch/v1', 'CronJob'],
  kubernetes_pod: ['v1', 'Pod'],
  kubernetes_replication_controller: ['v1', 'ReplicationController'],
  [scaler]: ['autoscaling/v2', 'HorizontalPodAutoscaler'],
});

/** The autoscalers that a file creates, as JSON. Their targets are resources of the file, or named. */
export function scalersIn(text: string, read: (text: string) => readonly HclBlock[]): readonly string[] {
  if (!text.includes(`"${scaler}`)) return [];
  const blocks = read(text).filter(({ type }) => type === 'resource');
  const names = new Map<string, string>();
  for (const { labels, body } of blocks) {
    const name = first(body.get('metadata'))?.get('name');
    if (typeof name === 'string') names.set(labels.slice(0, 2).join('.'), name);
  }
  let at = 0;
  return blocks.flatMap(({ labels: [kind = '', label = ''], body }) => {
    if (!kind.startsWith(scaler)) return [];
    at = Math.max(at, text.indexOf(`"${kind}"`, at) + 1);
    const [own = ''] = text.slice(at, at + maxLength).split(/^resource\b/m, 1);
    const [, resource, named] = reference.exec(own) ?? [];
    const spec = first(body.get('spec'));
    const target = first(spec?.get('scale_target_ref'));
    if (spec === undefined || target === undefined) return [];
    const isNamed = typeof target.get('name') === 'string' || resource === undefined || named === undefined;
    const scaled = isNamed ? target : new Map([...target, ['name', names.get(`${resource}.${named}`) ?? named]]);
    const whole = new Map([...body, ['spec', [new Map([...spec, ['scale_target_ref', [scaled]]])]]]);
    return [JSON.stringify(typedObject(kind, label, whole))];
  });
}

/** `name = kubernetes_deployment.chat.metadata[0].name`. */
const reference = /\bname\s{0,20}=\s{0,20}(kubernetes_\w{1,60})\.([\w-]{1,60})\.metadata/;

/** Longer blocks are not autoscalers. */
const maxLength = 2_000;

function typedObject(resource: string, label: string, body: Fields): unknown {
  const [apiVersion, kind] = kinds[resource.replace(/_v\d(?:beta\d)?$/, '')] ?? [];
  const spec = first(body.get('spec'));
  if (apiVersion === undefined || spec === undefined) return undefined;
  const metadata = first(body.get('metadata'));
  const [name, namespace] = ['name', 'namespace'].map((key) => metadata?.get(key));
  return {
    apiVersion,
    kind,
    metadata: {
      name: typeof name === 'string' ? name : label,
      ...(typeof namespace === 'string' && { namespace }),
      ...(isFields(metadata?.get('labels')) && { labels: plain(metadata?.get('labels') ?? null) }),
      ...(isFields(metadata?.get('annotations')) && { annotations: plain(metadata?.get('annotations') ?? null) }),
    },
    spec: converted(spec, ''),
  };
}

function first(field: Field | undefined): Fields | undefined {
  const [one] = [field].flat();
  return isFields(one) ? one : undefined;
}

/** The fields of a block with the names of the API. @param within the name of the block */
function converted(fields: Fields, within: string): unknown {
  return tableOf(
    [...fields].flatMap(([key, field]): readonly (readonly [string, unknown])[] => {
      // Blocks whose number is computed.
      if (key === 'dynamic') return [];
      if (asWritten.has(key)) return [[camel(key), mapOf(field)]];
      const listed = lists[key] ?? (isListWithin(key, within) ? camel(key) : undefined);
      const blocks = [field].flat().filter(isFields);
      if (listed !== undefined && blocks.length > 0) return [[listed, blocks.map((one) => converted(one, key))]];
      const [block] = blocks;
      return [[camel(key), block === undefined ? plainIn(key, field) : converted(block, key)]];
    }),
  );
}

/** Blocks that are lists, with the names of these. */
const lists = table<string>({
  container: 'containers',
  env: 'env',
  env_from: 'envFrom',
  init_container: 'initContainers',
  match_expressions: 'matchExpressions',
  match_fields: 'matchFields',
  node_selector_term: 'nodeSelectorTerms',
  port: 'ports',
  preferred_during_scheduling_ignored_during_execution: 'preferredDuringSchedulingIgnoredDuringExecution',
  toleration: 'tolerations',
  topology_spread_constraint: 'topologySpreadConstraints',
  volume: 'volumes',
  volume_mount: 'volumeMounts',
});

/** Plain words are numbers and truth values, except in fields that are texts. */
function plainIn(key: string, field: Field): unknown {
  if (typeof field !== 'string' || key === 'value' || key === 'name') return plain(field);
  if (/^(?:-?[1-9]\d{0,14}|0)$/.test(field)) return Number(field);
  return field === 'true' || field === 'false' ? field === 'true' : field;
}

function withNumbers(field: Field, key = ''): unknown {
  if (Array.isArray(field)) return field.map((one: Field) => (isFields(one) ? withNumbers(one) : plain(one)));
  if (!isFields(field) || field.size === 0) return isFields(field) ? computed : plainIn(key, field);
  return tableOf([...field].map(([name, one]) => [name, withNumbers(one, name)]));
}

function isListWithin(key: string, within: string): boolean {
  return key === 'required_during_scheduling_ignored_during_execution' && within !== 'node_affinity';
}

/** Mappings whose keys are not fields. */
const asWritten: ReadonlySet<string> = new Set([
  ...['annotations', 'labels', 'match_labels', 'node_selector', 'limits', 'requests'],
]);

/** A mapping, or the first block of older versions of the provider. One whose keys are all computed is not empty. */
function mapOf(field: Field): unknown {
  const map = first(field);
  return map === undefined || map.size === 0 ? computed : plain(map);
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const computed = '{{ computed }}';

/** A value of YAML. What is computed is a placeholder. */
export function plain(field: Field): unknown {
  if (field === null || isCall(field)) return computed;
  if (isTemplateText(field)) return field.template;
  if (Array.isArray(field)) return field.map(plain);
  return isFields(field) ? tableOf([...field].map(([key, value]) => [key, plain(value)])) : field;
}

/** The lines of a here-document without the indentation that all of them share. */
export function withoutIndent(lines: readonly string[]): string {
  const indents = lines.flatMap((one) => (one.trim() === '' ? [] : [one.search(/\S/)]));
  const shared = indents.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  return lines.map((one) => one.slice(shared)).join('\n');
}
