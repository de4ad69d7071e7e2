import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Analysis } from '../analysis.ts';
import type { ProjectConfig } from '../config.ts';
import { deferred } from '../workspace/summary.ts';
import { isTerraform, kindsOfFile, summarizeFile } from '../workspace/terraform.ts';
import { bytesOfFound, decode, maxFileBytes } from './file-content.ts';
import type { BadInput, InputFile } from './files.ts';
import type { Reach } from './reach.ts';
import { readRegular } from './read-file.ts';

/** A file of a run, with its config. */
export interface ConfiguredInput {
  readonly input: InputFile | BadInput;
  readonly config: ProjectConfig;
}

/** The bytes of files that a run found, so that it reads most files once. */
export type KeptBytes = Map<string, Buffer>;

/** A large tree needs little more memory than a small one. */
const maxKept = 16 * 1024 * 1024;

/**
 * Adds the files of a run to the workspace. Each is searched for kinds that other files can reference, and parsed only on a lookup.
 * @returns the bytes of the first files
 */
export function indexInputs(analysis: Analysis, inputs: readonly ConfiguredInput[], reach: Reach): KeptBytes {
  const kept: KeptBytes = new Map();
  if (inputs.length < 2 && !inputs.some(({ input }) => isTerraform(input.file))) return kept;
  let size = 0;
  for (const one of inputs) {
    const bytes = indexInput(analysis, one, reach, kept);
    // The check reports why a file has no bytes here.
    if (bytes === nothing || one.input.folder === null || 'problem' in one.input || size + bytes.length > maxKept)
      continue;
    size += bytes.length;
    kept.set(one.input.file, bytes);
  }
  for (const one of besideTerraform(inputs)) indexInput(analysis, one, reach, kept);
  return kept;
}

/** The other files of Terraform in the folders of those that are named: they state the values of their variables. */
function besideTerraform(inputs: readonly ConfiguredInput[]): readonly ConfiguredInput[] {
  const known = new Set(inputs.map(({ input }) => input.file));
  const folders = new Map<string, ProjectConfig>();
  for (const { input, config } of inputs)
    if (input.folder === null && isTerraform(input.file)) folders.set(path.dirname(input.file), config);
  return [...folders].flatMap(([folder, config]) =>
    namesIn(folder).flatMap((name): ConfiguredInput | readonly ConfiguredInput[] => {
      const file = path.join(folder, name);
      return known.has(file) ? [] : { input: { file, path: file, folder }, config };
    }),
  );
}

/** Sorted. More files than the limit are no module. */
function namesIn(folder: string): readonly string[] {
  try {
    const entries = fs.readdirSync(folder, { withFileTypes: true });
    const names = entries.flatMap((entry) => (entry.isFile() && isTerraform(entry.name) ? entry.name : []));
    return names.length > maxBeside ? [] : names.sort();
  } catch {
    return [];
  }
}

const maxBeside = 200;

/** Adds a file, or replaces it after its content has changed. @returns its bytes */
export function indexInput(
  analysis: Analysis,
  { input, config }: ConfiguredInput,
  reach: Reach,
  kept: KeptBytes,
): Buffer {
  kept.delete(input.file);
  const bytes = bytesOf(input, reach);
  // Names of kinds are ASCII in every encoding, and latin1 decodes fastest.
  const text = bytes.toString('latin1');
  const { kinds, names } = kindsOfFile(input.file, text);
  const uri = pathToFileURL(input.file).href;
  if (kinds.size === 0) {
    analysis.workspace.delete(uri, 'disk');
    return bytes;
  }
  const read = () => summarizeFile(input.file, textOf(input, reach, kept), config);
  analysis.workspace.set(uri, deferred(kinds, names, read), 'disk');
  return bytes;
}

/** The text of a file; empty if it cannot be read. */
export function textOf(input: InputFile | BadInput, reach: Reach, kept: KeptBytes): string {
  const content = decode(kept.get(input.file) ?? bytesOf(input, reach));
  return content.kind === 'text' ? content.text : '';
}

/** The bytes of a file. Empty if it is not a regular file, since a pipe can be read only once, or on an error, which the check reports. */
function bytesOf(input: InputFile | BadInput, reach: Reach): Buffer {
  try {
    if ('problem' in input) return nothing;
    const bytes =
      input.folder === null
        ? readRegular(fs.realpathSync.native(input.file), maxFileBytes)
        : bytesOfFound(input.file, reach);
    return bytes.length > maxFileBytes ? nothing : bytes;
  } catch {
    return nothing;
  }
}

const nothing = Buffer.alloc(0);
