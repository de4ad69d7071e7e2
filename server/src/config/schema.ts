import * as z from 'zod';
import { gpus, platforms, providerName } from '../catalog/index.ts';
import { rules } from '../rules/index.ts';
import type { Severity } from '../rules/rule.ts';
import { ruleSetNames } from '../rules/rule-sets.ts';
import { providers } from './providers.ts';

// The shape of `.gpulint.yaml` and of the editor's settings. Strict, so that a misspelt key is told. Every key may be left out; what
// holds then is in `layers.ts`, because a key that is left out in the file may be told in the settings.
//
// No key of the file may ever name a URL, a kube context or a file with credentials: the file comes with a repository that need not be
// trusted, so what it says must not make gpulint read or call anything.

const level = z
  .enum(['error', 'warning', 'info', 'hint', 'off'] as const satisfies readonly (Severity | 'off')[])
  .meta({ id: 'level' });

/** What a project says of itself; the same keys in the file, in its overrides, and in the editor's settings. */
const projectFields = {
  platform: z
    .enum([...platforms.keys()])
    .nullable()
    .exactOptional()
    .describe('Where the cluster runs. It names the provider, and the labels and tolerations that are offered.'),
  provider: z
    .enum(providers)
    .nullable()
    .exactOptional()
    .describe('The cloud whose prices are meant where a manifest names none.'),
  region: z
    .string()
    .nullable()
    .exactOptional()
    .describe("The provider's region to read prices for, for instance us-east-1."),
  gpu: z
    .enum([...gpus.keys()])
    .nullable()
    .exactOptional()
    .describe('The GPU model, by catalogue id, that a request means where no selector names one.'),
  capacity: z
    .enum(['spot', 'on-demand'])
    .nullable()
    .exactOptional()
    .describe('How GPU nodes are bought where a manifest does not say.'),
  kserve: z
    .strictObject({
      deploymentMode: z
        .enum(['Knative', 'Standard'])
        .nullable()
        .exactOptional()
        .describe("The mode of InferenceServices without the annotation, as the cluster's KServe is set up."),
    })
    .exactOptional()
    .describe('How KServe is set up in the cluster.'),
  training: z
    .strictObject({
      stepSeconds: z
        .number()
        .positive()
        .nullable()
        .exactOptional()
        .describe(
          'How long one step of training takes: trainers count steps between checkpoints, and time is what they cost.',
        ),
    })
    .exactOptional()
    .describe('How training runs.'),
  taints: z
    .array(
      z.strictObject({
        key: z.string().min(1).describe("The taint's key, for instance team/gpu."),
        value: z
          .string()
          .nullable()
          .exactOptional()
          .describe("The taint's value; left out: tolerations of any are taken."),
        effect: z
          .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
          .describe('What the taint does to pods that do not tolerate it.'),
      }),
    )
    .exactOptional()
    .describe("Taints of the project's GPU nodes, without those that the cluster lets GPU pods tolerate by itself."),
  rules: z
    .strictObject(Object.fromEntries([...rules.keys()].map((id) => [id, level.exactOptional()])))
    .exactOptional()
    .describe('A severity to use in place of the own one of a rule; off silences the rule.'),
};

export const configSchema = z
  .strictObject({
    extends: z
      .enum(ruleSetNames)
      .exactOptional()
      .describe(
        'The set of rules to start from: recommended, strict (advice counts as a warning) or cost-only (only what wastes money).',
      ),
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
export const settingsSchema = z.strictObject(projectFields);

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
    const below = step === '-' ? here.items : here.properties?.[step];
    if (typeof below !== 'object' || Array.isArray(below)) return [];
    here = resolved(below as JsonSchema);
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
