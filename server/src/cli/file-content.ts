import fs from 'node:fs';
import process from 'node:process';
import { type BadInput, type InputFile, standardInput } from './files.ts';
import { isOfSystem, type Reach } from './reach.ts';
import { readNamed, readRegular } from './read-file.ts';
import { systemReason } from './usage-error.ts';

/** What a file holds. */
export type FileContent = FileText | UnreadContent;

export interface FileText {
  readonly kind: 'text';
  readonly text: string;
  /** A byte order mark precedes the text. With it, the text in UTF-8 is the very bytes of the file. */
  readonly bom: boolean;
}

/** skipped: it is no text that gpulint reads, or a walk left it out; unreadable: it could not be read. */
export interface UnreadContent {
  readonly kind: 'skipped' | 'unreadable';
  readonly reason: string;
}

/** Larger files are machine-made and would take long to no use. */
export const maxFileBytes = 5 * 1024 * 1024;

/** Why a file is left out that a link leads to, or that lies above what was given. */
export const outsideReason = 'it lies outside the project';

/** What an input holds. Never throws. */
export async function contentOf(input: InputFile | BadInput, reach: Reach): Promise<FileContent> {
  if ('problem' in input)
    return { kind: input.leftOut === undefined ? 'unreadable' : 'skipped', reason: input.problem };
  if (input.folder !== null) return contentOfFound(input.file, reach);
  return input.file === standardInput ? guarded(() => readStream(process.stdin)) : contentOfNamed(input.file);
}

/** What a file holds that the user named, wherever it is and whatever it is. Never throws. */
export function contentOfNamed(file: string, limit = maxFileBytes): Promise<FileContent> {
  return guarded(() => readNamed(file, limit), limit);
}

/** What a file holds that the run found by itself: a regular file within reach. Never throws. */
export function contentOfFound(file: string, reach: Reach, limit = maxFileBytes): FileContent {
  try {
    return decode(bytesOfFound(file, reach, limit), limit);
  } catch (error) {
    return { kind: 'unreadable', reason: systemReason(error) };
  }
}

/**
 * The bytes of a regular file within reach.
 * @throws when it is something else, lies out of reach, or cannot be read
 */
export function bytesOfFound(file: string, reach: Reach, limit = maxFileBytes): Buffer {
  const real = fs.realpathSync.native(file);
  if (!reach.covers(real) || isOfSystem(real)) throw new Error(outsideReason);
  return readRegular(real, limit);
}

/** What a file holds now that held a text before. Never throws. */
export function contentOfRegular(file: string): FileContent {
  try {
    return decode(readRegular(fs.realpathSync.native(file), maxFileBytes));
  } catch (error) {
    return { kind: 'unreadable', reason: systemReason(error) };
  }
}

/** The bytes of a text that was read from a file or goes into it. */
export function bytesOf(text: string, bom: boolean): Buffer {
  return Buffer.from(bom ? `\ufeff${text}` : text);
}

/** Bytes as text, without the byte order mark. Text in other encodings than UTF-8 is not guessed at: written back, it would be damaged. */
export function decode(bytes: Uint8Array, limit = maxFileBytes): FileContent {
  if (bytes.length > limit) return skipped(`too large: files over ${limit / 1024 / 1024} MB are not read`);
  const foreign = foreignEncoding(bytes);
  if (foreign !== undefined) return skipped(foreign);
  const [first, second, third] = bytes;
  const bom = first === 0xef && second === 0xbb && third === 0xbf;
  const body = bom ? bytes.subarray(3) : bytes;
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body), bom };
  } catch {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
    const line = text.slice(0, text.indexOf('\ufffd')).split(/\r\n|\n|\r/).length;
    return skipped(`line ${line} is not valid UTF-8: save the file as UTF-8`);
  }
}

/** UTF-16 has a mark at its start, or a NUL in every other byte as long as it is ASCII. Any other file with a NUL is no YAML and no JSON. */
function foreignEncoding(bytes: Uint8Array): string | undefined {
  const [first, second, third, fourth] = bytes;
  const mark = [first, second, third, fourth].join(' ');
  if (mark === '255 254 0 0' || mark === '0 0 254 255') return 'UTF-32 text: save it as UTF-8';
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return utf16;
  if (!bytes.includes(0)) return undefined;
  const counts = [0, 0];
  const start = bytes.subarray(0, 65_536);
  for (const [index, byte] of start.entries()) if (byte === 0) counts[index % 2] = (counts[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = counts;
  // Most of a manifest is ASCII, and a binary file has its NULs on both sides.
  const isUtf16 = bytes.length % 2 === 0 && Math.max(even, odd) * 4 > start.length && Math.min(even, odd) === 0;
  return isUtf16 ? utf16 : 'a binary file';
}

const utf16 = 'UTF-16 text: save it as UTF-8';

function skipped(reason: string): FileContent {
  return { kind: 'skipped', reason };
}

async function guarded(read: () => Promise<Buffer>, limit = maxFileBytes): Promise<FileContent> {
  try {
    return decode(await read(), limit);
  } catch (error) {
    return { kind: 'unreadable', reason: systemReason(error) };
  }
}

async function readStream(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxFileBytes) break;
  }
  return Buffer.concat(chunks);
}
