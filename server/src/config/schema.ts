import * as z from 'zod/mini';
import { platforms, providerName } from '../catalog/index.ts';
import { either } from '../catalog/word-patterns.ts';
import { ruleSetNames } from '../rules/rule-sets.ts';
import { table } from '../yaml/table.ts';
import { key, must, projectFields, unset } from './project-fields.ts';

// The shape of `.gpulint.yaml` and of the editor's settings. It is strict, so that a misspelled key is reported. Every key is optional; the
// defaults are in `layers.ts`, because the settings may have a key that the file does not.
//
// No key of the file may ever name a URL, a kube context or a file with credentials: the file comes with a repository that may not be
// trusted, so it must not make gpulint read or call anything. Such keys belong in `machineSchema`.

const ruleSet = unset(
  z.enum(ruleSetNames),
  'Rule set to start from: recommended, strict (advice becomes warnings) or cost-only (only rules about wasted money).',
);

export const configSchema = must(
  z.strictObject({
    extends: ruleSet,
    ...projectFields,
    ignore: key(
      z.array(z.string()),
      "Globs of files to skip when a folder is checked, relative to this file's folder.",
    ),
    priceFile: key(
      z.string().check(z.minLength(1)),
      "OpenCost or Kubecost custom prices: a JSON file in this file's folder or below it, for example prices/default.json.",
    ),
    overrides: key(
      z.array(
        z.strictObject({
          files: must(
            z.array(z.string()),
            "Globs of the files to which this override applies, relative to this file's folder.",
          ),
          ...projectFields,
        }),
      ),
      'Values for some of the files. If several overrides match a file, the last one takes precedence.',
    ),
  }),
  'Facts and settings of a project: the file .gpulint.yaml.',
);

/** The part of the editor's settings that has the shape of the file. */
export const settingsSchema = z.strictObject({ extends: ruleSet, ...projectFields });

/**
 * Settings of the user's machine: keys that name an address, a kube context or a credentials file. VS Code reads them from the user
 * settings only (scope `machine`, and `restrictedConfigurations` in package.json), and `.gpulint.yaml` must not contain them.
 */
export const machineSchema = z.strictObject({
  cluster: z.prefault(
    z.strictObject({
      kubeconfig: machineText('Kubeconfig file. Default: the files in KUBECONFIG, or ~/.kube/config.'),
      context: machineText('Context to connect to. Default: the current context of the kubeconfig.'),
      namespace: machineText(
        "The only namespace whose pods are read. Default: all namespaces, or the context's namespace if the user may not list pods in all of them.",
      ),
      prometheusUrl: machineText(
        "Address of the Prometheus server with the cluster's GPU metrics, for example https://prometheus.example.com. Default: a well-known service of the cluster, if the user may reach it through the API server.",
      ),
      prometheusTokenFile: machineText(
        'File with the bearer token for that address, which must be https or on this machine. Default: no token.',
      ),
    }),
    {},
  ),
});

function machineText(description: string) {
  return must(z._default(z.nullable(z.string().check(z.maxLength(4096))), null), description);
}

/** The settings that only the user of the machine may set. */
export type MachineSettings = z.output<typeof machineSchema>;

/** Whether a key names something that only the user of the machine may set: where to connect, and with which credentials. */
export function isMachineKey(key: string): boolean {
  return Object.hasOwn(machineSchema.shape, key) || machineWords.test(key);
}

const machineWords = either(
  /^(?:kube-?config|kube-?context|context|cluster-?url|proxy|prometheus)$/i,
  /^(?:\w+-?)?(?:url|uri|endpoint|address|server)$/i,
  /^(?:\w+-?)?(?:token|password|secret|credentials?|api-?key)$/i,
  /^(?:\w+-?)?(?:cert|ca)-?file$/i,
);

/** The maximum number of files counted in a folder. */
export const maxListed = 100_000;

/** The settings for the editor only. */
export const editorSchema = z.strictObject({
  advice: must(
    z._default(z.enum(['lens', 'hint', 'info', 'off']), 'lens'),
    'Shows advice (correct configurations that could be better) as a line above the code (lens), as three dots under it (hint), in the Problems panel (info), or not at all (off).',
  ),
  codeLens: switchOf('Shows the requested GPUs and their cost above each workload.'),
  askForGpu: switchOf('Asks once per workspace which GPU is used, if neither a manifest nor the config names it.'),
  inlayHints: switchOf('Shows the hourly cost after each GPU count.'),
  index: z.prefault(
    z.strictObject({
      maxFiles: must(
        z._default(z.int().check(z.minimum(0), z.maximum(maxListed)), 5000),
        'Maximum number of YAML files to index in each workspace folder, starting with the top folders. Other files are still checked while they are open, but their objects are unknown to the rest of the workspace.',
      ),
    }),
    {},
  ),
  closedFiles: z.prefault(
    z.strictObject({
      maxFiles: must(
        z._default(z.int().check(z.minimum(0), z.maximum(maxListed)), 5000),
        'Reports problems in files that are not open, in workspace folders with at most this many YAML files. 0 reports only problems in open files.',
      ),
    }),
    {},
  ),
});

/** A feature that is on by default. */
function switchOf(description: string) {
  return z.prefault(z.strictObject({ enabled: must(z._default(z.boolean(), true), description) }), {});
}

/** A config as written: every key may be missing. */
export type ConfigInput = z.output<typeof configSchema>;

/** The settings of the editor: advice, code lenses, inlay hints, and how much of a folder is indexed and reported. */
export type EditorSettings = z.output<typeof editorSchema>;

/** A key that is allowed at a place in the file. */
export interface ConfigKey {
  readonly name: string;
  readonly description: string;
  /** The allowed values; empty if any value is allowed. */
  readonly values: readonly string[];
  readonly shape: 'scalar' | 'list' | 'mapping';
}

/** The keys of the mapping at a path of the file, with `-` for a list item; empty if no mapping is expected there. */
export function configKeys(path: readonly string[]): readonly ConfigKey[] {
  let here: Shape = shapeOf(configSchema);
  for (const step of path) {
    const below = belowOf(here, step);
    if (below === undefined) return [];
    here = shapeOf(below);
  }
  if (here.type === 'record') {
    // A record's keys are ids and have no descriptions of their own.
    return valuesOf(shapeOf(here.keyType)).map((name) => ({ name, description: '', values: [], shape: 'scalar' }));
  }
  if (here.type !== 'object') return [];
  return Object.entries(here.shape).map(([name, schema]) => {
    const shape = shapeOf(schema);
    return {
      name,
      description: z.globalRegistry.get(schema)?.description ?? '',
      values: valuesOf(shape),
      shape:
        shape.type === 'array' ? 'list' : shape.type === 'object' || shape.type === 'record' ? 'mapping' : 'scalar',
    };
  });
}

type Shape = z.core.$ZodTypes['_zod']['def'];

/** The definition of a schema, without wrappers that only make the value optional. */
function shapeOf(schema: z.core.$ZodType): Shape {
  const shape = (schema as z.core.$ZodTypes)._zod.def;
  return shape.type === 'optional' || shape.type === 'nullable' ? shapeOf(shape.innerType) : shape;
}

function belowOf(shape: Shape, step: string): z.core.$ZodType | undefined {
  if (shape.type === 'array') return step === '-' ? shape.element : undefined;
  if (shape.type === 'record') return shape.valueType;
  return shape.type === 'object' && Object.hasOwn(shape.shape, step) ? shape.shape[step] : undefined;
}

function valuesOf(shape: Shape): readonly string[] {
  if (shape.type === 'union') return shape.options.flatMap((option) => valuesOf(shapeOf(option)));
  return shape.type === 'enum' ? Object.values(shape.entries).map(String) : [];
}

/** The display name of a platform: `Google Cloud: GKE Autopilot`. */
export function platformName(id: string): string {
  const name = platformNames[id] ?? id;
  const provider = platforms.get(id)?.provider ?? null;
  return provider === null ? name : `${providerName(provider)}: ${name}`;
}

const platformNames = table<string>({
  aks: 'AKS',
  coreweave: 'CoreWeave Kubernetes Service',
  'eks-auto-mode': 'EKS Auto Mode',
  'eks-karpenter': 'EKS with Karpenter',
  'eks-managed-node-group': 'EKS with managed node groups',
  'gke-autopilot': 'GKE Autopilot',
  'gke-standard': 'GKE Standard',
  oke: 'OKE',
  'vanilla-gpu-operator': 'Own cluster with the NVIDIA GPU Operator',
});
