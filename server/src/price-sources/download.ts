import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import * as z from 'zod/mini';
import { parsedJson } from './json.ts';
import { type Body, unexpected } from './price-source.ts';
import { type Answer, connectionReason, final, isFinal, request, silent, type WebOptions } from './web.ts';

/** How to download, and where the parts are kept that arrived. */
export interface DownloadOptions extends WebOptions {
  readonly folder: string;
  readonly limits: DownloadLimits;
  /** Waits before another attempt; rejects when the refresh is canceled. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly progress: (received: number, total: number | undefined) => void;
}

export interface DownloadLimits {
  /** Bytes of one file as sent. */
  readonly file: number;
  /** Characters of one file, decompressed. */
  readonly text: number;
  /** Characters of a file that is read as a whole. */
  readonly json: number;
}

export const usualLimits: DownloadLimits = { file: 1_500_000_000, text: 6_000_000_000, json: 100_000_000 };

/** What is known about the part of a file that has arrived. `etag` is a strong validator: without one (''), the part cannot be continued. */
const partSchema = z.object({ url: z.string(), etag: z.string(), gzip: z.boolean() });
type PartInfo = z.output<typeof partSchema>;

const maxAttempts = 4;

/**
 * Downloads a file and hands its content to a reader. A download that breaks off continues where it ended, within the same run or in a later one,
 * if the server still has the same file. The file is removed after it was read.
 * @throws Error with the reason as a clause
 */
export async function download<T>(
  url: string,
  headers: OutgoingHttpHeaders,
  options: DownloadOptions,
  read: (body: Body) => Promise<T>,
): Promise<T> {
  fs.mkdirSync(options.folder, { recursive: true });
  const part = path.join(options.folder, `${createHash('sha256').update(url).digest('hex').slice(0, 24)}.part`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await receive(url, part, headers, options);
      break;
    } catch (error) {
      options.signal.throwIfAborted();
      if (attempt === maxAttempts || isFinal(error)) throw new Error(connectionReason(error), { cause: error });
      await options.wait(1000 * 2 ** (attempt - 1), options.signal);
    }
  }
  try {
    return await read(bodyOf(part, readInfo(part)?.gzip === true, options));
  } finally {
    // Canceled: the next run reads it.
    if (!options.signal.aborted) forget(part);
  }
}

async function receive(
  url: string,
  part: string,
  headers: OutgoingHttpHeaders,
  options: DownloadOptions,
): Promise<void> {
  const info = readInfo(part);
  const held = info?.url === url && info.etag !== '' ? sizeOf(part) : 0;
  const range = held > 0 && info !== undefined ? { range: `bytes=${held}-`, 'if-range': info.etag } : {};
  const answer = await request(url, { ...headers, ...range }, options);
  const { status, body } = answer;
  try {
    if (status === 416) {
      // The part has more bytes than the file: begin again.
      forget(part);
      throw new Error('the file there has changed');
    }
    if (status !== 200 && status !== 206) throw statusError(status);
    const start = status === 206 ? held : 0;
    if (status === 206 && !answer.header('content-range')?.startsWith(`bytes ${held}-`))
      throw final('it continues at the wrong place');
    const length = Number(answer.header('content-length') ?? Number.NaN);
    const total = Number.isFinite(length) ? start + length : undefined;
    if ((total ?? 0) > options.limits.file) throw final(tooLarge);
    if (status === 200) writeInfo(part, url, answer);
    body.setTimeout(options.idleMs, () => body.destroy(silent(options.idleMs)));
    const received = await append(part, start, body, (bytes) => {
      if (bytes > options.limits.file) throw final(tooLarge);
      options.progress(bytes, total);
    });
    if (total !== undefined && received !== total) throw new Error('the connection was lost');
  } finally {
    body.destroy();
  }
}

/**
 * Writes what arrives to a file at once, so that nothing is lost if the connection breaks.
 * @param seen is called with the bytes so far, and may throw an error to end it
 */
async function append(part: string, start: number, body: Readable, seen: (bytes: number) => void): Promise<number> {
  const fd = fs.openSync(part, start > 0 ? 'a' : 'w');
  let bytes = start;
  try {
    await new Promise<void>((resolve, reject) => {
      body.on('error', reject);
      body.on('end', resolve);
      body.on('close', () => reject(new Error('the connection was lost')));
      body.on('data', (chunk: Buffer) => {
        try {
          bytes += fs.writeSync(fd, chunk);
          seen(bytes);
        } catch (error) {
          reject(error);
          body.destroy();
        }
      });
    });
  } finally {
    fs.closeSync(fd);
  }
  return bytes;
}

const tooLarge = 'it is larger than a price list can be';

function statusError(status: number): Error {
  const isTemporary = status === 429 || status >= 500;
  return isTemporary ? new Error(`it answered ${status}`) : final(`it answered ${status}${statusWords[status] ?? ''}`);
}

const statusWords: Readonly<Record<number, string>> = {
  400: ': the request or the key is not valid',
  401: ': the key is not valid',
  403: ': access is denied',
  404: ': the file no longer exists',
};

function bodyOf(part: string, gzip: boolean, { limits, signal }: DownloadOptions): Body {
  async function* chunks(limit: number): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    const file = fs.createReadStream(part, { signal, highWaterMark: 1 << 18 });
    const unpacked = gzip ? file.pipe(createGunzip()) : file;
    // Errors of the file do not pass through a pipe.
    file.on('error', (error) => unpacked.destroy(error));
    let seen = 0;
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      seen += chunk.length;
      if (seen > limit) throw new Error(tooLarge);
      yield decoder.decode(chunk, { stream: true });
    }
  }
  return {
    chunks: chunks(limits.text),
    async json() {
      const parts: string[] = [];
      for await (const chunk of chunks(limits.json)) parts.push(chunk);
      const value = parsedJson(parts.join(''));
      if (value === undefined) throw unexpected('it is not JSON');
      return value;
    },
  };
}

function infoPath(part: string): string {
  return `${part}.json`;
}

function writeInfo(part: string, url: string, { header }: Answer): void {
  const etag = header('etag') ?? '';
  const gzip = header('content-encoding') === 'gzip';
  const info: PartInfo = { url, etag: etag.startsWith('W/') ? '' : etag, gzip };
  fs.writeFileSync(infoPath(part), JSON.stringify(info));
}

function readInfo(part: string): PartInfo | undefined {
  const file = infoPath(part);
  if (!fs.existsSync(file)) return undefined;
  const read = partSchema.safeParse(parsedJson(fs.readFileSync(file, 'utf8')));
  return read.success ? read.data : undefined;
}

function sizeOf(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function forget(part: string): void {
  for (const file of [part, infoPath(part)]) fs.rmSync(file, { force: true });
}
