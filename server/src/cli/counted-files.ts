import { fileURLToPath, pathToFileURL } from 'node:url';
import { normalizeUri } from '../config/places.ts';
import { type CountedFile, countedElsewhere } from '../features/cost/counted-elsewhere.ts';
import { countedThrough } from '../workspace/find-related-files.ts';
import type { InputFile } from './files.ts';
import type { ConfiguredInput } from './index-inputs.ts';
import { realPath } from './reach.ts';
import type { CheckedFile } from './reports/format.ts';
import { shownPath } from './reports/text.ts';
import { printable } from './terminal.ts';

/** A file of a run and its result. */
export interface CheckedInput extends ConfiguredInput {
  readonly checked: CheckedFile;
}

/**
 * The results, each with the files that count its workloads. Only a file whose own workloads are in the report counts others: if a kustomization
 * could not be checked, the files that it includes count on their own.
 */
export function withCountedElsewhere(all: readonly CheckedInput[]): readonly CheckedFile[] {
  const nameOf = namesOfFiles();
  const byName = new Map<string, InputFile>();
  const files = all.flatMap(({ input, checked }): CountedFile[] => {
    const { outcome, parts, rows, file, installed } = checked;
    if (file.workloads.length === 0 && installed === undefined) return [];
    const name = nameOf(pathToFileURL(input.file).href);
    if (outcome === 'checked') byName.set(name, input);
    const hasAccelerators = outcome === 'checked' && file.workloads.length > 0;
    const own = { name, rows, hasAccelerators, ...(installed && { installed: installed.map(nameOf) }) };
    return [parts === undefined ? own : { ...own, parts: new Set([...parts].map(nameOf)) }];
  });
  const through = countedElsewhere(files);
  const written = poolsAsWritten(all, nameOf);
  return all.map(({ input, checked: counted }) => {
    const checked = written(nameOf(pathToFileURL(input.file).href), counted);
    if (checked.file.workloads.length === 0) return checked;
    const tops = through.get(nameOf(pathToFileURL(input.file).href)) ?? [];
    return withCountedIn(
      checked,
      tops.flatMap((name) => byName.get(name) ?? []),
    );
  });
}

/** The result of a file without the pools that all kustomizations with them patch: these list them. */
function poolsAsWritten(
  all: readonly CheckedInput[],
  nameOf: (uri: string) => string,
): (name: string, checked: CheckedFile) => CheckedFile {
  const patching = new Map<string, ReadonlySet<string>>();
  const parts = new Map<string, ReadonlySet<string>>();
  for (const { input, checked } of all) {
    if (checked.parts === undefined) continue;
    const name = nameOf(pathToFileURL(input.file).href);
    parts.set(name, new Set([...checked.parts].map(nameOf)));
    const replaced = checked.pools.flatMap(({ replaces }) =>
      replaces === undefined ? [] : `${nameOf(replaces.uri)} ${replaces.name}`,
    );
    if (replaced.length > 0) patching.set(name, new Set(replaced));
  }
  if (patching.size === 0) return (_, checked) => checked;
  const through = countedThrough(parts);
  return (name, checked) => {
    const tops = checked.pools.length === 0 ? [] : (through.get(name) ?? []);
    if (tops.length === 0) return checked;
    const isReplaced = (pool: string | null) => tops.every((top) => patching.get(top)?.has(`${name} ${pool}`));
    return { ...checked, pools: checked.pools.filter((pool) => !isReplaced(pool.name)) };
  };
}

/** One name for a file, whatever links lead to it. */
function namesOfFiles(): (uri: string) => string {
  const known = new Map<string, string>();
  return (uri) => {
    const name = known.get(uri) ?? normalizeUri(realUri(uri));
    known.set(uri, name);
    return name;
  };
}

function realUri(uri: string): string {
  try {
    const real = realPath(fileURLToPath(uri));
    return real === undefined ? uri : pathToFileURL(real).href;
  } catch {
    return uri;
  }
}

function withCountedIn(checked: CheckedFile, others: readonly InputFile[]): CheckedFile {
  if (others.length === 0) return checked;
  const countedIn = others.map(({ path }) => path);
  const [first = '', second, ...more] = others.map((input) => printable(shownPath(input)));
  const rest = second === undefined ? '' : ` and ${more.length === 0 ? second : `${more.length + 1} more`}`;
  return {
    ...checked,
    rows: [],
    file: { ...checked.file, workloads: checked.file.workloads.map((workload) => ({ ...workload, countedIn })) },
    workloads: checked.workloads.map((workload) => ({
      ...workload,
      cost: `${workload.cost} · counted in ${first}${rest}`,
      lacksModel: false,
    })),
  };
}
