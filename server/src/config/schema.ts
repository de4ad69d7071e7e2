import * as z from 'zod';
import { platforms, providerName } from '../catalog/index.ts';
import { ruleSetNames } from '../rules/rule-sets.ts';
import { projectFields } from './project-fields.ts';

// The shape of `.gpulint.yaml` and of the editor's settings. Strict, so that a misspelt key is told. Every key may be left out; what
// holds then is in `layers.ts`, because a key that is left out in the file may be told in the settings.
//
// No key of the file may ever name a URL, a kube context or a file with credentials: the file comes with a repository that need not be
// trusted, so what it says must not make gpulint read or call anything. Such keys belong in `machineSchema`.

const ruleSet = z
  .enum(ruleSetNames)
  .nullable()
  .exactOptional()
  .describe(
    'The set of rules to start from: recommended, strict (advice counts as a warning) or cost-only (only what wastes money).',
  );

export const configSchema = z
  .strictObject({
    extends: ruleSet,
    ...projectFields,
    ignore: z
      .array(z.string())
      .exactOptional()
      .describe("Globs, relative to this file's folder, of files that a check of a folder passes by."),
    overrides: z
      .array(
        z.strictObject({
          files: z.array(z.string()).describe("Globs, relative to this file's folder, of the files that are meant."),
          ...projectFields,
        }),
      )
      .exactOptional()
      .describe('What holds for some of the files only. Of several that fit, the last one counts.'),
  })
  .describe('What gpulint should know of a project: the file .gpulint.yaml.');

/** The part of the editor's settings that has the shape of the file. */
export const settingsSchema = z.strictObject({ extends: ruleSet, ...projectFields });

/**
 * Settings of the person's machine: keys that name an address, a kube context or a file with credentials. VS Code takes them from the user
 * settings alone (scope `machine`, and `restrictedConfigurations` in package.json), and `.gpulint.yaml` may not have them at all. None is
 * needed yet; a field added here is all that it takes.
 */
export const machineSchema = z.strictObject({});

/** Whether a key names what only the person at the machine may say: where to connect to, and with which rights. */
export function isMachineKey(key: string): boolean {
  return Object.hasOwn(machineSchema.shape, key) || machineWords.test(key);
}

const machineWords =
  /^(?:kube-?config|kube-?context|context|cluster-?url|(?:\w+-?)?(?:url|uri|endpoint|address|server)|(?:\w+-?)?(?:token|password|secret|credentials?|api-?key)|(?:\w+-?)?(?:cert|ca)-?file|proxy|prometheus)$/i;

/** The settings that concern the editor alone. */
export const editorSchema = z.strictObject({
  advice: z
    .enum(['lens', 'hint', 'info', 'off'])
    .default('lens')
    .describe(
      'How advice is shown, what is not wrong but could be better: a line above it (lens), three dots under it (hint), an entry of the Problems panel (info), or not at all (off).',
    ),
  codeLens: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Shows above each workload what it asks for and what that costs.'),
    })
    .prefault({}),
  inlayHints: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Shows behind a GPU count what it costs an hour.'),
    })
    .prefault({}),
});

/** What is told: every key may be missing. */
export type ConfigInput = z.output<typeof configSchema>;

/** Advice, code lens and inlay hints: how the editor shows things. */
export type EditorSettings = z.output<typeof editorSchema>;

/** A key that can stand at a place of the file. */
export interface ConfigKey {
  readonly name: string;
  readonly description: string;
  /** The words that are allowed; empty: any. */
  readonly values: readonly string[];
  readonly shape: 'scalar' | 'list' | 'mapping';
}

/** The keys of the mapping at a path of the file, `-` for an item; none where no mapping is expected. */
export function configKeys(path: readonly string[]): readonly ConfigKey[] {
  let here = resolved(jsonSchema());
  for (const step of path) {
    const below = step === '-' ? here.items : (here.properties?.[step] ?? here.additionalProperties);
    if (typeof below !== 'object' || Array.isArray(below)) return [];
    here = resolved(below as JsonSchema);
  }
  // A table of ids has no keys of its own.
  const names = typeof here.propertyNames === 'object' ? resolved(here.propertyNames).enum : undefined;
  if (names !== undefined) {
    return names.map((name) => ({ name: String(name), description: '', values: [], shape: 'scalar' }));
  }
  return Object.entries(here.properties ?? {}).map(([name, property]) => {
    const given = property as JsonSchema;
    const value = resolved(given);
    return {
      name,
      description: given.description ?? value.description ?? '',
      values: (value.enum ?? []).map(String),
      shape: value.type === 'array' ? 'list' : value.type === 'object' ? 'mapping' : 'scalar',
    };
  });
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

let written: JsonSchema | undefined;

/** Made when somebody first writes a config: analysis does without. */
function jsonSchema(): JsonSchema {
  written ??= z.toJSONSchema(configSchema, { io: 'input' });
  return written;
}

/** Without the alternative of null, and what a reference stands for. */
function resolved(schema: JsonSchema): JsonSchema {
  const some = schema.anyOf?.find((one) => typeof one === 'object' && one.type !== 'null') ?? schema;
  const name = typeof some === 'object' ? /^#\/\$defs\/(.+)$/.exec(some.$ref ?? '')?.[1] : undefined;
  const target = name === undefined ? some : jsonSchema().$defs?.[name];
  return typeof target === 'object' ? target : schema;
}

/** `Google Cloud: GKE Autopilot`, as people choose a platform. */
export function platformName(id: string): string {
  const name = platformNames[id] ?? id;
  const provider = platforms.get(id)?.provider ?? null;
  return provider === null ? name : `${providerName(provider)}: ${name}`;
}

const platformNames: Readonly<Record<string, string>> = {
  aks: 'AKS',
  coreweave: 'CoreWeave Kubernetes Service',
  'eks-auto-mode': 'EKS Auto Mode',
  'eks-karpenter': 'EKS with Karpenter',
  'eks-managed-node-group': 'EKS with managed node groups',
  'gke-autopilot': 'GKE Autopilot',
  'gke-standard': 'GKE Standard',
  oke: 'OKE',
  'vanilla-gpu-operator': 'Own cluster with the NVIDIA GPU Operator',
};
