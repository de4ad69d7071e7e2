import * as z from 'zod';

// The shape of `gpulint cost --format json`, version 1. It is a public interface: new fields may appear, but the meaning of a field does not
// change. schemas/cost.schema.json is generated from it.

const range = (unit: string) =>
  z.object({ min: z.number(), max: z.number() }).describe(`From the floor to the ceiling, in ${unit}.`);

const state = z
  .object({
    path: z.string().describe('Below the root of the repository.'),
    line: z.int().min(1),
    gpus: z.object({ min: z.number().nullable(), max: z.number().nullable() }),
    hourly: range('US dollars per hour').nullable(),
    idleHourly: z
      .number()
      .nullable()
      .describe(
        'US dollars per hour with replicas at their floor; null for workloads that are not servers, and without a price.',
      ),
    range: range('US dollars per hour')
      .nullable()
      .describe('Without a price because nothing names the GPU: from the cheapest to the most expensive one.'),
    problem: z.string().nullable().describe('Why there is no price.'),
  })
  .nullable();

const total = z.object({
  workloads: z.int(),
  unpriced: z.int().describe('Workloads without a price; the amounts do not include them.'),
  gpus: range('devices'),
  hourly: range('US dollars per hour'),
  ranged: z
    .object({ workloads: z.int(), hourly: range('US dollars per hour') })
    .describe('The workloads without a price that have a range, and the sum of their ranges.'),
  idleHourly: z.number(),
});

/** The output of `gpulint cost --format json`. */
export const costSchema = z
  .object({
    version: z.literal(1),
    currency: z.literal('USD'),
    base: z.string().nullable().describe('The git revision or report that the costs are compared with.'),
    workloads: z.array(
      z.object({
        kind: z.string(),
        namespace: z.string().nullable(),
        name: z.string().nullable(),
        before: state.describe('null if the workload is new, or if there is no base.'),
        after: state.describe('null if the workload is removed.'),
        increase: range('US dollars per hour').nullable().describe('null without a base, or if a price is unknown.'),
      }),
    ),
    before: total.nullable(),
    after: total,
    increase: range('US dollars per hour').nullable(),
  })
  .describe('The output of gpulint cost --format json, version 1.');
export type CostJson = z.infer<typeof costSchema>;
