import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Analysis } from '../analysis.ts';
import type { ProjectConfig } from '../config.ts';
import { deferred } from '../workspace/summary.ts';
import { kindsOfFile, summarizeFile } from '../workspace/terraform.ts';
import { bytesOfFound, decode, maxFileBytes } from './file-content.ts';
import type { BadInput, InputFile } from './files.ts';
import type { Reach } from './reach.ts';
import { readRegular } from './read-file.ts';

/** A file of a run, with its config. */
export interface ConfiguredInput {
  readonly input: InputFile | BadInput;
  readonly config: ProjectConfig;
}

/**
 * Adds the files of a run to the workspace. Each is searched for kinds that other files can reference, and parsed only on a lookup. The texts
 * are not kept, so that a large tree needs no more memory than a small one.
 */
export function indexInputs(analysis: Analysis, inputs: readonly ConfiguredInput[], reach: Reach): void {
  if (inputs.length < 2) return;
  for (const input of inputs) indexInput(analysis, input, reach);
}

/** Adds a file, or replaces it after its content has changed. */
export function indexInput(analysis: Analysis, { input, config }: ConfiguredInput, reach: Reach): void {
  // Names of kinds are ASCII in every encoding, and latin1 decodes fastest.
  const text = bytesOf(input, reach).toString('latin1');
  const { kinds, names } = kindsOfFile(input.file, text);
  const uri = pathToFileURL(input.file).href;
  if (kinds.size === 0) {
    analysis.workspace.delete(uri, 'disk');
    return;
  }
  const read = () => {
    const content = decode(bytesOf(input, reach));
    return summarizeFile(input.file, content.kind === 'text' ? content.text : '', config);
  };
  analysis.workspace.set(uri, deferred(kinds, names, read), 'disk');
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
