import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Analysis } from '../analysis.ts';
import type { ProjectConfig } from '../config.ts';
import { kindsIn, namesIn } from '../workspace/kinds.ts';
import { deferred, summariseText } from '../workspace/summary.ts';
import { bytesOfFound, decode, maxFileBytes } from './file-content.ts';
import type { BadInput, InputFile } from './files.ts';
import type { Reach } from './reach.ts';
import { readRegular } from './read-file.ts';

/** A file of a run, and the config that holds for it. */
export interface ConfiguredInput {
  readonly input: InputFile | BadInput;
  readonly config: ProjectConfig;
}

/**
 * Shows the files of a run to each other. Each is looked through for the kinds that others name; it is read only when one of them does, and
 * its text is not kept, so that a large tree takes no more memory than a small one.
 */
export function seeTogether(analysis: Analysis, inputs: readonly ConfiguredInput[], reach: Reach): void {
  if (inputs.length < 2) return;
  for (const { input, config } of inputs) {
    // The names of kinds are plain letters in every encoding, and bytes are read fastest.
    const text = bytesOf(input, reach).toString('latin1');
    const kinds = kindsIn(text);
    if (kinds.size === 0) continue;
    const read = () => {
      const content = decode(bytesOf(input, reach));
      return summariseText(content.kind === 'text' ? content.text : '', config);
    };
    analysis.workspace.set(pathToFileURL(input.file).href, deferred(kinds, namesIn(text), read), 'disk');
  }
}

/** Nothing where a file is none, as a pipe that can be read only once, or cannot be read: that is reported when it is checked. */
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
