import { chartOf } from '../../config/chart-places.ts';
import { isKustomization } from '../../model/kustomize/build.ts';
import { countedThrough } from '../../workspace/find-related-files.ts';
import type { CostRow } from './cost-rows.ts';

/** A file with its rows, under one normalized name per file. */
export interface CountedFile {
  readonly name: string;
  /** Its workloads name accelerators, even if they request 0. */
  readonly hasAccelerators: boolean;
  readonly rows: readonly Pick<CostRow, 'readWith' | 'release' | 'name'>[];
  /** For a kustomization, and for values and objects that release a chart: the names of the files that contribute to its objects. */
  readonly parts?: ReadonlySet<string>;
  /** The names of the kustomizations that it installs as they are. */
  readonly installed?: readonly string[];
}

/**
 * The files whose rows count instead of those of a file, by the name of that file: the kustomizations that include it, the values that
 * release its chart, the templates that a chart fills with its values, and the values of releases and of charts above that override a chart's own.
 * So nothing counts twice. Linear.
 */
export function countedElsewhere(files: readonly CountedFile[]): ReadonlyMap<string, readonly string[]> {
  const counting = files.filter(({ hasAccelerators }) => hasAccelerators);
  // Others that include such a kustomization are more of it.
  const installed = new Set(files.flatMap((file) => file.installed ?? []));
  const kustomizations = new Map(
    counting.flatMap(({ name, parts, rows }) =>
      // Values without rows of the chart's templates do not count them.
      parts === undefined || (!isKustomization(name) && !rows.some(({ readWith }) => readWith !== null))
        ? []
        : [[name, new Set([...parts].filter((part) => part !== name && !installed.has(part)))] as const],
    ),
  );
  const found = new Map([...countedThrough(kustomizations)].filter(([, through]) => through.length > 0));
  const add = (name: string, through: readonly string[]) => {
    if (through.length > 0 && !found.has(name)) found.set(name, through);
  };
  const overrides = overridesByValues(counting);
  const byName = new Map(counting.map((file) => [file.name, file]));
  const overriding = (values: string) => overrides.get(values) ?? chartAbove(values, byName);
  for (const { name } of counting) if (name.endsWith('/values.yaml')) add(name, overriding(name));
  for (const [values, templates] of templatesByValues(counting)) {
    for (const template of templates) add(template, overriding(values));
    add(values, templates);
  }
  return found;
}

/** The templates with rows that a chart's own values fill in, by the name of the values. */
function templatesByValues(files: readonly CountedFile[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, rows } of files) {
    const values = chartOf(name)?.values;
    if (values === undefined || !rows.some(({ readWith }) => readWith !== null)) continue;
    const known = found.get(values);
    if (known === undefined) found.set(values, [name]);
    else known.push(name);
  }
  return found;
}

/** The values of the chart that contains a chart, if they set its accelerators under its name: `charts/engine` and `engine.resources`. */
function chartAbove(values: string, files: ReadonlyMap<string, CountedFile>): readonly string[] {
  const [, folder, chart] = /^(.*\/)charts\/([^/]+)\/values\.yaml$/.exec(values) ?? [];
  const above = `${folder}values.yaml`;
  const rows = files.get(above)?.rows ?? [];
  const isSet = rows.some(({ release, name }) => release !== null && /^[^.[: ]*/.exec(name ?? '')?.[0] === chart);
  return isSet ? [above] : [];
}

/** The files next to a `values.yaml` that override it for one release (`values-prod.yaml`), by its name. */
function overridesByValues(files: readonly CountedFile[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, rows } of files) {
    const [, folder, file] = /^(.*\/)([^/]*values[^/]*\.ya?ml)$/i.exec(name) ?? [];
    if (folder === undefined || file === 'values.yaml' || !rows.every(({ release }) => release !== null)) continue;
    const values = `${folder}values.yaml`;
    const known = found.get(values);
    if (known === undefined) found.set(values, [name]);
    else known.push(name);
  }
  return found;
}
