import { fileURLToPath, pathToFileURL } from 'node:url';
import { normalizeUri } from '../config/places.ts';
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
 * The results with the kustomizations that count their workloads. Only a kustomization whose own workloads are in the report counts others: if
 * it could not be checked, the files that it includes count on their own.
 */
export function withKustomizations(all: readonly CheckedInput[]): readonly CheckedFile[] {
  const byName = new Map<string, InputFile>();
  const parts = new Map<string, ReadonlySet<string>>();
  const nameOf = namesOfFiles();
  for (const { input, checked } of all) {
    if (checked.parts === undefined || checked.outcome !== 'checked' || checked.file.workloads.length === 0) continue;
    const name = nameOf(pathToFileURL(input.file).href);
    byName.set(name, input);
    parts.set(name, new Set([...checked.parts].map(nameOf).filter((part) => part !== name)));
  }
  if (parts.size === 0) return all.map(({ checked }) => checked);
  const through = countedThrough(parts);
  return all.map(({ input, checked }) => {
    if (checked.file.workloads.length === 0) return checked;
    const tops = through.get(nameOf(pathToFileURL(input.file).href)) ?? [];
    return withCountedIn(
      checked,
      tops.flatMap((name) => byName.get(name) ?? []),
    );
  });
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

function withCountedIn(checked: CheckedFile, kustomizations: readonly InputFile[]): CheckedFile {
  if (kustomizations.length === 0) return checked;
  const countedIn = kustomizations.map(({ path }) => path);
  const [first = '', second, ...more] = kustomizations.map((input) => printable(shownPath(input)));
  const others = second === undefined ? '' : ` and ${more.length === 0 ? second : `${more.length + 1} more`}`;
  return {
    ...checked,
    file: { ...checked.file, workloads: checked.file.workloads.map((workload) => ({ ...workload, countedIn })) },
    workloads: checked.workloads.map((workload) => ({
      ...workload,
      cost: `${workload.cost} · counted in ${first}${others}`,
    })),
  };
}
