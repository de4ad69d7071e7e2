/** The fields of a workload's costs in every report: with a base, in both states. */
export const stateFields = [
  'path',
  'line',
  'gpus',
  'hourly',
  'isOpen',
  'monthly',
  'possibleHourly',
  'idleHourly',
  'problem',
] as const;

/** Those of a report of one state. */
export const rowFields = [...stateFields, 'run', 'nodeHourly', 'team', 'cards', 'providers'] as const;

/** The named fields of a record, in their order: a row has more than a reader should see. */
export function pick<T, K extends keyof T>(record: T, fields: readonly K[]): Pick<T, K> {
  return Object.fromEntries(fields.map((field) => [field, record[field]])) as Pick<T, K>;
}
