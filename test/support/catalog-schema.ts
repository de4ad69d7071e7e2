import { z } from 'zod';

const kebab = z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
const date = z.iso.date().nullable();
const sources = z.array(z.string().min(1));
const places = z.array(z.int().nonnegative()).min(1);
const positive = z.number().positive();
const provider = z.enum([
  'aws',
  'azure',
  'gcp',
  'oci',
  'coreweave',
  'crusoe',
  'hyperstack',
  'lambda',
  'nebius',
  'runpod',
]);
const labelKey = z.string().regex(/^[a-z0-9.-]+\/[\w.-]+$/);
const labelValue = z.string().regex(/^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/);
const unsourced = z.array(z.string().min(1));

export const gpusFile = z.strictObject({
  sources,
  gpus: z.array(
    z.strictObject({
      id: kebab,
      name: z.string().regex(/^\S+( \S+)*$/),
      vendor: z.enum(['nvidia', 'amd', 'intel', 'habana', 'aws', 'google', 'qualcomm', 'huawei']),
      architecture: z.string().min(1),
      memoryGiB: positive.nullable(),
      memoryBandwidth: positive.nullable(),
      tflops: z.strictObject({ bf16: positive.nullable(), fp16: positive.nullable(), fp8: positive.nullable() }),
      nvlink: z.boolean(),
      computeCapability: z
        .string()
        .regex(/^\d+\.\d$/)
        .nullable(),
      migCapable: z.boolean(),
      labels: z.record(labelKey, z.array(labelValue).min(1)),
      unsourced,
      date,
      source: places,
    }),
  ),
});

export const migFile = z.strictObject({
  sources,
  bases: z.array(z.string().min(1)),
  tables: z.array(
    z.strictObject({
      gpus: z.array(kebab).min(1),
      computeSlices: z.int().positive(),
      memorySlices: z.int().positive(),
    }),
  ),
  profiles: z.array(
    z.strictObject({
      table: z.int().nonnegative(),
      name: z.string().regex(/^\dg\.\d+gb(?:[+-][a-z.]+)?$/),
      resource: z.string().startsWith('nvidia.com/mig-'),
      computeSlices: z.int().positive(),
      memorySlices: z.int().positive(),
      memoryMiB: z.int().positive().nullable(),
      memoryGiB: z.int().positive(),
      maxInstances: z.int().positive(),
      placements: z.array(z.tuple([z.int().nonnegative(), z.int().positive()])).min(1),
      basis: z.int().nonnegative(),
      date,
      source: places,
    }),
  ),
});

export const instanceColumns = [
  'provider',
  'name',
  'gpu',
  'gpuCount',
  'vcpu',
  'memoryGiB',
  'rdma',
  'rdmaDevices',
  'unsourced',
  'date',
  'source',
  'localDisk',
];

export const instancesFile = z.strictObject({
  sources,
  columns: z.array(z.string()),
  instances: z.array(
    z.tuple([
      provider,
      labelValue,
      kebab.nullable(),
      positive.nullable(),
      z.int().positive().nullable(),
      positive.nullable(),
      z.string().min(1).nullable(),
      z.int().positive().nullable(),
      unsourced,
      date,
      places,
      z.int().nonnegative().optional(),
    ]),
  ),
});

export const pricesFile = z.strictObject({
  sources,
  asOf: z.array(z.tuple([date, places])),
  bases: z.array(z.string().min(1)),
  regions: z.array(z.string().min(1)),
  columns: z.array(z.unknown()),
  groups: z.array(
    z.tuple([
      provider,
      z.string().min(1),
      kebab,
      positive,
      z
        .array(
          z.tuple([
            z.int().nonnegative(),
            z.int().nonnegative().nullable(),
            z
              .array(
                z
                  .tuple([
                    z.int().nonnegative(),
                    positive.nullable(),
                    positive.nullable().optional(),
                    positive.optional(),
                    positive.optional(),
                  ])
                  .refine(([, onDemand, spot]) => onDemand !== null || spot != null, 'a row has a price'),
              )
              .min(1),
          ]),
        )
        .min(1),
    ]),
  ),
});

export const interruptionsFile = z.strictObject({
  sources,
  date,
  source: places,
  bands: z.array(z.string().regex(/^[<>]?\d+(?:-\d+)?%$/)),
  regions: z.array(z.string().min(1)),
  types: z.array(z.tuple([labelValue, z.array(z.array(z.int().nonnegative()))])),
});

export const salesFile = z.strictObject({
  sources,
  sales: z.array(
    z
      .strictObject({
        provider,
        types: z.array(z.string().min(1)).min(1),
        retired: z.iso.date().optional(),
        planned: z.literal(true).optional(),
        successor: z.string().min(1).optional(),
        ways: z.array(z.enum(['spot', 'flex-start', 'reservation', 'capacity block', 'commitment'])).optional(),
        date,
        source: places,
      })
      .refine(({ retired, ways }) => (retired === undefined) !== (ways === undefined), 'retired, or sold in some way'),
  ),
});

const modelName = z.string().regex(/^[\w.-]+\/[\w.-]+$/);
const count = z.int().nonnegative();
const modelKind = z.enum(['language', 'embedding', 'reranker', 'encoder', 'speech', 'diffusion', 'vision']);
const modelFormat = z.enum(['fp32', 'bf16', 'fp16', 'fp8', 'mxfp4-experts', 'fp8-mxfp4', 'int4-experts']);

export const modelsFile = z.strictObject({
  sources: z.array(z.tuple([z.string().min(1), date])),
  columns: z.array(z.string()),
  models: z.array(
    z.tuple([
      modelName,
      positive,
      count,
      count,
      count,
      count,
      count,
      count,
      count,
      count,
      count,
      z.strictObject({
        kind: modelKind.optional(),
        format: modelFormat.optional(),
        tied: z.literal(true).optional(),
        ungated: z.literal(true).optional(),
        experts: z.tuple([count, count, count, count, count]).optional(),
        active: positive.optional(),
        latent: z.tuple([count, count, count, count, count]).optional(),
        window: z.tuple([count, count]).optional(),
        chunked: z.literal(true).optional(),
        lastLogits: z.literal(true).optional(),
        causal: z.literal(true).optional(),
        headsInGguf: z.literal(true).optional(),
        cache: z
          .array(
            z.union([
              z.tuple([z.literal('attention'), count, count, count, count.optional()]),
              z.tuple([z.literal('latent'), count, count]),
              z.tuple([z.literal('state'), count, count]),
            ]),
          )
          .optional(),
        encoder: count.optional(),
        tower: positive.optional(),
        other: z.number().optional(),
      }),
    ]),
  ),
  copies: z.array(
    z.tuple([
      modelName,
      modelName,
      z.strictObject({
        context: count.optional(),
        format: modelFormat.optional(),
        kind: modelKind.optional(),
        causal: z.literal(true).optional(),
      }),
    ]),
  ),
});

export const platformsFile = z.strictObject({
  sources,
  platforms: z.array(
    z.strictObject({
      id: kebab,
      provider: provider.nullable(),
      spotLabels: z.record(labelKey, z.array(labelValue).min(1)),
      spotNoticeSeconds: z.int().positive().nullable(),
      nodePoolLabels: z.array(z.string().min(1)),
      sources: z.record(z.string(), places),
      date,
    }),
  ),
});
