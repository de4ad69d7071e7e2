import { pathToFileURL } from 'node:url';
import { normalizeUri } from '../config/places.ts';
import { isKustomization } from '../model/kustomize/build.ts';
import { countedThrough, type RelatedFilesSource } from '../workspace/related-files.ts';
import type { BadInput, InputFile } from './files.ts';
import type { CheckedFile } from './reports/format.ts';
import { shownPath } from './reports/text.ts';
import { printable } from './terminal.ts';
import type { ConfiguredInput } from './workspace.ts';

/** The kustomizations of a run through which each of its files is counted; none for a file that counts by itself. */
export async function kustomizedFiles(
  inputs: readonly ConfiguredInput[],
  related: RelatedFilesSource,
): Promise<(input: InputFile | BadInput) => readonly InputFile[]> {
  const byName = new Map<string, InputFile>();
  const parts = new Map<string, ReadonlySet<string>>();
  for (const { input } of inputs) {
    const uri = pathToFileURL(input.file).href;
    if ('problem' in input || !isKustomization(uri)) continue;
    byName.set(normalizeUri(uri), input);
    parts.set(normalizeUri(uri), await related.partsOf(uri));
  }
  const through = countedThrough(parts);
  return ({ file }) =>
    (through.get(normalizeUri(pathToFileURL(file).href)) ?? []).flatMap((name) => byName.get(name) ?? []);
}

/** What was found in a file whose workloads these kustomizations count. */
export function withCountedIn(checked: CheckedFile, kustomizations: readonly InputFile[]): CheckedFile {
  if (kustomizations.length === 0 || checked.file.workloads.length === 0) return checked;
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
